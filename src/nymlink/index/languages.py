"""Names in several languages: those of a language that only some concepts have names in count less.

A name in the language of a mention is nearer than the names of the right concept in other languages, whatever it
means. So if only half of the concepts have Spanish names, Spanish mentions of the other half find wrong Spanish
names. The score of names in such a language is therefore lowered, unless they are spelt nearly like the mention.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import log
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import numpy as np

from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.encode.model.folder import XL_MINI
from nymlink.index.entries.entries import Entries
from nymlink.index.fusion import EXACT_MATCH, WEIGHTED, HybridSearch, ScoredHits, look_up
from nymlink.index.hits import NONE, Rows, Scores, best
from nymlink.text.contradictions import contradiction
from nymlink.text.normalise import fold
from nymlink.text.spelling import is_slip, may_be_misspelt

if TYPE_CHECKING:
    from nymlink.index.index import Index

_LESS: Final = 0.2
"""Deduction from the score of a name in a language that half of the concepts, or fewer, have names in."""

_LESS_OF: Final = {XL_MINI: 0.4}
"""The same for encoders that put names of one language near each other. Both were chosen on names of HPO, see
docs/evidence/xl_mini.md."""

_ODDS: Final = 30.0
"""Log-odds of being right that a name gains with each unit of its score, in the same measurement.

