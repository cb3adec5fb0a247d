"""Directories of data: what a reader refuses, and what a writer will not replace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from xxhash import xxh3_128_hexdigest

from nymlink.core.errors import NymlinkError, OutputError, StoreError
from nymlink.core.store.manifest import find_damage, read_manifest, require_files, write_directory, write_manifest
from nymlink.core.store.ownership import MANIFEST


def write(target: Path, *, kind: str = "thing", version: int = 3, text: str = "data", **body: Any) -> None:
    with write_directory(target, kind=kind, version=version, body=body) as directory:
        (directory / "sub").mkdir()
        (directory / "sub" / "file").write_text(text, encoding="utf-8")


def read(directory: Path) -> dict[str, Any]:
    return read_manifest(directory, kind="thing", version=3)


def contents(directory: Path) -> dict[str, str]:
    return {
        path.relative_to(directory).as_posix(): path.read_text(encoding="utf-8")
        for path in directory.rglob("*")
        if path.is_file()
    }


def test_what_was_written_is_read(tmp_path: Path) -> None:
    body: dict[str, Any] = {"source": "näme"}
    with write_directory(tmp_path / "x", kind="thing", version=3, body=body) as directory:
        (directory / "file").write_text("12345", encoding="utf-8")
        body["counted"] = 7
    found = read(tmp_path / "x")
    assert len(found.pop("digest")) == 32
    assert found == {
        "kind": "thing",
        "format": 3,
        "source": "näme",
        "counted": 7,
        "files": {"file": {"size": 5, "xxh3": xxh3_128_hexdigest(b"12345")}},
    }


def remove(path: Path) -> None:
    path.unlink()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-2])


def lengthen(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"x")


@pytest.mark.parametrize("damage", [remove, cut, lengthen])
def test_a_damaged_data_file_is_named(tmp_path: Path, damage: Any) -> None:
    write(tmp_path / "x")
    damage(tmp_path / "x" / "sub" / "file")
    with pytest.raises(StoreError, match=r"x: sub/file .*build the thing again"):
        read(tmp_path / "x")


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ("", "cannot be read .*build the thing again"),
        ('{"kind": "thing", "form', "cannot be read .*build the thing again"),
        ("\udcff", "cannot be read .*build the thing again"),
        ("[]", "directory of something else"),
        ("null", "directory of something else"),
        ('{"name": "a web page"}', "directory of something else"),
        ('{"kind": "thing", "format": 3}', "directory of something else"),
        ('{"kind": "thing", "format": 3, "files": []}', "directory of something else"),
        ('{"kind": "other", "format": 3, "files": {}}', "not a nymlink thing but a nymlink other"),
        ('{"kind": "thing", "format": 4, "files": {}}', "thing format 4, but .* reads format 3: build it again"),
        ('{"kind": "thing", "format": "3", "files": {}}', "format '3', but .* format 3: build it again"),
        ('{"kind": ["thing"], "format": 3, "files": {}}', "directory of something else"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(tmp_path: Path, manifest: str, message: str) -> None:
    (tmp_path / MANIFEST).write_bytes(manifest.encode("utf-8", "surrogateescape"))
    with pytest.raises(StoreError, match=message) as caught:
        read(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name, message in (
        ("no", "no such thing"),
        (".", "not a nymlink thing: it has no manifest.json"),
        ("file", "this is a file, not a thing"),
        ("x" * 300, "cannot be read"),
    ):
        with pytest.raises(StoreError, match=message):
            read(tmp_path / name)
    with pytest.raises(StoreError, match="this is a file, not an index"):
        read_manifest(tmp_path / "file", kind="index", version=1)


def test_files_that_a_manifest_does_not_list_are_named(tmp_path: Path) -> None:
    write(tmp_path / "x")
    require_files(read(tmp_path / "x"), ["sub/file"])
    with pytest.raises(ValueError, match="does not list sub/other"):
        require_files(read(tmp_path / "x"), ["sub/file", "sub/other"])


def test_one_of_the_same_kind_is_replaced_whatever_its_version(tmp_path: Path) -> None:
    write(tmp_path / "x", version=1, text="old")
    write(tmp_path / "x")
    assert read(tmp_path / "x")["format"] == 3


def test_one_of_another_kind_is_never_replaced(tmp_path: Path) -> None:
    write(tmp_path / "x", kind="vocabulary")
    before = contents(tmp_path)
    with pytest.raises(
        OutputError, match="exists and holds a nymlink vocabulary, not an index: choose another place"
    ):
        write(tmp_path / "x", kind="index")
    assert contents(tmp_path) == before


def test_an_empty_directory_is_filled(tmp_path: Path) -> None:
    write(tmp_path)
    assert list(read(tmp_path)["files"]) == ["sub/file"]


@pytest.mark.parametrize("manifest", [None, '{"name": "a web page", "icons": []}', '{"kind": "thi'])
def test_what_is_not_ours_is_never_replaced(tmp_path: Path, manifest: str | None) -> None:
    (tmp_path / "thesis.tex").write_text("years of work", encoding="utf-8")
    if manifest is not None:
        (tmp_path / MANIFEST).write_text(manifest, encoding="utf-8")
    before = contents(tmp_path)
    with pytest.raises(OutputError, match=r"not a directory that nymlink made.*choose another place"):
        write(tmp_path)
    with pytest.raises(OutputError, match="not a directory that nymlink made"):
        write(tmp_path / "thesis.tex")
    assert contents(tmp_path) == before


def test_a_place_that_cannot_be_looked_at_is_an_output_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="too long"):
        write(tmp_path / ("x" * 300))


@pytest.mark.parametrize("before", [False, True])
def test_an_error_inside_changes_nothing(tmp_path: Path, before: bool) -> None:
    if before:
        write(tmp_path / "x", text="old")
    left = contents(tmp_path)

    def break_off() -> None:
        with write_directory(tmp_path / "x", kind="thing", version=3, body={}) as directory:
            (directory / "file").write_text("half", encoding="utf-8")
            raise NymlinkError("on purpose")

    with pytest.raises(NymlinkError, match="on purpose"):
        break_off()
    assert contents(tmp_path) == left
    assert len(list(tmp_path.iterdir())) == before


def test_the_manifest_is_plain_json(tmp_path: Path) -> None:
    write(tmp_path / "x", title="心")
    text = (tmp_path / "x" / MANIFEST).read_text(encoding="utf-8")
    assert "心" in text
    assert text.endswith("}\n")
    assert json.loads(text)["title"] == "心"


def flip(path: Path, bit: int) -> None:
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def test_a_flipped_bit_of_a_file_is_noticed(tmp_path: Path) -> None:
    write(tmp_path / "x")
    file = tmp_path / "x" / "sub" / "file"
    for bit in range(8 * file.stat().st_size):
        flip(file, bit)
        with pytest.raises(StoreError, match=r"sub/file is damaged .*: build the thing again"):
            read(tmp_path / "x")
        assert find_damage(tmp_path / "x")[1] == [
            "sub/file is damaged (its digest has changed): build the thing again"
        ]
        flip(file, bit)
    assert find_damage(tmp_path / "x") == (read(tmp_path / "x"), [])


def test_a_flipped_bit_of_the_manifest_changes_nothing_unnoticed(tmp_path: Path) -> None:
    write(tmp_path / "x", settings={"weight": 0.25, "names": ["a", "b"], "count": 7, "other": None})
    manifest = tmp_path / "x" / MANIFEST
    said, noticed = read(tmp_path / "x"), 0
    for bit in range(8 * manifest.stat().st_size):
        flip(manifest, bit)
        try:
            assert read(tmp_path / "x") == said
        except StoreError:
            noticed += 1
        flip(manifest, bit)
    # Blanks may become other ones.
    assert noticed > 0.8 * 8 * manifest.stat().st_size


def test_one_that_was_written_without_digests_cannot_be_verified(tmp_path: Path) -> None:
    write(tmp_path / "x")
    manifest = json.loads((tmp_path / "x" / MANIFEST).read_text(encoding="utf-8"))
    (tmp_path / "x" / MANIFEST).write_text(json.dumps({**manifest, "files": {"sub/file": 4}}), encoding="utf-8")
    with pytest.raises(StoreError, match="is damaged"):
        read(tmp_path / "x")
    del manifest["digest"]
    (tmp_path / "x" / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(StoreError, match="an older version of nymlink wrote this thing, without digests"):
        find_damage(tmp_path / "x")


def test_a_manifest_is_changed_in_one_step(tmp_path: Path) -> None:
    write(tmp_path / "x")
    write_manifest(tmp_path / "x", {**read(tmp_path / "x"), "pair": (1, 2), "by_number": {3: 0.1}})
    assert (read(tmp_path / "x")["pair"], read(tmp_path / "x")["by_number"]) == ([1, 2], {"3": 0.1})
