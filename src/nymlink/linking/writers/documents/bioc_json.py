"""Write BioC JSON: a collection with a document a line; offsets count Unicode characters."""

from __future__ import annotations

import json
from typing import Any, TextIO

from nymlink.linking.writers.documents.bioc import Passage, infons, passages
from nymlink.linking.writers.documents.document_writer import Annotation, DocumentWriter
from nymlink.linking.writers.writer import LinkFormat, LinksInfo


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
        # ASCII where a name holds half a character, which no encoding can.
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


FORMAT = LinkFormat(
    name="bioc-json",
    description="documents in BioC JSON, with concepts as infons of annotations",
    open=BioCJsonWriter,
    endings=(".bioc.json",),
    needs=frozenset({"documents"}),
    ignores=frozenset({"--top-k"}),
    resumable=True,
)
