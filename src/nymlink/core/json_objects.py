"""Reading JSON objects from files that may be damaged: what is not as it was written is a ``ValueError``.

Whoever opens such a file catches that and says which file it is; any other error is a mistake of nymlink's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

T = TypeVar("T")


def member(value: Any, key: str, kind: type[T]) -> T:
    """Return a member of a JSON object.

    Raises:
        ValueError: this is no object, or has no such member of that type.
    """
    found = value.get(key) if isinstance(value, Mapping) else None
    if not isinstance(found, kind):
        raise ValueError(f"{key!r} is {found!r}, not of the type {kind.__name__}")
    return found


def record(cls: type[T], value: Any) -> T:
    """Make a dataclass of the JSON object that its fields were written as.

    Raises:
        ValueError: this is no object, its members are not the fields, or one is of another type than its default.
    """
    known: Any = {field.name: field.default for field in fields(cls) if field.init}  # type: ignore[arg-type]
    if not isinstance(value, Mapping) or not value.keys() <= known.keys():
        raise ValueError(f"{value!r} has not the members {', '.join(known)}")
    for name, default in known.items():
        if default is MISSING and name not in value:
            raise ValueError(f"{value!r} has no {name!r}")
        if isinstance(default, bool | int | float | str) and not _is_alike(value.get(name, default), default):
            raise ValueError(f"{name!r} is {value[name]!r}, not of the type {type(default).__name__}")
    return cls(**value)


def _is_alike(value: Any, default: Any) -> bool:
    return isinstance(value, int | float if isinstance(default, float) else type(default))
