"""The arrow map: a room knows only the rooms to its left, see docs/architecture.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_dependencies import imports

SOURCE = Path(__file__).parents[1] / "src" / "nymlink"

KNOWS = {
    "core": "",
    "jobs": "core",
    "tables": "core",
    "corpus": "core tables",
    "text": "core tables corpus",
    "vocabulary": "core tables text",
    "sources": "core tables vocabulary",
    "pairs": "core tables text vocabulary",
    "encode": "core tables text vocabulary",
    "index": "core tables text vocabulary encode",
    "rank": "core tables text vocabulary encode index",
    "linking": "core jobs tables corpus text vocabulary encode index rank",
    "rerank": "core tables corpus text vocabulary encode index rank linking",
    "annotation": "core jobs tables corpus text vocabulary encode index linking",
    "evaluation": "core tables corpus text vocabulary encode index rank linking rerank annotation",
    "train": "core tables corpus text vocabulary pairs encode index rank linking rerank evaluation",
    "plot": "core tables corpus text vocabulary pairs encode index rank linking rerank evaluation train",
    "xlbel": "core tables corpus vocabulary index rank linking rerank evaluation",
    "bulk": "core jobs tables corpus vocabulary encode index linking annotation",
    "project": "core tables corpus text vocabulary index rank linking evaluation train",
    "spacy": "core tables corpus vocabulary linking annotation",
    "serve": "core tables corpus text vocabulary index rank linking annotation evaluation project",
    "cli": (
        "core jobs tables corpus text vocabulary sources pairs encode index rank linking rerank annotation "
        "evaluation "
        "train plot xlbel bulk project serve"
    ),
}
"""Each room, and those that it may import from."""


ROOMS_OF_ONE = {".", "spacy", "train"}
"""Rooms of fewer files: spaCy imports one by itself, and all of training is in folders."""


def imported(room: str) -> set[str]:
    """The rooms that a room imports from, wherever in its files."""
    return {
        name.split(".")[1]
        for path, names in imports().items()
        if path.startswith(f"{room}/")
        for name in names
        if name.startswith("nymlink.")
    } - {room}


def test_every_room_is_on_the_map() -> None:
    rooms = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").is_file()}
    assert rooms == set(KNOWS)


@pytest.mark.parametrize("room", KNOWS)
def test_a_room_knows_only_those_to_its_left(room: str) -> None:
    assert imported(room) <= set(KNOWS[room].split())


def test_folders_are_not_crumbs() -> None:
    """A folder has at least four files, ``__init__.py`` among them, or is a room of its own."""
    folders = {path.parent for path in SOURCE.rglob("*.py")}
    few = [folder for folder in folders if len(list(folder.glob("*.py"))) < 4]
    assert {folder.relative_to(SOURCE).as_posix() for folder in few} <= ROOMS_OF_ONE


def test_modules_are_whole() -> None:
    """Few modules hold less than a concept, or more than one."""
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in SOURCE.rglob("[!_]*.py")}
    assert len(lines) <= 400
    assert sum(count < 40 for count in lines.values()) <= len(lines) / 50
    assert sum(count > 450 for count in lines.values()) == 0
