"""A flipped bit in any file of an index is noticed before anything is found in it."""

from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from nymlink.core.errors import OutputError, StoreError
from nymlink.core.store import manifest
from nymlink.core.store.manifest import find_damage
from nymlink.encode.encoder import Encoder
from nymlink.index.fusion import Fusion
from nymlink.index.index import Index
from nymlink.index.index_folder import store_calibration, store_fusion
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.encode import tiny
from tests.index.small import many_names, vocabulary

VOCABULARY = vocabulary({f"X:{number}": [name] for number, name in enumerate(many_names(60))})


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return Encoder.load(tiny.folder(tmp_path_factory.mktemp("damage") / "model"))


@pytest.fixture(scope="module")
def saved(encoder: Encoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("damage") / "index"
    Index.build(VOCABULARY, directory=directory, encoder=encoder)
    return directory


def flip(path: Path, bit: int) -> None:
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def found(directory: Path, encoder: Encoder) -> list[list[int]]:
    return Index.load(directory, encoder=encoder).match(["qqq", "name"], 3).concepts.tolist()


def test_a_flipped_bit_of_any_file_is_noticed(saved: Path, encoder: Encoder, tmp_path: Path) -> None:
    directory = shutil.copytree(saved, tmp_path / "copy")
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    assert len(files) > 15
    found(directory, encoder)
    for number, file in enumerate(files):
        size = 8 * file.stat().st_size
        # Not in the last line of a manifest, where a blank may become another.
        for bit in (size // 2 + number, size - 50 - number):
            flip(file, bit)
            with pytest.raises(StoreError):
                found(directory, encoder)
            flip(file, bit)
    found(directory, encoder)


def test_an_error_of_our_own_is_not_said_to_be_damage(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mistaken(*_: object, **__: object) -> None:
        raise TypeError("a mistake of our own")

    directory = shutil.copytree(saved, tmp_path / "copy")
    for module, name in (
        ("index.entries.entries.Entries", "load"),
        ("index.sparse.sparse_search.SparseSearch", "load"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(f"nymlink.{module}.{name}", mistaken)
            with pytest.raises(TypeError, match="our own"):
                Index.load(directory)
            # But a file that is damaged comes first: that may be what led to it.
            flip(directory / "dense" / "vectors.npy", 4000)
            with pytest.raises(StoreError, match=r"dense/vectors\.npy is damaged"):
                Index.load(directory)
            flip(directory / "dense" / "vectors.npy", 4000)
    monkeypatch.setattr("nymlink.vocabulary.vocabulary_folder.Columns", mistaken)
    with pytest.raises(TypeError, match="our own"):
        Vocabulary.load(directory / "vocabulary")


def test_the_first_query_waits_for_what_is_checked_in_the_background(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = shutil.copytree(saved, tmp_path / "copy")
    flip(directory / "dense" / "vectors.npy", 4000)
    go_on, check = threading.Event(), manifest.check_files

    def slowly(*given: object) -> None:
        go_on.wait(20)
        check(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(manifest, "check_files", slowly)
    opened = Index.load(directory)
    derived = [opened, opened.with_fusion(opened.fusion), opened.with_calibration({})]
    threading.Timer(0.2, go_on.set).start()
    for index in derived:
        for use in (
            lambda index=index: index.match(["name"], 1),
            lambda index=index: index.save(tmp_path / "new"),
        ):
            with pytest.raises(StoreError, match=r"dense/vectors\.npy is damaged .*: build the index again"):
                use()
    assert go_on.is_set()


def test_a_forked_process_checks_for_itself(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = shutil.copytree(saved, tmp_path / "copy")
    flip(directory / "dense" / "vectors.npy", 4000)
    # As if no thread had come to anything before the fork.
    monkeypatch.setattr(manifest.Thread, "start", lambda _: None)
    opened = Index.load(directory)
    child = os.fork()
    if child == 0:
        try:
            opened.verify()
        except StoreError:
            os._exit(7)
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_what_is_changed_in_the_manifest_keeps_it_right(saved: Path, tmp_path: Path) -> None:
    directory = shutil.copytree(saved, tmp_path / "copy")
    fusion = Fusion.of(Index.load(directory).search.parts, weights={"dense": 1})
    store_fusion(directory, fusion)
    store_calibration(directory, {"form": 0.1, "points": (1, 2)}, fusion=fusion)
    assert find_damage(directory)[1] == []
    assert Index.load(directory).fusion == fusion


def test_a_vocabulary_of_another_index_is_noticed(saved: Path, tmp_path: Path) -> None:
    directory = shutil.copytree(saved, tmp_path / "copy")
    shutil.rmtree(directory / "vocabulary")
    vocabulary({f"Y:{number}": [name] for number, name in enumerate(many_names(60))}).save(
        directory / "vocabulary"
    )
    with pytest.raises(StoreError, match=r"vocabulary/manifest\.json"):
        Index.load(directory)


def test_foreign_files_are_refused_before_anything_is_built(saved: Path, encoder: Encoder, tmp_path: Path) -> None:
    directory = shutil.copytree(saved, tmp_path / "copy")
    (directory / "notes.txt").write_text("mine", encoding="utf-8")

    class Nothing:
        def __getattr__(self, name: str) -> object:
            raise AssertionError(name)

    with pytest.raises(OutputError, match=r"would be lost: notes\.txt: move them"):
        Index.build(Nothing(), directory=directory, encoder=None)  # type: ignore[arg-type]
    assert np.array_equal(found(saved, encoder), found(directory, encoder))
    assert json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
