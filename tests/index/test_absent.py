"""Entries that are taken for absent, and matches that are changed after they were found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.index.entries.entries import Entries
from nymlink.index.fusion import HybridSearch
from nymlink.index.hits import NONE
from nymlink.index.index import Index
from nymlink.index.walk import Matches, match, match_with_hits
from tests.index.fixed import FixedSearch
from tests.index.small import many_names, vocabulary
from tests.index.test_walk import CONCEPTS


def lines(matches: Matches) -> list[list[tuple[float, ...]]]:
    arrays = (matches.concepts, matches.names, matches.scores, *matches.parts.values())
    return [
        list(zip(*(values[place].tolist() for values in arrays), strict=True))
        for place in range(len(matches.concepts))
    ]


@given(concepts=CONCEPTS, k=st.integers(1, 7), data=st.data())
def test_it_is_as_if_the_search_did_not_find_them(
    concepts: dict[str, list[tuple[str, str]]], k: int, data: st.DataObject
) -> None:
    built = vocabulary(concepts)
    known, owners = Entries.of(built), built.columns.names["concept"].to_numpy()
    rows = st.integers(0, len(known) - 1)
    tables = {query: data.draw(st.dictionaries(rows, st.integers(-4, 8).map(float))) for query in ("p", "q")}
    absent = [data.draw(st.sets(rows)) for _ in tables]
    left = {
        query: {row: score for row, score in table.items() if row not in gone}
        for (query, table), gone in zip(tables.items(), absent, strict=True)
    }
    search, less = (HybridSearch({"only": FixedSearch(each)}, {"only": 1}) for each in (tables, left))
    found, hits = match_with_hits(search, known, owners, list(tables), k, without=absent)
    expected = match(less, known, owners, list(tables), k)
    assert lines(found) == lines(expected)
    for own, gone, table in zip(hits.hits.rows.tolist(), absent, left.values(), strict=True):
        there = [row for row in own if row != NONE]
        assert not gone & set(there)
        assert there == sorted(table, key=lambda row: (-table[row], row))
    # None absent is none given.
    whole, _ = match_with_hits(search, known, owners, list(tables), k)
    same, _ = match_with_hits(search, known, owners, list(tables), k, without=[[], []])
    assert lines(whole) == lines(same) == lines(match(search, known, owners, list(tables), k))


def test_it_looks_deeper_where_many_are_absent() -> None:
    names = many_names(300, seed=2)
    index = Index.build(vocabulary({f"X:{number}": [name] for number, name in enumerate(names)}), encoder=None)
    nearest = index.match([names[0]], 200).concepts[0].tolist()
    absent = index.entries_of([row for row in nearest[:150] if row != NONE])
    found, _ = index.match_with_hits([names[0]], 20, without=[absent])
    assert found.concepts[0].tolist() == nearest[150:170]


def test_entries_of_concepts_are_those_that_name_them() -> None:
    names = vocabulary({"X:1": ["a", "b"], "X:2": ["b", "c"], "X:3": ["d"]})
    index = Index.build(names, encoder=None)
    for wanted in ([], [0], [1], [0, 1], [2], [0, 1, 2]):
        expected = [row for row in range(len(index.entries)) if index.concepts_of(row) & set(wanted)]
        assert sorted(index.entries_of(wanted)) == expected


ROWS = st.lists(st.integers(0, 12), unique=True, max_size=6)


def matches(rows: list[int], width: int) -> Matches:
    """Matches of one query: concept r has name 100 + r and score r / 10."""
    padded = rows[:width] + [NONE] * (width - len(rows[:width]))
    scores = np.array([[0 if row == NONE else row / 10 for row in padded]], np.float32)
    names = np.array([[NONE if row == NONE else 100 + row for row in padded]], np.int32)
    return Matches(np.array([padded], np.int32), names, scores, {"only": scores})


@given(ROWS, ROWS, st.integers(1, 5), st.integers(5, 9))
def test_deeper_matches_follow_and_none_comes_twice(
    own: list[int], deeper: list[int], width: int, depth: int
) -> None:
    found = matches(own, width).extended(matches(deeper, depth))
    first = own[:width]
    expected = [*first, *(row for row in deeper[:depth] if row not in first)]
    assert lines(found) == lines(matches(expected, depth))


def test_they_are_cut_and_put_into_another_order() -> None:
    found = matches([3, 1, 2], 4)
    assert lines(found.cut(2)) == lines(matches([3, 1], 2))
    assert lines(found.reordered(np.array([[2, 0, 1, 3]]))) == lines(matches([2, 3, 1], 4))


@pytest.mark.parametrize("surface", ["MI", "Mi"])
def test_what_is_written_as_the_mention_is_first_with_the_hits_too(surface: str) -> None:
    index = Index.build(vocabulary({"X:1": ["Mi"], "X:2": ["MI"]}), encoder=None)
    found, hits = index.match_with_hits(["mi"], 2, surfaces=[surface])
    assert np.array_equal(found.concepts, index.match(["mi"], 2, surfaces=[surface]).concepts)
    assert hits.hits.rows[0, 0] == index.entries.find("mi")
