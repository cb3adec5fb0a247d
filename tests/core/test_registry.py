"""Plug-in points: built-in parts, parts of other packages, names that are in none."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from nymlink.core.errors import NymlinkError, UnknownNameError
from nymlink.core.registry import Registry
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.readers import VOCABULARY_FORMATS, VocabularyFormat

PLUG_IN = """
from nymlink.core.registry import Format
from nymlink.vocabulary.tables import TableBuilder

def read(path, *, options, problems):
    builder = TableBuilder()
    for line in path.read_text().splitlines()[1:]:
        builder.concept(line)
        builder.name(line, f"the {line}", lang=options.lang, kind="preferred")
    return builder.build()

FORMAT = Format("shouted", "Ids, shouted", lambda path, head: head.startswith("SHOUTED"), read, -5)
"""


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package of somebody else's with two entry points, one of which is broken."""
    site = tmp_path / "site"
    info = site / "shouting-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "shouting.py").write_text(PLUG_IN, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(
        "[nymlink.vocabulary_readers]\nshouted = shouting:FORMAT\n"
        "[nymlink.broken]\nlost = shouting:NOTHING\ngone = no_such_module_at_all:X\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(site))
    importlib.invalidate_caches()
    yield "shouted"
    sys.modules.pop("shouting", None)


def formats() -> Registry[VocabularyFormat]:
    """A registry as a new process has it: entry points are looked for once in each."""
    return Registry(VOCABULARY_FORMATS.group, noun=VOCABULARY_FORMATS.noun)


def test_our_own_parts_are_in_it_in_order() -> None:
    names = formats().names()
    assert {"obo", "obographs", "rrf", "table"} <= set(names)
    assert list(names) == sorted(names)
    assert [name for name, _ in formats()] == list(names)
    assert all(entry.name == name for name, entry in formats())


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown vocabulary format 'wordperfect'; known: .*obo, "):
        formats().get("wordperfect")


def test_a_group_without_entries_is_empty() -> None:
    empty: Registry[str] = Registry("nymlink.no_such_group", noun="thing")
    assert empty.names() == ()
    assert list(empty) == []
    with pytest.raises(UnknownNameError, match="unknown thing 'x'"):
        empty.get("x")


def test_a_part_of_another_package_is_found_and_used(
    plug_in: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nymlink.vocabulary.read.VOCABULARY_FORMATS", formats())
    source = tmp_path / "x.txt"
    source.write_text("SHOUTED\nA:1\nA:2\n", encoding="utf-8")
    for name in (None, plug_in):
        vocabulary = read_vocabulary(source, format=name)
        assert vocabulary["A:2"].name == "the A:2"
        assert vocabulary.sources[0].format == plug_in


@pytest.mark.usefixtures("plug_in")
def test_a_part_that_does_not_load_names_its_package() -> None:
    broken: Registry[str] = Registry("nymlink.broken", noun="thing")
    for name in ("lost", "gone"):
        with pytest.raises(NymlinkError, match=rf"the thing '{name}' of the package shouting does not load"):
            broken.get(name)


@pytest.mark.usefixtures("plug_in")
def test_a_part_that_does_not_load_is_left_out_with_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site" / "shouting.py").write_text("FORMAT = (", encoding="utf-8")
    registry = formats()
    with pytest.warns(UserWarning, match=r"'shouted' of the package shouting does not load .*; it is left out"):
        names = [name for name, _ in registry]
    assert names == [name for name in registry.names() if name != "shouted"]
    monkeypatch.setattr("nymlink.vocabulary.read.VOCABULARY_FORMATS", registry)
    (tmp_path / "t.tsv").write_text("id\tname\nX:1\tgout\n", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_vocabulary(tmp_path / "t.tsv")["X:1"].name == "gout"
