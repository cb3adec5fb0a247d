"""TOML files: read, written, and in which line what stands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import tomli_w

from nymlink.core.errors import InputError

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
    """Write JSON values as TOML; what is ``None``, which TOML cannot say, is left out."""
    return tomli_w.dumps(_without_none(values))


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


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _without_none(value) if isinstance(value, Mapping) else value
        for key, value in values.items()
        if value is not None
    }
