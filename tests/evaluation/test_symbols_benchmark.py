"""The benchmark of how genes, proteins and chemicals are written."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROWS = [
    ("G:1", "TNF", "preferred", "gene"),
    ("G:1", "TNF-alpha", "exact", "gene"),
    ("G:2", "caspase 3", "preferred", "gene"),
    ("G:3", "CD4+", "preferred", "gene"),
    ("G:4", "CD4-", "preferred", "gene"),
    ("G:5", "MEK1", "preferred", "gene"),
    ("G:6", "MEK-1", "preferred", "gene"),
    ("G:7", "wide thing", "broad", "gene"),
]


@pytest.fixture
def prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: Callable[[str], Any]
) -> tuple[Any, Path, Any]:
    folder = tmp_path / "data" / "vocabularies"
    folder.mkdir(parents=True)
    with gzip.open(folder / "hgnc.tsv.gz", "wt", encoding="utf-8") as file:
        file.write("concept_id\tname\tlang\tkind\tsemantic_type\txrefs\n")
        file.writelines(f"{concept}\t{name}\ten\t{kind}\t{type_}\t\n" for concept, name, kind, type_ in ROWS)
    monkeypatch.setenv("NYMLINK_DATA", str(tmp_path / "data"))
    work = tmp_path / "work"
    work.mkdir()
    symbols = script("linking.symbols")
    return symbols, work, symbols.prepare("hgnc", str(work), {"sparse": None}, count=9)


def test_queries_are_unambiguous(prepared: tuple[Any, Path, Any]) -> None:
    symbols, _, made = prepared
    asked = {(family, made["ids"][concept], text) for family, concept, text in made["asked"]}
    of_signs = {row for row in asked if row[0] == symbols.SIGNS}
    assert {row[1:] for row in of_signs} == {("G:3", "CD4+"), ("G:4", "CD4-"), ("G:5", "MEK1"), ("G:6", "MEK-1")}
    # "MEK-1" is another gene, and a broad name is none.
    assert {row[1] for row in asked - of_signs} == {"G:1", "G:2"}
    assert ("numeral", "G:2", "caspase III") in asked
    assert not {row[2] for row in asked - of_signs if row[0] != "verbatim"} & {row[1] for row in ROWS}


def test_linkers_are_asked_the_same(prepared: tuple[Any, Path, Any], script: Callable[[str], Any]) -> None:
    symbols, work, made = prepared
    linkers = script("linking.symbol_linkers")
    queries = json.loads((work / "queries.json").read_text(encoding="utf-8"))
    for label, function, settings in symbols.LINES:
        if settings.get("index") != "default" and (function in {"exact", "nymlink"} or find_spec(function)):
            found = getattr(linkers, function)(str(work), **settings)["found"]
            assert len(found) == len(queries)
            rights = [
                one is not None and one[0] == gold for (_, gold, _), one in zip(made["asked"], found, strict=True)
            ]
            verbatim = [
                right for right, (family, _, _) in zip(rights, made["asked"], strict=True) if family == "verbatim"
            ]
            assert all(verbatim), label
            assert function != "nymlink" or all(rights)


def test_tables_have_a_row_for_each_family(script: Callable[[str], Any]) -> None:
    symbols = script("linking.symbols")
    one = {"counts": {"verbatim": 4, "case": 3}, "right": {"A": {"verbatim": 4, "case": 2}}, "wrong": []}
    made = symbols.tables({"hgnc": one, "go": one})
    assert made["families"][:2] == [
        {"family": "verbatim", "asked": "8", "A": "100.0"},
        {"family": "case", "asked": "6", "A": "66.6"},
    ]
    assert made["vocabularies"][1] == {"vocabulary": "HGNC", "family": "case", "asked": "3", "A": "66.6"}


def test_examples_are_the_first_mistakes(script: Callable[[str], Any]) -> None:
    wrong = [{"family": "case", "linker": "A", "asked": asked} for asked in ("one", "two")]
    wrong.append({"family": "verbatim", "linker": "A", "asked": "three"})
    assert [row["asked"] for row in script("linking.symbols").examples(wrong)] == ["three", "one"]


@pytest.mark.parametrize(
    ("family", "name", "expected"),
    [
        ("case", "ABC", {"abc", "Abc"}),
        ("hyphen, symbols", "ET-1", {"ET1"}),
        ("hyphen, symbols", "ET1", {"ET-1"}),
        ("hyphen, symbols", "NKX2-5", {None}),
        ("hyphen, words", "2-amino acid", {"2 amino acid"}),
        ("Greek", "TNF-alpha", {"TNF-α", "TNFα", "TNFalpha"}),
        ("Greek", "β-catenin", {"beta-catenin"}),
        ("numeral", "factor VIII", {"factor 8"}),
        ("numeral", "caspase 3", {"caspase III"}),
        ("plural", "MEK", {"MEKs"}),
        ("plural", "cell body", {"cell bodies"}),
        ("head", "p53", {"p53 gene", "p53 protein", "p53 mRNA"}),
    ],
)
def test_variants(script: Callable[[str], Any], family: str, name: str, expected: set[str | None]) -> None:
    variants = script("linking.symbol_variants")
    vary = {**variants.FAMILIES, **variants.GENE_FAMILIES}[family]
    found = {vary(name, random.Random(seed)) for seed in range(40)}
    assert found - {name if family == "Greek" else None} <= expected
    assert found & expected
