"""Indexes from anybody: what they ask for is named, and standard input is for mentions alone."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from nymlink.core.store.manifest import write_manifest
from tests.cli.conftest import Run
from tests.encode import hostile, tiny

MENTIONS = "heart problems\n1\ny\nheart attack\n"
"""Answers to a question whether to run code are among them."""


@pytest.fixture(scope="module")
def dense(run: Run, built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an encoder and an index that was built with it."""
    folder = tmp_path_factory.mktemp("shared")
    encoder = tiny.folder(folder / "encoder")
    result = run("index", "build", built / "vocab", "-o", folder / "index", "--encoder", encoder)
    assert result.exit_code == 0, result.stderr
    return folder


def asking_for(dense: Path, name: object, tmp_path: Path) -> Path:
    """A copy of an index that asks for another encoder."""
    index = shutil.copytree(dense / "index", tmp_path / "index")
    manifest = json.loads((index / "manifest.json").read_text(encoding="utf-8"))
    manifest["settings"]["encoder"]["name"] = name
    write_manifest(index, manifest)
    return index


def test_mentions_are_no_answers(run: Run, dense: Path, tmp_path: Path) -> None:
    encoder, ran = shutil.copytree(dense / "encoder", tmp_path / "hostile"), tmp_path / "ran"
    hostile.model(encoder, ran)
    index = asking_for(dense, str(encoder), tmp_path)
    done = run("link", "--index", index, input=MENTIONS)
    named, refused = done.stderr.splitlines()
    advice = "(`nymlink index set --encoder` names another)"
    assert named == f"Warning: the index {index} asks for the encoder '{encoder}' {advice}"
    assert f"{encoder}/config.json: asks for Python code that comes with the model" in refused
    assert (done.exit_code, done.stdout) == (2, "")
    assert not ran.exists()


def test_building_asks_nothing(run: Run, built: Path, dense: Path, tmp_path: Path) -> None:
    encoder, ran = shutil.copytree(dense / "encoder", tmp_path / "hostile"), tmp_path / "ran"
    hostile.model(encoder, ran)
    build = ("index", "build", built / "vocab", "-o", tmp_path / "index", "--encoder", encoder)
    result = run(*build, input="y\n" * 100)
    assert (result.exit_code, "asks for Python code that comes with the model" in result.stderr) == (2, True)
    assert not ran.exists()
    assert not (tmp_path / "index").exists()


def test_an_encoder_outside_the_index_is_named_and_loaded(run: Run, dense: Path) -> None:
    result = run("link", "--index", dense / "index", "--format", "jsonl", input=MENTIONS)
    assert result.exit_code == 0, result.stderr
    assert f"asks for the encoder '{dense / 'encoder'}'" in result.stderr
    assert [json.loads(line)["mention"] for line in result.stdout.splitlines()] == MENTIONS.splitlines()


def test_an_encoder_that_the_user_names_is_loaded_alone(run: Run, dense: Path, tmp_path: Path) -> None:
    index = asking_for(dense, "/nowhere", tmp_path)
    result = run("index", "set", index, "--encoder", dense / "encoder")
    assert (result.exit_code, result.stderr) == (0, "")
    assert run("link", "--index", index, "heart attack").exit_code == 0


def test_a_model_of_the_hub_is_named_before_it_is_asked_for(
    run: Run, dense: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    def fetch(name: str, **_: object) -> None:
        print(f"fetching {name}", file=sys.stderr)
        raise OSError("no network")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fetch)
    index = asking_for(dense, "some/\x1b[2Jmodel", tmp_path)
    result = run("link", "--index", index, "heart attack")
    named, fetched, *_, refused = result.stderr.splitlines()
    assert r"asks for the encoder 'some/\x1b[2Jmodel' of the Hugging Face hub" in named
    assert fetched.startswith("fetching")
    assert "no such folder" in refused
    assert result.exit_code == 2


@pytest.mark.parametrize("name", [5, ["a"], {}])
def test_an_encoder_that_is_no_name_is_damage(run: Run, dense: Path, tmp_path: Path, name: object) -> None:
    result = run("link", "--index", asking_for(dense, name, tmp_path), "heart attack")
    assert (result.exit_code, "the index is damaged" in result.stderr) == (2, True), result.output
