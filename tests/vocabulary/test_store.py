"""A vocabulary on disk: written whole, mapped rather than read, refused when damaged."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from nymlink.core.errors import OutputError, StoreError
from nymlink.core.store.manifest import seal, write_manifest
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder, Tables
from nymlink.vocabulary.vocabulary import Vocabulary

SOURCE = Source("s", "table", "s.csv", "abc", "2024", "CC0")


def tables(count: int = 3) -> Tables:
    builder = TableBuilder()
    builder.redirect("O:1", "A:1")
    for number in range(count):
        builder.concept(f"A:{number}", definition="what it is", parents=["A:0"], xrefs=["x:1", "x:2"])
        builder.name(f"A:{number}", f"name {number}", lang="en", kind="preferred")
        builder.name(f"A:{number}", f"心 {number}", lang="zh")
    return builder.build()


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    Vocabulary.of((SOURCE, tables()), settings={"lang": "en", "columns": {}}).save(tmp_path / "v")
    return tmp_path / "v"


def test_what_is_loaded_is_what_was_saved(saved: Path) -> None:
    loaded, made = Vocabulary.load(saved), Vocabulary.of((SOURCE, tables()))
    for table in ("concepts", "names", "redirects"):
        one, other = getattr(loaded.columns, table), getattr(made.columns, table)
        assert one.schema == other.schema
        assert one.to_pylist() == other.to_pylist()
    for array in ("name_offsets", "concepts_by_id", "names_by_key"):
        assert np.array_equal(getattr(loaded.columns, array), getattr(made.columns, array))
    assert loaded.sources == (SOURCE,)
    assert loaded.settings == {"lang": "en", "columns": {}}
    manifest = json.loads((saved / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["concepts"], manifest["names"]) == (3, 6)


def test_the_same_vocabulary_gives_the_same_bytes(saved: Path, tmp_path: Path) -> None:
    Vocabulary.load(saved).save(tmp_path / "again")
    for path in saved.iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()


@pytest.mark.parametrize("count", [0, 1])
def test_small_ones_travel_too(tmp_path: Path, count: int) -> None:
    Vocabulary.of((SOURCE, tables(count))).save(tmp_path / "v")
    loaded = Vocabulary.load(tmp_path / "v")
    assert (len(loaded), loaded.name_count) == (count, 2 * count)
    assert loaded.extended(Source("more", "table"), tables(2)).name_count == 4


def test_a_vocabulary_can_be_saved_over_itself(saved: Path) -> None:
    vocabulary = Vocabulary.load(saved)
    for _ in range(2):
        vocabulary.extended(Source("more", "table"), tables(5)).save(saved)
    assert len(Vocabulary.load(saved)) == 5
    assert vocabulary["A:2"].name == "name 2"


def test_loading_maps_the_tables_instead_of_reading_them(tmp_path: Path) -> None:
    Vocabulary.of((SOURCE, tables(20_000))).save(tmp_path / "v")
    assert sum(path.stat().st_size for path in (tmp_path / "v").iterdir()) > 2_000_000
    before = pa.total_allocated_bytes()
    vocabulary = Vocabulary.load(tmp_path / "v")
    assert vocabulary["A:19999"].name == "name 19999"
    assert [name.concept_id for name in vocabulary.find("NAME 777")] == ["A:777"]
    assert pa.total_allocated_bytes() - before < 100_000
    for array in ("name_offsets", "concepts_by_id", "names_by_key"):
        assert isinstance(getattr(vocabulary.columns, array).base, np.memmap)


def remove(path: Path) -> None:
    path.unlink()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-8])


def blank(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def spoil_the_ends(path: Path) -> None:
    path.write_bytes(b"\xff" * 16 + path.read_bytes()[16:-10] + b"\xff" * 10)


FILES = ["concepts.arrow", "names.arrow", "redirects.arrow"]
ARRAYS = ["name_offsets.npy", "concepts_by_id.npy", "names_by_key.npy"]


@pytest.mark.parametrize("file", FILES + ARRAYS)
@pytest.mark.parametrize("damage", [remove, cut, blank, spoil_the_ends])
def test_a_damaged_file_is_a_store_error(saved: Path, file: str, damage: Any) -> None:
    damage(saved / file)
    with pytest.raises(StoreError, match=r"build .* again") as caught:
        Vocabulary.load(saved)
    assert str(saved) in str(caught.value)


def replace(saved: Path, file: str, data: bytes) -> None:
    """Put another file in the place of one, with a manifest that agrees."""
    (saved / file).write_bytes(data)
    seal(saved, json.loads((saved / "manifest.json").read_text(encoding="utf-8")))


def test_files_of_another_vocabulary_do_not_fit(saved: Path, tmp_path: Path) -> None:
    Vocabulary.of((SOURCE, tables(4))).save(tmp_path / "other")
    for file in ("names.arrow", *ARRAYS):
        kept = (saved / file).read_bytes()
        replace(saved, file, (tmp_path / "other" / file).read_bytes())
        with pytest.raises(StoreError, match="damaged"):
            Vocabulary.load(saved)
        replace(saved, file, kept)
    Vocabulary.load(saved)


def test_arrays_of_another_type_do_not_fit(saved: Path) -> None:
    for wrong in (np.zeros(3), np.zeros(3, np.int64), np.array([None] * 3, object)):
        np.save(saved / "concepts_by_id.npy", wrong, allow_pickle=True)
        replace(saved, "concepts_by_id.npy", (saved / "concepts_by_id.npy").read_bytes())
        with pytest.raises(StoreError, match="damaged"):
            Vocabulary.load(saved)


@pytest.mark.parametrize(
    "change",
    [{"sources": None}, {"sources": [{"name": "s", "colour": 1}]}, {"settings": None}, {"sources": ["s"]}],
)
def test_a_manifest_that_says_nonsense_is_a_store_error(saved: Path, change: dict[str, Any]) -> None:
    manifest = json.loads((saved / "manifest.json").read_text(encoding="utf-8"))
    write_manifest(saved, manifest | change)
    with pytest.raises(StoreError, match="damaged"):
        Vocabulary.load(saved)
    for key in change:
        del manifest[key]
    write_manifest(saved, manifest)
    with pytest.raises(StoreError, match="damaged"):
        Vocabulary.load(saved)


@pytest.mark.parametrize("file", FILES + ARRAYS)
def test_a_manifest_that_does_not_list_a_file_is_a_store_error(saved: Path, file: str) -> None:
    manifest = json.loads((saved / "manifest.json").read_text(encoding="utf-8"))
    del manifest["files"][file]
    write_manifest(saved, manifest)
    with pytest.raises(StoreError, match=rf"damaged .*does not list {file}"):
        Vocabulary.load(saved)


def test_a_disk_without_room_leaves_the_old_as_it_was(tmp_path: Path) -> None:
    Vocabulary.of((SOURCE, tables())).save(tmp_path / "v")
    code = """
