"""The arrow map: a room knows only the rooms to its left, see docs/architecture.md."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "nymlink"

KNOWS = {
    "core": "",
    "corpus": "core",
    "text": "core corpus",
    "vocabulary": "core text",
    "sources": "core vocabulary",
    "pairs": "core text vocabulary",
    "encode": "core text vocabulary",
    "index": "core text vocabulary encode",
    "rank": "core text vocabulary encode index",
    "linking": "core corpus text vocabulary encode index rank",
    "rerank": "core corpus text vocabulary encode index rank linking",
    "annotation": "core corpus text vocabulary encode index linking",
    "evaluation": "core corpus text vocabulary encode index rank linking rerank annotation",
    "train": "core corpus text vocabulary pairs encode index rank linking rerank evaluation",
    "plot": "core corpus text vocabulary pairs encode index rank linking rerank evaluation train",
    "xlbel": "core corpus vocabulary index rank linking rerank evaluation",
    "bulk": "core corpus encode index linking annotation",
    "project": "core corpus text vocabulary index rank linking evaluation train",
    "spacy": "core corpus linking annotation",
    "serve": "core corpus text vocabulary index rank linking annotation project",
    "cli": (
        "core corpus text vocabulary sources pairs encode index rank linking rerank annotation evaluation train "
        "plot xlbel bulk project serve"
    ),
}
"""Each room, and those that it may import from."""


def imported(room: str) -> set[str]:
    """The rooms that a room imports from, wherever in its files."""
    found = set()
    for path in (SOURCE / room).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            found |= {name.split(".")[1] for name in names if name.startswith("nymlink.")}
    return found - {room}


def test_every_room_is_on_the_map() -> None:
    rooms = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").is_file()}
    assert rooms == set(KNOWS)


@pytest.mark.parametrize("room", KNOWS)
def test_a_room_knows_only_those_to_its_left(room: str) -> None:
    assert imported(room) <= set(KNOWS[room].split())


@pytest.mark.parametrize("room", KNOWS)
def test_no_room_is_a_hall(room: str) -> None:
    folders = [SOURCE / room, *(path.parent for path in (SOURCE / room).rglob("__init__.py"))]
    most = {"text": 18, "linking": 16, "train": 16}.get(room, 15)
    assert max(len(list(folder.glob("[!_]*.py"))) for folder in folders) <= most
