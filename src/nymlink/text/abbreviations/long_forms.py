"""Long forms of abbreviations: the words of a text that a short form stands for.

Short forms of chemicals omit locants, which say where a group is: "delta-9-tetrahydrocannabinol (THC)",
"1,3-bis-(2-chloroethyl)-1-nitrosourea (BCNU)". The long form that is returned includes them. Locants here are
numbers, Greek letters, single letters, stereo-descriptors and substituents in brackets.

The method follows Schwartz & Hearst, "A simple algorithm for identifying abbreviation definitions in biomedical
text", Pacific Symposium on Biocomputing 2003. The characters of the short form must occur in the long form in the
same order, and the first one must start a word. Schwartz & Hearst take the nearest long form. nymlink compares all
long forms in the words before the bracket, because the nearest one is often too short: in "attenuated adenomatous
polyposis coli (AAPC)" it omits "attenuated". The letters of a word may also differ from its spelling, see
:func:`nymlink.text.abbreviations.short_forms.readings_of`.

A :class:`Spelling` takes the short form and a text that may end with its long form. The spelling with letters in
order is that of Schwartz & Hearst (2003). The idea of several spellings, ordered by reliability, is from Sohn et
al., "Abbreviation definition identification based on automatic precision estimates" (BMC Bioinformatics 2008,
9:402).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from nymlink.text.abbreviations.short_forms import fold, letters_of, readings_of, words_of
from nymlink.text.rewriting import is_balanced

_GREEK: Final = r"(?:alpha|beta|gamma|delta|epsilon|zeta|omega|[α-ω])"
_STEREO_DESCRIPTOR: Final = r"(?:cis|trans|tert|sec|iso|ortho|meta|para|endo|exo|rac|bis|tris|nor|threo|erythro)"
_GROUP: Final = r"(?:\([^\s()]*(?:\([^\s()]*\)[^\s()]*)*\)|\[[^\s\[\]]*\])"
# Each text can match in only one way; otherwise the time for texts that do not match would explode.
_LOCANT_WORD: Final = rf"(?:{_GREEK}|{_STEREO_DESCRIPTOR})(?=[-‐–,(\[\d])"
_LETTER: Final = r"[A-Z]['′’]*+(?=[-‐–,(\[\d])"
_LOCANT: Final = (
    rf"(?:\d++(?:(?!{_LOCANT_WORD})[a-h])?+['′’]*+|(?:{_LOCANT_WORD}|{_LETTER})(?:{_GROUP})?+|{_GROUP})"
)
_PREFIX: Final = re.compile(rf"(?:{_LOCANT}[-‐–,:]*+)++", re.IGNORECASE)
_BOUNDARY: Final = re.compile(r"[\s/]")
_GREEK_BEFORE: Final = re.compile(rf"(?:^|(?<=[\s(\[])){_GREEK}\s$", re.IGNORECASE)
_NUMBER_BEFORE: Final = re.compile(r"(?:^|(?<=[\s(\[]))\d{1,2}\s$")
_STARTS_WITH_GREEK: Final = re.compile(rf"{_GREEK}-", re.IGNORECASE)


def widen(text: str, start: int) -> int:
    """Move the start of a long form to the left, over the locants before it.

    Args:
        text: the text of the long form.
        start: start of the long form.

    Returns:
        Start of the long form with its locants; ``start`` if it has none.
    """
    token = start
    while token > 0 and not _BOUNDARY.match(text[token - 1]) and not _opens(text, token - 1, start):
        token -= 1
    if token < start and _PREFIX.fullmatch(text, token, start):
        start = token
    if start == token:
        before = _GREEK_BEFORE if text[start : start + 1].isdigit() else _NUMBER_BEFORE
        if (before is _GREEK_BEFORE or _STARTS_WITH_GREEK.match(text, start)) and (
            found := before.search(text, 0, start)
        ):
            return found.start()
    return start


def _opens(text: str, offset: int, end: int) -> bool:
    """Whether a character opens a bracket that is still open at ``end``."""
    depth = 0
    for char in text[offset:end]:
        depth += (char in "([{") - (char in ")]}")
        if depth == 0:
            return False
    return depth > 0


_WORD: Final = re.compile(r"[^\W_]+")
# A long form is a phrase of one clause without lists and alternatives. "1, 2-dioxygenase" is not a list.
_LIST: Final = re.compile(r",\s*[^\W\d]|\bor\b|\band\b")
_SENTENCES: Final = re.compile(r"(?<!\b\w)[.!?;:]\s")
_LETTER_ALONE: Final = re.compile(r"[a-z]\s")
_SPELLED_OUT: Final = re.compile(r"[^\W\d_]{4}")
_HYPHENS: Final = "-‐–"
_BRACKETED_DESCRIPTOR: Final = re.compile(r"\([^\s()]*\)-|\[[^\s\[\]]*\]-")
_AFTER_LOCANTS: Final = ("-", ",", "'", "′")
_LETTERS_WITH_ARTICLE: Final = 4
"""Smallest number of letters of a short form that may take its first letter from an article: "A Lite BERT
(ALBERT)"."""

