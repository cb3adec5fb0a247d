"""Tables as JSON lines: an object is a row, its keys are columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from nymlink.core.problems import Problems

NOT_AN_OBJECT: Final = "not a JSON object"


def json_value(line: str) -> Any:
    """Parse a line of JSON; ``None`` if it is invalid."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def json_object(line: str) -> dict[str, Any] | None:
    """Parse a line as a JSON object; ``None`` if it is none."""
    value = json_value(line)
    return value if isinstance(value, dict) else None


def numbered_objects(
    lines: Iterable[tuple[int, str]], path: Path, problems: Problems, *, outcome: str = "left out"
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Parse numbered lines as objects; blank lines are skipped, other lines without an object are reported."""
    for number, line in lines:
        if not line.strip():
            continue
        value = json_object(line)
        if value is None:
            problems.reject(path, number, NOT_AN_OBJECT, outcome=outcome)
        else:
            yield number, value


def object_keys(objects: Iterable[dict[str, Any]]) -> list[str]:
    """List the keys of objects in the order of their first occurrence."""
    return list(dict.fromkeys(key for value in objects for key in value))
