"""What a folder from anybody leads to is not read."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from nymlink.core.errors import StoreError
from nymlink.core.store.manifest import find_damage, read_manifest, seal, write_manifest

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs links and pipes")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory of data with a file in it."""
    made = tmp_path / "data" / "one"
    (made / "part").mkdir(parents=True)
    (made / "part" / "file").write_text("content", encoding="utf-8")
    seal(made, {"kind": "thing", "format": 1})
    return made


def moved(path: Path, to: Path) -> None:
    """Leave a link in the place of a file."""
    path.rename(to)
    path.symlink_to(to)


@pytest.mark.parametrize("name", ["part", "part/file", "manifest.json"])
def test_a_file_elsewhere_is_refused(folder: Path, tmp_path: Path, name: str) -> None:
    moved(folder / name, tmp_path / "elsewhere")
    with pytest.raises(StoreError, match=r"is a link to a file outside of the directory.*copy the file into it"):
        read_manifest(folder, kind="thing", version=1)


def test_damage_is_not_looked_for_elsewhere(folder: Path, tmp_path: Path) -> None:
    moved(folder / "part" / "file", tmp_path / "elsewhere")
    _, (message,) = find_damage(folder)
    assert "is a link to a file outside" in message


def test_links_within_and_to_a_directory_are_followed(folder: Path, tmp_path: Path) -> None:
    (folder / "part" / "file").rename(folder / "other")
    (folder / "part" / "file").symlink_to("../other")
    (tmp_path / "latest").symlink_to(folder)
    assert read_manifest(tmp_path / "latest", kind="thing", version=1)["files"]


def test_a_model_in_the_cache_of_the_hub_is_of_links(folder: Path) -> None:
    model = folder.parent / "models--x" / "snapshots"
    (model.parent / "blobs").mkdir(parents=True)
    model.mkdir()
    folder = folder.rename(model / "0123")
    moved(folder / "part" / "file", model.parent / "blobs" / "4567")
    assert read_manifest(folder, kind="thing", version=1)["files"]


@pytest.mark.parametrize("odd", ["pipe", "device"])
def test_no_pipe_or_device_is_read(folder: Path, odd: str) -> None:
    path = folder / "manifest.json"
    path.unlink()
    if odd == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    caught: list[BaseException] = []

    def read() -> None:
        try:
            read_manifest(folder, kind="thing", version=1)
        except BaseException as error:
            caught.append(error)

    # In a thread: a pipe that nobody writes to is read for ever.
    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(5)
    (error,) = caught
    assert isinstance(error, StoreError)
    assert "is a pipe or a device" in str(error)


def test_a_name_without_end_is_no_file(folder: Path) -> None:
    files = {"x" * 5000: {"size": 4, "xxh3": "0" * 32}}
    write_manifest(folder, {"kind": "thing", "format": 1, "files": files})
    with pytest.raises(StoreError, match=r"x is missing") as caught:
        read_manifest(folder, kind="thing", version=1)
    assert len(caught.value.message) < 300


def test_half_a_character_is_not_read(folder: Path) -> None:
    path = folder / "manifest.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"thing"', r'"thing\ud800"'), encoding="utf-8")
    with pytest.raises(StoreError, match=r"manifest cannot be read .*surrogates not allowed"):
        read_manifest(folder, kind="thing", version=1)


def test_characters_may_be_written_as_pairs(folder: Path) -> None:
    seal(folder, {"kind": "thing", "format": 1, "name": "🫀"})
    path = folder / "manifest.json"
    path.write_text(path.read_text(encoding="utf-8").replace("🫀", r"\ud83e\udec0"), encoding="utf-8")
    assert read_manifest(folder, kind="thing", version=1)["name"] == "🫀"
