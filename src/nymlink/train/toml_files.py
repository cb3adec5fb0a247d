"""TOML files: read, written, and in which line what stands."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from nymlink.errors import InputError

_ODD: Final = re.compile(r"^$|[^A-Za-z0-9_-]")
"""In a key that needs quotation marks."""
_KEY: Final = re.compile(r"""\s*(?P<quote>["']?)(?P<key>[^"'=\[\]]+?)(?P=quote)\s*=""")
_TABLE: Final = re.compile(r"""\s*\[\s*(?P<table>[^\[\]]+?)\s*\]""")


def read_toml(path: Path) -> dict[str, Any]:
    """The values of a TOML file.

    Raises:
        InputError: it cannot be read; the message says in which line.
    """
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except FileNotFoundError as error:
        raise InputError("no such file", path=path) from error
    except (OSError, ValueError) as error:
        raise InputError(f"not a TOML file: {error}", path=path) from error


def to_toml(values: Mapping[str, Any]) -> str:
    """JSON values as a TOML file that gives the same ones; what is ``None`` is left out.

    Tables may hold tables, and these plain values.
    """
    lines = [_line(key, value) for key, value in values.items() if value is not None and not _is_table(value)]
    for name, table in ((name, value) for name, value in values.items() if _is_table(value)):
        plain = {key: value for key, value in table.items() if not _is_table(value)}
        if plain:
            lines += ["", f"[{name}]", *(_line(key, value) for key, value in plain.items())]
        for key, value in table.items():
            if _is_table(value):
                inner = (_line(*pair) for pair in value.items() if pair[1] is not None)
                lines += ["", f"[{name}.{_written(key)}]", *inner]
    return "\n".join(lines) + "\n"


def line_of(key: str, path: Path | None, table: tuple[str, ...]) -> int | None:
    """The line in which a TOML file gives a key, or begins the table of that name."""
    if path is None:
        return None
    within: tuple[str, ...] = ()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if header := _TABLE.match(line):
            within = tuple(part.strip(" \"'") for part in header["table"].split("."))
            if within[: len(table) + 1] == (*table, key):
                return number
        elif (found := _KEY.match(line)) and within == table and found["key"].strip() == key:
            return number
    return None


def _line(key: str, value: Any) -> str:
    return f"{_written(key) if _ODD.search(key) else key} = {_written(value)}"


def _written(value: Any) -> str:
    # JSON's texts, numbers, lists and true or false are TOML's too, but for one control character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", r"\u007f")


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)
