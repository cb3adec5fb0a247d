"""Drugs as prescriptions write them: the concept of the substance, and what is said beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.text.drugs import read_drugs
from tests.index.small import vocabulary

NAMES = {
    "R:1": ["metformin", "metformin hydrochloride"],
    "R:2": ["metoprolol", "metoprolol tartrate"],
    "R:3": ["amoxicillin"],
    "R:4": ["fentanyl"],
    "R:5": ["ramipril"],
    "R:6": ["sodium chloride", "NaCl"],
    "R:7": ["platelet count"],
    "R:8": ["insulin glargine"],
}


@pytest.fixture(scope="module")
def linker() -> Linker:
    return Linker(Index.build(vocabulary(NAMES), encoder=None))


def test_an_abbreviation_behind_no_drug_is_no_form() -> None:
    names = {"D:1": ["severe"], "D:2": ["bilateral"], "D:3": ["metformin"], "D:4": ["pen"]}
    own = Linker(Index.build(vocabulary(names), encoder=None))
    for text in ("severe MR", "bilateral DR"):
        assert (own.link(text).drug, own.link(text).left_out) == (None, ())
    assert own.link("metformin ER").left_out == ("ER",)
    assert own.link("severe tablets").left_out == ("tablets",)


@pytest.mark.parametrize(
    ("text", "concept", "said"),
    [
        ("Metformin 850 mg film-coated tablet", "R:1", {"strength": 850, "unit": "mg"}),
        ("metformin hydrochloride 1 g tabs bid", "R:1", {"strength": 1, "unit": "g", "frequency": "bid"}),
        ("metoprolol tartrate 50mg PO", "R:2", {"strength": 50, "salt": "tartrate", "route": "PO"}),
        ("amoxicillin 125 mg/5 ml suspension", "R:3", {"strength": 125, "unit": "mg/5 ml", "form": "suspension"}),
        ("fentanyl patch 12 mcg/h", "R:4", {"strength": 12, "unit": "mcg/h", "form": "patch"}),
        ("Ramipril 2,5 mg Tabletten", "R:5", {"strength": 2.5, "form": "Tabletten"}),
        ("0.9 % NaCl 500 ml iv", "R:6", {"strength": 0.9, "unit": "%", "quantity": "500 ml", "route": "iv"}),
        ("insulin glargine 100 units/ml injection", "R:8", {"strength": 100, "unit": "units/ml"}),
    ],
)
def test_the_substance_is_linked_and_the_rest_is_told(
    linker: Linker, text: str, concept: str, said: dict[str, Any]
) -> None:
    link = linker.link(text)
    assert link.best is not None
    assert link.best.concept_id == concept
    assert link.drug is not None
    told = link.to_dict()["drug"]
    assert {name: told[name] for name in said} == said
    assert any(str(said["strength"]) in note for note in link.notes)


@pytest.mark.parametrize("text", ["platelet count 150 x10^9/L", "metformin", "type 2 diabetes", "tablet", ""])
def test_other_texts_are_no_drugs(linker: Linker, text: str) -> None:
    assert linker.link(text).drug is None


def test_tables_say_in_a_note_what_is_beside_the_substance(linker: Linker, tmp_path: Path) -> None:
    links = linker.link(["metformin 500 mg tablet", "fentanyl"])
    links.write(tmp_path / "links.parquet")
    assert pq.read_table(tmp_path / "links.parquet")["note"].to_pylist() == [
        "strength: 500 mg; form: tablet",
        None,
    ]
    links.write(tmp_path / "links.jsonl")
    lines = (tmp_path / "links.jsonl").read_text(encoding="utf-8").splitlines()
    assert ["drug" in json.loads(line) for line in lines] == [True, False]


@example("0%0A", 1.0, "mg")
@given(
    st.text(max_size=40), st.floats(0.01, 5000).map(lambda value: round(value, 2)), st.sampled_from(["mg", "g"])
)
def test_any_text_may_stand_before_a_strength(name: str, strength: float, unit: str) -> None:
    # A drug with two strengths has none: "0% A 1 mg".
    has_strength = any(other.is_dosed for other in read_drugs(name))
    for drug in read_drugs(f"{name} {strength:g} {unit}"):
        assert has_strength or drug.is_dosed
        assert has_strength or read_drugs(drug.written) or not drug.name
