"""`nymlink vocab merge`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Run

from nymlink.vocabulary.vocabulary import Vocabulary

HEADER = "concept_id\tname\tlang\tkind\tsemantic_type\txrefs\n"


@pytest.fixture
def folder(run: Run, tmp_path: Path) -> Path:
    """Tables ``a.tsv`` and ``b.tsv``, the vocabulary ``a`` of the one, and mappings ``m.tsv``."""
    (tmp_path / "a.tsv").write_text(
        HEADER + "A:1\theart attack\ten\tpreferred\t\tB:1\nA:2\tstroke\ten\tpreferred\t\t\n", encoding="utf-8"
    )
    (tmp_path / "b.tsv").write_text(
        HEADER + "B:1\tHeart attack\ten\tpreferred\t\tUMLS:C0027051\nB:2\tapoplexy\ten\tpreferred\t\t\n",
        encoding="utf-8",
    )
    (tmp_path / "m.tsv").write_text(
        "subject_id\tpredicate_id\tobject_id\nA:2\tskos:exactMatch\tB:2\n", encoding="utf-8"
    )
    assert run("vocab", "build", tmp_path / "a.tsv", "-o", tmp_path / "a").exit_code == 0
    return tmp_path


def test_merges_vocabularies_and_sources(run: Run, folder: Path) -> None:
    result = run("vocab", "merge", folder / "a", folder / "b.tsv", "-o", folder / "meta")
    assert result.exit_code == 0
    assert [" ".join(line.split()) for line in result.stdout.splitlines()] == [
        "before after",
        "concepts 4 3",
        "names 4 4",
        "concepts with two or more English names 0 0",
        "pairs of English names of one concept 0 0",
        "UMLS CUIs 1 1",
        "names from which a CUI is reached 1 2",
        "languages 1 1",
        f"2 concepts became 1 → {folder / 'meta'}",
    ]
    assert Vocabulary.load(folder / "meta").resolve("B:1") == ("A:1",)


def test_mappings_and_a_report(run: Run, folder: Path) -> None:
    result = run(
        *("vocab", "merge", folder / "a", folder / "b.tsv", "-o", folder / "meta"),
        *("--mappings", folder / "m.tsv", "--report", folder / "why", "--sample", 1, "--seed", 3),
    )
    assert result.exit_code == 0
    assert result.stdout.endswith(f"4 concepts became 2 → {folder / 'meta'}\n")
    assert json.loads((folder / "why" / "summary.json").read_text(encoding="utf-8"))["merged"]["concepts"] == 2
    assert len((folder / "why" / "sample.tsv").read_text(encoding="utf-8").splitlines()) == 2


def test_broken_mappings_cost_only_themselves(run: Run, folder: Path) -> None:
    with (folder / "m.tsv").open("a") as file:
        file.write("A:1\tskos:exactMatch\n")
    result = run(
        *("vocab", "merge", folder / "a", folder / "b.tsv", "-o", folder / "meta", "--mappings", folder / "m.tsv")
    )
    assert result.exit_code == 1
    assert f"{folder / 'm.tsv'}:3: object_id is blank" in result.stderr
    assert "4 concepts became 2" in result.stdout


def test_one_source_is_enough(run: Run, folder: Path) -> None:
    result = run("vocab", "merge", folder / "a", "-o", folder / "meta")
    assert result.exit_code == 0
    assert result.stdout.endswith(f"0 concepts became 0 → {folder / 'meta'}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a", "b.tsv", "-o", "meta", "--mappings", "nowhere.tsv"), "nowhere.tsv: no such file"),
        (("a", "b.tsv", "-o", "meta", "--mappings", "a.tsv"), "not an SSSOM table"),
        (("a", "nowhere", "-o", "meta"), "no such file or directory"),
        (("a", "a", "-o", "meta"), "given twice"),
        (("a", "./a", "-o", "meta"), "given twice"),
        (("a", "a.tsv", "-o", "meta"), "the source a (a.tsv) is in several of the vocabularies"),
        (("bare.tsv", "bare_too.tsv", "-o", "meta"), "have a concept 1: ids without a prefix"),
        (("a", "b.tsv", "-o", "a"), "is one of the sources"),
        (("a", "b.tsv", "-o", "meta", "--report", "meta"), "choose another place"),
        (("a", "b.tsv", "-o", "meta", "--report", "meta/why"), "choose another place"),
        (("a", "b.tsv", "-o", "why/meta", "--report", "why"), "choose another place"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(
    run: Run, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    for name, table in (("bare", "id\tname\n1\tstroke\n"), ("bare_too", "id\tname\n1\tfever\n")):
        (folder / f"{name}.tsv").write_text(table, encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    paths = [word if word.startswith("-") else f"{folder}/{word}" for word in arguments]
    result = run("vocab", "merge", *paths)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("unwritten", ["summary.json", ".manifest.json.*.partial"])
def test_of_a_vocabulary_and_its_report_neither_is_changed_where_the_report_cannot_be_written(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, unwritten: str
) -> None:
    command = ("vocab", "merge", folder / "a", folder / "b.tsv", "-o", folder / "meta", "--report", folder / "why")
    write_text = Path.write_text

    def write_on_a_full_disk(path: Path, text: str, **settings: str) -> int:
        is_full = path.match(unwritten) and ".why." in str(path)
        return write_text(Path("/dev/full") if is_full else path, text, **settings)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", write_on_a_full_disk)
        result = run(*command)
    assert (result.exit_code, "no space left" in result.stderr) == (2, True)
    assert not (folder / "meta").exists()
    assert run(*command).exit_code == 0