The more concepts have a name in the language of a mention, the more likely has the right one. The log-odds of this
share reduce the deduction.
"""

_SAME_START: Final = 0.7
"""Words with this share of equal letters at the beginning count as forms of one word."""

_KANA: Final = re.compile("[\u3041-\u309f\u30fc]")
"""Hiragana and the sign of a long vowel: particles and endings, which Japanese writers leave out or vary."""

_FEWEST: Final = 3
"""Fewest letters of a name that are left without kana."""


class LanguageSearch:
    """Searches names in all languages, and lowers the scores of names in languages with few names.

    It searches twice, because names in the language of the mention may leave no place for others: all names, and
    the names whose score is not lowered.

    Args:
        whole: the search of all entries.
        undeducted: the search of the entries without a deduction.
        entries: E entries.
        deductions: float32 (E): what is deducted from the score of each entry.
    """

    def __init__(
        self, whole: HybridSearch, undeducted: HybridSearch, entries: Entries, deductions: Scores
    ) -> None:
        self._whole = whole
        self._undeducted = undeducted
        self._entries = entries
        self.deductions = deductions

    @classmethod
    def of(cls, index: Index) -> LanguageSearch | None:
        """Make the search of an index; ``None`` if no score is lowered.

        Only the weighted mean has scores that can be lowered.
        """
        if index.fusion.method != WEIGHTED:
            return None
        deductions = index.once(deductions_of_entries)
        if not deductions.any():
            return None
        free = (deductions == 0) & index.entries.named
        parts = {
            name: part.restricted(free) if name != EXACT_MATCH else part  # type: ignore[attr-defined]
            for name, part in index.search.parts.items()
        }
        return cls(index.search, index.fusion.join(parts), index.entries, deductions)

    def search(self, queries: Sequence[str], k: int) -> ScoredHits:
        """Find the k best entries of each query; see :meth:`nymlink.index.fusion.HybridSearch.search`."""
        found = [search.search(queries, k) for search in (self._whole, self._undeducted)]
        rows = [each.hits.rows for each in found]
        _, twice = look_up(rows[0], found[0].hits.scores, rows[1])
        joined = np.concatenate([rows[0], np.where(twice, np.int32(NONE), rows[1])], axis=1)
        scores = np.concatenate([each.hits.scores for each in found], axis=1)
        parts = {name: np.concatenate([each.parts[name] for each in found], axis=1) for name in found[0].parts}
        hits = best(joined, self._lowered(queries, joined, scores, parts[EXACT_MATCH]), k)
        return ScoredHits(hits, {name: look_up(joined, own, hits.rows)[0] for name, own in parts.items()})

    def _lowered(self, queries: Sequence[str], rows: Rows, scores: Scores, exact: Scores) -> Scores:
        deducted = np.where((rows == NONE) | (exact == 1), np.float32(0), self.deductions[rows])
        known: dict[int, str] = {}
        for query, place in np.argwhere(deducted > 0).tolist():
            row = int(rows[query, place])
            if row not in known:
                known[row] = self._entries.text(row)
            if is_near(queries[query], known[row]):
                deducted[query, place] = 0
        return np.maximum(scores - deducted, np.minimum(scores, 0))


def deductions_of_entries(index: Index) -> Scores:
    """Compute what is deducted from the score of each entry: float32 (E).

    An entry that is also a name in a language with more names has the smaller deduction.
    """
    entries, languages = index.entries, index.vocabulary.columns.names["lang"].combine_chunks()
    labels = [str(label).split("-")[0] for label in languages.dictionary.to_pylist()]
    distinct = sorted(set(labels))
    if len(distinct) < 2:
        return np.zeros(len(entries), np.float32)
    code = np.array([distinct.index(label) for label in labels])[languages.indices.to_numpy()][entries.names]
    owners = index.owners[entries.names].astype(np.int64)
    named = np.unique(owners * len(distinct) + code) % len(distinct)
    shares = np.bincount(named, minlength=len(distinct)) / max(len(np.unique(owners)), 1)
    encoder = index.settings.get("encoder")
    less = _LESS if encoder is None else _LESS_OF.get(PurePath(str(encoder["name"])).name, _LESS)
    deducted = deductions_of(dict(zip(distinct, shares.tolist(), strict=True)), less)
    of_names = np.array([deducted[label] for label in distinct], np.float32)[code]
    deductions = np.full(len(entries), np.inf, np.float32)
    np.minimum.at(deductions, np.repeat(np.arange(len(entries)), np.diff(entries.offsets)), of_names)
    return np.where(np.isinf(deductions), np.float32(0), deductions)


def deductions_of(shares: Mapping[str, float], less: float = _LESS) -> dict[str, float]:
    """Compute what is deducted from the scores of names in each language.

    Nothing is deducted in the language with most names, or if the language of names is unknown.

    Args:
        shares: language → share of the concepts that have a name in it, 0 to 1.
        less: largest deduction.
    """
    known = {language: share for language, share in shares.items() if share > 0 and language != UNKNOWN_LANGUAGE}
    odds = {language: share / max(1 - share, 1e-6) for language, share in known.items()}
    deducted = {language: min(max(less - log(own) / _ODDS, 0), less) for language, own in odds.items()}
    least = min(deducted.values(), default=0)
    return {language: deducted.get(language, least) - least for language in shares}


def is_near(query: str, name: str) -> bool:
    """Whether a prepared query is spelt nearly like a prepared name: by slips, endings, and the order of words.

    Short words and words with digits must be the same, because they tell names apart ("tipo ii", "anti gad"). In
    scripts without capitals, only Japanese kana may differ.
    """
    if _KANA.search(query) or _KANA.search(name):
        query, name = _KANA.sub("", query), _KANA.sub("", name)
        return query == name and len(query) >= _FEWEST
    words, others = query.split(" "), name.split(" ")
    if len(words) != len(others):
        return False
    left = sorted(set(words).difference(others))
    right = sorted(set(others).difference(words))
    if len(left) != len(right) or not all(map(may_be_misspelt, (*left, *right))):
        return False
    for word in left:
        other = next((each for each in right if _is_like(word, each)), None)
        if other is None:
            return False
        right.remove(other)
    return contradiction(query, name) is None


def _is_like(word: str, other: str) -> bool:
    word, other = fold(word), fold(other)
    if word == other or is_slip(word, other):
        return True
    same = next(
        (place for place, (one, two) in enumerate(zip(word, other, strict=False)) if one != two),
        min(len(word), len(other)),
    )
    return same >= _SAME_START * max(len(word), len(other))
