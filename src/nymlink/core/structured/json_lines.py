"""Read JSON lines: one object a line, the broken ones left out and reported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nymlink.core.encodings import as_utf8
from nymlink.core.files import MAX_LINE, open_bytes, read_lines
from nymlink.core.problems import Problems
from nymlink.core.structured.json_file import read_json


def read_json_objects(path: Path, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line and the object of each line that holds one.

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
    """Yield the JSON values of a file: one a line with its line, or the one that is the whole file.

    Args:
        path: the file.
        problems: receives what cannot be read.
        instead: what to do about a whole file that is too large, for the error.

    Raises:
        InputError: see :func:`nymlink.core.structured.json_file.read_json`.
    """
    with open_bytes(path) as file:
        # What is wrong in it is reported when it is read.
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
        # An escaped lone surrogate cannot be written to a file: refuse it here.
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return value
