"""Expand abbreviations, in a mention or in a whole text.

A text may define thousands of short forms and use each thousands of times: nothing here looks at each definition
for each use.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Final

from nymlink.text.abbreviations import Definition
from nymlink.text.normalise import normalise
from nymlink.text.rewriting import Replacement, Rewritten, brackets, rewrite

_CLAUSE_END: Final = re.compile(r"[;,]")
_LOOK: Final = 4  # characters on either side that tell whether a short form stands alone
_COMPOUND_BEFORE: Final = re.compile(r"[^\W\d_]{3}-$")
_COMPOUND_AFTER: Final = re.compile(r"-[^\W\d_]{3}")
_GREEK_PLURALS: Final = ("boses", "choses", "ectases", "eses", "hoses", "noses", "roses", "stases", "yses")
"""Ends of plurals of words in -sis: "metastases", "psychoses"; not "diseases", "reductases", "doses"."""
_CONSONANT_Y: Final = re.compile(r"[^\W\d_aeiou]y$")
_WORD: Final = re.compile(r"\w+")
_REACH: Final = 100
"""Characters beside a bracket, more than four times those of a long form, in which a gloss is looked for."""


class Glossary:
    """The definitions of a text, found by the words with which their short forms begin.

    Args:
        definitions: as :func:`~nymlink.text.abbreviations.find_definitions` gives them.
    """

    def __init__(self, definitions: Iterable[Definition]) -> None:
        self._of = defaultdict[str, list[Definition]](list)
        for definition in definitions:
            self._of[definition.short].append(definition)
        # Of each definition and those after it, the first start.
        self._starts: dict[str, list[int]] = {}
        self._beginning = defaultdict[str, list[str]](list)
        for short, known in self._of.items():
            starts = (min(one.short_start, one.long_start) for one in reversed(known))
            self._starts[short] = list(accumulate(starts, min))[::-1]
            self._beginning[next(_words(short), "")].append(short)

    def needed(self, text: str, offset: int | None = None) -> tuple[Definition, ...]:
        """Choose the definitions that may be needed to expand a text, those of long forms in it too.

        Args:
            text: a mention.
            offset: where it ends in the text of the definitions: of one short form the last definition that starts
                before counts, else the first one; ``None``: the last one.
        """
        chosen: dict[str, Definition] = {}
        waiting = [text]
        while waiting:
            words = dict.fromkeys(("", *_words(waiting.pop())))
            forms = dict.fromkeys(form for word in words for form in (word, word.removesuffix("s"), f"{word}s"))
            for short in (short for form in forms for short in self._beginning.get(form, ())):
                if short not in chosen:
                    chosen[short] = self._in_force(short, offset)
                    waiting.append(chosen[short].long)
        return tuple(chosen.values())

    def _in_force(self, short: str, offset: int | None) -> Definition:
        known = self._of[short]
        return known[-1 if offset is None else max(bisect_left(self._starts[short], offset) - 1, 0)]


def _words(text: str) -> Iterator[str]:
    return (match[0].casefold() for match in _WORD.finditer(text))


def occurrences(text: str, forms: Collection[str], *, letters: str = r"\w") -> Iterator[tuple[int, int]]:
    """Find where forms stand in a text, no letter before or after them, by their start; the longest first.

    Args:
        text: the text.
        forms: what is looked for; none is empty.
        letters: what counts as a letter, as in a regular expression.

    Returns:
        The start and the end of each. They may overlap.
    """
    sizes = defaultdict[str, set[int]](set)
    for form in forms:
        sizes[form[0]].add(len(form))
    if not sizes:
        return
    descending = {first: sorted(lengths, reverse=True) for first, lengths in sizes.items()}
    begins = re.compile(rf"(?<!{letters})(?=[{re.escape(''.join(sizes))}])")
    ends = re.compile(rf"(?!{letters})")
    for match in begins.finditer(text):
        start = match.start()
        for end in (start + size for size in descending[text[start]]):
            if end <= len(text) and text[start:end] in forms and ends.match(text, end):
                yield start, end


def expand(mention: str, definitions: Iterable[Definition], *, tokens_only: bool = False) -> str:
    """Replace the short forms in a mention by their long forms.

    "APC tumour" → "adenomatous polyposis coli tumour". Short forms inside a long form are replaced too, each once
    for a short form of the mention, so that definitions in a circle come to an end.

    Args:
        mention: the surface form.
        definitions: of one short form the last counts; see :class:`Glossary`.
        tokens_only: replace a short form of one word only, and only where white space, a slash or a comma delimits
            it, as the published queries of BioSyn do. Otherwise also in a compound ("APC-related") and in the
            plural ("RCCs"), and a bracket is left out that only repeats what stands before it ("adenomatous
            polyposis coli (APC)").

    Returns:
        The mention written out.
    """
    long_forms = {
        definition.short: definition.long
        for definition in Glossary(definitions).needed(mention)
        if not (tokens_only and " " in definition.short)
    }
    if not any(short.removesuffix("s") in mention for short in long_forms):
        return mention
    if not tokens_only:
        mention = _without_glosses(mention, long_forms)
        long_forms = _both_numbers(long_forms)
    return _expand(mention, long_forms, tokens_only=tokens_only)


def expand_text(text: str, definitions: Iterable[Definition]) -> Rewritten:
    """Replace all short forms in a document's text, each by the definition in force at its place.

    The short form in a definition itself is replaced too, so that every mention in the new text is written out.

    Args:
        text: the text that the definitions' offsets count in.
        definitions: as :func:`~nymlink.text.abbreviations.find_definitions` gives them.

    Returns:
        The new text, which maps offsets of the old one.
    """
    known = tuple(definitions)
    glossary = Glossary(known)
    shorts = _both_numbers({definition.short: definition.long for definition in known})
    replacements = []
    for start, end in _occurrences(text, shorts, tokens_only=False):
        short = text[start:end]
        replacements.append(Replacement(start, end, expand(short, glossary.needed(short, end))))
    return rewrite(text, replacements)


def _expand(text: str, long_forms: Mapping[str, str], *, tokens_only: bool, done: set[str] | None = None) -> str:
    """Replace short forms, those in long forms too.

    Args:
        text: a mention, or the long form of a short form in it.
        long_forms: short form → long form.
        tokens_only: see :func:`expand`.
        done: short forms already replaced on the way here; ``None`` for the mention itself.
    """
    pieces, end = [], 0
    for start, stop in _occurrences(text, long_forms, tokens_only=tokens_only):
        short = text[start:stop]
        inner = set() if done is None else done
        if short in inner:
            continue
        inner.add(short)
        pieces += [text[end:start], _expand(long_forms[short], long_forms, tokens_only=tokens_only, done=inner)]
        end = stop
    return "".join(pieces) + text[end:]


def _occurrences(text: str, shorts: Mapping[str, str], *, tokens_only: bool) -> Iterator[tuple[int, int]]:
    """Find short forms; a single letter only where it is all of the text: "T cell" is no testosterone cell."""
    stands_alone = _is_token if tokens_only else _is_word
    done = 0
    for start, end in occurrences(text, shorts):
        if start >= done and (end - start > 1 or end - start == len(text)):
            done = end
            if stands_alone(text[max(0, start - _LOOK) : start], text[end : end + _LOOK]):
                yield start, end


def _is_token(before: str, after: str) -> bool:
    return (not before or before[-1].isspace() or before[-1] == "/") and (
        not after or after[0].isspace() or after[0] == "/" or (after[0] == "," and not after[1:2].strip())
    )


def _is_word(before: str, after: str) -> bool:
    """Whether a short form is not part of a longer symbol, as HIV in "HIV-1" or ALD in "X-ALD"."""
    if before.endswith("-") and not _COMPOUND_BEFORE.search(before):
        return False
    if after.startswith("-") and after[1:2].strip() and not _COMPOUND_AFTER.match(after):
        return False
    return not after.startswith("+")


def _both_numbers(long_forms: Mapping[str, str]) -> dict[str, str]:
    """Add the missing number, singular or plural, of each short form.

    Of two letters with an "s" no singular is made: "arsenic (As)" says nothing of the A in "hepatitis A".
    """
    added: dict[str, str] = {}
    for short, long in long_forms.items():
        if short.endswith("s") and short[-2:-1].isupper():
            if len(short) > 2 and (singular := _singular(long)) != long:
                added[short[:-1]] = singular
        elif short[-1].isupper():
            added[short + "s"] = _plural(long)
    return added | dict(long_forms)


def _singular(name: str) -> str:
    """Singularise a name; one that is no plural ("sepsis", "lupus", "abscess") stays."""
    if name.endswith("ies"):
        return name.removesuffix("ies") + "y"
    if name.endswith(_GREEK_PLURALS):
        return name.removesuffix("es") + "is"
    if name.endswith(("sses", "viruses")):
        return name.removesuffix("es")
    return name if name.endswith(("is", "us", "ss")) else name.removesuffix("s")


def _plural(name: str) -> str:
    if name.endswith("s"):
        return name
    return name[:-1] + "ies" if _CONSONANT_Y.search(name) else name + "s"


def _without_glosses(mention: str, long_forms: Mapping[str, str]) -> str:
    """Remove glosses: brackets that give the short form after the long one, or the long after the short."""
    pairs = brackets(mention)
    if not pairs:
        return mention
    normal = {short: (normalise(short), normalise(long)) for short, long in long_forms.items()}
    shorts_of = defaultdict[str, set[str]](set)
    for short, long in normal.values():
        shorts_of[long].add(short)
    reach = 4 * max(len(form) for pair in long_forms.items() for form in pair) + _REACH
    removed: list[tuple[int, int]] = []
    for bracket in reversed(pairs):
        last = min(bracket.closing, bracket.opening + reach)
        inside = _CLAUSE_END.split(_without(mention, bracket.opening + 1, last, removed))[0].strip()
        longs = [normal[inside][1]] if inside in normal else []
        expected = [*longs, *shorts_of.get(normalise(inside), ())]
        if not expected:
            continue
        before = f" {normalise(mention[max(0, bracket.opening - reach) : bracket.opening])}"
        if before.endswith(tuple(f" {form}" for form in expected)):
            start = bracket.opening
            while start > 0 and mention[start - 1].isspace():
                start -= 1
            while removed and removed[-1][1] <= bracket.closing:
                removed.pop()
            removed.append((start, bracket.closing + 1))
    return _without(mention, 0, len(mention), removed)


def _without(text: str, start: int, end: int, removed: list[tuple[int, int]]) -> str:
    """Cut a stretch out of a text, without what was removed in it.

    Args:
        text: the text.
        start: where the stretch begins.
        end: where it ends.
        removed: the starts and ends of what was removed, none before ``start``, from the last to the first.
    """
    pieces = []
    for left, right in reversed(removed):
        if left >= end:
            break
        pieces.append(text[start:left])
        start = right
    return "".join([*pieces, text[start:end]])
