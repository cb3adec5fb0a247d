"""Every command with an output refuses one that cannot be, before it reads its source."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import TABLE, Run

MISSING = "/no/such/source"

DIRECTORIES = (
    ("vocab", "build", MISSING, "-o"),
    ("vocab", "subset", MISSING, "--kind", "exact", "-o"),
    ("vocab", "merge", MISSING, f"{MISSING}.too", "-o"),
    ("vocab", "merge", MISSING, f"{MISSING}.too", "-o", "/tmp/nymlink-unused", "--report"),
    ("vocab", "enrich", MISSING, "--with", f"{MISSING}.too", "-o"),
    ("vocab", "get", "hpo", "--offline", "-o"),
    ("index", "build", MISSING, "-o"),
    ("encoder", "export", MISSING, "-o"),
    ("encoder", "average", MISSING, "-o"),
    ("train", "sap", "--vocab", MISSING, "--base", MISSING, "-o"),
)
FILES = (
    ("pairs", MISSING, "-o"),
    ("pairs", MISSING, "-o", "-", "--held-out", "0.5", "--held-out-to"),
    ("evaluate", "--index", MISSING, "--corpus", MISSING, "--json"),
    ("evaluate", "--index", MISSING, "--corpus", MISSING, "--errors"),
    ("rerank", "evaluate", MISSING, MISSING, "--index", MISSING, "--output"),
    ("rerank", "evaluate", MISSING, MISSING, "--index", MISSING, "--changes"),
    ("encoder", "encode", MISSING, "--file", MISSING, "-o"),
)
PICTURES = (
    ("calibrate", MISSING, MISSING, "--plot"),
    ("plot", "space", MISSING, "--encoder", MISSING, "-o"),
    ("plot", "similarities", MISSING, "--encoder", MISSING, "-o"),
    ("plot", "clusters", "--corpus", MISSING, "-o"),
    ("plot", "contexts", MISSING, "--index", MISSING, "--corpus", MISSING, "-o"),
)


@pytest.fixture
def copy(built: Path, tmp_path: Path) -> Path:
    """A copy of the folder of :func:`built`, with a note in the vocabulary and one in the index."""
    folder = shutil.copytree(built, tmp_path / "copy")
    for name in ("vocab", "index"):
        (folder / name / "notes.txt").write_text("years of work", encoding="utf-8")
    return folder


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(run: Run, arguments: tuple[str, ...], output: Path) -> str:
    result = run(*arguments, output)
    assert result.exit_code == 2, result.output
    assert MISSING not in result.stderr, result.stderr
    return result.stderr


@pytest.mark.parametrize("arguments", DIRECTORIES, ids=" ".join)
def test_a_directory_that_cannot_be_is_refused_first(run: Run, copy: Path, arguments: tuple[str, ...]) -> None:
    (copy / "file").write_text("x", encoding="utf-8")
    before = contents(copy)
    for output, said in (
        (copy / "file" / "x", "file"),
        (copy / "file", "exists and is not"),
        (copy / "vocab" / "names.arrow", "belongs to the vocabulary"),
        (copy / "index" / "vocabulary", "belongs to the index"),
        (copy / "vocab", "train" if arguments[0] == "train" else ""),
        (Path("/proc/nothing"), "/proc/nothing"),
    ):
        assert said in refused(run, arguments, output)
    assert contents(copy) == before


@pytest.mark.parametrize("arguments", FILES + PICTURES, ids=" ".join)
def test_a_file_that_cannot_be_is_refused_first(run: Run, copy: Path, arguments: tuple[str, ...]) -> None:
    before = contents(copy)
    ending = ".png" if arguments in PICTURES else ""
    for output, said in (
        (copy / "none" / f"x{ending}", "no such directory"),
        (copy, "directory: name a file"),
        (Path(f"/proc/nothing{ending}"), "/proc/nothing"),
        (copy / "index" / "entries.arrow", "belongs to the index"),
        (copy / "index" / "vocabulary" / "names.arrow", "belongs to the vocabulary"),
        (copy / "vocab" / "manifest.json", "belongs to the vocabulary"),
    ):
        assert said in refused(run, arguments, output)
    assert contents(copy) == before


def test_a_rebuild_keeps_what_is_not_ours(run: Run, copy: Path) -> None:
    before = contents(copy)
    for arguments in (
        ("vocab", "build", copy / "table.tsv.gz", "-o", copy / "vocab"),
        ("index", "build", copy / "vocab", "--encoder", "none", "-o", copy / "index"),
    ):
        result = run(*arguments)
        assert (result.exit_code, "would be lost: notes.txt: move them" in result.stderr) == (2, True), (
            result.output
        )
    assert contents(copy) == before
    for name in ("vocab", "index"):
        (copy / name / "notes.txt").unlink()
    inner = run("index", "build", copy / "vocab", "--encoder", "none", "-o", copy / "vocab" / "index")
    assert inner.exit_code == 0, inner.stderr
    result = run("vocab", "build", copy / "table.tsv.gz", "-o", copy / "vocab")
    assert (result.exit_code, "would be lost: index/" in result.stderr) == (2, True), result.output
    assert run("link", "--index", copy / "vocab" / "index", "heart attack").exit_code == 0


def test_a_cache_in_the_directory_to_write_is_refused(run: Run, built: Path, tmp_path: Path) -> None:
    result = run("index", "build", built / "vocab", "-o", tmp_path / "i", "--cache", tmp_path / "i" / "vectors")
    assert (result.exit_code, "which is replaced" in result.stderr) == (2, True), result.output


def test_pairs_do_not_replace_the_table_of_names(run: Run, copy: Path) -> None:
    before = contents(copy)
    result = run("pairs", copy / "vocab", "-o", copy / "vocab" / "names.arrow")
    assert (result.exit_code, "belongs to the vocabulary" in result.stderr) == (2, True), result.output
    assert contents(copy) == before
    assert run("pairs", copy / "vocab", "-o", copy / "vocab" / "pairs.txt").exit_code == 0


def test_the_source_is_not_replaced(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "table.tsv"
    source.write_text(TABLE, encoding="utf-8")
    for arguments in (("vocab", "build", source), ("index", "build", source)):
        assert run(*arguments, "-o", source).exit_code == 2
    assert source.read_text(encoding="utf-8") == TABLE
