"""Read JSON from files and check it: members of objects, whole files of limited size, and lines.

Functions on values raise ``ValueError``. Their caller has opened the file, and adds its name to the message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, Final, TypeVar

from nymlink.core.encodings import as_utf8
from nymlink.core.errors import InputError
from nymlink.core.files import MAX_LINE, open_bytes, read_lines, read_text_blocks
from nymlink.core.problems import Problems

T = TypeVar("T")

_SIMPLE: Final[Mapping[str, Any]] = {
    "bool": bool,
    "int": int,
    "float": (int, float),
    "str": str,
    "None": type(None),
}
_LONGEST: Final = 200


def member(value: Any, key: str, kind: type[T]) -> T:
    """Return a member of a JSON object, after checking that it has the type ``kind``.

    Raises:
        ValueError: ``value`` is not an object, or has no such member of that type.
    """
    item = value.get(key) if isinstance(value, Mapping) else None
    if not isinstance(item, kind):
        raise ValueError(f"{key!r} is {_shown(item)}, not of the type {kind.__name__}")
    return item


def to_dataclass(cls: type[T], value: Any) -> T:
    """Make an instance of a dataclass from a JSON object whose members are the fields.

    Raises:
        ValueError: ``value`` is not an object, its members are not the fields of the class, or one is not of the
            type that its field declares.
    """
    known: Any = {field.name: field for field in fields(cls) if field.init}  # type: ignore[arg-type]
    if not isinstance(value, Mapping) or not value.keys() <= known.keys():
        raise ValueError(f"{_shown(value)} is not an object with the members {', '.join(known)}")
    for name, field in known.items():
        if name not in value:
            if field.default is MISSING and field.default_factory is MISSING:
                raise ValueError(f"{_shown(value)} has no {name!r}")
        elif not _fits(value[name], str(field.type)):
            raise ValueError(f"{name!r} is {_shown(value[name])}, not of the type {field.type}")
    return cls(**value)


def _fits(value: Any, declared: str) -> bool:
    """Whether a value has the type that its field declares. Types that JSON does not have are not checked."""
    names = declared.split(" | ")
    if not _SIMPLE.keys() >= set(names):
        return True
    # In Python, True is also a number. In JSON it is not.
    return any(isinstance(value, _SIMPLE[name]) and (type(value) is not bool or name == "bool") for name in names)


def _shown(value: Any) -> str:
    """Format a value for a message, shortened."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):
        return f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_MAX_BYTES: Final = 512 << 20
"""Most bytes of a file. Parsed JSON takes some ten times as much memory."""
_PIECE_BYTES: Final = 1 << 20
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


def read_json(path: Path, problems: Problems, *, instead: str) -> Any:
    """Parse a plain or gzip JSON file.

    Lines that are not UTF-8 are read as Windows-1252, and halves of surrogate pairs are replaced. Both are
    reported.

    Args:
        path: the file.
        problems: receives the reports.
        instead: advice for the error about a file that is too large: what to do instead.

    Raises:
        InputError: the file is empty, is not JSON, is nested too deep, or has more than 512 MB; see also
            :func:`nymlink.core.files.open_bytes`.
    """
    _check_size(path, instead)
    text = "".join(read_text_blocks(path, problems))
    if not text.strip():
        raise InputError("the file is empty", path=path)
    try:
        return json.loads(_whole_characters(text, path, problems))
    except json.JSONDecodeError as error:
        raise InputError(f"malformed JSON ({error.msg}): fetch it again", path=path, line=error.lineno) from error
    except RecursionError as error:
        raise InputError("JSON with too many levels of nested brackets", path=path) from error
    except ValueError as error:
        raise InputError(f"JSON that cannot be read ({error})", path=path) from error


def _check_size(path: Path, instead: str) -> None:
    size = 0
    with open_bytes(path) as file:
        while piece := file.read(_PIECE_BYTES):
            size += len(piece)
            if size > _MAX_BYTES:
                raise InputError(
                    f"more than {_MAX_BYTES >> 20} MB of JSON, too large for memory: {instead}", path=path
                )


def _whole_characters(text: str, path: Path, problems: Problems) -> str:
    """Replace escapes of half a surrogate pair, which are valid in JSON but not in Unicode text."""
    line, counted = 1, 0

    def replacement(match: re.Match[str]) -> str:
        nonlocal line, counted
        if match["half"] is None:
            return match[0]
        line += text.count("\n", counted, match.start())
        counted = match.start()
        problems.repair(path, line, f"{match[0]} is half a surrogate pair; replaced")
        return r"\ufffd"

    return _ESCAPE.sub(replacement, text) if _SURROGATE.search(text) else text


def read_json_objects(path: Path, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line number and the object of each line that is a JSON object.

    Raises:
        InputError: see :func:`nymlink.core.files.read_lines`.
    """
    for number, line in read_lines(path, problems):
        if not line.strip():
            continue
        value = _parse(line)
        if isinstance(value, dict):
            yield number, value
        else:
            problems.reject(path, number, "not a JSON object")


def read_json_records(path: Path, problems: Problems, *, instead: str) -> Iterator[tuple[int | None, Any]]:
    """Yield the JSON values of a file with their line numbers.

    If the first line is a JSON object, each line is a value. Otherwise the whole file is one value, with ``None``
    instead of a line number.

    Args:
        path: the file.
        problems: receives unreadable lines.
        instead: advice for the error about a file that is too large: what to do instead.

    Raises:
        InputError: see :func:`nymlink.core.json_files.read_json`.
    """
    with open_bytes(path) as file:
        # Do not report problems now: they are reported when the file is read.
        text = as_utf8(file, path, Problems())
        lead = text.readline(MAX_LINE)
        while lead.isspace():
            lead = text.readline(MAX_LINE)
    if isinstance(_parse(lead.decode("utf-8-sig", errors="replace")), dict):
        yield from read_json_objects(path, problems)
    else:
        yield None, read_json(path, problems, instead=instead)


def _parse(line: str) -> Any:
    try:
        value = json.loads(line)
        # Refuse an escaped lone surrogate here, because it could not be written to a file.
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return value
