"""BioC, in XML and JSON.

The readers join passages, or their sentences, to one text. They take gold ids from the infons of annotations, and
ignore relations.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise
from pathlib import Path
from typing import Any, Final
from xml.etree.ElementTree import Element

from nymlink.core.json_files import member, read_json_records
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.core.xml_files import read_records, root_name
from nymlink.corpus.documents import Document, Mention
from nymlink.corpus.offsets import OffsetUnit, place_mention, to_code_points, unit_length
from nymlink.corpus.readers import CorpusFormat
from nymlink.corpus.readers.common import (
    CorpusOptions,
    distinct_documents,
    require_documents,
    source_name,
    split_ids,
)

_WIDEST_GAP: Final = 10_000
"""Largest number of characters between two passages; a larger gap means a wrong offset."""

_ID_KEYS: Final = frozenset(
    """
    identifier identifiers id ids concept_id concept_ids normalized_id database_id database_identifier cui umls
    mesh omim hpo hp mondo doid chebi ncit orpha orphanet snomedct hgnc ncbigene ncbitaxon uberon cl go
    """.split()
)
"""Keys of infons with concept ids, in lower case and with underscores. NCBI uses ``identifier``; BC5CDR uses the
name of the database."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """An annotation of a passage.

    Attributes:
        text: the surface form, empty if the file states none.
        locations: offset and length of each piece, in units of the file, from the start of the document.
        type: its semantic type.
        concept_ids: its gold concepts.
        id: its identifier in the document.
    """

    text: str
    locations: tuple[tuple[int, int], ...] = ()
    type: str = ""
    concept_ids: tuple[str, ...] = ()
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document's text.

    Attributes:
        offset: its start in the document, in units of the file.
        text: its text.
        annotations: its annotations.
    """

    offset: int
    text: str
    annotations: Sequence[Annotation] = field(default=())


def infon_ids(infons: Mapping[str, str]) -> tuple[str, ...]:
    """Read gold ids from the infons of an annotation."""
    known = (value for key, value in infons.items() if _spelt(key) in _ID_KEYS)
    return tuple(dict.fromkeys(concept_id for value in known for concept_id in split_ids(value, "|;,")))


def _spelt(key: str) -> str:
    return key.strip().casefold().replace(" ", "_").replace("-", "_")


def assemble(
    id_: str,
    passages: Sequence[Passage],
    unit: OffsetUnit,
    *,
    path: Path,
    line: int | None,
    problems: Problems,
) -> Document:
    """Join passages at their offsets, with a line break and blanks between them, and place the mentions.

    Passages in the wrong order are sorted. Overlapping passages are put one after the other. Both are reported.
    """
    if any(first.offset > second.offset for first, second in pairwise(passages)):
        problems.repair(path, line, f"document {id_}: its passages are not in the order of their offsets")
        passages = sorted(passages, key=lambda passage: passage.offset)
    text = _Text(unit)
    for passage in passages:
        if (fault := text.add(passage)) is not None:
            problems.repair(path, line, f"document {id_}: {fault}")
    whole = text.whole()
    mentions = []
    for place, passage in enumerate(passages):
        for annotation in passage.annotations:
            pieces = [
                (text.locate(offset, place), text.locate(offset + length, place))
                for offset, length in annotation.locations
            ]
            mention = Mention(
                annotation.text,
                type=annotation.type,
                concept_ids=annotation.concept_ids,
                id=annotation.id,
            )
            placed = place_mention(mention, whole, pieces, path=path, line=line, problems=problems)
            if placed is not None:
                mentions.append(placed)
    return Document(id_, whole, tuple(mentions))


class _Text:
    """The text of a document, passage by passage."""

    def __init__(self, unit: OffsetUnit) -> None:
        self._unit = unit
        self._pieces: list[str] = []
        self._passages: list[Passage] = []
        self._starts: list[int] = []
        self._length = 0
        self._end = 0

    def add(self, passage: Passage) -> str | None:
        """Append a passage; return the fault of its offset, or ``None``."""
        gap, fault = passage.offset - self._end, None
        if not 0 <= gap <= _WIDEST_GAP:
            what = "begins before the end of the one before it" if gap < 0 else "is far from any other"
            fault = f"the passage at {passage.offset} {what}: put after it"
            gap = min(len(self._passages), 1)
        between = "" if gap == 0 else "\n" + " " * (gap - 1)
        self._starts.append(self._length + gap)
        self._pieces += (between, passage.text)
        self._passages.append(passage)
        self._length += gap + len(passage.text)
        self._end = passage.offset + unit_length(passage.text, self._unit)
        return fault

    def whole(self) -> str:
        """Return the whole text."""
        self._translate = [to_code_points(passage.text, self._unit) for passage in self._passages]
        self._offsets = [passage.offset for passage in self._passages]
        return "".join(self._pieces)

    def locate(self, offset: int, place: int) -> int:
        """Map an offset of the file to the text.

        The passage at ``place`` is tried first. If the offset is not in it, the passage that contains it is used.
        """
        passage = self._passages[place]
        if not 0 <= offset - passage.offset <= unit_length(passage.text, self._unit):
            place = max(bisect_right(self._offsets, offset) - 1, 0)
        return self._starts[place] + self._translate[place](offset - self._offsets[place])


_SIGN: Final = re.compile(r'\s*[\[{].*?"(documents|passages|bioctype)"\s*:', re.DOTALL)
_ENTITIES: Final = re.compile(r'"entities"\s*:')
_INSTEAD: Final = "give a collection or a document a line"


def _recognises_json(_: Path, head: str) -> bool:
    return _SIGN.match(head) is not None and _ENTITIES.search(head) is None