import resource, sys
from nymlink.core.store.manifest import seal, write_manifest
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from nymlink.core.store.manifest import seal, write_manifest
builder = TableBuilder()
for number in range(20_000):
    builder.concept(f"A:{number}")
    builder.name(f"A:{number}", "x")
vocabulary = Vocabulary.of((Source("s", "table"), builder.build()))
sys.dont_write_bytecode = True
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
vocabulary.save(sys.argv[1])
"""
    process = subprocess.run([sys.executable, "-c", code, tmp_path / "v"], capture_output=True, encoding="utf-8")
    assert "nymlink.core.errors.OutputError" in process.stderr
    assert "nothing was changed" in process.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["v"]
    assert len(Vocabulary.load(tmp_path / "v")) == 3


def test_a_place_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(OutputError, match="not a directory that nymlink made"):
        Vocabulary.of((SOURCE, tables())).save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "C:\\outside"])
def test_a_manifest_that_names_files_elsewhere_is_none(saved: Path, name: str) -> None:
    manifest = json.loads((saved / "manifest.json").read_text(encoding="utf-8"))
    manifest["files"][name] = {"size": 1, "xxh3": "0"}
    write_manifest(saved, manifest)
    with pytest.raises(StoreError, match="a directory of something else"):
        Vocabulary.load(saved)
