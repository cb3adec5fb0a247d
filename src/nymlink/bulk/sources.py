"""Find the files of a job, recognise their formats and columns, and cut them into shards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from nymlink.annotation.texts import ID_KEYS
from nymlink.bulk.row_formats import PUBTATOR, ROW_FORMATS
from nymlink.core.errors import InputError, UnknownNameError
from nymlink.core.files import read_head, split_part
from nymlink.tables.columns import column_place
from nymlink.tables.shards import (
    DELIMITED,
    JSONL,
    PARQUET,
    XLSX,
    RowColumns,
    Shard,
    ShardFormat,
    Source,
)


def open_sources(
    inputs: Iterable[str | Path],
    *,
    column: str,
    given: bool,
    further: Mapping[str, str],
    format: str | None = None,
) -> list[Source]:
    """Recognise the format and the columns of each file.

    Args:
        inputs: files, and folders whose files are used in order.
        column: the column of tables with mentions, names or texts.
        given: whether the user named it.
        further: the columns with ``id`` and ``language``.
        format: of all files; ``None``: recognised by the content of each.

    Raises:
        InputError: a file is missing, empty, or lacks a named column.
        UnknownNameError: there is no such format.
    """
    if format is not None and format not in ROW_FORMATS:
        raise UnknownNameError(f"no format {format!r}: choose from {', '.join(ROW_FORMATS)}")
    if unknown := sorted(further.keys() - {"id", "language"}):
        raise InputError(f"rows have an id and a language beside their text, no {unknown[0]!r}")
    sources = [
        _source(name, _recognised(Path(name)) if format is None else ROW_FORMATS[format], column, further)
        for name in _files(inputs)
    ]
    corpora = [source.name for source in sources if source.columns is None]
    if given and corpora:
        raise InputError("documents of PubTator have no columns: leave --column out", path=corpora[0])
    return sources


def cut_sources(sources: Sequence[Source], rows: int) -> Iterator[Shard]:
    """Cut files into shards of at most so many rows, the same on every machine.

    Raises:
        InputError: a file cannot be read.
    """
    number = 0
    for source in sources:
        for shard in ROW_FORMATS[source.format].cut(source, rows):
            yield replace(shard, number=number)
            number += 1


def _files(inputs: Iterable[str | Path]) -> list[str]:
    names: list[str] = []
    for given in map(Path, inputs):
        if not given.is_dir():
            names.append(str(given))
            continue
        files = sorted(
            str(file) for file in given.rglob("*") if file.is_file() and not file.name.startswith((".", "_"))
        )
        if not files:
            raise InputError("there is no file in this folder", path=given)
        names += files
    counts = Counter(names)
    if repeated := [name for name, count in counts.items() if count > 1]:
        raise InputError("this input is given twice", path=repeated[0])
    return names


def _recognised(path: Path) -> ShardFormat:
    file = split_part(path)[0]
    if not file.exists():
        raise InputError("no such file or directory", path=path)
    if not file.is_file():
        raise InputError("a pipe or device cannot be cut into shards: save its output to a file first", path=path)
    for binary in (PARQUET, XLSX):
        if binary.recognises(path, ""):
            return binary
    head = read_head(path)
    found = (format for format in (PUBTATOR, JSONL, DELIMITED) if format.recognises(path, head))
    if (text := next(found, None)) is None:
        raise InputError("the file is empty", path=path)
    return text


def _source(name: str, format: ShardFormat, column: str, further: Mapping[str, str]) -> Source:
    path = Path(name)
    source = Source(name, str(path.absolute()), format.name)
    if format is PUBTATOR:
        return source
    headers = format.headers(path)
    places = {
        role: column_place(headers.names, wanted, path, "--column " if role == "text" else f"--map-column {role}=")
        for role, wanted in {"text": column, **further}.items()
    }
    names = _distinct(headers.names)
    found = {role: names[place] for role, place in places.items()}
    id = found.get("id") or next((key for key in ID_KEYS if key in names and key != found["text"]), None)
    columns = RowColumns(found["text"], id, found.get("language"))
    header = names if headers.fixed else ()
    return replace(source, columns=columns, header=header, delimiter=headers.delimiter)


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Rename columns of the same name to their 1-based numbers."""
    counts = Counter(names)
    return tuple(str(place) if counts[name] > 1 else name for place, name in enumerate(names, start=1))
