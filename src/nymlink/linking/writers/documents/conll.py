"""Write CoNLL with offsets: a token a line, with its place, its tag in BIO, and the concepts of the mention.

Tokens are words and single signs, divided where a mention begins or ends. Tags have no room for a mention within
or across another, nor for one in pieces: of overlapping ones the longest is written.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, TextIO

from nymlink.linking.writers.documents.document_writer import Annotation, DocumentWriter, one_word
from nymlink.linking.writers.writer import LinkFormat, LinksInfo

_TOKEN: Final = re.compile(r"\w+|[^\w\s]")


class ConllWriter(DocumentWriter):
    """Writes ``token<TAB>start<TAB>end<TAB>tag<TAB>concepts``, an empty line for a line end of the text."""

    def __init__(self, out: TextIO, info: LinksInfo) -> None:
        super().__init__()
        self._out = out

    def write_document(self, id_: str, text: str, annotations: list[Annotation]) -> int:
        kept = _apart(annotations)
        lines = [f"# newdoc id = {one_word(id_)}"]
        previous, place = 0, 0
        for start, end in _tokens(text, [each for one in kept for each in (one.start, one.end)]):
            while place < len(kept) and kept[place].end <= start:
                place += 1
            inside = place < len(kept) and kept[place].start <= start
            begins = inside and kept[place].start >= previous
            if "\n" in text[previous:start] and len(lines) > 1 and (begins or not inside):
                lines.append("")
            tag = f"{'B' if begins else 'I'}-{one_word(kept[place].type)}" if inside else "O"
            concepts = kept[place].concept_ids if begins else ""
            lines.append(f"{text[start:end]}\t{start}\t{end}\t{tag}\t{concepts or '_'}")
            previous = end
        self._out.write("\n".join(lines) + "\n\n")
        return len(annotations) - len(kept)

    def _what_is_left_out(self) -> str:
        return "they overlap with longer ones, or consist of several pieces, or it is not known where they stand"


def _apart(annotations: list[Annotation]) -> list[Annotation]:
    """Choose mentions that do not overlap, the longest first, and return them in order."""
    taken: list[Annotation] = []
    starts: list[int] = []
    for annotation in sorted(annotations, key=lambda one: (one.start - one.end, one.start)):
        place = bisect_left(starts, annotation.start)
        after = place == len(taken) or taken[place].start >= annotation.end
        before = place == 0 or taken[place - 1].end <= annotation.start
        if after and before and len(annotation.pieces) == 1 and _TOKEN.search(annotation.text):
            taken.insert(place, annotation)
            starts.insert(place, annotation.start)
    return taken


def _tokens(text: str, bounds: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the offsets of tokens, which no bound of a mention lies within."""
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        for bound in bounds[bisect_left(bounds, start + 1) : bisect_left(bounds, end)]:
            if bound > start:
                yield start, bound
                start = bound
        yield start, end


FORMAT = LinkFormat(
    name="conll",
    description="tokens with offsets, BIO tags and concepts in columns",
    open=ConllWriter,
    endings=(".conll",),
    needs=frozenset({"documents"}),
    ignores=frozenset({"--top-k"}),
    resumable=True,
)