_INITIALS_FOR_A_SKIP: Final = 2
"""Smallest number of words that must give their initial for each token that gives no letter."""


class _Word(NamedTuple):
    """A word of a candidate text.

    Attributes:
        text: as written.
        folded: in lower case, with Greek letters as Latin ones.
        start: offset of its first character.
        end: offset after its last character.
        starts_token: whether white space precedes it.
        is_free: whether it need not give a letter. This is so for a function word, and for a number or a letter in
            the name of a chemical.
    """

    text: str
    folded: str
    start: int
    end: int
    starts_token: bool
    is_free: bool


@dataclass(frozen=True, slots=True, order=True)
class LongForm:
    """A long form of a short form, and its costs; the smallest is the best.

    Attributes:
        skipped_tokens: tokens between white space that give no letter, except function words.
        cut: whether it begins within a token: "type plasminogen" of "tissue-type plasminogen".
        skipped_words: words, separated by any signs, that give no letter.
        unmatched: number of function words that give no letter, minus the number of words that give their initial.
        words: number of words in the long form.
        start: offset of the long form in the candidate text.
        end: offset after its last character.
    """

    skipped_tokens: int
    cut: bool
    skipped_words: int
    unmatched: int
    words: int
    start: int
    end: int


def best_long_form(letters: str, candidate: str) -> LongForm | None:
    """Find the best long form that ends where ``candidate`` ends; ``None`` if there is none.

    Args:
        letters: letters of the short form, from :func:`~nymlink.text.abbreviations.short_forms.letters_of`.
        candidate: the text.
    """
    end = len(candidate.rstrip(" \t\n,;-"))
    ends = {end}
    words = _words(candidate[:end])
    if len(words) > 1 and words[-1].folded in words_of("carrier"):
        ends.add(words[-2].end)
    return min((form for end in ends for form in _long_forms(letters, candidate[:end])), default=None)


def _long_forms(letters: str, candidate: str) -> Iterator[LongForm]:
    """Yield the plausible long forms that end where a text ends."""
    phrase: list[_Word] = []
    for word in _words(candidate)[: -min(len(letters) + 5, 2 * len(letters)) - 1 : -1]:
        if word.folded == letters or word.text in words_of("never inside"):
            return
        phrase.insert(0, word)
        start = _with_descriptor(candidate, word.start)
        if not _may_begin(letters, word, candidate[start:]):
            continue
        cost = _explain(letters, phrase)
        if cost is not None and _plausible(letters, cost, candidate[start:], phrase):
            tokens, skipped, unmatched = cost
            start = widen(candidate, start)
            cut = start > 1 and candidate[start - 1] in _HYPHENS and candidate[start - 2].isalnum()
            yield LongForm(tokens, cut, skipped, unmatched, len(phrase), start, len(candidate))


def _with_descriptor(text: str, start: int) -> int:
    """Move a start to the bracket before it, if that is a descriptor: "(R)-alpha-methylhistamine"."""
    match = _BRACKETED_DESCRIPTOR.match(text, max(0, start - 1))
    opens_token = start < 2 or text[start - 2].isspace()
    return start - 1 if match is not None and opens_token else start


