"""Checking OBO by the letter."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from nymlink.errors import InputError, MissingExtraError
from nymlink.vocabulary.readers.obo_strict import check

GOOD = '[Term]\nid: X:1\nname: a\nsynonym: "b" EXACT []\n'


def test_a_good_file_has_none(tmp_path: Path) -> None:
    pytest.importorskip("fastobo")
    path = tmp_path / "x.obo"
    path.write_text(f"format-version: 1.4\n\n{GOOD}\n[Typedef]\nid: part_of\nname: part of\n")
    assert check(path) == []


def test_every_breach_has_its_line(tmp_path: Path) -> None:
    pytest.importorskip("fastobo")
    path = tmp_path / "x.obo"
    path.write_bytes(
        b'format-version: 1.4\n\n[Term]\nid: X:1\nsynonym: "a" EXACTLY []\nname: \xe9\nis_a: \n\n'
        + GOOD.encode()
        + b'\n[Term]\nid: X:2\nsynonym: "never closed EXACT []\n'
    )
    found = check(path)
    assert [violation.line for violation in found] == [5, 6, 7, 16]
    assert str(found[0]).startswith(f"{path}:5:")
    assert "SynonymScope" in found[0].message


def test_a_missing_file(tmp_path: Path) -> None:
    pytest.importorskip("fastobo")
    with pytest.raises(InputError):
        check(tmp_path / "nowhere.obo")


def test_without_fastobo_the_error_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastobo", None)
    with pytest.raises(MissingExtraError, match=r"nymlink\[strict\]"):
        check(tmp_path / "x.obo")
