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

NOT_RUN: Final = "not run by the tests"
"""What the title of a block says that no test can run."""

_FENCE: Final = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        page: where it stands, from the root of the repository.
        line: of its first line in the page.
        language: what it is marked as.
        title: what stands above it, empty for nothing.
        text: what is in it.
    """

    page: str
    line: int
    language: str
    title: str
    text: str

    @property
    def file(self) -> str | None:
        """The name of the file that it shows, where its title is one."""
        return self.title if re.fullmatch(r"[\w./-]+\.\w+", self.title) else None

    @property
    def runs(self) -> bool:
        return self.file is None and self.language in ("console", "python", "pycon") and NOT_RUN not in self.title


@dataclass(frozen=True)
class Command:
    """A command line and what a page says that it writes."""

    line: str
    output: str


def blocks(page: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for match in _FENCE.finditer(text):
        title = re.search(r'title="([^"]*)"', match[2])
        yield Block(page, text.count("\n", 0, match.start()) + 2, match[1], title[1] if title else "", match[3])


def commands(block: Block) -> Iterator[Command]:
    """Yield the commands of a console block, lines after ``$`` and their output after them."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        lines = part.split("\n")
        count = next(number for number, line in enumerate(lines, 1) if not line.endswith("\\"))
        yield Command("\n".join(lines[:count]), "\n".join(lines[count:]).strip("\n"))
