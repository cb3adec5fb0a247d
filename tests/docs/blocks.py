"""Find what a page of the documentation lets a reader run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
_DOCS: Final = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md"))
PAGES: Final = ("README.md", "CONTRIBUTING.md", *_DOCS)

RUN: Final = ("console", "python", "pycon")
SHOWN: Final = ("text", "csv", "tsv", "toml", "json", "markdown")
"""Languages of blocks: those that are run, and those that are not."""

_FENCE: Final = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        page: where it stands, from the root of the repository.
        line: of its first line in the page.
        language: what it is marked as.
        file: the file that it is the text of, as its title says.
        text: what is in it.
    """

    page: str
    line: int
    language: str
    file: str | None
    text: str


@dataclass(frozen=True)
class Command:
    """A command line and what a page says that it writes."""

    line: str
    output: str


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        title = re.search(r'title="([^"]*)"', match[2])
        line = text.count("\n", 0, match.start()) + 2
        found.append(Block(page, line, match[1], title[1] if title else None, match[3]))
    return found


def prose(page: str) -> str:
    """Return a page without its blocks."""
    return _FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))


def commands(block: Block) -> Iterator[Command]:
    """Yield the commands of a console block, lines after ``$`` and their output after them."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        lines = part.split("\n")
        count = next(number for number, line in enumerate(lines, 1) if not line.endswith("\\"))
        yield Command("\n".join(lines[:count]), "\n".join(lines[count:]).strip("\n"))
