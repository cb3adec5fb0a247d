"""Reader of BioC XML (Comeau et al., "BioC: a minimalist approach to interoperability", Database, 2013).

Passages, or their sentences, are put together to one text; gold ids are infons of annotations. Relations are
ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

from nymlink.core.formats import Format
from nymlink.core.problems import Problems
from nymlink.core.structured.xml_records import read_records, root_name
from nymlink.corpus.distinct_ids import distinct_documents
from nymlink.corpus.model import Document
from nymlink.corpus.offset_units import OffsetUnit
from nymlink.corpus.options import CorpusOptions
from nymlink.corpus.readers import CorpusFormat
from nymlink.corpus.readers.bioc.passages import Annotation, Passage, assemble, infon_ids
from nymlink.corpus.readers.common import require_documents, source_name

_LONGEST_DOCUMENT: Final = 512 << 20
_NUMBER: Final = re.compile(r"\s*-?[0-9]{1,10}\s*")


def _recognises(_: Path, head: str) -> bool:
    return root_name(head) == "collection"


def _read(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:
    documents = distinct_documents(
        _documents(path, options.offsets, problems), path, problems, keep=options.keep_repeated
    )
    return require_documents(documents, path=path, problems=problems)


def _documents(path: Path, unit: OffsetUnit, problems: Problems) -> Iterator[tuple[int, Document]]:
    records = read_records(
        path, roots=("collection",), tags=("document",), problems=problems, longest=_LONGEST_DOCUMENT
    )
    for number, record in enumerate(records):
        if record.element.tag != "document":
            continue
        id_ = _text(record.element, "id").strip() or f"{source_name(path)}:{number}"
        try:
            passages = [passage for element in record.element.findall("passage") for passage in _passages(element)]
        except ValueError as error:
            problems.reject(path, record.line, f"document {id_}: {error}")
            continue
        yield record.line, assemble(id_, passages, unit, path=path, line=record.line, problems=problems)


def _passages(element: Element) -> Iterator[Passage]:
    """Read a passage, or the sentences that it consists of."""
    for part in element.findall("sentence") or [element]:
        annotations = [_annotation(each) for each in part.findall("annotation")]
        yield Passage(_number(part.findtext("offset"), "offset of a passage"), _text(part, "text"), annotations)


def _annotation(element: Element) -> Annotation:
    infons = {infon.get("key", ""): "".join(infon.itertext()) for infon in element.findall("infon")}
    locations = tuple(
        (_number(each.get("offset"), "offset of a location"), _number(each.get("length"), "length of a location"))
        for each in element.findall("location")
    )
    return Annotation(
        _text(element, "text"), locations, infons.get("type", "").strip(), infon_ids(infons), element.get("id")
    )


def _text(element: Element, tag: str) -> str:
    child = element.find(tag)
    return "" if child is None else "".join(child.itertext())


def _number(text: str | None, what: str) -> int:
    if text is None or not _NUMBER.fullmatch(text):
        raise ValueError(f"the {what} is {text!r}, not a number")
    return int(text)


FORMAT: Final[CorpusFormat] = Format(
    name="bioc-xml",
    description="BioC XML: passages with annotations and their infons",
    recognises=_recognises,
    read=_read,
)
