"""What a merging writes down."""

from __future__ import annotations

import csv
import json
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.vocabulary.merge.conftest import Make

from benchmarks.vocabularies import merge_gain
from nymlink.core.errors import OutputError
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.merge.merge import Merged, merge
from nymlink.vocabulary.merge.report import writing_report
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary


@pytest.fixture
def merged(make: Make) -> Merged:
    numbers = range(9)
    xrefs = {f"A:{number}": [f"B:{number}"] for number in numbers}
    a = make("a", {f"A:{number}": f"name {number}, synonym {number}" for number in numbers}, xrefs=xrefs)
    names = {f"B:{number}": f"name {number}" for number in numbers}
    b = make("b", {**names, "B:0": "another"}, xrefs={"B:1": ["C0000001"]})
    c = make("c", {"C:1": "name 1"}, xrefs={"C:1": ["A:1"]})
    return merge([a, b, c])


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_the_files(merged: Merged, tmp_path: Path) -> None:
    with writing_report(merged, tmp_path / "why", sample=3, seed=0):
        pass
    summary = json.loads((tmp_path / "why" / "summary.json").read_text(encoding="utf-8"))
    assert (summary["before"]["concepts"], summary["after"]["concepts"]) == (19, 10)
    assert summary["merged"] == {"concepts": 8, "members": 17}
    assert summary["sizes"] == {"2": 7, "3": 1}
    assert summary["joins"] == {"one-sided xref; preferred names equal": 9}
    assert summary["rejected"] == {"no name in common": 1}
    largest = rows(tmp_path / "why" / "largest.tsv")
    assert len(largest) == 8
    assert largest[0] == {
        "id": "A:1",
        "size": "3",
        "members": "A:1 name 1; B:1 name 1; C:1 name 1",
        "evidence": "A:1 = B:1 (one-sided xref; preferred names equal); "
        "A:1 = C:1 (one-sided xref; preferred names equal)",
    }
    joins = rows(tmp_path / "why" / "joins.tsv")
    assert len(joins) == 9
    assert joins[0]["confidence"] == "0.99"
    [rejected] = rows(tmp_path / "why" / "rejected.tsv")
    assert (rejected["one"], rejected["other_name"]) == ("A:0", "another")
    assert rejected["reason"] == "no name in common"
    assert len(rows(tmp_path / "why" / "sample.tsv")) == 3


def test_a_sample_is_drawn_by_its_seed(merged: Merged, tmp_path: Path) -> None:
    drawn = {}
    for name, seed in (("one", 1), ("again", 1), ("two", 2)):
        with writing_report(merged, tmp_path / name, sample=4, seed=seed):
            pass
        drawn[name] = (tmp_path / name / "sample.tsv").read_text(encoding="utf-8")
    assert drawn["one"] == drawn["again"] != drawn["two"]
    with writing_report(merged, tmp_path / "all", sample=1000, seed=0):
        pass
    assert len(rows(tmp_path / "all" / "sample.tsv")) == 8


def test_a_report_replaces_a_report_and_nothing_else(merged: Merged, tmp_path: Path) -> None:
    with writing_report(merged, tmp_path / "why", sample=1, seed=0):
        pass
    with writing_report(merged, tmp_path / "why", sample=2, seed=0):
        pass
    assert len(rows(tmp_path / "why" / "sample.tsv")) == 2
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious", encoding="utf-8")
    with (
        pytest.raises(OutputError, match="choose another place"),
        writing_report(merged, tmp_path / "mine", sample=1, seed=0),
    ):
        pass
    assert (tmp_path / "mine" / "thesis.txt").read_text(encoding="utf-8") == "precious"


def test_the_benchmark_counts_what_is_new(merged: Merged) -> None:
    assert merge_gain.distinct_pairs(merged) == {"before": 9, "after": 9, "new": 0}
    assert merge_gain.members_with_cui(merged) == {"before": 1, "after": 3}


NAMES = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from("aAbBcdef"), st.sampled_from(["en", "de"])), max_size=20
)


@given(NAMES)
def test_the_benchmark_counts_each_pair_once(names: list[tuple[int, str, str]]) -> None:
    import pyarrow as pa

    builder = TableBuilder()
    for number, text, lang in names:
        builder.concept(f"A:{number}")
        builder.name(f"A:{number}", text, lang=lang)
    vocabulary = Vocabulary.of((Source("s", "test"), builder.build()))
    found = merge_gain.pairs(vocabulary, pa.array(list("fedcba"), pa.large_string()))
    english = [
        {text.lower() for own, text, lang in names if own == number and lang == "en"} for number in range(5)
    ]
    assert len(found) == len({frozenset(pair) for one in english for pair in combinations(one, 2)})
