"""Read texts to annotate: JSON lines, plain files, folders of them, and corpora of any known format."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from nymlink.core.errors import InputError, UnknownFormatError
from nymlink.core.files import decoded_name, open_bytes, read_head, read_lines, refuse_utf16
from nymlink.core.formats import find_format
from nymlink.core.problems import Problems
from nymlink.corpus.model import Document
from nymlink.corpus.read import read_documents
from nymlink.corpus.readers import CORPUS_FORMATS
from nymlink.corpus.readers.common import source_name

PLAIN: Final = "text"
JSON_LINES: Final = "jsonl"
"""Formats of texts without mentions: a file that is a document; a JSON object with ``id`` and ``text`` a line."""

_LARGEST: Final = 1 << 28
"""Bytes of the largest plain file that is read: it is held in memory as one document."""

_JSON_ENDINGS: Final = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_MENTION_FORMATS: Final = frozenset({"lines", "table"})
"""Formats of mentions that would take any text for theirs."""

ID_KEYS: Final = ("id", "document_id", "pmid", "doc_id")


def read_texts(paths: Iterable[Path], problems: Problems, *, format: str | None = None) -> Iterator[Document]:
    """Read the documents of files and folders one by one.

    A file of a corpus format is read by its reader, mentions included; a file of JSON objects with texts line by
    line; any other file is one document, with its name as id. A folder stands for the files in it, in order,
    unless it is a corpus itself.

    Args:
        paths: files and folders.
        problems: receives what is wrong in them.
        format: of all files: ``"text"``, ``"jsonl"`` or a corpus format; ``None``: told by the content of each.

    Raises:
        InputError: a file is missing, or nothing in it can be used.
        UnknownNameError: there is no such format.
    """
    for path in paths:
        chosen = format or _format_of(path)
        if path.is_dir() and chosen in (PLAIN, JSON_LINES):
            yield from _read_folder(path, problems, format=format)
        elif chosen == JSON_LINES:
            yield from _read_json_lines(path, problems)
        elif chosen == PLAIN:
            yield from _read_plain(path, problems)
        else:
            yield from read_documents(path, format=chosen, problems=problems)


def read_stream(stream: IO[bytes], problems: Problems) -> Document:
    """Read the one document of standard input."""
    path = Path("standard input")
    return Document("-", _decode(stream.read(_LARGEST + 1), path, problems))


def _format_of(path: Path) -> str:
    """Tell the format of a file or folder by its content."""
    if path.is_file() and path.name.lower().endswith(_JSON_ENDINGS) and '"text"' in read_head(path):
        return JSON_LINES
    if not path.is_dir() and not path.is_file():
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
    return PLAIN


def _read_folder(path: Path, problems: Problems, *, format: str | None) -> Iterator[Document]:
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
    if not files:
        raise InputError("there is no file in this folder", path=path)
    for file in files:
        try:
            yield from read_texts([file], problems, format=format)
        except InputError as error:
            problems.reject(file, error.line, error.message)


def _read_json_lines(path: Path, problems: Problems) -> Iterator[Document]:
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
        yield Document(document.id, _without_nul(document.text, path, number, problems))
    if not usable:
        raise InputError('no line is a JSON object with a "text" in it', path=path)


def _document(line: str, otherwise: str) -> Document | None:
    try:
        values = json.loads(line)
        text = values["text"]
        # An escaped lone surrogate cannot be written to a file.
        text.encode()
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return None
    identifier = next((values[key] for key in ID_KEYS if values.get(key) not in (None, "")), otherwise)
    return Document(str(identifier), text) if isinstance(identifier, str | int) else None


def _read_plain(path: Path, problems: Problems) -> Iterator[Document]:
    with open_bytes(path) as file:
        content = file.read(_LARGEST + 1)
    yield Document(decoded_name(path), _decode(content, path, problems))


def _decode(content: bytes, path: Path, problems: Problems) -> str:
    """Decode a plain text, so that its characters stay where they are.

    Raises:
        InputError: it is too long, or UTF-16.
    """
    if len(content) > _LARGEST:
        raise InputError(
            f"a text of more than {_LARGEST >> 20} MB: give its documents as JSON lines with id and text",
            path=path,
        )
    refuse_utf16(content[:64], path)
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        lines = []
        for number, line in enumerate(content.splitlines(keepends=True), 1):
            try:
                lines.append(line.decode("utf-8"))
            except UnicodeDecodeError:
                lines.append(line.decode("cp1252", errors="replace"))
                problems.repair(path, number, "not UTF-8; read as Windows-1252")
        text = "".join(lines)
    return _without_nul(text, path, None, problems)


def _without_nul(text: str, path: Path, line: int | None, problems: Problems) -> str:
    """Replace NUL characters by spaces: what follows stays where it is."""
    if "\0" not in text:
        return text
    problems.repair(path, line, f"{text.count(chr(0)):,} NUL characters: read as spaces")
    return text.replace("\0", " ")
