"""Write PubTator: title, abstract, and a line for each mention; what is not linked has the id ``-1``.

The first line of a text is its title. Line ends within the rest, and tabs, become blanks, so that offsets hold. A
mention in pieces is written from its first to its last.
"""

from __future__ import annotations

from typing import TextIO

from nymlink.linking.writers.documents.document_writer import Annotation, DocumentWriter, one_line, one_word
from nymlink.linking.writers.writer import LinkFormat, LinksInfo


class PubTatorWriter(DocumentWriter):
    """Writes a block of lines for each document, with an empty line after it."""

    def __init__(self, out: TextIO, info: LinksInfo) -> None:
        super().__init__()
        self._out = out

    def write_document(self, id_: str, text: str, annotations: list[Annotation]) -> int:
        name = one_word(id_).replace("|", "_")
        title, _, abstract = text.partition("\n")
        lines = [f"{name}|t|{one_line(title)}", f"{name}|a|{one_line(abstract)}"]
        for annotation in annotations:
            fields = [
                name,
                str(annotation.start),
                str(annotation.end),
                one_line(annotation.text),
                one_line(annotation.type),
                annotation.concept_ids or "-1",
            ]
            if annotation.link.parts:
                parts = (one_line(part.mention.text).replace("|", " ") for part in annotation.link.parts)
                fields.append("|".join(parts))
            lines.append("\t".join(fields))
        self._out.write("\n".join(lines) + "\n\n")
        return 0


FORMAT = LinkFormat(
    name="pubtator",
    description="documents in PubTator format, each mention with the id of its concept, or -1",
    open=PubTatorWriter,
    endings=(".pubtator", ".pubtator.txt"),
    needs=frozenset({"documents"}),
    ignores=frozenset({"--top-k"}),
    resumable=True,
)
