"""Other words for the same in medical English: adjectives as nouns, organs by another word, what ails an organ."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from nymlink.text.english import medical_words as words

_SHORTEST: Final = 6
"""Letters of adjectives that are made of a noun: "toxic" and "optic" are made of no disease."""

_ABNORMALITY: Final = "abnormality of the "

_FUNCTION: Final = {word: function for function in words.FUNCTIONS for word in function}
_FORM: Final = {word: form for form, *organ in words.ORGANS for word in organ}
_WORDS: Final = {form: tuple(organ) for form, *organ in words.ORGANS}


def paraphrases(text: str) -> Iterator[str]:
    """Other words for the same or, where a vocabulary is coarser, for what it is a case of, the likeliest first.

    They are to be looked up: what is no name is to be passed over.

    - An adjective becomes the noun it is made of ("cholestatic", "cholestasis").
    - A function that is impaired has a disorder ("cognitive deficits", "cognition disorder").
    - A part that something is wrong with has a disease ("cardiac dysfunction", "heart disease"; "nephropathy",
      "kidney disease"), or an abnormality ("skin lesion", "abnormality of the skin").
    - Another word for an organ ("hepatic failure", "liver failure").
    - An organ that is impaired is insufficient ("hepatic impairment", "liver insufficiency").
    - Toxicity to an organ is what is induced by drugs there ("hepatotoxic", "drug induced liver injury"), else a
      disease of it ("peripheral neurotoxicity", "peripheral neuropathy").
    - An impaired function is a dysfunction, a decreased one an impairment ("impaired renal function", "renal
      dysfunction"), with other words for these.
    - An adjective that says it all becomes its noun ("embolic events", "embolism").
    - The same words in another order, else another last word as wide or wider ("colon adenocarcinoma",
      "adenocarcinoma of the colon", "colon cancer").
    - What is sporadic, and what is said of nothing but how it is inherited, is a case of what it is ("autosomal
      recessive disorder", "genetic disease").
    - Some phrases that no rule makes ("enzyme deficiency", "inborn errors of metabolism").

    Args:
        text: words with single spaces between them, as :func:`~nymlink.text.normalise.normalise` gives them.
            British words for organs are not known.
    """
    part, _, head = text.rpartition(" ")
    yield from words.PHRASES.get(text, ())
    yield from _nouns(part, head)
    yield from _compound(part, head)
    if not part:
        yield from words.WIDER.get(head, ())
        return
    others = _other_words(part)
    if part in _FUNCTION and head in words.IMPAIRED:
        yield from _disorders(part)
        yield from _diseases(part)
    elif _is_ailing(part, head):
        # Before the other word for the organ: "heart abnormalities" are malformations.
        yield from _diseases(part, *others)
    yield from (f"{word} {head}" for word in others)
    if head in words.INSUFFICIENT and part in words.SUFFICING:
        yield from (f"{word} insufficiency" for word in (part, *others))
    if head in words.TOXICITY and part in _FORM:
        yield from _toxicity(_FORM[part])
    elif head in words.DISEASE:
        yield from _diseases(part, *others)
    yield from _impaired(text)
    if _is_event(part, head):
        before, _, adjective = part.rpartition(" ")
        yield from _nouns(before, adjective)
    if head in words.MISSHAPEN:
        yield from (f"{word} {said}" for word in (part, *others) for said in ("abnormality", "anomaly"))
    elif head in words.CHANGED and _is_part(part):
        yield from _diseases(part, *others)
    if head in words.MISSHAPEN | words.CHANGED:
        yield from _abnormalities(part, *others)
    yield from _wider(text, part, head)


def _nouns(part: str, head: str) -> Iterator[str]:
    end, others = next(((end, others) for end, others in words.NOUNS if head.endswith(end)), ("", ()))
    if len(head) < _SHORTEST or not others:
        return
    if end == "otic" and not part:
        # What is nephrotic is no nephrosis.
        yield f"{head} syndrome"
    for other in others:
        yield f"{part} {head.removesuffix(end)}{other}".lstrip()


def _compound(part: str, head: str) -> Iterator[str]:
    """Of a word that begins with an organ's combining form."""
    for end in (*words.TOXICITY, "pathy", "pathies", "pathic"):
        form = head.removesuffix(end)
        if form not in _WORDS or form == head:
            continue
        if part and end in words.TOXICITY:
            yield f"{part} {form}pathy"
        elif not part:
            yield from _toxicity(form) if end in words.TOXICITY else _pathy(form)


def _toxicity(form: str) -> Iterator[str]:
    yield f"{form}toxicity"
    for word in _WORDS[form]:
        yield from (f"drug induced {word} injury", f"drug induced {word} disease", f"toxic {word} disease")
    if form in words.SENSES:
        yield from _disorders(words.SENSES[form])
    yield from _pathy(form)


def _impaired(text: str) -> Iterator[str]:
    """Of a function that is not what it should be."""
    how, _, rest = text.partition(" ")
    part, _, head = rest.rpartition(" ")
    if head not in ("function", "functions") or not part or how not in (*words.LESS, *words.WRONG):
        return
    said = f"{part} impairment" if how in words.LESS else f"{part} dysfunction"
    yield said
    # What works badly need not look wrong.
    yield from (other for other in paraphrases(said) if not other.startswith(_ABNORMALITY))


def _is_ailing(part: str, head: str) -> bool:
    if _is_part(part):
        return head in words.AILING
    return head in words.FAILING and part not in words.NAMESAKES


def _is_part(part: str) -> bool:
    return part in _FORM or part in words.PARTS


def _is_event(part: str, head: str) -> bool:
    if head in words.COMPLICATIONS:
        return part.endswith(words.CONSEQUENCES)
    return head in words.EVENTS and part.endswith(words.EVENTFUL) and not part.endswith(words.UNEVENTFUL)


def _wider(text: str, part: str, head: str) -> Iterator[str]:
    """What it is a case of, after the same words in another order."""
    if head in words.WIDER and not part.endswith(words.HISTOLOGIES):
        yield from (f"{head} of {part}", f"{head} of the {part}", f"{head} {part}")
        yield from (f"{part} {wider}" for wider in words.WIDER[head])
    first, _, rest = text.partition(" ")
    if first == words.SPORADIC and rest not in words.UNNAMED:
        yield from (f"{rest} {first}", rest)
    if head in words.UNNAMED and _is_inheritance(part):
        yield from words.GENETIC


def _is_inheritance(part: str) -> bool:
    said = set(part.split(" "))
    return said <= words.INHERITANCE and (
        not said.isdisjoint(words.INHERITED) or {"autosomal", "dominant"} <= said
    )


def _pathy(form: str) -> Iterator[str]:
    if form != words.NERVES:
        yield f"{form}pathy"
        yield from _diseases(*_WORDS[form])


def _disorders(function: str) -> Iterator[str]:
    """Of a function, by its noun first."""
    for word in _FUNCTION[function]:
        yield from (f"{word} disorder", f"{word} disorders")


def _diseases(*parts: str) -> Iterator[str]:
    """Of something, the names that vocabularies have for whatever is wrong with it."""
    yield from (f"{part} {word}" for part, word in product(parts, words.DISEASE))
    yield from (f"{_ABNORMALITY}{part}" for part in parts)


def _abnormalities(*parts: str) -> Iterator[str]:
    """Of something, the names that vocabularies of phenotypes have for what is not as it should be."""
    for part in parts:
        yield from (f"{_ABNORMALITY}{part}", f"{_ABNORMALITY}{part} system", f"abnormality of {part}")
        yield from (f"abnormal {part}", f"abnormal {part} morphology")


def _other_words(part: str) -> list[str]:
    """Other words for an organ."""
    return [word for word in _WORDS.get(_FORM.get(part, ""), ()) if word != part]
