"""`nymlink verify`: what is whole, what is damaged, what cannot be told."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
import torch

from nymlink.encode.cached_vectors import EmbeddingCache
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.folder import MINI, installed
from nymlink.index.index import Index
from nymlink.project.add_file import add_table
from nymlink.project.decisions import decide
from nymlink.project.index_reference import IndexReference
from nymlink.project.project import Project
from nymlink.project.rows import Target
from nymlink.rerank.dual_encoder import DualEncoder, DualEncoderConfig
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.cli.conftest import Run
from tests.encode import tiny


def flip(path: Path, byte: int) -> None:
    data = bytearray(path.read_bytes())
    data[byte] ^= 4
    path.write_bytes(data)


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    """One of each: ``vocab``, ``index``, ``encoder``, ``reranker``, ``cache``."""
    folder = shutil.copytree(built, tmp_path / "all")
    torch.manual_seed(0)
    base = tiny.folder(tmp_path / "base")
    DualEncoder.from_encoder(base, DualEncoderConfig(max_length=64)).save(folder / "reranker")
    shutil.copytree(str(installed(MINI)), folder / "encoder")
    Encoder.load(MINI).encode(["fever", "cough"], cache=EmbeddingCache(folder / "cache"))
    return folder


def test_each_kind_of_folder_is_whole_until_a_bit_is_flipped(run: Run, folder: Path) -> None:
    kinds = {
        "vocab": ("vocabulary", "names.arrow"),
        "index": ("index", "sparse/0/postings.npy"),
        "encoder": ("encoder", "tokenizer.json"),
        "reranker": ("reranker", "mention/model.safetensors"),
        "cache": ("cache of vectors", None),
    }
    result = run("verify", *(folder / name for name in kinds))
    assert result.exit_code == 0, result.output
    for name, (kind, file) in kinds.items():
        assert any(str(folder / name) in line and f": {kind}, " in line for line in result.stdout.splitlines())
        damaged = folder / name / file if file else next((folder / name).rglob("*.npy"))
        flip(damaged, damaged.stat().st_size // 2)
        found = run("verify", folder / name)
        assert found.exit_code == 1, found.output
        assert damaged.name in found.stderr
        assert "again" in found.stderr or "remove it" in found.stderr
        assert "1 damaged" in found.stdout
    # As parts of one folder, too: all are named.
    assert run("verify", folder).stdout.count("1 damaged") == len(kinds)


def test_foreign_files_are_named_and_do_no_harm(run: Run, folder: Path) -> None:
    (folder / "index" / "notes.txt").write_text("mine", encoding="utf-8")
    result = run("verify", folder / "index")
    assert (result.exit_code, "not nymlink's, not verified: notes.txt" in result.stdout) == (0, True)


def test_what_cannot_be_verified_is_said(run: Run, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "manifest.json").write_text('{"name": "a web page"}', encoding="utf-8")
    manifest = json.loads((folder / "vocab" / "manifest.json").read_text(encoding="utf-8"))
    del manifest["digest"]
    (folder / "vocab" / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (tmp_path / "empty").mkdir()
    for place, message in (
        (tmp_path / "no", "no such folder"),
        (tmp_path / "empty", "nothing that nymlink wrote is in it"),
        (tmp_path / "web", "a directory of something else"),
        (
            folder / "vocab",
            "an older version of nymlink wrote this vocabulary, without digests: build the vocabulary again",
        ),
    ):
        result = run("verify", place)
        assert (result.exit_code, message in result.stderr) == (2, True), result.output


def test_a_damaged_manifest_is_damage(run: Run, folder: Path) -> None:
    for byte in (0, (folder / "index" / "manifest.json").read_text(encoding="utf-8").index('"concepts"') + 2):
        flip(folder / "index" / "manifest.json", byte)
        result = run("verify", folder / "index")
        assert (result.exit_code, "again" in result.stderr) == (1, True), result.output
        flip(folder / "index" / "manifest.json", byte)


def test_a_training_is_verified_with_its_checkpoints(run: Run, folder: Path, tmp_path: Path) -> None:
    training = shutil.copytree(folder / "encoder", tmp_path / "training")
    (training / "run.json").write_text(json.dumps({"recipe": "sap", "settings": {}, "data": {}}), encoding="utf-8")
    shutil.copytree(folder / "reranker", training / "checkpoints" / "step-000000001")
    assert run("verify", training).exit_code == 0
    flip(training / "checkpoints" / "step-000000001" / "entity" / "config.json", 9)
    result = run("verify", training)
    assert (result.exit_code, "entity/config.json is damaged" in result.stderr) == (1, True)


def test_commands_refuse_what_is_damaged_and_print_nothing(run: Run, folder: Path, tmp_path: Path) -> None:
    flip(folder / "vocab" / "names.arrow", 600)
    flip(folder / "index" / "sparse" / "scales.npy", 130)
    for arguments in (
        ("pairs", folder / "vocab", "-o", "-"),
        ("vocab", "subset", folder / "vocab", "--kind", "exact", "-o", tmp_path / "part"),
        ("vocab", "merge", folder / "vocab", folder / "index" / "vocabulary", "-o", tmp_path / "merged"),
        ("link", "--index", folder / "index", "heart attack"),
    ):
        result = run(*arguments)
        assert (result.exit_code, result.stdout, "is damaged" in result.stderr) == (2, "", True), result.output
    assert len(Vocabulary.load(folder / "index" / "vocabulary")) == 3


def test_a_project_is_verified_with_its_log(run: Run, built: Path, tmp_path: Path) -> None:
    path = tmp_path / "visits.nymlink"
    with Project.create(path, index=IndexReference.of("toy", Index.load(built / "index"))) as project:
        add_table(project, b"term\ngout\nfever\n", "visits.csv")
        for term in (1, 2):
            decide(project, reviewer="ann", term=term, verdict="concept", targets=[Target("X:1", "gout")])
    result = run("verify", tmp_path)
    assert result.exit_code == 0
    assert "visits.nymlink: project, 1 file, whole" in result.stdout
    connection = sqlite3.connect(path)
    connection.execute("UPDATE decision SET essence = 'exact:X:2' WHERE id = 1")
    connection.execute("UPDATE current SET decision = 1 WHERE term = 2")
    connection.commit()
    connection.close()
    result = run("verify", path, "-o", tmp_path / "verified.json")
    assert result.exit_code == 1
    [found] = json.loads((tmp_path / "verified.json").read_text(encoding="utf-8"))
    assert (found["kind"], found["whole"], len(found["damaged"])) == ("project", False, 2)
    assert "decision 1 contradicts itself" in result.stderr
    assert "of ann on term 2 another decision counts than the last in the log" in result.stderr
    path.write_bytes(path.read_bytes()[:5000])
    assert run("verify", path).exit_code == 1
