"""The distinct prepared names of a vocabulary."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.index.entries import Entries
from nymlink.text.normalise import normalise
from nymlink.vocabulary.model import KINDS
from tests.index.small import entries, vocabulary


def names_of(known: Entries, text: str) -> list[int]:
    row = known.find(text)
    assert row is not None
    return known.names[known.offsets[row] : known.offsets[row + 1]].tolist()


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


def test_saved_and_loaded(tmp_path: Path) -> None:
    known = entries(["flu", "Flu!", "心筋梗塞", "𝔞 🫀"])
    known.save(tmp_path)
    loaded = Entries.load(tmp_path)
    assert loaded.texts.to_pylist() == known.texts.to_pylist()
    assert np.array_equal(loaded.offsets, known.offsets)
    assert np.array_equal(loaded.names, known.names)


def test_offsets_that_do_not_fit_are_refused() -> None:
    known = entries(["flu", "cold"])
    with pytest.raises(ValueError, match="offsets"):
        Entries(known.texts, known.offsets[:-1], known.names)
    with pytest.raises(ValueError, match="offsets"):
        Entries(known.texts, known.offsets, known.names[:-1])
