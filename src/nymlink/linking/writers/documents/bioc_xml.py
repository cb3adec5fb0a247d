"""Write BioC XML: a passage for each line of a text, with its mentions; offsets count Unicode characters."""

from __future__ import annotations

import re
from typing import Final, TextIO
from xml.sax.saxutils import escape, quoteattr

from nymlink.linking.writers.documents.bioc import infons, passages
from nymlink.linking.writers.documents.document_writer import Annotation, DocumentWriter
from nymlink.linking.writers.writer import LinkFormat, LinksInfo

_UNWRITABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff￾￿]")
"""Characters that XML cannot hold."""
_BEGIN: Final = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE collection SYSTEM "BioC.dtd">
<collection><source>nymlink</source><date></date><key></key>
"""


class BioCXmlWriter(DocumentWriter):
    """Writes an element for each document; what XML cannot hold is replaced by U+FFFD."""

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
    # A carriage return would be read as a line feed.
    return escape(_UNWRITABLE.sub("\ufffd", text), {"\r": "&#13;"})


FORMAT = LinkFormat(
    name="bioc-xml",
    description="documents in BioC XML, with concepts as infons of annotations",
    open=BioCXmlWriter,
    endings=(".bioc.xml",),
    needs=frozenset({"documents"}),
    ignores=frozenset({"--top-k"}),
    resumable=True,
)
