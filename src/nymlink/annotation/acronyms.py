"""Choose the concepts of abbreviations that a text does not define.

Other findings of the text select a meaning ("PDA, ASD and VSD" are three heart defects). Without such findings,
the usual meaning in clinical notes counts.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from nymlink.annotation.annotator_settings import LEVELS
from nymlink.annotation.lexicon import Lexicon
from nymlink.annotation.name_choice import Choice, is_acronym
from nymlink.annotation.name_table import Level, NameTable
from nymlink.annotation.tokens import MASK, tokens_of_name
from nymlink.annotation.windows import Hit, Spans
from nymlink.core.store.arrays import Bools
from nymlink.text.normalise import normalise
from nymlink.vocabulary.vocabulary import Vocabulary

_NEAR: Final = 300
"""Largest distance in characters to findings that select a meaning."""
_FEW: Final = 4
"""Number of further meanings that halves the confidence."""
_OTHER: Final = 0.2
"""Factor for an abbreviation in the place of a gene or a cell line: "AGS cells"."""
_WORD: Final = 0.5
"""Factor for an abbreviation with the spelling of an ordinary word: "ARM"."""
_SHORTEST: Final = 3
"""Number of letters from which an abbreviation needs no findings beside it."""
_BESIDE: Final = 60
"""Largest distance in characters to a finding beside a shorter abbreviation."""
_ABBREVIATION: Final = re.compile(r"\b[A-Z][A-Z0-9/]{1,6}\b")
_BEFORE: Final = re.compile(r"([^\W\d_]+)\W*$")
_AFTER: Final = re.compile(r"\W{0,2}([^\W\d_]+)")


_MOST_NEAR: Final = 20
"""Most findings considered beside an abbreviation."""


class _Beside:
    """The hits of a text in order, to find those near an offset."""

    def __init__(self, hits: Iterable[Hit]) -> None:
        self._hits = sorted(hits)
        self._starts = [hit.start for hit in self._hits]

    def within(self, offset: int, distance: int) -> Iterator[Hit]:
        """Yield the hits that start near an offset, at most 20."""
        first = bisect_left(self._starts, offset - distance)
        last = bisect_right(self._starts, offset + distance)
        return islice(self._hits, first, min(last, first + _MOST_NEAR))


class Acronyms:
    """Chooses the concepts of abbreviations.

    Args:
        vocabulary: the vocabulary.
        table: digests of its names.
        lexicon: their words.
        allowed: bool (N): names that may be chosen; ``None`` for all.
    """

    def __init__(
        self, vocabulary: Vocabulary, table: NameTable, lexicon: Lexicon, allowed: Bools | None = None
    ) -> None:
        self._allowed = allowed
        self._vocabulary = vocabulary
        self._table = table
        self._lexicon = lexicon
        self._ancestors: dict[str, frozenset[str]] = {}

    def settle(self, text: str, hits: Sequence[Hit]) -> list[Hit]:
        """Choose the concepts of abbreviations, lower doubtful confidences, and remove ordinary words."""
        beside = _Beside(hits)
        return [settled for hit in hits if (settled := self._settled(text, hit, beside)) is not None]

    def find(self, text: str, hits: Sequence[Hit], defined: Collection[str]) -> Iterator[Hit]:
        """Yield abbreviations of clinical notes that are not names of the vocabulary: "HTN", "T2DM".

        Args:
            text: a text.
            hits: names that were found in it; abbreviations do not overlap them.
            defined: short forms that the text defines, which are left out.
        """
        taken, beside = Spans(hits), _Beside(hits)
        for match in _ABBREVIATION.finditer(text):
            meanings = self._lexicon.rules.meanings(match[0])
            if not meanings or match[0] in defined:
                continue
            row = next((row for name in meanings[0] if (row := self._row_of(name)) is not None), None)
            if row is None:
                continue
            near = next(beside.within(match.start(), _BESIDE), None) is not None
            confidence = LEVELS[Level.EXACT] * _FEW / (_FEW + len(meanings) - 1)
            if len(match[0]) < _SHORTEST:
                confidence *= _WORD if near else _OTHER
            hit = Hit(match.start(), match.end(), 1, Choice(row, Level.EXACT, confidence))
            if not taken.overlap(hit):
                yield hit

    def _row_of(self, name: str) -> int | None:
        """Find the row of a name with these words; ``None`` for none."""
        tokens = tokens_of_name(name, self._lexicon.find, conjunction=self._lexicon.conjunction)
        digest = sum(token.word.exact for token in tokens) & MASK
        found = [row for level, row in self._table.find(digest) if level == Level.EXACT]
        allowed = (row for row in found if self._allowed is None or self._allowed[row])
        return next(allowed, None)

    def _settled(self, text: str, hit: Hit, beside: _Beside) -> Hit | None:
        written = text[hit.start : hit.end]
        if hit.words != 1 or not is_acronym(self._vocabulary.name(hit.choice.row).text):
            return hit
        before, after = _BEFORE.search(text, max(0, hit.start - 40), hit.start), _AFTER.match(text, hit.end)
        around = [match[1] for match in (before, after) if match is not None]
        rules = self._lexicon.rules
        if (
            around
            and all(word.isupper() and len(word) > 1 for word in around)
            and rules.is_ordinary(written.lower())
        ):
            return None
        meanings = self._meanings(written)
        rows = [row for row in meanings.values() if row != hit.choice.row]
        factor = 1.0
        row = hit.choice.row
        if rows:
            near = [other for other in beside.within(hit.start, _NEAR) if other is not hit]
            spoken = self._spoken_for(meanings, near)
            usual = spoken or self._usual(written, meanings)
            row = meanings[usual] if usual is not None else row
            factor = 1.0 if spoken is not None else _FEW / (_FEW + len(meanings) - 1)
        if rules.is_ordinary(written.lower()) and not rules.is_clinical(written.lower()):
            factor *= _WORD
        if after is not None and rules.is_beside_gene(after[1].lower()):
            factor *= _OTHER
        return hit._replace(choice=Choice(row, hit.choice.level, hit.choice.confidence * factor))

    def _meanings(self, written: str) -> dict[str, int]:
        """Find the concepts that have an abbreviation as a name: concept id → row of that name."""
        found: dict[str, int] = {}
        for form in dict.fromkeys((written, written.removesuffix("s"))):
            for level, row in self._table.find(self._lexicon.find(form).exact & MASK):
                if self._allowed is not None and not self._allowed[row]:
                    continue
                name = self._vocabulary.name(row)
                if level == Level.EXACT and name.text.replace("-", "") == form.replace("-", ""):
                    found.setdefault(name.concept_id, row)
        return found

    def _spoken_for(self, meanings: dict[str, int], near: Sequence[Hit]) -> str | None:
        """Find the single concept that shares most ancestors with nearby findings; ``None`` for none."""
        rows = {other.choice.row for other in near}
        beside = [self._vocabulary.name(row).concept_id for row in rows]
        votes = Counter[str]()
        for concept in meanings:
            own = self._above(concept)
            others = [self._above(other) for other in beside if other not in meanings]
            votes[concept] = sum(len(own & other) for other in others)
        (first, most), *rest = votes.most_common()
        return first if most > 0 and (not rest or rest[0][1] < most) else None

    def _above(self, concept: str) -> frozenset[str]:
        if concept not in self._ancestors:
            self._ancestors[concept] = frozenset(self._vocabulary.ancestors(concept))
        return self._ancestors[concept]

    def _usual(self, written: str, meanings: dict[str, int]) -> str | None:
        """Find the concept of the most frequent meaning in clinical notes; ``None`` for none."""
        usual = {normalise(name) for name in next(iter(self._lexicon.rules.meanings(written)), ())}
        return next((concept for concept in meanings if usual & set(self._names(concept))), None)

    def _names(self, concept: str) -> Iterator[str]:
        return (normalise(name.text) for name in self._vocabulary.names(concept))
