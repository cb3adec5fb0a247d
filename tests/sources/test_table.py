"""What the tables of sources say: of the right form, documented, and other packages' beside our own."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest

from docs import generated
from nymlink.core.errors import NymlinkError, UnknownNameError
from nymlink.core.registry import Registry
from nymlink.sources import SOURCE_TABLES
from nymlink.sources.catalogue import choose_sources, known_sources
from nymlink.sources.source import MAPPINGS, TABLE, PublishedSource
from nymlink.vocabulary.readers import VOCABULARY_FORMATS

ISSUE = "hpo mondo doid mesh hgnc chebi go uberon cl ncit ordo"

PLUG_IN = """
from dataclasses import replace
from nymlink.sources.source import TABLE

MINE = (replace(TABLE[0], name="mine", url="https://example.org/mine.obo", open=False),)
CLASHING = (replace(TABLE[0], url="https://example.org/mine.obo"),)
"""


@pytest.mark.parametrize("source", TABLE, ids=lambda source: source.name)
def test_every_source_is_described_in_full(source: PublishedSource) -> None:
    assert source.format == MAPPINGS or source.format in VOCABULARY_FORMATS.names()
    assert source.url.startswith("https://")
    assert source.title
    assert source.licence
    assert source.citation
    assert source.prefix == "" or source.prefix.endswith(":")
    closed = re.search(r"NC|SA|ND|only|registration", source.licence) is not None
    assert source.open is not closed


def test_the_table_holds_what_it_should() -> None:
    names = [source.name for source in TABLE]
    assert len(names) == len(set(names)) >= 25
    assert set(ISSUE.split()) <= set(names)
    assert sum(source.is_mappings for source in TABLE) == 2


def test_the_documentation_lists_the_table() -> None:
    lines = generated.sources().splitlines()
    listed = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]
    described = [
        [f"`{source.name}`", f"[{source.title}]({source.url})", source.format, source.licence, source.citation]
        for source in TABLE
    ]
    assert listed == described


def test_names_are_chosen_each_once() -> None:
    known = {source.name: source for source in TABLE}
    assert [source.name for source in choose_sources(["doid", "hpo", "doid"], known)] == ["doid", "hpo"]
    assert choose_sources(["open"], known) == [source for source in TABLE if source.open]
    names = [source.name for source in choose_sources(["ctd-diseases", "open"], known)]
    assert names[:2] == ["ctd-diseases", "mondo"]
    with pytest.raises(UnknownNameError, match="unknown source 'hp'; known: open, mondo, hpo"):
        choose_sources(["hpo", "hp"], known)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"name": "open"}, "cannot be the name of a source"),
        ({"name": "../x"}, "cannot be the name of a source"),
        ({"url": "file:///etc/passwd"}, "must begin with http or https"),
        ({"url": "hp.obo"}, "must begin with http or https"),
        ({"size": "huge"}, "the size must be one of"),
        ({"sha256": "abc"}, "not a SHA-256 digest"),
    ],
)
def test_a_source_of_the_wrong_form_is_refused(wrong: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(TABLE[0], **wrong)


@pytest.mark.parametrize(
    ("url", "member", "name"),
    [
        ("https://x.org/a/hp.obo?download=1", "", "hp.obo"),
        ("https://x.org/a/", "", "mondo"),
        ("https://x.org/a%20b/..%2f..%2fetc", "", "_2f.._2fetc"),
        ("https://x.org/a/..", "", "mondo"),
        ("https://x.org/a.zip", "inside.txt", "inside.txt"),
    ],
)
def test_files_are_named_after_their_addresses(url: str, member: str, name: str) -> None:
    assert replace(TABLE[0], url=url, member=member).file_name == name


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of somebody else's, for its entry points to be filled in."""
    info = tmp_path / "mine-1.0.dist-info"
    info.mkdir()
    (tmp_path / "mine_tables.py").write_text(PLUG_IN, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    # A registry as a new process has it: entry points are looked for once in each.
    monkeypatch.setattr(
        "nymlink.sources.catalogue.SOURCE_TABLES", Registry(SOURCE_TABLES.group, noun=SOURCE_TABLES.noun)
    )
    importlib.invalidate_caches()
    yield info / "entry_points.txt"
    sys.modules.pop("mine_tables", None)


def test_a_package_adds_sources(plug_in: Path) -> None:
    plug_in.write_text("[nymlink.source_tables]\nmine = mine_tables:MINE\n", encoding="utf-8")
    known = known_sources()
    assert set(known) == {"mine", *(source.name for source in TABLE)}
    assert known["mine"] not in choose_sources(["open"], known)


def test_one_name_is_one_source(plug_in: Path) -> None:
    plug_in.write_text("[nymlink.source_tables]\nmine = mine_tables:CLASHING\n", encoding="utf-8")
    with pytest.raises(NymlinkError, match="two packages have different sources called 'mondo'"):
        known_sources()


def test_every_attribute_is_described() -> None:
    assert all(f"        {field.name}: " in (PublishedSource.__doc__ or "") for field in fields(PublishedSource))
