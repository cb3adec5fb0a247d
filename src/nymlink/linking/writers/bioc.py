"""Documents with their links as BioC, in XML and JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TextIO
from xml.sax.saxutils import escape, quoteattr

from nymlink.linking.writers.documents import Annotation, DocumentWriter
from nymlink.linking.writers.writer import LinkFormat, LinksInfo


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a text; every mention is within one passage.

    Attributes:
        offset: offset of its first code point in the text.
        text: its text.
        annotations: its mentions, each with its number in the document, from 1.
    """

    offset: int
    text: str
    annotations: list[tuple[int, Annotation]]


def passages(text: str, annotations: list[Annotation]) -> Iterator[Passage]:
    """Divide a text at line ends, except within a mention; a text without line ends is one passage."""
    numbered = sorted(enumerate(annotations, start=1), key=lambda each: each[1].start)
    start, place = 0, 0
    while True:
        end, own = text.find("\n", start), place
        while True:
            end = len(text) if end < 0 else end
            while place < len(numbered) and numbered[place][1].start <= end:
                place += 1
            last = max((each.end for _, each in numbered[own:place]), default=0)
            if last <= end:
                break
            end = text.find("\n", last)
        yield Passage(start, text[start:end], numbered[own:place])
        if end >= len(text):
            return
        start = end + 1


def infons(annotation: Annotation) -> dict[str, str]:
    """Describe a mention: its type; from its link the id and name of the concept, score, flags and notes."""
    link = annotation.link
    values = {"type": annotation.type}
    if annotation.concepts:
        values["identifier"] = annotation.concept_ids
        values["name"] = "|".join(concept.concept_name.replace("|", " ") for concept in annotation.concepts)
        values["score"] = f"{min(concept.score for concept in annotation.concepts):.4f}"
    if link.confidence is not None:
        values["confidence"] = f"{link.confidence:.4f}"
    if link.context is not None:
        values.update(dict.fromkeys(link.context.triggers, "true"))
    if link.notes:
        values["note"] = "; ".join(link.notes)
    return values


class BioCJsonWriter(DocumentWriter):
    """Writes an object for each document."""

    def __init__(self, out: TextIO, info: LinksInfo) -> None:
        super().__init__()
        self._out = out
        out.write('{"source": "nymlink", "date": "", "key": "", "infons": {}, "documents": [\n')

    def write_document(self, id_: str, text: str, annotations: list[Annotation]) -> int:
        values = {
            "id": id_,
            "infons": {},
            "passages": [_passage(passage) for passage in passages(text, annotations)],
            "annotations": [],
            "relations": [],
        }
        # A name may hold half of a surrogate pair, which UTF-8 cannot encode: write "?" instead.
        line = json.dumps(values, ensure_ascii=False).encode("utf-8", "replace").decode()
        self._out.write((",\n" if self._count > 1 else "") + line)
        return 0

    def _write_end(self) -> None:
        self._out.write("\n]}\n")


def _passage(passage: Passage) -> dict[str, Any]:
    return {
        "offset": passage.offset,
        "infons": {},
        "text": passage.text,
        "sentences": [],
        "annotations": [
            {
                "id": str(number),
                "infons": infons(annotation),
                "text": annotation.text,
                "locations": [{"offset": start, "length": end - start} for start, end in annotation.pieces],
            }
            for number, annotation in passage.annotations
        ],
        "relations": [],
    }


BIOC_JSON = LinkFormat(
    name="bioc-json",
    description="documents in BioC JSON, with concepts as infons of annotations",
    open=BioCJsonWriter,
    endings=(".bioc.json",),
    needs=frozenset({"documents"}),
    ignores=frozenset({"--top-k"}),
)


_UNWRITABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff￾￿]")
"""Characters that XML cannot hold."""
_BEGIN: Final = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE collection SYSTEM "BioC.dtd">
<collection><source>nymlink</source><date></date><key></key>
"""


class BioCXmlWriter(DocumentWriter):
    """Writes an element for each document; characters that XML cannot hold are replaced by U+FFFD."""

    def __init__(self, out: TextIO, info: LinksInfo) -> None:
        super().__init__()
        self._out = out
        out.write(_BEGIN)

    def write_document(self, id_: str, text: str, annotations: list[Annotation]) -> int:
        parts = [f"<document><id>{_escaped(id_)}</id>"]
        for passage in passages(text, annotations):
            parts.append(f"<passage><offset>{passage.offset}</offset><text>{_escaped(passage.text)}</text>")
            parts += (_annotation(number, each) for number, each in passage.annotations)
            parts.append("</passage>")
        self._out.write("\n".join([*parts, "</document>", ""]))
        return 0

    def _write_end(self) -> None:
        self._out.write("</collection>\n")


def _annotation(number: int, annotation: Annotation) -> str:
    described = "".join(
        f"<infon key={quoteattr(key)}>{_escaped(value)}</infon>" for key, value in infons(annotation).items()
    )
    places = "".join(f'<location offset="{start}" length="{end - start}"/>' for start, end in annotation.pieces)
    return f'<annotation id="{number}">{described}{places}<text>{_escaped(annotation.text)}</text></annotation>'


def _escaped(text: str) -> str:
    # XML readers turn a carriage return into a line feed.
    return escape(_UNWRITABLE.sub("\ufffd", text), {"\r": "&#13;"})


BIOC_XML = LinkFormat(
    name="bioc-xml",
    description="documents in BioC XML, with concepts as infons of annotations",
    open=BioCXmlWriter,
    endings=(".bioc.xml",),
    needs=frozenset({"documents"}),
    ignores=frozenset({"--top-k"}),
)