def _read_json(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:
    documents = distinct_documents(
        _documents_of_json(path, options.offsets, problems), path, problems, keep=options.keep_repeated
    )
    return require_documents(documents, path=path, problems=problems)


def _documents_of_json(path: Path, unit: OffsetUnit, problems: Problems) -> Iterator[tuple[int | None, Document]]:
    name, numbers = source_name(path), count(1)
    for line, value in read_json_records(path, problems, instead=_INSTEAD):
        for item in _items(value):
            number = next(numbers)
            try:
                parts = member(item, "passages", list)
                id_ = _scalar(item, "id").strip() or f"{name}:{line or number}"
                passages = [passage for each in parts for passage in _passages_of_json(each)]
            except ValueError as error:
                problems.reject(path, line, f"document {number}: {error}")
                continue
            yield line, assemble(id_, passages, unit, path=path, line=line, problems=problems)


def _items(value: Any) -> Iterator[Any]:
    """Yield the documents in a value, at any depth of nested collections."""
    inner = value.get("documents", value.get("PubTator3")) if isinstance(value, dict) else value
    if isinstance(inner, list) and (inner is value or "passages" not in value):
        for item in inner:
            yield from _items(item)
    else:
        yield value


def _passages_of_json(value: Any) -> Iterator[Passage]:
    """Read a passage, or its sentences."""
    for part in _list(value, "sentences") or [value]:
        annotations = [_annotation_of_json(each) for each in _list(part, "annotations")]
        yield Passage(_number_of_json(part, "offset"), _scalar(part, "text"), annotations)


def _annotation_of_json(value: Any) -> Annotation:
    found = value.get("infons") if isinstance(value, Mapping) else None
    pairs = found.items() if isinstance(found, Mapping) else ()
    infons = {str(key): str(each) for key, each in pairs if each is not None}
    locations = tuple(
        (_number_of_json(each, "offset"), _number_of_json(each, "length")) for each in _list(value, "locations")
    )
    id_ = _scalar(value, "id") or None
    return Annotation(_scalar(value, "text"), locations, infons.get("type", "").strip(), infon_ids(infons), id_)


def _list(value: Any, key: str) -> list[Any]:
    """Return a list; empty if it is missing."""
    return member(value, key, list) if isinstance(value, Mapping) and value.get(key) is not None else []


def _scalar(value: Any, key: str) -> str:
    """Return a text or a number as text; empty if it is missing."""
    found = value.get(key) if isinstance(value, Mapping) else None
    if found is not None and (isinstance(found, bool) or not isinstance(found, str | int)):
        raise ValueError(f"{key!r} is {str(found)[:40]!r}, not a text")
    return "" if found is None else str(found)


def _number_of_json(value: Any, key: str) -> int:
    number = member(value, key, int)
    if abs(number) > 10**10:
        raise ValueError(f"{key!r} is {number}")
    return number


BIOC_JSON: Final[CorpusFormat] = Format(
    name="bioc-json",
    description="BioC JSON: a collection in a file, or a collection or document a line",
    recognises=_recognises_json,
    read=_read_json,
)


_LONGEST_DOCUMENT: Final = 512 << 20
_NUMBER: Final = re.compile(r"\s*-?[0-9]{1,10}\s*")


def _recognises_xml(_: Path, head: str) -> bool:
    return root_name(head) == "collection"


def _read_xml(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:
    documents = distinct_documents(
        _documents_of_xml(path, options.offsets, problems), path, problems, keep=options.keep_repeated
    )
    return require_documents(documents, path=path, problems=problems)


def _documents_of_xml(path: Path, unit: OffsetUnit, problems: Problems) -> Iterator[tuple[int, Document]]:
    records = read_records(
        path, roots=("collection",), tags=("document",), problems=problems, longest=_LONGEST_DOCUMENT
    )
    for number, record in enumerate(records):
        if record.element.tag != "document":
            continue
        id_ = _text(record.element, "id").strip() or f"{source_name(path)}:{number}"
        try:
            passages = [
                passage for element in record.element.findall("passage") for passage in _passages_of_xml(element)
            ]
        except ValueError as error:
            problems.reject(path, record.line, f"document {id_}: {error}")
            continue
        yield record.line, assemble(id_, passages, unit, path=path, line=record.line, problems=problems)


def _passages_of_xml(element: Element) -> Iterator[Passage]:
    """Read a passage, or its sentences."""
    for part in element.findall("sentence") or [element]:
        annotations = [_annotation_of_xml(each) for each in part.findall("annotation")]
        yield Passage(
            _number_of_xml(part.findtext("offset"), "offset of a passage"), _text(part, "text"), annotations
        )


def _annotation_of_xml(element: Element) -> Annotation:
    infons = {infon.get("key", ""): "".join(infon.itertext()) for infon in element.findall("infon")}
    locations = tuple(
        (
            _number_of_xml(each.get("offset"), "offset of a location"),
            _number_of_xml(each.get("length"), "length of a location"),
        )
        for each in element.findall("location")
    )
    return Annotation(
        _text(element, "text"), locations, infons.get("type", "").strip(), infon_ids(infons), element.get("id")
    )


def _text(element: Element, tag: str) -> str:
    child = element.find(tag)
    return "" if child is None else "".join(child.itertext())


def _number_of_xml(text: str | None, what: str) -> int:
    if text is None or not _NUMBER.fullmatch(text):
        raise ValueError(f"the {what} is {text!r}, not a number")
    return int(text)


BIOC_XML: Final[CorpusFormat] = Format(
    name="bioc-xml",
    description="BioC XML: passages with annotations and their infons",
    recognises=_recognises_xml,
    read=_read_xml,
)
