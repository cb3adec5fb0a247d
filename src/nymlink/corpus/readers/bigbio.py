"""Reader of BigBIO's knowledge-base schema: one document per line of JSON, or per row of a Parquet file.

A document has ``passages`` and ``entities`` with lists of texts and offsets; ``normalized`` has the ids of an
entity. Data sets that are stored by column have an object of lists instead of a list of objects. Fries et
al., "BigBIO: a framework for data-centric biomedical natural language processing" (2022).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from nymlink.core.json_files import read_json_records
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.corpus.documents import Document
from nymlink.corpus.offsets import OffsetUnit
from nymlink.corpus.readers import CorpusFormat
from nymlink.corpus.readers.bioc import Annotation, Passage, assemble
from nymlink.corpus.readers.common import (
    CorpusOptions,
    clean_ids,
    distinct_documents,
    require_documents,
    source_name,
)

_ENTITIES: Final = re.compile(r'"entities"\s*:')
_PASSAGES: Final = re.compile(r'"passages"\s*:')


def _recognises(_: Path, head: str) -> bool:
    return head.lstrip()[:1] in ("{", "[") and bool(_ENTITIES.search(head) and _PASSAGES.search(head))


def _read(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:
    records = read_json_records(path, problems, instead="give a document a line")
    rows = ((line, row) for line, value in records for row in (value if isinstance(value, list) else [value]))
    return bigbio_documents(rows, path, options, problems)


def bigbio_documents(
    rows: Iterable[tuple[int | None, Any]], path: Path, options: CorpusOptions, problems: Problems
) -> Iterator[Document]:
    """Make documents from rows in BigBIO's schema; leave out and report other rows.

    Raises:
        InputError: no row can be used.
    """
    documents = distinct_documents(
        _documents(rows, path, options.offsets, problems), path, problems, keep=options.keep_repeated
    )
    return require_documents(documents, path=path, problems=problems)


def _documents(
    rows: Iterable[tuple[int | None, Any]], path: Path, unit: OffsetUnit, problems: Problems
) -> Iterator[tuple[int | None, Document]]:
    for number, (line, row) in enumerate(rows, start=1):
        try:
            id_ = _id(row) or f"{source_name(path)}:{line or number}"
            passages = [passage for each in _items(row["passages"]) for passage in _passages(each)]
            annotations = [_annotation(each) for each in _items(row["entities"])]
        except (KeyError, TypeError, ValueError) as error:
            problems.reject(path, line, f"document {number} is not of BigBIO's schema: {error!r}"[:200])
            continue
        if passages:
            # Entities belong to the document, and may be in any passage.
            first = passages[0]
            passages[0] = Passage(first.offset, first.text, annotations)
        yield line, assemble(id_, passages, unit, path=path, line=line, problems=problems)


def _id(row: Any) -> str:
    if not isinstance(row, Mapping):
        raise TypeError("not an object")
    found = next((row[key] for key in ("document_id", "id") if row.get(key) not in (None, "")), "")
    return str(found)


def _items(value: Any) -> list[Mapping[str, Any]]:
    """Return a list of objects; columns (an object of lists) are converted."""
    if not isinstance(value, Mapping):
        if not all(isinstance(each, Mapping) for each in value):
            raise TypeError("not a list of objects")
        return list(value)
    columns = {key: list(column) for key, column in value.items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _passages(value: Mapping[str, Any]) -> Iterator[Passage]:
    for text, (start, _) in zip(_texts(value["text"]), value["offsets"], strict=True):
        yield Passage(_number(start), text)


def _annotation(value: Mapping[str, Any]) -> Annotation:
    locations = tuple((_number(start), _number(end) - _number(start)) for start, end in value["offsets"])
    names = (each for each in _items(value.get("normalized") or []))
    ids = clean_ids(_curie(str(each.get("db_name") or ""), str(each.get("db_id") or "")) for each in names)
    kind = str(value.get("type") or "")
    return Annotation(" ".join(_texts(value["text"])), locations, kind, ids, str(value.get("id") or "") or None)


def _texts(value: Any) -> list[str]:
    texts = [value] if isinstance(value, str) else list(value)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a text is no string")
    return texts


def _number(value: Any) -> int:
    if type(value) is not int or abs(value) > 10**10:
        raise TypeError(f"{value!r} is no offset")
    return value


def _curie(database: str, id_: str) -> str:
    """Put the name of the database before an id, unless the id has a prefix or there is no database."""
    return id_ if ":" in id_ or not database or id_ in ("", "-", "-1") else f"{database.replace(' ', '')}:{id_}"


FORMAT: Final[CorpusFormat] = Format(
    name="bigbio",
    description="BigBIO's knowledge-base schema, a JSON document a line",
    recognises=_recognises,
    read=_read,
)