@lru_cache(maxsize=8)
def _words(candidate: str) -> tuple[_Word, ...]:
    """List the words of a text; cached, because a bracket is read several times in a row."""
    folded = fold(candidate)
    return tuple(_word(candidate, folded, match.start(), match.end()) for match in _WORD.finditer(candidate))


def _word(text: str, folded: str, start: int, end: int) -> _Word:
    word = folded[start:end]
    number = (word.isdigit() or len(word) == 1) and text[end : end + 1] in _AFTER_LOCANTS
    return _Word(
        text=text[start:end],
        folded=word,
        start=start,
        end=end,
        starts_token=start == 0 or text[start - 1].isspace(),
        is_free=number or word in words_of("function"),
    )


def _may_begin(letters: str, first: _Word, long: str) -> bool:
    """Whether a phrase may be a long form of the letters, by its first word and its extent."""
    article = first.folded == "a" and len(letters) >= _LETTERS_WITH_ARTICLE
    return (
        any(reading[0] == letters[0] for reading in readings_of(first.folded))
        and (article or not (first.folded in words_of("never first") or _LETTER_ALONE.match(long)))
        and len(long) > len(letters)
        and _SPELLED_OUT.search(long) is not None
        and is_balanced(long)
        and not _SENTENCES.search(long)
    )


def _explain(letters: str, phrase: Sequence[_Word]) -> tuple[int, int, int] | None:
    """Align the letters with the words, in order, at the lowest cost.

    A word that gives letters normally gives its initial first. A later word may also give letters without its
    initial (the T of ALT in "alanine aminotransferase"). This counts as a skipped word, but not as a skipped
    token.

    Returns:
        ``(skipped tokens, skipped words, unmatched)``, see :class:`LongForm`; ``None`` if letters are left over.
    """
    best = {0: (0, 0, 0)}
    for place, word in enumerate(phrase):
        readings = readings_of(word.folded)
        after: dict[int, tuple[int, int, int]] = {}
        for used, (tokens, skipped, unmatched) in best.items():
            rest = letters[used:]
            whole = max(_count_matched(rest, one) if rest[:1] == one[0] else 0 for one in readings)
            options = [(used + matched, (tokens, skipped, unmatched - 1)) for matched in range(1, whole + 1)]
            if place > 0:
                idle = (tokens, skipped, unmatched + 1)
                options.append(
                    (used, idle if word.is_free else (tokens + word.starts_token, skipped + 1, unmatched))
                )
                tail = max(_count_matched(rest, one[1:]) for one in readings)
                options += [(used + matched, (tokens, skipped + 1, unmatched)) for matched in range(1, tail + 1)]
            for used_then, cost in options:
                after[used_then] = min(after.get(used_then, cost), cost)
        best = after
    return best.get(len(letters))


def _count_matched(letters: str, word: str) -> int:
    """Count how many letters, from the first on, the word has in order."""
    matched, place = 0, 0
    for letter in letters:
        place = word.find(letter, place) + 1
        if place == 0:
            break
        matched += 1
    return matched


def _plausible(letters: str, cost: tuple[int, int, int], long: str, phrase: Sequence[_Word]) -> bool:
    """Whether a long form is longer than the short one, and only few of its words are skipped."""
    tokens, skipped, unmatched = cost
    if len(letters_of(long)) <= len(letters):
        return False
    if skipped == 0:
        return True
    if _LIST.search(long):
        return False
    if tokens == 0:
        return len(phrase) > 1
    if {word.folded for word in phrase[1:]} <= words_of("generic") | words_of("function"):
        return True
    initials = (len(phrase) - skipped - unmatched) // 2
    return initials >= _INITIALS_FOR_A_SKIP * tokens


_LAST_WORDS: Final = re.compile(r"(?:(?<![^\s(])([^\W\d_]{4,})\s+)?(?<![^\W\d_])([^\W\d_]{4,})\s*$")
_TWO_WORDS: Final = re.compile(r"(?<![^\s(])([^\W\d_]{4,})\s+([^\W\d_]{4,})\s*$")
_PHRASE: Final = re.compile(r"\s(?:of|with|in|for|from|by|on|at)\s")
_SYMBOL: Final = re.compile(r"[A-Z](?:[a-z]?\([A-Za-z]{1,4}\)|-?[a-z]{1,5}|[a-z][A-Z]|[A-Z][a-z]|[A-Z]{1,2}\d)")


