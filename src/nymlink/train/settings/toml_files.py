"""TOML files: reading, writing, and the line of a key."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError, MissingExtraError

_KEY: Final = re.compile(r"""\s*(?P<quote>["']?)(?P<key>[^"'=\[\]]+?)(?P=quote)\s*=""")
_TABLE: Final = re.compile(r"""\s*(?P<array>\[)?\[\s*(?P<table>[^\[\]]+?)\s*\]""")


def read_toml(path: Path) -> dict[str, Any]:
    """Read the values of a TOML file.

    Raises:
        InputError: the file is missing or is not TOML; the message gives the line.
    """
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except FileNotFoundError as error:
        raise InputError("no such file", path=path) from error
    except (OSError, ValueError) as error:
        raise InputError(f"not a TOML file: {error}", path=path) from error


def to_toml(values: Mapping[str, Any]) -> str:
    """Convert JSON values to TOML; ``None``, which TOML does not have, is left out.

    Raises:
        MissingExtraError: tomli-w is not installed.
    """
    try:
        import tomli_w
    except ImportError as error:
        raise MissingExtraError("train", purpose="writing a TOML file") from error
    return tomli_w.dumps(_without_none(values))


def line_of(key: str, path: Path | None, table: tuple[str, ...]) -> int | None:
    """Find the line of a key in a TOML file, or the header of the table of that name.

    Args:
        key: the key.
        path: the file; ``None`` where the values come from no file.
        table: the names of the tables around the key, from the outermost; ``("stage", "2")`` is the second table
            of the array ``[[stage]]``.

    Returns:
        The line number, from 1; ``None`` where it is not found.
    """
    if path is None:
        return None
    current: tuple[str, ...] = ()
    lengths: Counter[str] = Counter()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if header := _TABLE.match(line):
            first, *others = (part.strip(" \"'") for part in header["table"].split("."))
            lengths[first] += header["array"] is not None
            current = (first, str(lengths[first]), *others) if lengths[first] else (first, *others)
            if current[: len(table) + 1] == (*table, key):
                return number
        elif (match := _KEY.match(line)) and current == table and match["key"].strip() == key:
            return number
    return None


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _without_none(value) if isinstance(value, Mapping) else value
        for key, value in values.items()
        if value is not None
    }
