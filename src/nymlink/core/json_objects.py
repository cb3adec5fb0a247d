"""Read typed values from JSON objects that may be damaged: what does not fit raises ``ValueError``.

The caller that opened the file catches it and names the file; any other error is a bug in nymlink.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

T = TypeVar("T")


def member(value: Any, key: str, kind: type[T]) -> T:
    """Return a member of a JSON object, checked to be of type ``kind``.

    Raises:
        ValueError: ``value`` is not an object, or has no such member of that type.
    """
    item = value.get(key) if isinstance(value, Mapping) else None
    if not isinstance(item, kind):
        raise ValueError(f"{key!r} is {item!r}, not of the type {kind.__name__}")
    return item


def to_dataclass(cls: type[T], value: Any) -> T:
    """Build an instance of a dataclass from a JSON object of its fields.

    Raises:
        ValueError: ``value`` is not an object, its members are not the fields of the class, or one is not of the
            type of its default.
    """
    known: Any = {field.name: field.default for field in fields(cls) if field.init}  # type: ignore[arg-type]
    if not isinstance(value, Mapping) or not value.keys() <= known.keys():
        raise ValueError(f"{value!r} is not an object with the members {', '.join(known)}")
    for name, default in known.items():
        if default is MISSING and name not in value:
            raise ValueError(f"{value!r} has no {name!r}")
        if isinstance(default, bool | int | float | str) and not _same_type(value.get(name, default), default):
            raise ValueError(f"{name!r} is {value[name]!r}, not of the type {type(default).__name__}")
    return cls(**value)


def _same_type(value: Any, default: Any) -> bool:
    return isinstance(value, int | float if isinstance(default, float) else type(default))
