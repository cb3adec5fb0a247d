"""Other words for names of diseases and findings: "hepatic failure", "liver failure"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from typing import Final

from nymlink.text.english.words import by_first_word, ordered_words, rows_of, words_of

_SHORTEST: Final = 6
"""Number of letters of the shortest adjective that becomes a noun. Shorter ones, "toxic" and "optic", come from no
disease."""

_ABNORMALITY: Final = "abnormality of the "

_IMPAIRED: Final = ("impaired", "something wrong with no part", "disease", "toxicity")
"""Kinds of words for an impairment of a function."""


def paraphrases(text: str) -> Iterator[str]:
    """Yield paraphrases of a name, then wider terms for coarser vocabularies, the likeliest first.

    Paraphrases are candidates. The caller looks up each one, and ignores those that are not names.

    - An adjective becomes its noun ("cholestatic", "cholestasis").
    - An impaired function becomes a disorder of it ("cognitive deficits", "cognition disorder").
    - An impaired part of the body becomes a disease of it ("cardiac dysfunction", "heart disease"; "nephropathy",
      "kidney disease"), or an abnormality ("skin lesion", "abnormality of the skin").
    - A word for an organ becomes another word for it ("hepatic failure", "liver failure").
    - An impaired organ becomes an insufficient one ("hepatic impairment", "liver insufficiency").
    - Toxicity to an organ becomes a disease induced by drugs ("hepatotoxic", "drug induced liver injury"), else a
      disease of the organ ("peripheral neurotoxicity", "peripheral neuropathy").
    - An impaired function becomes a dysfunction ("impaired renal function", "renal dysfunction"), and a decreased
      function becomes an impairment. Paraphrases of the result follow.
    - An adjective before a word without meaning of its own becomes its noun ("embolic events", "embolism").
    - The words get another order ("colon adenocarcinoma", "adenocarcinoma of the colon"), or the last word becomes
      one that is as wide or wider ("colon cancer").
    - A sporadic disorder becomes the disorder; a disorder described only by its inheritance becomes a genetic
      disease ("autosomal recessive disorder", "genetic disease").
    - Some phrases are listed singly ("enzyme deficiency", "inborn errors of metabolism").

    Args:
        text: words separated by single spaces, from :func:`~nymlink.text.normalise.normalise`. British words for
            organs are not recognised.
    """
    part, _, head = text.rpartition(" ")
    yield from by_first_word("phrase").get(text, ())
    yield from _nouns(part, head)
    yield from _compound(part, head)
    if not part:
        yield from by_first_word("wider").get(head, ())
        return
    others = _other_words(part)
    if part in _functions() and head in words_of(*_IMPAIRED):
        yield from _disorders(part)
        yield from _diseases(part)
    elif _is_ailing(part, head):
        # Before other words for the organ, because "heart abnormalities" are malformations.
        yield from _diseases(part, *others)
    yield from (f"{word} {head}" for word in others)
    if head in words_of("insufficient") and part in words_of("can be insufficient"):
        yield from (f"{word} insufficiency" for word in (part, *others))
    if head in words_of("toxicity") and part in _forms():
        yield from _toxicity(_forms()[part])
    elif head in words_of("disease"):
        yield from _diseases(part, *others)
    yield from _impaired(text)
    if _is_event(part, head):
        before, _, adjective = part.rpartition(" ")
        yield from _nouns(before, adjective)
    if head in words_of("malformed"):
        yield from (f"{word} {noun}" for word in (part, *others) for noun in ("abnormality", "anomaly"))
    elif head in words_of("changed") and _is_part(part):
        yield from _diseases(part, *others)
    if head in words_of("malformed", "changed"):
        yield from _abnormalities(part, *others)
    yield from _wider(text, part, head)


def _nouns(part: str, head: str) -> Iterator[str]:
    """Yield the nouns for a last word that has the form of an adjective."""
    end, others = next(
        ((end, others) for end, *others in rows_of("adjective ending") if head.endswith(end)), ("", [])
    )
    if len(head) < _SHORTEST or not others:
        return
    if end == "otic" and not part:
        # "nephrotic" means the nephrotic syndrome rather than nephrosis.
        yield f"{head} syndrome"
    for other in others:
        yield f"{part} {head.removesuffix(end)}{other}".lstrip()


def _compound(part: str, head: str) -> Iterator[str]:
    """Yield paraphrases of an organ compound: a last word that begins with the combining form of an organ."""
    for end in (*ordered_words("toxicity"), "pathy", "pathies", "pathic"):
        form = head.removesuffix(end)
        if form not in by_first_word("organ") or form == head:
            continue
        if part and end in words_of("toxicity"):
            yield f"{part} {form}pathy"
        elif not part:
            yield from _toxicity(form) if end in words_of("toxicity") else _pathy(form)


def _toxicity(form: str) -> Iterator[str]:
    """Yield names of toxicity to an organ."""
    yield f"{form}toxicity"
    for word in by_first_word("organ")[form]:
        yield from (f"drug induced {word} injury", f"drug induced {word} disease", f"toxic {word} disease")
    for function in by_first_word("function of organ").get(form, ()):
        yield from _disorders(function)
    yield from _pathy(form)


def _impaired(text: str) -> Iterator[str]:
    """Yield paraphrases of an impaired or decreased function."""
    how, _, rest = text.partition(" ")
    part, _, head = rest.rpartition(" ")
    if head not in ("function", "functions") or not part or how not in words_of("less", "wrong"):
        return
    other = f"{part} impairment" if how in words_of("less") else f"{part} dysfunction"
    yield other
    # An impaired function need not show an abnormality.
    yield from (further for further in paraphrases(other) if not further.startswith(_ABNORMALITY))


def _is_ailing(part: str, head: str) -> bool:
    """Whether the last word names an impairment of the body part or function before it."""
    if _is_part(part):
        return head in words_of("something wrong")
    return head in words_of("something wrong with no part") and part not in words_of("namesake")


def _is_part(part: str) -> bool:
    """Whether this is an organ or another part of the body."""
    return part in _forms() or part in words_of("part")


def _is_event(part: str, head: str) -> bool:
    """Whether the last word adds nothing to the adjective before it ("embolic events")."""
    if head in words_of("complication"):
        return part.endswith(ordered_words("consequence ending"))
    eventful = part.endswith(ordered_words("event ending"))
    return eventful and head in words_of("event") and not part.endswith(ordered_words("no event ending"))


def _wider(text: str, part: str, head: str) -> Iterator[str]:
    """Yield the words in another order ("cancer of the colon"), then wider terms."""
    if head in by_first_word("wider") and not part.endswith(ordered_words("not wider")):
        yield from (f"{head} of {part}", f"{head} of the {part}", f"{head} {part}")
        yield from (f"{part} {wider}" for wider in by_first_word("wider")[head])
    first, _, rest = text.partition(" ")
    if first in words_of("sporadic") and rest not in words_of("unnamed"):
        yield from (f"{rest} {first}", rest)
    if head in words_of("unnamed") and _is_inheritance(part):
        yield from ordered_words("genetic disease")


def _is_inheritance(part: str) -> bool:
    """Whether the words only describe how a disorder is inherited ("autosomal recessive")."""
    words = set(part.split(" "))
    return words <= words_of("inheritance", "inherited") and (
        not words.isdisjoint(words_of("inherited")) or {"autosomal", "dominant"} <= words
    )


def _pathy(form: str) -> Iterator[str]:
    """Yield names in -pathy and other names for any disease of an organ.

    Nerves are left out, because "neuropathy" does not mean any disease of them.
    """
    if form not in words_of("nerves"):
        yield f"{form}pathy"
        yield from _diseases(*by_first_word("organ")[form])


def _disorders(function: str) -> Iterator[str]:
    """Yield names of disorders of a function, with all words for the function."""
    for word in _functions()[function]:
        yield from (f"{word} disorder", f"{word} disorders")


def _diseases(*parts: str) -> Iterator[str]:
    """Yield names of any disease of body parts."""
    yield from (f"{part} {word}" for part, word in product(parts, ordered_words("disease")))
    yield from (f"{_ABNORMALITY}{part}" for part in parts)


def _abnormalities(*parts: str) -> Iterator[str]:
    """Yield names of any abnormality of body parts, in the style of phenotype vocabularies."""
    for part in parts:
        yield from (f"{_ABNORMALITY}{part}", f"{_ABNORMALITY}{part} system", f"abnormality of {part}")
        yield from (f"abnormal {part}", f"abnormal {part} morphology")


def _other_words(part: str) -> list[str]:
    """List the other words for an organ."""
    return [word for word in by_first_word("organ").get(_forms().get(part, ""), ()) if word != part]


@cache
def _functions() -> Mapping[str, tuple[str, ...]]:
    """Map each word for a function to all words for it."""
    return {word: function for function in rows_of("function") for word in function}


@cache
def _forms() -> Mapping[str, str]:
    """Map each word for an organ to its combining form."""
    return {word: form for form, *organ in rows_of("organ") for word in organ}
