"""Settings as fields of dataclasses, which are read from TOML files and written to TOML files.

The metadata of a field (:func:`about`) has its help text. The help of the command line and the comparison of two
trainings use the metadata.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, asdict, dataclass, fields, is_dataclass
from inspect import get_annotations
from pathlib import Path
from types import UnionType
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from nymlink.core.errors import InputError, MissingExtraError

_KEY: Final = re.compile(r"""\s*+(?P<quote>["']?)(?P<key>[^"'=\[\]]++)(?P=quote)\s*=""")
_TABLE: Final = re.compile(r"""\s*+(?P<array>\[)?\[(?P<table>[^\[\]]++)\]""")


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
    """Convert JSON values to TOML. ``None``, which TOML does not have, is left out.

    Raises:
        MissingExtraError: tomli-w is not installed.
    """
    try:
        import tomli_w
    except ImportError as error:
        raise MissingExtraError("train", purpose="writing a TOML file") from error
    return tomli_w.dumps(_without_none(values))


def line_of(key: str, path: Path | None, table: tuple[str, ...] = ()) -> int | None:
    """Find the line of a key in a TOML file, or the line of the header if the key is a table.

    Args:
        key: the key.
        path: the file; ``None`` if the values do not come from a file.
        table: the names of the tables around the key, from the outermost to the innermost. ``("stage", "2")`` is
            the second table of the array ``[[stage]]``.

    Returns:
        The line number, from 1; ``None`` if it is not found.
    """
    if path is None:
        return None
    current: tuple[str, ...] = ()
    lengths: Counter[str] = Counter()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if header := _TABLE.match(line):
            first, *others = (part.strip(" \"'") for part in header["table"].strip().split("."))
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


S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting: a field of a settings class.

    Attributes:
        name: the key in TOML.
        type: the type of its values.
        default: the default; :data:`dataclasses.MISSING` if a value is required.
        help: the help text, in lower case and without a full stop.
        matters: whether the value affects the trained weights.
        flag: the command-line option; ``None`` if it is the name with hyphens.
    """

    name: str
    type: Any
    default: Any
    help: str = ""
    matters: bool = True
    flag: str | None = None


def about(help: str, *, matters: bool = True, flag: str | None = None) -> dict[str, Any]:
    """Make the metadata of a field of a settings class; see :class:`Setting` for the arguments."""
    return {"help": help, "matters": matters, "flag": flag}


def settings_of(cls: type[Any]) -> Iterator[Setting]:
    """List the settings of a class, its own settings before those of its base classes.

    Settings of one class are in the order of their definition.
    """
    types = get_type_hints(cls)
    depths = {name: -depth for depth, base in enumerate(cls.__mro__) for name in get_annotations(base)}
    for item in sorted(fields(cls), key=lambda item: -depths[item.name]):
        yield Setting(
            name=item.name,
            type=types[item.name],
            default=_default(item),
            **item.metadata,
        )


def make_settings(
    cls: type[S], values: Mapping[str, Any], *, path: Path | None = None, table: tuple[str, ...] = ()
) -> S:
    """Make the settings of a class from TOML or JSON values.

    Args:
        cls: a dataclass.
        values: name → value.
        path: the file of the values, for messages.
        table: the table of the values in the file, see :func:`~nymlink.core.toml_settings.line_of`.

    Raises:
        InputError: a name is unknown, a required one is missing, or a value has the wrong type or is out of range.
    """
    return _make_settings(cls, values, path, table)


def to_json(settings: Any) -> dict[str, Any]:
    """Convert settings to JSON values for :func:`make_settings`."""
    values: dict[str, Any] = json.loads(json.dumps(asdict(settings)))
    return values


def weight_settings(cls: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Select the settings that affect the trained weights."""
    return {setting.name: values.get(setting.name) for setting in settings_of(cls) if setting.matters}


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """List the values that differ, each as ``name: before → now``."""
    return [
        f"{name}: {json.dumps(before.get(name))} → {json.dumps(now.get(name))}"
        for name in dict.fromkeys((*now, *before))
        if before.get(name) != now.get(name)
    ]


def _make_settings(cls: type[S], values: Mapping[str, Any], path: Path | None, table: tuple[str, ...]) -> S:
    known = {setting.name: setting for setting in settings_of(cls)}
    unknown = [key for key in values if key not in known]
    if unknown:
        named = ", ".join(_located(key, path, table) for key in unknown)
        raise InputError(f"unknown settings: {named}; there are: {', '.join(known)}", path=path)
    missing = [name for name, setting in known.items() if setting.default is MISSING and name not in values]
    if missing:
        line = line_of(table[-1], path, table[:-1]) if table else None
        raise InputError(f"missing settings: {', '.join(missing)}", path=path, line=line)

    converted = {}
    for key, value in values.items():
        try:
            converted[key] = _convert(known[key].type, value, path, (*table, key))
        except _InvalidValueError as error:
            line = line_of(key, path, table)
            raise InputError(f"{key} must be {error}, not {value!r}", path=path, line=line) from None
    try:
        return cls(**converted)
    except ValueError as error:
        line = line_of(table[-1], path, table[:-1]) if table else None
        raise InputError(str(error), path=path, line=line) from error


class _InvalidValueError(ValueError):
    """A value does not have the type of its setting. The message names the expected type."""


def _convert(kind: Any, value: Any, path: Path | None, table: tuple[str, ...]) -> Any:
    """Convert a TOML value to the type of a setting."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        if value is None:
            return None
        return _convert(next(part for part in arguments if part is not type(None)), value, path, table)
    if origin is Literal:
        if value not in arguments:
            raise _InvalidValueError(f"one of {', '.join(arguments)}")
        return value
    if origin is tuple:
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise _InvalidValueError("a list of texts")
        return tuple(value)
    if origin is dict or is_dataclass(kind):
        if not isinstance(value, Mapping):
            raise _InvalidValueError("a table")
        if origin is not dict:
            return _make_settings(kind, value, path, table)
        return {key: _convert(arguments[1], item, path, (*table, key)) for key, item in value.items()}
    if kind is Any:
        return value
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise _InvalidValueError(
            {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}[kind]
        )
    return value


def _default(item: Field[Any]) -> Any:
    return item.default if item.default_factory is MISSING else item.default_factory()


def _located(key: str, path: Path | None, table: tuple[str, ...]) -> str:
    line = line_of(key, path, table)
    return key if line is None else f"{key} (line {line})"
