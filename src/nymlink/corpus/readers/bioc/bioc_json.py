"""Reader of BioC JSON: a collection, a list of such, or a collection or document a line (PubTator's export)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any, Final

from nymlink.core.formats import Format
from nymlink.core.json_objects import member
from nymlink.core.problems import Problems
from nymlink.core.structured.json_lines import read_json_records
from nymlink.corpus.distinct_ids import distinct_documents
from nymlink.corpus.model import Document
from nymlink.corpus.offset_units import OffsetUnit
from nymlink.corpus.options import CorpusOptions
from nymlink.corpus.readers import CorpusFormat
from nymlink.corpus.readers.bioc.passages import Annotation, Passage, assemble, infon_ids
from nymlink.corpus.readers.common import require_documents, source_name

_SIGN: Final = re.compile(r'\s*[\[{].*?"(documents|passages|bioctype)"\s*:', re.DOTALL)
_ENTITIES: Final = re.compile(r'"entities"\s*:')
_INSTEAD: Final = "give a collection or a document a line"


def _recognises(_: Path, head: str) -> bool:
    return _SIGN.match(head) is not None and _ENTITIES.search(head) is None


def _read(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:
    documents = distinct_documents(
        _documents(path, options.offsets, problems), path, problems, keep=options.keep_repeated
    )
    return require_documents(documents, path=path, problems=problems)


def _documents(path: Path, unit: OffsetUnit, problems: Problems) -> Iterator[tuple[int | None, Document]]:
    name, numbers = source_name(path), count(1)
    for line, value in read_json_records(path, problems, instead=_INSTEAD):
        for item in _items(value):
            number = next(numbers)
            try:
                parts = member(item, "passages", list)
                id_ = _scalar(item, "id").strip() or f"{name}:{line or number}"
                passages = [passage for each in parts for passage in _passages(each)]
            except ValueError as error:
                problems.reject(path, line, f"document {number}: {error}")
                continue
            yield line, assemble(id_, passages, unit, path=path, line=line, problems=problems)


def _items(value: Any) -> Iterator[Any]:
    """Yield the documents in a value, however deep in lists of collections they are."""
    inner = value.get("documents", value.get("PubTator3")) if isinstance(value, dict) else value
    if isinstance(inner, list) and (inner is value or "passages" not in value):
        for item in inner:
            yield from _items(item)
    else:
        yield value


def _passages(value: Any) -> Iterator[Passage]:
    """Read a passage, or the sentences that it consists of."""
    for part in _list(value, "sentences") or [value]:
        annotations = [_annotation(each) for each in _list(part, "annotations")]
        yield Passage(_number(part, "offset"), _scalar(part, "text"), annotations)


def _annotation(value: Any) -> Annotation:
    found = value.get("infons") if isinstance(value, Mapping) else None
    pairs = found.items() if isinstance(found, Mapping) else ()
    infons = {str(key): str(each) for key, each in pairs if each is not None}
    locations = tuple((_number(each, "offset"), _number(each, "length")) for each in _list(value, "locations"))
    id_ = _scalar(value, "id") or None
    return Annotation(_scalar(value, "text"), locations, infons.get("type", "").strip(), infon_ids(infons), id_)


def _list(value: Any, key: str) -> list[Any]:
    """Return a list, empty where there is none."""
    return member(value, key, list) if isinstance(value, Mapping) and value.get(key) is not None else []


def _scalar(value: Any, key: str) -> str:
    """Return a text or a number as text, empty where there is none."""
    found = value.get(key) if isinstance(value, Mapping) else None
    if found is not None and (isinstance(found, bool) or not isinstance(found, str | int)):
        raise ValueError(f"{key!r} is {str(found)[:40]!r}, not a text")
    return "" if found is None else str(found)


def _number(value: Any, key: str) -> int:
    number = member(value, key, int)
    if abs(number) > 10**10:
        raise ValueError(f"{key!r} is {number}")
    return number


FORMAT: Final[CorpusFormat] = Format(
    name="bioc-json",
    description="BioC JSON: a collection in a file, or a collection or document a line",
    recognises=_recognises,
    read=_read,
)
