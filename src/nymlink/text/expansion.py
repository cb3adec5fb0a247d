"""Expand abbreviations in a mention or in a whole text.

A text may define thousands of short forms and use each of them thousands of times. Therefore the time must not
grow with the product of definitions and uses.
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
_LOOK: Final = 4  # characters on either side that decide whether a short form stands alone
_COMPOUND_BEFORE: Final = re.compile(r"[^\W\d_]{3}-$")
_COMPOUND_AFTER: Final = re.compile(r"-[^\W\d_]{3}")
_GREEK_PLURALS: Final = ("boses", "choses", "ectases", "eses", "hoses", "noses", "roses", "stases", "yses")
"""Endings of plurals of words in -sis: "metastases", "psychoses"; but not "diseases", "reductases", "doses"."""
_CONSONANT_Y: Final = re.compile(r"[^\W\d_aeiou]y$")
_WORD: Final = re.compile(r"\w+")
_REACH: Final = 100
"""Number of characters that are searched on each side of a bracket, beyond four times the length of the longest
form."""


class Glossary:
    """Definitions of a text, found by the first word of their short forms.

    Args:
        definitions: definitions from :func:`~nymlink.text.abbreviations.definitions.find_definitions`.
    """

    def __init__(self, definitions: Iterable[Definition]) -> None:
        self._of = defaultdict[str, list[Definition]](list)
        for definition in definitions:
            self._of[definition.short].append(definition)
        # For each definition, the smallest start among it and the definitions after it.
        self._starts: dict[str, list[int]] = {}
        self._beginning = defaultdict[str, list[str]](list)
        for short, known in self._of.items():
            starts = (min(one.short_start, one.long_start) for one in reversed(known))
            self._starts[short] = list(accumulate(starts, min))[::-1]
            self._beginning[next(_words(short), "")].append(short)

    def needed(self, text: str, offset: int | None = None) -> tuple[Definition, ...]:
        """Choose the definitions that may be needed to expand a text, including those for its long forms.

        Args:
            text: a mention.
            offset: end of the mention in the text with the definitions. If a short form has several definitions,
                the last one that starts before this offset counts. If none does, the first one counts. With
                ``None``, the last definition counts.
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
    """Find the occurrences of forms in a text that have no letter directly before or after them.

    Occurrences are sorted by their start. Of several with the same start, the longest comes first.

    Args:
        text: the text.
        forms: forms to look for, not empty.
        letters: regular expression for a letter.

    Returns:
        Start and end of each occurrence. Occurrences may overlap.
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

    "APC tumour" → "adenomatous polyposis coli tumour". Short forms inside a long form are replaced, too. While
    nymlink expands one short form of the mention, it replaces each short form at most once. Circular definitions
    therefore cause no endless loop.

    Args:
        mention: the surface form.
        definitions: definitions; if a short form has several, the last one counts, see :class:`Glossary`.
        tokens_only: replace only short forms of one word that white space, a slash or a comma separates from other
            words. The published queries of BioSyn are expanded in this way. By default, short forms in a compound
            ("APC-related") or in the plural ("RCCs") are also replaced. A bracket is then removed if it only
            repeats the words before it ("adenomatous polyposis coli (APC)").

    Returns:
        The mention with its abbreviations written out.
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
    """Replace each short form in a document's text by the long form that is valid at its place.

    The short form inside a definition is replaced, too. In the new text, every mention is therefore written out.

    Args:
        text: the text that the definitions come from; their offsets are for this text.
        definitions: definitions from :func:`~nymlink.text.abbreviations.definitions.find_definitions`.

    Returns:
        The new text, with a mapping of offsets.
    """
    known = tuple(definitions)
    glossary = Glossary(known)
    shorts = _both_numbers({definition.short: definition.long for definition in known})
    replacements = []
    for start, end in _occurrences(text, shorts, tokens_only=False):
        short = text[start:end]
        replacements.append(Replacement(start, end, expand(short, glossary.needed(short, end))))
    return rewrite(text, replacements)


_DEEPEST: Final = 20
"""Largest number of short forms within each other's long forms that are replaced."""


def _expand(
    text: str, long_forms: Mapping[str, str], *, tokens_only: bool, done: set[str] | None = None, depth: int = 0
) -> str:
    """Replace short forms, including those in long forms.

    Args:
        text: a mention, or the long form of a short form in it.
        long_forms: short form → long form.
        tokens_only: see :func:`expand`.
        done: short forms that were already replaced on the way to this long form; ``None`` for the mention itself.
        depth: number of long forms that this text is in.
    """
    if depth > _DEEPEST:
        return text
    pieces, end = [], 0
    for start, stop in _occurrences(text, long_forms, tokens_only=tokens_only):
        short = text[start:stop]
        inner = set() if done is None else done
        if short in inner:
            continue
        inner.add(short)
        long = _expand(long_forms[short], long_forms, tokens_only=tokens_only, done=inner, depth=depth + 1)
        pieces += [text[end:start], long]
        end = stop
    return "".join(pieces) + text[end:]


def _occurrences(text: str, shorts: Mapping[str, str], *, tokens_only: bool) -> Iterator[tuple[int, int]]:
    """Find short forms in a text.

    A short form of one letter counts only if it is the whole text: "T cell" does not mean "testosterone cell".
    """
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
    """Whether a short form stands for itself. In "HIV-1" and "X-ALD" it is part of a longer symbol."""
    if before.endswith("-") and not _COMPOUND_BEFORE.search(before):
        return False
    if after.startswith("-") and after[1:2].strip() and not _COMPOUND_AFTER.match(after):
        return False
    return not after.startswith("+")


def _both_numbers(long_forms: Mapping[str, str]) -> dict[str, str]:
    """Add the missing number, singular or plural, of each short form.

    A short form of two letters that ends in "s" gets no singular: "arsenic (As)" does not define the A in
    "hepatitis A".
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
    """Singularise a name; leave a name that is not a plural ("sepsis", "lupus", "abscess") unchanged."""
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
    """Remove brackets that repeat the name before them: its short form, or the long form of a short one."""
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
    """Return a stretch of a text, without the parts that were removed from it.

    Args:
        text: the text.
        start: start of the stretch.
        end: end of the stretch.
        removed: starts and ends of the removed parts, none before ``start``, from the last to the first.
    """
    pieces = []
    for left, right in reversed(removed):
        if left >= end:
            break
        pieces.append(text[start:left])
        start = right
    return "".join([*pieces, text[start:end]])
