"""Context of a mention: negated, hypothetical, historical, or of a relative.

The rules of English are in ``data/context_rules.tsv``, those of other languages among the clinical words of their
:class:`~nymlink.text.languages.LanguageRules`. Each has a flag (``negated``, ``family``, ``hypothetical``,
``historical``), the place of the mentions (``after`` the phrase, ``next``: directly after it, or ``before`` it),
the phrases, and a reason. A phrase with the flag ``ending`` ends the reach of phrases before it: with ``negated``,
of denials only; with ``clause``, of all but those of relatives; with ``subject`` or ``verb``, only after a
mention, a comma or "and". A phrase with the flag ``nothing`` has no effect, and hides the shorter phrases within
it. In forms, the word after a finding is its value: "Seizures: No".

After Harkema et al., "ConText: an algorithm for determining negation, experiencer, and temporal status from
clinical reports", Journal of Biomedical Informatics 42 (2009).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, groupby
from pathlib import Path
from typing import Final, Literal, NamedTuple, cast
from unicodedata import normalize

from nymlink.corpus.documents import Mention
from nymlink.linking.link import FLAGS, Context
from nymlink.text.aligned_text import CELL_END, LINE_END, mark_lines
from nymlink.text.languages import recognise_language, rules_of
from nymlink.text.word_tables import read_rows, split_cell

_TABLE: Final = Path(__file__).parent / "data" / "context_rules.tsv"

Direction = Literal["after", "next", "before", "clause", "negated", "subject", "verb", ""]


class Rule(NamedTuple):
    """A phrase that sets a flag of mentions.

    Attributes:
        words: words of the phrase, in lower case.
        flag: the flag; ``ending`` and ``nothing`` for phrases that set none.
        direction: place of the mentions; for an ending, what it ends.
    """

    words: tuple[str, ...]
    flag: str
    direction: Direction


_SENTENCE_END: Final = re.compile(
    rf"(?:(?<=[^A-Z\s][.!?])|(?<=[A-Z]{{2}}[.!?]))[\"'”’)\]]*\s+(?=[(\[\"'“‘¿¡«]?[A-ZÀ-ÖØ-ÞŒ0-9])|{LINE_END}"
)
_COMPOUND: Final = re.compile(r"\w[-‐‑]\Z")
_NO: Final = "no|none|nil|not? present|absent|negative|neg|denied|denies|never|false|n"
_YES: Final = "yes|present|positive|pos|true|y"
_MARK: Final = re.compile(r"(?:(?P<no>[(\[]\s?[-–−]?\s?[)\]]|[☐✗✘])|(?P<yes>[(\[]\s?[+xX✓]\s?[)\]]|[☑☒✓✔]))\s?$")
"""Value before a finding in a form: "(-) cough", "[x] ataxia"."""


class _Cues:
    """The phrases of a language, and what its forms and clauses are made of.

    Attributes:
        rules: rules by the first word of their phrases, the longest first.
        word: matches a word or a sign.
        value: matches the value after a finding in a form: "cough: no", "cough (-)".
        joining: matches "and".
        dividing: matches what divides a denied finding from the verb of the next clause.
    """

    def __init__(
        self, rows: Iterable[Mapping[str, str]], word: str, no: str, yes: str, conjunctions: Sequence[str]
    ) -> None:
        rules: defaultdict[str, list[Rule]] = defaultdict(list)
        for row in rows:
            for phrase in split_cell(row["words"]):
                words = tuple(phrase.split(" "))
                rules[words[0]].append(Rule(words, row["kind"], cast(Direction, row["direction"])))
        self.rules = {first: tuple(sorted(own, key=lambda rule: -len(rule.words))) for first, own in rules.items()}
        self.word = re.compile(rf"{word}|[;:)]")
        self.value = re.compile(
            rf"[ \xa0]{{0,4}}(?:[:={CELL_END}(]|[-–—](?=\s)|(?<=[ \xa0]))[ \xa0]{{0,4}}"
            rf"(?:(?P<no>{no})|(?P<yes>{yes}))"
            rf"(?=\s?(?:$|[,;.)(/{CELL_END}{LINE_END}]))"
            rf"|\s?[(\[]\s?(?:(?P<minus>[-–−])|\+)\s?[)\]](?=\s?(?:$|[,;.{LINE_END}]))",
            re.IGNORECASE,
        )
        self.joining = re.compile(rf"\b(?:{conjunctions[0]})\b")
        self.dividing = re.compile(rf",|\b(?:{'|'.join(conjunctions)})\b")


@cache
def _cues_of(language: str | None) -> _Cues:
    """Read the phrases of a language: its own, or those of English."""
    rows = rules_of(language).clinical_words()
    if not rows:
        english = [{**row, "kind": row["flag"]} for row in read_rows(_TABLE)]
        return _Cues(english, r"[^\W_]+(?:['’][^\W_]+)?", _NO, _YES, ("and", "or"))

    def alternatives(kind: str) -> list[str]:
        cells = [row["words"] for row in rows if row["kind"] == kind]
        return ["|".join(map(re.escape, split_cell(cell) + split_cell(normalize("NFD", cell)))) for cell in cells]

    phrases = [row for row in rows if row["kind"] in (*FLAGS, ENDING, NOTHING)]
    no, yes = ("|".join(alternatives(kind)) or "[-+]" for kind in ("no", "yes"))
    # An elided word is a word of its own: "pas d'œdème". Marks may be characters of their own.
    return _Cues(phrases, r"[^\W_](?:[^\W_]|[\u0300-\u036f])*['’]?", no, yes, alternatives("conjunction") or ["&"])


_LONGEST_VALUE: Final = 30
_LONGEST_MARK: Final = 6

_REACH: Final = 12
"""Largest distance in words from a phrase to a mention."""

_NEAREST: Final = 5
"""Largest number of words from a denial to the first mention after it; a denial with a larger distance denies a
verb."""

ENDING: Final = "ending"
NOTHING: Final = "nothing"


class _Found(NamedTuple):
    """A phrase in a sentence: its first word, one past its last, and its rule."""

    first: int
    last: int
    rule: Rule


def contexts_of(
    text: str, mentions: Sequence[Mention], flags: Collection[str] = FLAGS, language: str | None = None
) -> list[Context]:
    """Read the context of mentions from their sentences.

    A phrase ("no", "mother", "if") sets its flag for the mentions on its side of the sentence, up to twelve words
    away and up to an ending ("but"). Of nested phrases the longest counts; phrases within a mention ("absent
    speech") do not count.

    Args:
        text: text of a document.
        mentions: its mentions; those without offsets get no context.
        flags: flags to read, of :data:`~nymlink.linking.link.FLAGS`.
        language: code of the language of the text; ``None`` if unknown. A language without phrases has those of
            English.
    """
    cues = _cues_of(None if language is None else recognise_language("", language))
    contexts = [Context()] * len(mentions)
    text = mark_lines(text)
    located = [
        (mention.start, mention.end, place)
        for place, mention in enumerate(mentions)
        if mention.start is not None and mention.end is not None
    ]
    located.sort()
    begins = [first for first, _, _ in located]
    for start, end in _sentences(text, begins):
        inside = located[bisect_left(begins, start) : bisect_left(begins, end)]
        values = {place: _value(text, begin, stop, cues) for begin, stop, place in inside}
        taken = [(begin, stop) for begin, stop, _ in inside] + [found.span for found in values.values() if found]
        sentence = _Sentence(text, start, end, taken, cues)
        for begin, stop, place in inside:
            said = sentence.said_of(begin, stop, flags)
            value = values[place]
            if value is not None and "negated" in flags:
                said.pop("negated", None)
                if value.denies:
                    said["negated"] = text[slice(*value.span)].strip(f" :={CELL_END}")
            if said:
                contexts[place] = Context(**said)
    return contexts


class _Value(NamedTuple):
    """The value of a finding in a form: whether it denies the finding, and its span."""

    denies: bool
    span: tuple[int, int]


def _value(text: str, begin: int, stop: int, cues: _Cues) -> _Value | None:
    """Read the value after or before a mention; ``None`` if there is none."""
    found = cues.value.match(text, stop, stop + _LONGEST_VALUE)
    if found is None:
        found = _MARK.search(text, max(begin - _LONGEST_MARK, 0), begin)
    if found is None:
        return None
    values = found.groupdict()
    return _Value(any(values.get(group) is not None for group in ("no", "minus")), found.span())


class _Sentence:
    """The phrases of a sentence.

    Args:
        text: text of the document.
        start: offset of the first character of the sentence.
        end: offset one past its last character.
        taken: spans whose words set no flags of other mentions: mentions, and values of forms.
        cues: phrases of the language.
    """

    def __init__(self, text: str, start: int, end: int, taken: Sequence[tuple[int, int]], cues: _Cues) -> None:
        self._text = text
        self._cues = cues
        matches = list(cues.word.finditer(text, start, end))
        words = [normalize("NFC", match[0].lower()).replace("’", "'") for match in matches]
        self._begins = [match.start() for match in matches]
        self._ends = [match.end() for match in matches]
        self._taken = sorted(taken)
        self._starts_of_taken = [begin for begin, _ in self._taken]
        self._last_taken = list(accumulate((stop for _, stop in self._taken), max))
        found = [phrase for phrase in _phrases(words, cues) if not self._is_taken(phrase)]
        self._found = [phrase for phrase in found if phrase.rule.flag != ENDING]
        self._firsts = [phrase.first for phrase in self._found]
        self._longest = max((phrase.last - phrase.first for phrase in self._found), default=0)
        self._endings = [phrase for phrase in found if phrase.rule.flag == ENDING]
        self._first_endings = [phrase.first for phrase in self._endings]

    def said_of(self, begin: int, stop: int, flags: Collection[str]) -> dict[str, str]:
        """Collect the flags of a mention: flag → the phrase that sets it."""
        said: dict[str, str] = {}
        if not self._found:
            return said
        first, last = bisect_left(self._begins, begin), bisect_left(self._begins, stop)
        near = slice(
            bisect_left(self._firsts, first - _REACH - self._longest), bisect_right(self._firsts, last + _REACH)
        )
        for phrase in self._found[near]:
            flag = phrase.rule.flag
            if flag in flags and flag not in said and self._reaches(phrase, first, last):
                said[flag] = self._text[self._begins[phrase.first] : self._ends[phrase.last - 1]]
        return said

    def _is_taken(self, phrase: _Found) -> bool:
        """Whether a phrase lies within a mention or a value, or denies the word before its hyphen."""
        start, end = self._begins[phrase.first], self._ends[phrase.last - 1]
        if phrase.rule.flag == "negated" and _COMPOUND.search(self._text, max(start - 2, 0), start):
            # "HER2-negative".
            return True
        before = bisect_right(self._starts_of_taken, start)
        return before > 0 and self._last_taken[before - 1] >= end

    def _reaches(self, phrase: _Found, first: int, last: int) -> bool:
        """Whether a phrase reaches the mention of the words from ``first`` to ``last``."""
        direction = phrase.rule.direction
        if direction == "before":
            between = range(last, phrase.first)
            reaches = last <= phrase.first
        else:
            between = range(phrase.last, first)
            reaches = phrase.last <= first
        if not reaches or len(between) > (0 if direction == "next" else _REACH):
            return False
        if direction == "after" and phrase.rule.flag == "negated" and self._words_to_mention(phrase) > _NEAREST:
            return False
        places = [bisect_left(self._first_endings, place) for place in (between.start, between.stop)]
        return not any(self._ends_phrase(ending, phrase, first) for ending in self._endings[slice(*places)])

    def _words_to_mention(self, phrase: _Found) -> int:
        """Count the words between a phrase and the next mention."""
        end = self._ends[phrase.last - 1]
        place = bisect_left(self._starts_of_taken, end)
        return bisect_left(self._begins, self._starts_of_taken[place]) - phrase.last

    def _ends_phrase(self, ending: _Found, phrase: _Found, mention: int) -> bool:
        """Whether an ending between a phrase and a mention ends the reach of the phrase.

        Args:
            ending: the ending.
            phrase: the phrase.
            mention: first word of the mention.
        """
        kind = ending.rule.direction
        if kind == "clause":
            return phrase.rule.flag != "family"
        if not kind or kind == phrase.rule.flag:
            return True
        if kind == "negated":
            return False
        if phrase.rule.direction == "before":
            return False
        start, end = self._ends[phrase.last - 1], self._begins[ending.first]
        if kind == "verb" and phrase.rule.flag == "family":
            # "His mother, aged 40, has ataxia", but "child of consanguineous cousins and has ataxia".
            return self._cues.joining.search(self._text, start, end) is not None
        if kind == "verb" and self._cues.joining.search(
            self._text, self._ends[ending.last - 1], self._begins[mention]
        ):
            return True
        among = bisect_left(self._starts_of_taken, start) < bisect_left(self._starts_of_taken, end)
        return among or self._cues.dividing.search(self._text, start, end) is not None


def _sentences(text: str, begins: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the sentences that contain one of the given offsets, which are in order."""
    if not begins:
        return
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        place = bisect_left(begins, start)
        if place < len(begins) and begins[place] < end:
            yield start, end


def _phrases(words: Sequence[str], cues: _Cues) -> list[_Found]:
    """List the phrases of rules among words, in order, without those within a longer one."""
    found = [
        _Found(place, place + len(rule.words), rule)
        for place, word in enumerate(words)
        if word in cues.rules
        for rule in cues.rules[word]
        if tuple(words[place : place + len(rule.words)]) == rule.words
    ]
    kept: list[_Found] = []
    reached = 0
    for _, group in groupby(found, key=lambda phrase: phrase.first):
        together = list(group)
        last = max(phrase.last for phrase in together)
        if last > reached:
            kept += (phrase for phrase in together if phrase.last == last)
            reached = last
    return kept


_BREAK: Final = re.compile(r"(?<=[.!?])\s+(?=[^\sa-z])|\n+")
"""Matches breaks between sentences, in nearly all cases."""


def sentence(text: str, mention: Mention) -> str:
    """Return the sentence around a mention on one line. If the offsets are unknown, return the whole text."""
    start, end = (0, len(text)) if mention.start is None or mention.end is None else (mention.start, mention.end)
    breaks = [match.span() for match in _BREAK.finditer(text)]
    left = max((after for _, after in breaks if after <= start), default=0)
    right = min((before for before, _ in breaks if before >= end), default=len(text))
    return " ".join(text[left:right].split())
