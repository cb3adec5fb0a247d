"""Texts to annotate: one text, lines, tables or corpora."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from nymlink.core.encodings import describe_utf16, detect_utf16
from nymlink.core.errors import InputError, UnknownFormatError
from nymlink.core.files import decode_line, decoded_name, open_bytes, read_head, read_lines, split_part
from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.corpus.documents import Document
from nymlink.corpus.read import read_documents
from nymlink.corpus.readers import CORPUS_FORMATS
from nymlink.corpus.readers.common import CorpusOptions, DistinctIds, first_lines, source_name
from nymlink.tables.columns import are_mentions
from nymlink.tables.delimited import header_cells
from nymlink.tables.objects import json_object

PLAIN: Final = "text"
JSON_LINES: Final = "jsonl"
"""Formats of texts without mentions: a file that is a document; a JSON object with ``id`` and ``text`` a line."""

_JSON_ENDINGS: Final = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_TABLE: Final = "table"
_TABLE_ENDINGS: Final = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
_MENTION_FORMATS: Final = frozenset({"lines", _TABLE})
"""Formats of mentions that would take any text for theirs."""


def format_of_texts(path: Path) -> str:
    """Tell the format of a file or folder by its content."""
    is_file = split_part(path)[0].is_file()
    if is_file and (found := _rows_format(path)) is not None:
        return found
    if not path.is_dir() and not is_file:
        # A pipe can be read only once.
        return PLAIN
    # What is no text, as a workbook, is read by its reader.
    with suppress(InputError):
        if not path.is_dir() and not read_head(path).strip():
            return PLAIN
    with suppress(UnknownFormatError):
        name = find_format(CORPUS_FORMATS, path).name
        if name not in _MENTION_FORMATS:
            return name
        if name == _TABLE and path.name.lower().endswith(_TABLE_ENDINGS):
            warnings.warn(
                f"{path}: this looks like a table, and is annotated as one text. Where its rows are mentions, "
                "give --input-format table; where they are texts, make them JSON lines with id and text; to link "
                "a column, `nymlink link --column`",
                stacklevel=2,
            )
    return PLAIN


def _rows_format(path: Path) -> str | None:
    """Tell a file of texts or of mentions, each in a line, by its first line; ``None`` for any other."""
    with suppress(InputError):
        lines = first_lines(read_head(path))
        line = next(iter(lines), "")
        if line.lstrip().startswith("{"):
            values = json_object(line)
            if values is not None and are_mentions(list(values)):
                return _TABLE
            # An object may be longer than the beginning of the file.
            return JSON_LINES if path.name.lower().endswith(_JSON_ENDINGS) and '"text"' in line else None
        if are_mentions(header_cells(lines)):
            return _TABLE
    return None


_LARGEST: Final = 1 << 28
"""Bytes of the largest plain file that is read: it is held in memory as one document."""

_HEAD: Final = 64
"""Bytes by which an encoding is told."""

ID_KEYS: Final = ("id", "document_id", "pmid", "doc_id")


def read_texts(
    paths: Iterable[Path], problems: Problems, *, format: str | None = None, ids: DistinctIds | None = None
) -> Iterator[Document]:
    """Read the documents of files and folders one by one.

    A file of a corpus format is read by its reader, mentions included; a file of JSON objects with texts line by
    line; any other file is one document, with its name as id. A folder stands for the files in it, in order,
    unless it is a corpus itself.

    Args:
        paths: files and folders.
        problems: receives what is wrong in them.
        format: of all files: ``"text"``, ``"jsonl"`` or a corpus format; ``None``: told by the content of each.
        ids: of documents that were read before; a document with one of these is given another, which is reported.

    Raises:
        InputError: a file is missing, or nothing in it can be used.
        UnknownNameError: there is no such format.
    """
    ids = DistinctIds() if ids is None else ids
    for path in paths:
        chosen = format or format_of_texts(path)
        if path.is_dir() and chosen in (PLAIN, JSON_LINES):
            yield from _read_folder(path, problems, format=format, ids=ids)
            continue
        for line, document in _numbered(path, chosen, problems):
            yield ids.rename(document, path, line, problems)


def _numbered(path: Path, format: str, problems: Problems) -> Iterator[tuple[int | None, Document]]:
    """Yield the documents of a file or of a corpus, each with its line where that is known here."""
    if format == JSON_LINES:
        yield from _read_json_lines(path, problems)
    elif format == PLAIN:
        yield None, _read_plain(path, problems)
    else:
        options = CorpusOptions(keep_repeated=True)
        documents = read_documents(path, format=format, options=options, problems=problems)
        yield from ((None, document) for document in documents)


def read_stream(stream: IO[bytes], problems: Problems) -> Document:
    """Read the one document of standard input."""
    path = Path("standard input")
    return Document("-", _decode(stream.read(_LARGEST + 1), path, problems))


def _read_folder(path: Path, problems: Problems, *, format: str | None, ids: DistinctIds) -> Iterator[Document]:
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
    if not files:
        raise InputError("there is no file in this folder", path=path)
    for file in files:
        try:
            yield from read_texts([file], problems, format=format, ids=ids)
        except InputError as error:
            problems.reject(file, error.line, error.message)


def _read_json_lines(path: Path, problems: Problems) -> Iterator[tuple[int, Document]]:
    name = source_name(path)
    usable = False
    for number, line in read_lines(path, problems):
        if not line.strip():
            continue
        document = _document(line, f"{name}:{number}")
        if document is None:
            problems.reject(path, number, 'not a JSON object with a "text"')
            continue
        usable = True
        yield number, Document(document.id, _without_nul(document.text, path, number, problems))
    if not usable:
        raise InputError('no line is a JSON object with a "text" in it', path=path)


def _document(line: str, otherwise: str) -> Document | None:
    values = json_object(line)
    text = None if values is None else values.get("text", 0)
    # A missing text is an empty one.
    text = "" if values is not None and text is None else text
    if values is None or not isinstance(text, str):
        return None
    try:
        # An escaped lone surrogate cannot be written to a file.
        text.encode()
    except UnicodeEncodeError:
        return None
    identifier = next((values[key] for key in ID_KEYS if values.get(key) not in (None, "")), otherwise)
    return Document(str(identifier), text) if isinstance(identifier, str | int) else None


def _read_plain(path: Path, problems: Problems) -> Document:
    with open_bytes(path) as file:
        content = file.read(_LARGEST + 1)
    return Document(decoded_name(path), _decode(content, path, problems))


def _decode(content: bytes, path: Path, problems: Problems) -> str:
    """Decode a plain text, so that its characters stay where they are.

    Raises:
        InputError: it is too long.
    """
    if len(content) > _LARGEST:
        raise InputError(
            f"a text of more than {_LARGEST >> 20} MB: give its documents as JSON lines with id and text",
            path=path,
        )
    if (encoding := detect_utf16(content[:_HEAD])) is not None:
        problems.repair(path, 1, f"{describe_utf16(content[:_HEAD])}: read as such")
        return _without_nul(content.decode(encoding, errors="replace"), path, None, problems)
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        lines = []
        for number, line in enumerate(content.splitlines(keepends=True), 1):
            lines.append(decode_line(line, path, number, problems))
        text = "".join(lines)
    return _without_nul(text, path, None, problems)


def _without_nul(text: str, path: Path, line: int | None, problems: Problems) -> str:
    """Replace NUL characters by spaces: what follows stays where it is."""
    if "\0" not in text:
        return text
    problems.repair(path, line, f"{text.count(chr(0)):,} NUL characters: read as spaces")
    return text.replace("\0", " ")
