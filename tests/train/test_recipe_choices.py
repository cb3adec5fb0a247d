"""The choices of the recipe are trained and measured, on a toy encoder; what they give here means nothing."""

from __future__ import annotations

import sys
import tarfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nymlink.core.problems import Problems
from nymlink.pairs.pair_files import PairTable
from nymlink.pairs.pairs import PAIRS
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from recipes import choices, diseases, mixture, siblings
from tests.train.runs import names


@pytest.fixture
def data(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with the archives and the dictionary, and one merged vocabulary."""
    root = tmp_path / "data"
    for corpus, archive in diseases.ARCHIVES.items():
        (root / archive).parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(root / archive, "w:gz") as tar:
            for split in diseases.SPLITS:
                tar.add(place / "processed_dev", f"{corpus}/{split}")
    builder = TableBuilder()
    for number in range(32):
        concept = f"X:{number}"
        builder.concept(concept)
        for name in names(number):
            builder.name(concept, name, lang="en")
    merged = Vocabulary.of((Source("toy", "table", licence="CC0"), builder.build()))
    (root / choices.MEDIC).parent.mkdir(parents=True, exist_ok=True)
    (root / choices.MEDIC).symlink_to(place / "vocab")
    monkeypatch.setattr(mixture, "merged", lambda _: merged)
    monkeypatch.setattr(choices, "STEPS", 2)
    monkeypatch.setattr(choices, "BATCH", 16)
    return root


def test_choices_are_trained_and_measured_once(
    data: Path,
    place: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    chosen = ["recipe", "misspelt names", "InfoNCE"]
    folder = tmp_path / "folder"
    only = [argument for name in chosen for argument in ("--only", name)]
    base = str(place / "base")
    monkeypatch.setattr(sys, "argv", ["choices.py", str(folder), "--base", base, "--data", str(data), *only])
    choices.main()
    table = capsys.readouterr().out
    assert [line.split("|")[1].strip() for line in table.splitlines()[2:]] == ["base", *chosen]
    assert table.splitlines()[0].count("processed_") == 4
    written = {path: path.stat().st_mtime_ns for path in folder.glob("*.json")}
    choices.main()
    assert capsys.readouterr().out == table
    assert {path: path.stat().st_mtime_ns for path in folder.glob("*.json")} == written


def test_pairs_of_misspelt_names(data: Path, place: Path, tmp_path: Path) -> None:
    workspace = choices.Workspace(tmp_path / "folder", data, str(place / "base"))
    recipe = workspace.pairs("recipe").to_pylist()
    misspelt = workspace.pairs("misspelt names").to_pylist()
    changed = [(one["name2"], other["name2"]) for one, other in zip(recipe, misspelt, strict=True) if one != other]
    assert 0 < len(changed) < len(recipe) // 4
    assert all(abs(len(one) - len(other)) <= 1 for one, other in changed)
    assert len(workspace.pairs("no modifiers")) == len(recipe)


def test_siblings_meet_in_a_batch(tmp_path: Path) -> None:
    concepts = [f"X:{number}" for number in range(40) for _ in range(4)]
    names = [f"name {number}" for number in range(len(concepts))]
    pairs = pa.table([concepts, names, [f"other {name}" for name in names]], schema=PAIRS)
    known = [[f"X:{number}" for number in range(start, start + 4)] for start in range(0, 40, 4)]
    made = siblings.in_families(pairs, [*known, ["Y:1", "Y:2"]], batches=4, size=16)
    assert len(set(made["name1"].to_pylist())) == len(made) == 64
    pq.write_table(made, tmp_path / "pairs.parquet")
    problems = Problems()
    table = PairTable.convert(tmp_path / "pairs.parquet", tmp_path / "pairs.arrow", seed=0, problems=problems)
    for start in range(0, 64, 16):
        batch = table.slice(start, start + 16, epoch=0)
        first = [int(concept.removeprefix("X:")) // 4 for concept in batch.concepts[:8]]
        assert [first.count(family) for family in dict.fromkeys(first)] in ([4, 4], [8])


def test_families_have_their_parent_and_go_by_the_ids_of_the_vocabulary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parents = {"S:1": "", "S:2": "is_a: S:1", "S:3": "is_a: S:1", "S:4": "is_a: S:3", "S:5": "is_a: S:9"}
    terms = "\n".join(f"[Term]\nid: {term}\nname: {term}\n{parent}\n" for term, parent in parents.items())
    (tmp_path / "native").mkdir()
    (tmp_path / "native" / "small.obo").write_text(f"ontology: s\n\n{terms}", encoding="utf-8")
    monkeypatch.setattr(siblings, "HIERARCHIES", ("small.obo",))
    builder = TableBuilder()
    for number in (1, 2, 4):
        builder.concept(f"S:{number}")
    builder.concept("X:3")
    builder.redirect("S:3", "X:3")
    merged = Vocabulary.of((Source("toy", "table"), builder.build()))
    assert siblings.families(tmp_path, merged) == [["S:1", "S:2", "X:3"], ["X:3", "S:4"]]


def test_what_was_kept_in_another_order_goes_under_its_corpus() -> None:
    one, other = ({"acc@1": share, "acc@5": share} for share in (0.25, 0.75))
    table = choices.text({"base": {"a": one, "b": other}, "changed": {"b": other, "a": one}}).splitlines()
    assert table[2].split("|")[2:] == table[3].split("|")[2:]
