"""What people who use Python find at the door."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

import nymlink
from nymlink.link.links import Links
from tests.link.toy import LINKER

OBO = """format-version: 1.2
[Term]
id: X:1
name: myocardial infarction
synonym: "heart attack" EXACT []
[Term]
id: X:2
name: short stature
"""


def test_everything_that_is_exported_is_there() -> None:
    assert nymlink.__version__
    assert set(nymlink.__all__) < set(dir(nymlink))
    for name in nymlink.__all__:
        assert getattr(nymlink, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = nymlink.nothing


def test_a_linker_is_built_from_any_source(tmp_path: Path) -> None:
    (tmp_path / "x.obo").write_text(OBO)
    linker = nymlink.Linker.build(tmp_path / "x.obo", encoder=None)
    assert linker.link("Heart attack").best.concept_id == "X:1"
    nymlink.read_vocabulary(tmp_path / "x.obo").save(tmp_path / "x")
    assert nymlink.Linker.build(tmp_path / "x", encoder=None).link("short stature").best.concept_id == "X:2"
    with pytest.raises(nymlink.InputError, match="no source"):
        nymlink.Linker.build(encoder=None)


def test_links_are_rows_of_a_table() -> None:
    links = LINKER.link(
        ["heart attack", "qqqq", nymlink.Mention("x", parts=("ovarian cancer", "no heart attack"))]
    )
    assert isinstance(links, Links)
    rows = links.to_dicts()
    first = next(row for row in rows if row["mention"] == "heart attack")
    assert (first["rank"], first["concept_id"], first["matched_name"]) == (1, "D:3", "heart attack")
    assert [row["concept_id"] for row in rows if row["mention"] == "qqqq"] == [None]
    parts = [row for row in rows if row["mention"] == "x" and row["rank"] == 1]
    assert [row["concept_id"] for row in parts] == ["D:2", "D:3"]
    assert parts[1]["note"] == "contradicts: no ≠ –"


def test_without_pandas_there_is_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def missing(name: str, *arguments: Any, **named: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return imported(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(nymlink.MissingExtraError, match=r"pip install 'nymlink\[frame\]'"):
        LINKER.link(["heart attack"]).to_frame()
