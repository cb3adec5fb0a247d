"""Find concepts with similar names, among those that share no name with a concept of the other vocabulary."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from nymlink.index.hits import NONE, Rows
from nymlink.index.index import Index
from nymlink.linking.matching.names import RELIABILITY, KnownName, Pair, are_comparable
from nymlink.text.contradictions import contradiction

_NEAREST: Final = 5
"""Number of concepts that are compared for each name."""

_LEAST: Final = 0.45
"""Smallest similarity of a pair."""


@dataclass(frozen=True, slots=True)
class Similar:
    """Two concepts with similar names, each the most similar one to the other.

    Attributes:
        names: the most similar names, one of each concept.
        score: their similarity, 0 to 1.
        lead: lead of the similarity over that of the next concept, of either side.
        parts: the score of each search.
        contradiction: how the names contradict each other, or ``None``.
    """

    names: tuple[KnownName, KnownName]
    score: float
    lead: float
    parts: Mapping[str, float]
    contradiction: str | None = None


def similar_names(
    names: Iterable[KnownName],
    index: Index,
    rows: Rows,
    others: Collection[KnownName],
    *,
    common: Collection[str],
    same: bool = False,
) -> dict[Pair, Similar]:
    """Find pairs of concepts whose names are the most similar for both.

    Args:
        names: names of the concepts to match.
        index: an index of the second vocabulary, or of the part of it that is to be found.
        rows: int (N): for each name row of the index, the name row of the second vocabulary.
        others: the names of the second vocabulary that may be found.
        common: languages of both vocabularies; names in other languages are compared if it is empty.
        same: whether both vocabularies are one.

    Returns:
        Pair → similarity. Without ``same``, a concept is in one pair at most.
    """
    best = _nearest(list(names), index, rows, others, common=common, same=same)
    further = defaultdict[int, list[str]](list)
    for name in others:
        further[name.concept].append(name.prepared)
    first, second = _by_similarity(best, 0), _by_similarity(best, 1)
    found = {}
    for pair, each in best.items():
        if same and pair[0] > pair[1] and best.get((pair[1], pair[0])) is not None:
            continue
        leads = [_lead(ranked, pair) for ranked in (first[pair[0]], second[pair[1]])]
        if min(leads) < 0:
            continue
        query, name = each.names
        language = None if query.lang == "und" else query.lang
        found[pair] = replace(
            each,
            lead=min(leads),
            contradiction=_say(contradiction(query.prepared, name.prepared, further[pair[1]], language=language)),
        )
    return found


def _nearest(
    names: list[KnownName],
    index: Index,
    rows: Rows,
    others: Collection[KnownName],
    *,
    common: Collection[str],
    same: bool,
) -> dict[Pair, Similar]:
    """Find the nearest concepts of each name, and keep the most similar names of each pair of concepts."""
    by_row = {name.row: name for name in others}
    matches = index.match([name.prepared for name in names], _NEAREST + same)
    best: dict[Pair, Similar] = {}
    columns = (matches.names.tolist(), matches.scores.astype(float).round(6).tolist())
    for place, (name, found, scores) in enumerate(zip(names, *columns, strict=True)):
        for rank, (row, score) in enumerate(zip(found, scores, strict=True)):
            other = None if row == NONE or score < _LEAST else by_row.get(rows[row])
            if other is None:
                continue
            pair = (name.concept, other.concept)
            known = best.get(pair)
            if (
                other.kind not in RELIABILITY
                or (same and pair[0] == pair[1])
                or not are_comparable(name.lang, other.lang, common)
                or (known is not None and known.score >= score)
            ):
                continue
            parts = {search: round(float(values[place, rank]), 6) for search, values in matches.parts.items()}
            best[pair] = Similar((name, other), score, 0.0, parts)
    return best


def _by_similarity(best: Mapping[Pair, Similar], side: int) -> dict[int, list[tuple[float, Pair]]]:
    ranked = defaultdict[int, list[tuple[float, Pair]]](list)
    for pair, each in best.items():
        ranked[pair[side]].append((each.score, pair))
    for pairs in ranked.values():
        pairs.sort(key=lambda pair: (-pair[0], pair[1]))
    return ranked


def _lead(ranked: list[tuple[float, Pair]], pair: Pair) -> float:
    """Return the lead of a pair over the next one; below 0 if another pair is before it."""
    if ranked[0][1] != pair:
        return -1.0
    return ranked[0][0] - (ranked[1][0] if len(ranked) > 1 else 0.0)


def _say(found: object) -> str | None:
    return None if found is None else str(found)
