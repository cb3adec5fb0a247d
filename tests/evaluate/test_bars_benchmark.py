"""The tasks that linkers are judged by, and the benchmark that judges them, on toy data and a toy encoder."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.encode import tiny
from tests.evaluate import toy_data


@pytest.fixture(autouse=True)
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    made = toy_data.write(tmp_path / "data")
    monkeypatch.setenv("NYMLINK_DATA", str(made))
    return made


@pytest.fixture
def tasks() -> ModuleType:
    return importlib.import_module("tasks")


def test_every_development_task_is_read_without_its_test_split(
    tasks: ModuleType, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meta = toy_data.write_metathesaurus(tmp_path / "meta")
    found = tasks.bars(test=False, enriched=meta, metathesaurus=meta)
    opened = []
    read, unpack = tasks.read_corpus, tasks.unpack

    def noted(path: Path, **options: object) -> object:
        opened.append(path.name)
        return read(path, **options)

    def unpacked(archive: str, folder: str, **options: object) -> None:
        unpack(archive, folder, **options)
        opened.extend(str(path.relative_to(folder)) for path in Path(folder).rglob("*"))

    monkeypatch.setattr(tasks, "read_corpus", noted)
    monkeypatch.setattr(tasks, "unpack", unpacked)
    sizes = {}
    for name, task in found.items():
        vocabulary, corpora = tasks.load(task, root)
        assert len(vocabulary)
        sizes[name] = [sum(1 for _ in corpus.mentions()) for corpus in corpora]
    assert sizes == {
        "AskAPatient validation, 10 folds": [2] * 10,
        "AskAPatient validation, 10 folds, enriched": [2] * 10,
        "AskAPatient validation, 10 folds, enriched, by name too": [2] * 10,
        "BC5CDR disease dev, augmented": [3],
        "BC5CDR disease dev, bare": [3],
        "BC5CDR disease dev, enriched": [3],
        "GSC+ dev, HPO": [1],
        "MedMentions dev, reached": [2],
        "MedMentions→MONDO dev": [1],
        "NCBI dev, augmented": [3],
        "NCBI dev, bare": [3],
        "NCBI dev, enriched": [3],
    }
    assert not [name for name in opened if "test" in name]


def test_test_tasks_are_test_tasks(tasks: ModuleType) -> None:
    found = tasks.bars(test=True, enriched="e", metathesaurus="m")
    assert all("test" in name for name in found)
    assert all("test" in part for task in found.values() for part in task.parts or [task.corpus])
    assert found["NCBI test, enriched"].bar == (84.0, 90.5)
    assert len(tasks.bars(test=True, enriched=None, metathesaurus=None)) == 4


def test_askapatient_borrows_by_its_snomed_ids(tasks: ModuleType, root: Path, tmp_path: Path) -> None:
    meta = toy_data.write_metathesaurus(tmp_path / "meta", also="coronary")
    path = root / "corpora" / "askapatient" / "askapatient_label_ontology.json.gz"
    vocabulary = tasks.borrowing(path, metathesaurus=meta, by_name=False)
    assert vocabulary.resolve("100001") == ("SNOMEDCT:100001",)
    assert {name.text for name in vocabulary.names("SNOMEDCT:100001")} == {"Heart attack", "coronary"}


def test_a_cui_leads_to_every_concept_that_refers_to_it(tasks: ModuleType, tmp_path: Path) -> None:
    meta = toy_data.write_metathesaurus(tmp_path / "meta")
    vocabulary = tasks.reached_by_cui(Path(meta))
    assert set(vocabulary.resolve("C0000001")) == {"M:1", "M:2"}
    assert vocabulary.resolve("C0000003") == ("M:3",)
    assert vocabulary.resolve("OLD:4") == ("M:4",)
    assert vocabulary.resolve("C0000009") == ()


def test_rows_are_measured_once_and_shown(tmp_path: Path) -> None:
    bars = importlib.import_module("bars")
    model = str(tiny.folder(tmp_path / "model"))
    meta = toy_data.write_metathesaurus(tmp_path / "meta")
    which: dict[str, Any] = {"test": False, "enriched": None, "metathesaurus": meta}
    settings: dict[str, Any] = {"fusion": "weighted", "weights": {}, **which}
    folder = str(tmp_path / "work")

    def measured(task: str, encoder: str | None, *, limit: int | None = None) -> dict[str, Any]:
        found: dict[str, Any] = bars.measure(folder, task, encoder, limit=limit, **settings)
        return found

    table = {}
    tasks = ("NCBI dev, bare", "MedMentions dev, reached")
    for name in tasks:
        sparse, ours = measured(name, None), measured(name, model)
        assert set(sparse["lines"]) == {""}
        assert set(ours["lines"]) == {"vectors alone", "hybrid"}
        table[name] = bars.rows(name, (90.0, 95.5), {"TF-IDF": [sparse], "toy": [ours, ours]})
    kept = {file: file.stat().st_mtime_ns for file in Path(folder).rglob("*.json")}
    assert len(kept) == 2 * len(tasks)
    assert measured(tasks[0], model)["lines"]
    assert {file: file.stat().st_mtime_ns for file in Path(folder).rglob("*.json")} == kept
    assert measured(tasks[0], None, limit=1)["lines"][""][0]["n"] == 1
    assert len(list(Path(folder).rglob("*.json"))) == len(kept) + 1
    folds = "AskAPatient validation, 10 folds"
    table[folds] = bars.rows(folds, None, {"TF-IDF": [measured(folds, None)]})
    # Of "heart attack", "some seizure" and "flu", which two concepts share, one is no name.
    assert table["NCBI dev, bare"][0] == [
        "NCBI dev, bare",
        "90.0/95.5",
        "TF-IDF",
        "3",
        "100.0/100.0",
        "66.7/100.0",
        "1",
        "100.0/100.0",
    ]
    assert [row[2] for row in table["NCBI dev, bare"]] == ["TF-IDF", "toy, vectors alone", "toy, hybrid"]
    assert table["NCBI dev, bare"][2][3] == "3"
    assert table[folds][0][1:4] == ["", "TF-IDF", "20"]
    assert table[folds][0][4].count("± 0.0") == 2
    assert bars.text([row for rows in table.values() for row in rows]).count("\n") == 1 + 3 + 3 + 1
