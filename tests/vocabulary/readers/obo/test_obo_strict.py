"""Checking OBO by the letter."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

from nymlink.cli import nymlink
from nymlink.core.errors import InputError, MissingExtraError
from nymlink.core.files import MAX_LINE
from nymlink.vocabulary.readers.obo import check

GOOD = '[Term]\nid: X:1\nname: a\nsynonym: "b" EXACT []\n'


def test_a_good_file_has_none(tmp_path: Path) -> None:
    pytest.importorskip("fastobo")
    path = tmp_path / "x.obo"
    path.write_text(f"format-version: 1.4\n\n{GOOD}\n[Typedef]\nid: part_of\nname: part of\n", encoding="utf-8")
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


def test_comments_are_no_breach(tmp_path: Path) -> None:
    pytest.importorskip("fastobo")
    path = tmp_path / "x.obo"
    path.write_text(f"! a\nformat-version: 1.4\n\n{GOOD} ! b\n!\nis_a: X:2 ! c\n", encoding="utf-8")
    assert check(path) == []


def test_a_parser_that_falls_over_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    def loads(*_: object, **__: object) -> None:
        raise PanicException

    monkeypatch.setitem(sys.modules, "fastobo", SimpleNamespace(loads=loads))
    path = tmp_path / "x.obo"
    path.write_text(f"format-version: 1.4\n\n{GOOD}", encoding="utf-8")
    assert [violation.line for violation in check(path)] == [1, 3]


def test_a_stanza_of_nothing_but_faults_comes_to_an_end(tmp_path: Path) -> None:
    pytest.importorskip("fastobo")
    path = tmp_path / "x.obo"
    path.write_text("[Term]\nid: X:2\n" + "synonym: a\n" * 2000 + f"\n{GOOD}synonym: c\n", encoding="utf-8")
    assert [violation.line for violation in check(path)] == [*range(3, 103), 2008]


def test_lines_that_cannot_be_read_are_violations_and_keep_their_number(tmp_path: Path) -> None:
    pytest.importorskip("fastobo")
    path = tmp_path / "x.obo"
    path.write_text(
        f"format-version: 1.4\n\n[Term]\nid: X:2\nname: {'a' * MAX_LINE}\nsynonym: a\n", encoding="utf-8"
    )
    assert [violation.line for violation in check(path)] == [5, 6]


def test_a_file_that_is_not_strict_is_refused_only_when_asked(tmp_path: Path) -> None:
    pytest.importorskip("fastobo")
    good, bad = tmp_path / "good.obo", tmp_path / "bad.obo"
    good.write_text(f"format-version: 1.4\n\n{GOOD}", encoding="utf-8")
    bad.write_text(f"format-version: 1.4\n\n{GOOD}" + "synonym: c EXACT []\n" * 30, encoding="utf-8")

    def build(*arguments: str) -> Result:
        return CliRunner().invoke(nymlink, ["vocab", "build", *arguments, "-o", str(tmp_path / "out")])

    assert build(str(good), "--strict").exit_code == 0
    assert build(str(bad)).exit_code == 1
    result = build(str(good), str(bad), "--strict")
    assert result.exit_code == 2
    assert "not OBO to the letter in 30 places" in result.stderr
    assert f"{bad}:7:" in result.stderr
    assert f"{bad}:26:" in result.stderr
    assert f"{bad}:27:" not in result.stderr
