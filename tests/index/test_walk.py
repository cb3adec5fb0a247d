"""The walk from entries to concepts, against plain loops."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.index.entries.entries import Entries
from nymlink.index.fusion import HybridSearch
from nymlink.index.hits import NONE
from nymlink.index.walk import equal_names, likeliest_name, match
from nymlink.text.normalise import normalise
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.index.fixed import FixedSearch
from tests.index.small import vocabulary


def naive_walk(
    built: Vocabulary, known: Entries, scores: Mapping[int, float], k: int
) -> list[tuple[str, str, float]]:
    """(concept, name that matched, score) of the k best concepts."""
    found: dict[str, tuple[str, str, float]] = {}
    for row in sorted(scores, key=lambda row: (-scores[row], row)):
        for name_row in known.names[known.offsets[row] : known.offsets[row + 1]].tolist():
            name = built.name(name_row)
            found.setdefault(name.concept_id, (name.concept_id, name.text, scores[row]))
    return list(found.values())[:k]


def walked(
    built: Vocabulary, tables: Mapping[str, Mapping[int, float]], k: int
) -> list[list[tuple[str, str, float]]]:
    known = Entries.of(built)
    owners = built.columns.names["concept"].to_numpy()
    matches = match(HybridSearch({"only": FixedSearch(tables)}, {"only": 1}), known, owners, list(tables), k)
    assert matches.concepts.shape == matches.names.shape == matches.scores.shape == (len(tables), k)
    assert np.array_equal(matches.parts["only"], matches.scores)
    lines = []
    for concepts, names, scores in zip(
        matches.concepts.tolist(), matches.names.tolist(), matches.scores.tolist(), strict=True
    ):
        count = sum(concept != NONE for concept in concepts)
        padding = k - count
        assert (concepts[count:], names[count:], scores[count:]) == (
            [NONE] * padding,
            [NONE] * padding,
            [0] * padding,
        )
        assert [built.name(name).concept_id for name in names[:count]] == list(
            map(built.concept_id, concepts[:count])
        )
        lines.append(
            [
                (built.concept_id(concept), built.name(name).text, score)
                for concept, name, score in zip(concepts[:count], names[:count], scores[:count], strict=True)
            ]
        )
    return lines


NAME = st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["preferred", "exact", "related", "broad"]))
CONCEPTS = st.lists(st.lists(NAME, min_size=1, max_size=5), min_size=1, max_size=6).map(
    lambda names: {f"X:{number}": own for number, own in enumerate(names)}
)


@given(concepts=CONCEPTS, k=st.integers(1, 7), data=st.data())
def test_is_a_plain_walk(concepts: dict[str, list[tuple[str, str]]], k: int, data: st.DataObject) -> None:
    built = vocabulary(concepts)
    known = Entries.of(built)
    score = st.integers(-4, 8).map(lambda value: value / 8)
    table = st.dictionaries(st.integers(0, len(known) - 1), score)
    tables = {query: data.draw(table) for query in ("p", "q")}
    assert walked(built, tables, k) == [naive_walk(built, known, scores, k) for scores in tables.values()]


@pytest.mark.parametrize("k", [1, 2, 3, 40])
def test_goes_on_past_a_concept_of_hundreds_of_names(k: int) -> None:
    concepts = {"X:many": [f"a{number:03}" for number in range(400)]}
    concepts |= {f"X:{number}": [f"b{number:02}"] for number in range(30)}
    built = vocabulary(concepts)
    known = Entries.of(built)
    scores = {row: 1 - row / 1000 for row in range(len(known))}
    # The first query needs the deep walk, the second has all it can find, the third finds nothing.
    tables = {
        "deep": {row: float(np.float32(score)) for row, score in scores.items()},
        "flat": {405: 0.5},
        "no": {},
    }
    found = walked(built, tables, k)
    assert found == [naive_walk(built, known, table, k) for table in tables.values()]
    assert len(found[0]) == min(k, 31)


def test_of_one_concepts_names_with_the_text_the_surest_matched() -> None:
    built = vocabulary({"X:1": ["one", ("MI", "related"), ("mi", "exact")]})
    known = Entries.of(built)
    row = known.find("mi")
    assert row is not None
    assert walked(built, {"q": {row: 1.0}}, 2) == [[("X:1", "mi", 1.0)]]


def test_more_queries_than_one_block() -> None:
    built = vocabulary({f"X:{number}": [f"n{number:02}"] for number in range(20)})
    tables = {f"q{number}": {number % 20: 0.5, (number + 1) % 20: 0.25} for number in range(2500)}
    known = Entries.of(built)
    assert walked(built, tables, 2) == [naive_walk(built, known, table, 2) for table in tables.values()]


def test_concepts_without_names_come_between() -> None:
    """As where names in one language are read: there are more concepts than names."""
    built = vocabulary({f"X:{number}": [f"n{number}"] if number in (7, 10) else [] for number in range(40)})
    tables = {"one": {0: 0.5}, "two": {1: 0.5}, "three": {0: 0.75}, "four": {1: 0.25, 0: 0.125}}
    known = Entries.of(built)
    assert walked(built, tables, 2) == [naive_walk(built, known, table, 2) for table in tables.values()]


def test_no_queries_and_no_sense() -> None:
    built = vocabulary({"X:1": ["one"]})
    assert walked(built, {}, 3) == []
    with pytest.raises(ValueError, match="at least 1"):
        walked(built, {"q": {}}, 0)


WRITINGS = (
    "breast cancer",
    "Breast cancer",
    "BREAST CANCER",
    "breast-cancer",
    "Breast (cancer)",
    "cancer, breast",
    "gout",
)


@given(
    names=st.lists(st.sampled_from(WRITINGS), min_size=1, max_size=5, unique=True),
    surface=st.none() | st.sampled_from(WRITINGS),
    query=st.sampled_from(["breast cancer", "cancer breast"]),
)
def test_the_likeliest_name_is_the_first_of_the_equal_ones(
    names: list[str], surface: str | None, query: str
) -> None:
    built = vocabulary({"A:1": [(name, "exact") for name in names]})
    known = Entries.of(built, any_order=True)
    row = known.find(query)
    if row is None or (surface is not None and normalise(surface) != query):
        return
    found = likeliest_name(built, known.names_of(row).tolist(), query, surface)
    assert found == equal_names(built, known, query, surface)[0].name
