"""The distinct prepared names of a vocabulary."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.index.entries.entries import Entries
from nymlink.index.entries.sorted_texts import OtherTexts
from nymlink.index.hits import NONE
from nymlink.text.normalise import fold, normalise
from nymlink.vocabulary.concepts import KINDS
from tests.index.small import entries, vocabulary


def names_of(known: Entries, text: str) -> list[int]:
    row = known.find(text)
    assert row is not None
    found: list[int] = known.names_of(row).tolist()
    return found


def test_an_entry_knows_the_concepts_that_have_its_name() -> None:
    built = vocabulary({"X:1": ["cold", "coryza"], "X:2": ["chills", "cold"]})
    known = Entries.of(built)
    owners = built.columns.names["concept"].to_numpy()
    found = {text: known.concepts(row, owners) for row, text in enumerate(known.texts.to_pylist())}
    assert found == {"cold": {0, 1}, "coryza": {0}, "chills": {1}}


def test_equal_names_are_one_entry_surest_kind_first_then_the_vocabularys_order() -> None:
    built = vocabulary(
        {
            "X:3": ["third", ("MI", "broad"), ("Mi", "related")],
            "X:1": ["first", ("mi", "exact")],
            "X:2": ["second", ("M-I", "exact"), ("mi.", "exact")],
            "X:4": [("mi", "preferred")],
        }
    )
    known = Entries.of(built)
    assert known.texts.to_pylist() == ["first", "m i", "mi", "second", "third"]
    found = [built.name(row) for row in names_of(known, "mi")]
    assert [(name.concept_id, name.kind) for name in found] == [
        ("X:4", "preferred"),
        ("X:1", "exact"),
        ("X:2", "exact"),
        ("X:3", "related"),
        ("X:3", "broad"),
    ]


def test_kinds_from_the_surest_to_the_loosest() -> None:
    kinds = random.Random(0).sample(KINDS, len(KINDS))
    built = vocabulary({f"X:{kind}": [("flu", kind)] for kind in kinds})
    assert tuple(built.name(row).kind for row in names_of(Entries.of(built), "flu")) == KINDS


def test_names_of_obsolete_concepts_are_left_out() -> None:
    built = vocabulary({"X:1": ["flu"], "X:2": ["grippe", "flu"]}, replaced={"X:2": ["X:1"]})
    known = Entries.of(built)
    assert known.texts.to_pylist() == ["flu"]
    assert [built.name(row).concept_id for row in names_of(known, "flu")] == ["X:1"]


@given(texts=st.lists(st.text(min_size=1, max_size=5).filter(str.strip), min_size=1))
def test_every_name_is_found_by_its_prepared_form(texts: list[str]) -> None:
    texts = [text for text in texts if text.isprintable()] or ["a"]
    known = entries(texts)
    prepared = sorted({normalise(text) for text in texts})
    assert known.texts.to_pylist() == prepared
    assert [known.find(text) for text in prepared] == list(range(len(prepared)))
    assert [known.text(row) for row in range(len(known))] == prepared


@pytest.mark.parametrize("text", ["", "a", "flux", "\ud800", "\U0010ffff", "Flu"])
def test_what_is_no_entry_is_not_found(text: str) -> None:
    assert entries(["flu", "心筋梗塞"]).find(text) is None


def test_each_order_of_words_is_an_entry_unless_asked_otherwise() -> None:
    known = entries(["Cancer, Pancreatic", "pancreatic cancer"])
    assert known.texts.to_pylist() == ["cancer pancreatic", "pancreatic cancer"]
    assert known.reordered.texts.to_pylist() == []


def test_names_of_a_concept_in_any_order_of_their_words_are_one_entry() -> None:
    built = vocabulary(
        {
            "X:1": ["Pancreatic Cancer", "Cancer, Pancreatic", "pancreatic cancers"],
            "X:2": [("cancer", "broad"), ("stomach cancer", "related"), ("cancer of stomach", "related")],
            "X:3": [("of stomach, cancer", "related"), "Cancer, Stomach"],
        }
    )
    known = Entries.of(built, any_order=True)
    # Two concepts have the words "cancer" and "stomach", but each an order of its own: they stay apart.
    assert known.texts.to_pylist() == [
        "cancer",
        "cancer of stomach",
        "cancer stomach",
        "of stomach cancer",
        "pancreatic cancer",
        "pancreatic cancers",
        "stomach cancer",
    ]
    assert known.reordered.texts.to_pylist() == ["cancer pancreatic"]
    assert known.find("cancer pancreatic") == known.find("pancreatic cancer") == 4
    assert [built.name(row).text for row in names_of(known, "pancreatic cancer")] == [
        "Pancreatic Cancer",
        "Cancer, Pancreatic",
    ]
    assert known.distinct_names == 8


def test_of_several_orders_that_of_the_surest_name_is_searched() -> None:
    built = vocabulary(
        {
            "X:1": [("ache, head", "related"), ("head ache", "exact"), ("ache head", "exact")],
            "X:2": [("ache head", "broad"), ("head ache", "preferred")],
        }
    )
    known = Entries.of(built, any_order=True)
    assert (known.texts.to_pylist(), known.reordered.texts.to_pylist()) == (["head ache"], ["ache head"])
    found = [(name.concept_id, name.kind) for name in map(built.name, names_of(known, "ache head"))]
    assert found == [
        ("X:2", "preferred"),
        ("X:1", "exact"),
        ("X:1", "exact"),
        ("X:1", "related"),
        ("X:2", "broad"),
    ]


NAMES = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(" ".join)


@given(names=st.lists(st.tuples(st.integers(0, 2), NAMES, st.sampled_from(KINDS)), min_size=1, max_size=15))
def test_entries_in_any_order_are_those_that_a_plain_loop_finds(names: list[tuple[int, str, str]]) -> None:
    concepts: dict[str, list[tuple[str, str]]] = {}
    for concept, text, kind in names:
        concepts.setdefault(f"X:{concept}", []).append((text, kind))
    built = vocabulary(concepts)
    owners = built.columns.names["concept"].to_numpy()
    each = Entries.of(built)
    groups: dict[tuple[object, ...], list[str]] = {}
    for row, text in enumerate(each.texts.to_pylist()):
        groups.setdefault((*sorted(text.split()), each.concepts(row, owners)), []).append(text)
    known = Entries.of(built, any_order=True)
    assert len(known) == len(groups)
    assert known.texts.to_pylist() == sorted(known.texts.to_pylist())
    assert known.distinct_names == len(each)
    for alike in groups.values():
        rows = {known.find(text) for text in alike}
        assert len(rows) == 1
        expected = sorted(
            (row for text in alike for row in names_of(each, text)),
            key=lambda row: (KINDS.index(built.name(row).kind), row),
        )
        assert names_of(known, alike[0]) == expected
        [searched] = rows
        assert searched is not None
        assert known.text(searched) == normalise(built.name(expected[0]).text)


def test_saved_and_loaded(tmp_path: Path) -> None:
    built = vocabulary({"X:1": ["flu", "Flu!", "心筋梗塞", "𝔞 🫀", "swine flu", "Flu, swine"]})
    known = Entries.of(built, any_order=True)
    known.save(tmp_path)
    loaded = Entries.load(tmp_path)
    assert loaded.texts.to_pylist() == known.texts.to_pylist()
    assert np.array_equal(loaded.offsets, known.offsets)
    assert np.array_equal(loaded.names, known.names)
    assert loaded.reordered.texts.to_pylist() == known.reordered.texts.to_pylist() == ["flu swine"]
    assert loaded.folded.texts.to_pylist() == known.folded.texts.to_pylist()
    assert loaded.find("flu swine") == loaded.find("swine flu") == known.find("swine flu")
    assert loaded.find_all(["flu swine", "swine", "flu"]).tolist() == [2, NONE, 1]


def test_offsets_that_do_not_fit_are_refused() -> None:
    known = entries(["flu", "cold"])
    with pytest.raises(ValueError, match="offsets"):
        Entries(known.texts, known.offsets[:-1], known.names)
    with pytest.raises(ValueError, match="offsets"):
        Entries(known.texts, known.offsets, known.names[:-1])
    others = pa.array(["c o l d"], pa.large_string())
    with pytest.raises(ValueError, match="other texts"):
        OtherTexts(others, np.zeros(2, np.int32))
    for row in (-1, 2):
        with pytest.raises(ValueError, match="other texts"):
            Entries(known.texts, known.offsets, known.names, OtherTexts(others, np.array([row], np.int32)))


def test_entries_are_found_by_their_folded_form() -> None:
    known = entries(["cardíaco", "ёлка", "ウィルス性肝炎", "氣喘", "Diyabet insipıdus", "flu"])
    latin = ("cardiaco", "cardìaco", "diyabet insipidus")
    for written in (*latin, "елка", "ウイルス性肝炎", "うぃるす性肝炎", "气喘"):
        row = known.find_folded(normalise(written))
        assert known.find(normalise(written)) is None
        assert row is not None
        assert fold(known.text(row)) == fold(normalise(written))
    assert known.find_folded("influenza") is None


def test_a_folded_form_of_several_names_finds_none() -> None:
    known = entries(["año", "añó", "sí", "si"])
    assert known.find_folded("ano") is None
    # A name without marks is the one that is meant by others' marks.
    assert known.find_folded("sì") == known.find("si")
