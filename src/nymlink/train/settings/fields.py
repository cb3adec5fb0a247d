"""Settings: frozen dataclasses whose fields are at once the keys of a TOML file and the flags of a command.

A field says in its metadata what it means and what the paper takes for it (:func:`about`). The command line's
help, the messages about wrong keys and the comparison of two runs are all made from that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, asdict, dataclass, fields, is_dataclass
from inspect import get_annotations
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from nymlink.core.errors import InputError
from nymlink.train.settings.toml_files import line_of

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Setting:
    """What a field of a settings class is to somebody who fills it in.

    Attributes:
        name: the key in TOML.
        type: its type.
        default: what it is when not given; :data:`dataclasses.MISSING` where it must be.
        help: what it means.
        paper: what the paper takes, where it says so.
        matters: whether another value gives other weights.
        flag: the flag, where it is not the name with hyphens.
    """

    name: str
    type: Any
    default: Any
    help: str
    paper: str | None
    matters: bool
    flag: str | None


def about(help: str, *, paper: str | None = None, matters: bool = True, flag: str | None = None) -> dict[str, Any]:
    """The metadata of a field of a settings class; the arguments are those of :class:`Setting`."""
    return {"help": help, "paper": paper, "matters": matters, "flag": flag}


def settings_of(cls: type[Any]) -> Iterator[Setting]:
    """The settings of a class: those that it adds to its bases before theirs, else as they are written."""
    types = get_type_hints(cls)
    homes = {name: -at for at, base in enumerate(cls.__mro__) for name in get_annotations(base)}
    for one in sorted(fields(cls), key=lambda one: -homes[one.name]):
        yield Setting(
            name=one.name,
            type=types[one.name],
            default=_default(one),
            **one.metadata,
        )


def make(cls: type[S], values: Mapping[str, Any], *, path: Path | None = None) -> S:
    """Settings of a class.

    Args:
        cls: a dataclass whose fields have metadata of :func:`about`.
        values: name → value, as TOML or JSON gives them.
        path: the file they come from, for messages.

    Raises:
        InputError: a name is unknown, a needed one is missing, or a value is not what it should be.
    """
    return _make(cls, values, path, ())


def to_json(settings: Any) -> dict[str, Any]:
    """Settings as JSON values; :func:`make` takes them back."""
    values: dict[str, Any] = json.loads(json.dumps(asdict(settings)))
    return values


def essence(cls: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Those settings that matter to the weights, of settings as JSON values."""
    return {one.name: values.get(one.name) for one in settings_of(cls) if one.matters}


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Which values differ, as ``name: before → now``."""
    return [
        f"{name}: {json.dumps(before.get(name))} → {json.dumps(now.get(name))}"
        for name in dict.fromkeys((*now, *before))
        if before.get(name) != now.get(name)
    ]


def _make(cls: type[S], values: Mapping[str, Any], path: Path | None, table: tuple[str, ...]) -> S:
    known = {one.name: one for one in settings_of(cls)}
    unknown = [key for key in values if key not in known]
    if unknown:
        named = ", ".join(_located(key, path, table) for key in unknown)
        raise InputError(f"unknown settings: {named}; there are: {', '.join(known)}", path=path)
    missing = [one.name for one in known.values() if one.default is MISSING and one.name not in values]
    if missing:
        raise InputError(f"missing settings: {', '.join(missing)}", path=path)

    made = {}
    for key, value in values.items():
        try:
            made[key] = _value(known[key].type, value, path, (*table, key))
        except _WrongError as error:
            line = line_of(key, path, table)
            raise InputError(f"{key} must be {error}, not {value!r}", path=path, line=line) from None
    try:
        return cls(**made)
    except ValueError as error:
        raise InputError(str(error), path=path) from error


class _WrongError(ValueError):
    """Holds what a value should have been."""


def _value(kind: Any, value: Any, path: Path | None, table: tuple[str, ...]) -> Any:
    """A TOML value as the type of a field wants it."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        if value is None:
            return None
        return _value(next(one for one in arguments if one is not type(None)), value, path, table)
    if origin is Literal:
        if value not in arguments:
            raise _WrongError(f"one of {', '.join(arguments)}")
        return value
    if origin is tuple:
        if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
            raise _WrongError("a list of texts")
        return tuple(value)
    if origin is dict or is_dataclass(kind):
        if not isinstance(value, Mapping):
            raise _WrongError("a table")
        if origin is not dict:
            return _make(kind, value, path, table)
        return {key: _value(arguments[1], one, path, (*table, key)) for key, one in value.items()}
    if kind is Any:
        return value
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise _WrongError({int: "a whole number", float: "a number", bool: "true or false", str: "a text"}[kind])
    return value


def _default(one: Field[Any]) -> Any:
    return one.default if one.default_factory is MISSING else one.default_factory()


def _located(key: str, path: Path | None, table: tuple[str, ...]) -> str:
    line = line_of(key, path, table)
    return key if line is None else f"{key} (line {line})"
