"""Results as a Markdown table, and as a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first column to the left, the others to the right."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def save(path: Path | None, result: dict[str, Any]) -> None:
    """Write the result as JSON where a file is named."""
    if path is not None:
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
