"""Find the long form of an abbreviation in the text before it.

The idea is that of Schwartz & Hearst, "A simple algorithm for identifying abbreviation definitions in biomedical
text", Pacific Symposium on Biocomputing 2003: every character of the short form occurs in the long form in order,
the first at the start of a word. Where they take the nearest such place, all
places in the words before it are compared here, because the nearest is often too short: "adenomatous polyposis
coli" for AAPC after "attenuated adenomatous polyposis coli".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from nymlink.text.brackets import is_balanced

_WORD: Final = re.compile(r"[^\W_]+")
# A long form is a phrase of one clause: no list of words, no alternatives. "1, 2-dioxygenase" is not a list.
_LIST: Final = re.compile(r",\s*[^\W\d]|\bor\b|\band\b")
_SPELLED_OUT: Final = re.compile(r"[^\W\d_]{4}")
_SKIPPABLE: Final = frozenset(
    {
        "a",
        "an",
        "and",
        "at",
        "by",
        "de",
        "del",
        "der",
        "di",
        "du",
        "due",
        "for",
        "from",
        "in",
        "la",
        "le",
        "of",
        "on",
        "or",
        "s",
        "the",
        "to",
        "type",
        "with",
    }
)
_NEVER_FIRST: Final = frozenset({"a", "an", "and", "is", "of", "or", "the"})
_GENERIC: Final = frozenset({"deficiency", "disease", "disorder", "protein", "syndrome"})
# "adenomatous polyposis coli gene (APC)": the letters name the disease, not the word that follows it.
_CARRIER: Final = re.compile(r"\s+(?:gene|genes|locus|loci)\s*$", re.IGNORECASE)
_TWO_WORDS: Final = re.compile(r"(?<![^\s(])([^\W\d_]{4,})\s+([^\W\d_]{4,})\s*$")
_GREEK: Final = str.maketrans("αβγδεζηθικλμνξοπρσςτυφχψω", "abgdezhtiklmnxoprsstufcpo")


@dataclass(frozen=True, slots=True, order=True)
class LongForm:
    """A long form of a short form, and its costs; the smallest is the best.

    Attributes:
        skipped_tokens: tokens between white space that give no letter, function words aside.
        skipped_words: the same for words between any signs.
        unmatched: function words that give no letter, minus words whose initial is a letter of the short form.
        words: number of words in the long form.
        start: offset of the long form in the candidate text.
        end: offset one past it.
    """

    skipped_tokens: int
    skipped_words: int
    unmatched: int
    words: int
    start: int
    end: int


def letters_of(short: str) -> str:
    """List the characters that a long form must account for, in lower case, Greek letters as Latin ones."""
    return "".join(char for char in _fold(short) if char.isalnum())


def best_long_form(short: str, candidate: str) -> LongForm | None:
    """Find the best long form of ``short`` that ends where ``candidate`` ends; ``None`` if there is none."""
    letters = letters_of(short)
    ends = {len(candidate.rstrip())}
    if carrier := _CARRIER.search(candidate):
        ends.add(carrier.start())
    return min((form for end in ends for form in _long_forms(letters, candidate[:end])), default=None)


def inverted_long_form(short: str, candidate: str) -> LongForm | None:
    """Find the last two words, if their initials spell a two-letter short form backwards.

    Some short forms keep the word order of another language: "myotonic dystrophy (DM)" is *dystrophia myotonica*.
    """
    match = _TWO_WORDS.search(candidate)
    if match is None or len(short) != 2 or not short.isupper() or not short.isalpha():
        return None
    if letters_of(match[1][0] + match[2][0]) != letters_of(short)[::-1]:
        return None
    return LongForm(0, 0, -2, 2, match.start(1), match.end(2))


def _long_forms(letters: str, candidate: str) -> Iterator[LongForm]:
    """Yield the plausible long forms that end where a text ends."""
    folded = _fold(candidate)
    words = list(_WORD.finditer(folded))
    most_words = min(len(letters) + 5, 2 * len(letters), len(words))
    for count in range(1, most_words + 1):
        phrase = words[-count:]
        start = phrase[0].start()
        long = folded[start:]
        if long[0] != letters[0] or phrase[0][0] in _NEVER_FIRST or letters in (word[0] for word in phrase):
            continue
        if not _SPELLED_OUT.search(long) or len(long) <= len(letters) or not is_balanced(long):
            continue
        cost = _explain(letters, [word[0] for word in phrase], [_starts_token(folded, word) for word in phrase])
        if cost is not None and _plausible(cost, long, phrase):
            yield LongForm(*cost, words=count, start=start, end=len(candidate))


def _explain(letters: str, words: Sequence[str], starts: Sequence[bool]) -> tuple[int, int, int] | None:
    """Align the letters with the words, in order, in the cheapest way: of each word the initial first.

    The tail of a word may give letters without its initial ("alanine aminotransferase", ALT), which counts as a
    skipped word though not as a skipped token.

    Returns:
        ``(skipped tokens, skipped words, unmatched)``, see :class:`LongForm`; ``None`` when letters are left over.
    """
    best = {0: (0, 0, 0)}
    for place, (word, starts_token) in enumerate(zip(words, starts, strict=True)):
        after: dict[int, tuple[int, int, int]] = {}
        for used, (tokens, skipped, unmatched) in best.items():
            rest = letters[used:]
            whole = _count_matched(rest, word) if rest[:1] == word[0] else 0
            options = [(used + matched, (tokens, skipped, unmatched - 1)) for matched in range(1, whole + 1)]
            if place > 0:
                idle = (tokens, skipped, unmatched + 1)
                options.append(
                    (used, idle if word in _SKIPPABLE else (tokens + starts_token, skipped + 1, unmatched))
                )
                tail = _count_matched(rest, word[1:])
                options += [(used + matched, (tokens, skipped + 1, unmatched)) for matched in range(1, tail + 1)]
            for used_then, cost in options:
                after[used_then] = min(after.get(used_then, cost), cost)
        best = after
    return best.get(len(letters))


def _count_matched(letters: str, word: str) -> int:
    """Count the letters, from the first on, that the word holds in order."""
    matched, place = 0, 0
    for letter in letters:
        place = word.find(letter, place) + 1
        if place == 0:
            break
        matched += 1
    return matched


def _plausible(cost: tuple[int, int, int], long: str, phrase: Sequence[re.Match[str]]) -> bool:
    """Whether few enough words of a long form are skipped."""
    tokens, skipped, unmatched = cost
    if skipped == 0:
        return True
    if _LIST.search(long):
        return False
    if tokens == 0:
        return len(phrase) > 1
    return tokens <= -unmatched if unmatched < -1 else {word[0] for word in phrase[1:]} <= _GENERIC | _SKIPPABLE


def _starts_token(text: str, word: re.Match[str]) -> bool:
    return word.start() == 0 or text[word.start() - 1].isspace()


def _fold(text: str) -> str:
    """Lower-case character by character, so that offsets stay."""
    lowered = "".join(low if len(low := char.lower()) == 1 else char for char in text)
    return lowered.translate(_GREEK)
