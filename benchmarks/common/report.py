"""Write results as a Markdown table, and as JSON with how they were measured."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from nymlink import __version__

_INSTRUCTIONS: Final = {"VNNI": "_vnni", "AMX": "amx_int8"}

_NUMBER: Final = re.compile(r"[-+±]?\d.*|[–-]?")


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; columns of numbers, other than the first, are aligned to the right."""
    numbers = [all(_NUMBER.fullmatch(row[place]) for row in rows) for place in range(len(header))]
    rule = ["---:" if number and place else "---" for place, number in enumerate(numbers)]
    first, *others = ("| " + " | ".join(line) + " |" for line in [header, *rows])
    return "\n".join([first, f"|{'|'.join(rule)}|", *others])


def about(
    *, data: str, split: str | None, dictionary: str | None, seed: int | str | None, **others: Any
) -> dict[str, Any]:
    """Describe how a result was measured.

    Args:
        data: the names and mentions.
        split: part of the corpora; ``None`` where there is none.
        dictionary: the vocabulary searched, bare, augmented or enriched; ``None`` where nothing is searched.
        seed: of what is drawn or trained; ``None`` where nothing is.
        others: ``counting``, ``encoder``, ``note``; ``None`` values are left out.

    Returns:
        These properties, and the command, commit (with a ``+`` where files differ from it), version, date and
        machine.
    """
    return {
        "command": f"python {_script()} {' '.join(sys.argv[1:])}".strip(),
        "data": data,
        "split": split,
        "dictionary": dictionary,
        "seed": seed,
        **{name: value for name, value in others.items() if value is not None},
        "commit": _commit(),
        "nymlink": __version__,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores, {_processor()}; Python {platform.python_version()}",
    }


def _script() -> str:
    """Name the script that runs, as it is called from the folder of the repository."""
    path, root = Path(sys.argv[0]).resolve(), Path(__file__).resolve().parents[2]
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _commit() -> str | None:
    """Name the commit of the working tree; ``None`` outside of a repository."""
    found = subprocess.run(
        ["git", "describe", "--always", "--abbrev=7", "--exclude=*", "--dirty=+"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip() or None


def _processor() -> str:
    """Name the processor, and say whether it has VNNI and AMX, which the speed of int8 depends on."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    fields = {line.split(":")[0].strip(): line.split(":")[1].strip() for line in lines if ":" in line}
    flags = fields.get("flags", "")
    has = [f"{name} {'there' if flag in flags else 'missing'}" for name, flag in _INSTRUCTIONS.items()]
    return ", ".join([fields.get("model name", platform.machine()), *has])


def rows(text: str) -> list[list[dict[str, str]]]:
    """Read the Markdown tables in a text: of each its rows, cells by header."""
    blocks = re.findall(r"(?:^\|.*\|$\n?)+", text, re.MULTILINE)
    cells = [[[cell.strip() for cell in line.split("|")[1:-1]] for line in block.splitlines()] for block in blocks]
    return [[dict(zip(header, line, strict=True)) for line in lines] for header, _, *lines in cells]


def publish(path: Path | None, text: str, parts: Sequence[str], **measured: Any) -> None:
    """Write the tables of a printed result for the documentation where a file is named.

    Args:
        path: the file to write; ``None`` for none.
        text: the result as it is printed.
        parts: names of its tables, in their order.
        measured: see :func:`about`; ``figures``, if given, are kept with the tables.
    """
    figures = measured.pop("figures", None)
    tables = dict(zip(parts, rows(text), strict=True))
    save(path, {"about": about(**measured), **tables, **({} if figures is None else {"figures": figures})})


def load(path: Path) -> dict[str, Any]:
    """Read a result; an empty one where there is no file yet."""
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return result


def save(path: Path | None, result: dict[str, Any]) -> None:
    """Write the result as JSON where a file is named."""
    if path is not None:
        path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