class Spelling(NamedTuple):
    """A way in which letters stand for words.

    Attributes:
        name: its name.
        example: a text with such an abbreviation.
        find: finds the long form of a short form at the end of a text; ``None`` if there is none.
        classic: whether the published queries of BioSyn, expanded by Ab3P, use it.
    """

    name: str
    example: str
    find: Callable[[str, str], LongForm | None]
    classic: bool = False


def _letters(short: str, candidate: str) -> LongForm | None:
    """Match the letters in order."""
    return best_long_form(letters_of(short), candidate) if len(short) > 1 else None


def _plural(short: str, candidate: str) -> LongForm | None:
    """Match the letters before the "s" of a plural; the "s" need not be in the long form."""
    return (
        best_long_form(letters_of(short[:-1]), candidate) if short[-1] == "s" and short[-2:-1].isupper() else None
    )


def _single_letter(short: str, candidate: str) -> LongForm | None:
    """Match the initial of the last word, else of the word before it."""
    match = _LAST_WORDS.search(candidate) if len(short) == 1 else None
    if match is None or match[2].lower() in words_of("carrier"):
        return None
    for number in (2, 1):
        if match[number] and fold(match[number][0]) == fold(short):
            start = match.start(number)
            return LongForm(0, False, 0, -1, 3 - number, widen(candidate, start), match.end(2))
    return None


def _before_a_phrase(short: str, candidate: str) -> LongForm | None:
    """Match the initials of three or more words before a phrase that begins with a preposition.

    All these words must give their initial. The phrase belongs to no letter; there may be two such phrases.
    """
    letters = letters_of(short)
    if len(letters) < 3 or not letters.isalpha():
        return None
    for phrase in list(_PHRASE.finditer(candidate))[:-3:-1]:
        found = best_long_form(letters, candidate[: phrase.start()].rstrip())
        if found is not None and found.skipped_words == 0 and -found.unmatched == len(letters):
            return found
    return None


def _symbol(short: str, candidate: str) -> LongForm | None:
    """Match a symbol with an index, V(T) for "tidal volume".

    The symbol is the beginning of the last word, its index the beginning of the word before.
    """
    match = _SYMBOL.fullmatch(short)
    if match is None:
        return None
    symbol = letters_of(short)
    return next(
        (found for place in (1, 2) if (found := _last_two(symbol[place:], symbol[:place], candidate))), None
    )


def _inverted(short: str, candidate: str) -> LongForm | None:
    """Match the initials of the last two words, the last word's first.

    Some short forms keep the word order of another language: "myotonic dystrophy" is *dystrophia myotonica*.
    """
    if len(short) != 2 or not short.isalpha() or not short.isupper():
        return None
    last, first = letters_of(short)[0], letters_of(short)[1]
    return _last_two(first, last, candidate)


def _last_two(first: str, last: str, candidate: str) -> LongForm | None:
    """Find the last two words of a text, if the first begins with ``first`` and the second with ``last``."""
    match = _TWO_WORDS.search(candidate)
    if match is None or not first:
        return None
    for word, beginning in ((match[1], first), (match[2], last)):
        if not any(reading.startswith(beginning) for reading in readings_of(fold(word))):
            return None
    return LongForm(0, False, 0, -2, 2, match.start(1), match.end(2))


SPELLINGS: Final = (
    Spelling("symbol with an index", "tidal volume (V(T))", _symbol),
    Spelling("letters in order", "Wiskott-Aldrich syndrome (WAS)", _letters, classic=True),
    Spelling("plural", "levodopa-induced dyskinesias (LIDs)", _plural, classic=True),
    Spelling("single letter", "testosterone (T)", _single_letter),
    Spelling("before a phrase", "computed axial tomography with injected contrast medium (CAT)", _before_a_phrase),
    Spelling("inverted", "myotonic dystrophy (DM)", _inverted),
)
