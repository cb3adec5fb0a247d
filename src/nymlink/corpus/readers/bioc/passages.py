"""Make a document of passages with annotations, whose offsets are those in the whole document."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final

from nymlink.core.problems import Problems
from nymlink.corpus.model import Document, Mention
from nymlink.corpus.offset_units import OffsetUnit, to_code_points, unit_length
from nymlink.corpus.readers.common import split_ids
from nymlink.corpus.readers.offsets import place_mention

_WIDEST_GAP: Final = 10_000
"""The most characters between two passages: beyond that, an offset is a mistake."""

_ID_KEYS: Final = frozenset(
    """
    identifier identifiers id ids concept_id concept_ids normalized_id database_id database_identifier cui umls
    mesh omim hpo hp mondo doid chebi ncit orpha orphanet snomedct hgnc ncbigene ncbitaxon uberon cl go
    """.split()
)
"""Keys of infons that hold concept ids, spelt as :func:`infon_ids` spells them: NCBI writes ``identifier``, BC5CDR
the name of the database."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """An annotation of a passage.

    Attributes:
        text: the surface form, empty where the file states none.
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
        offset: where it begins in the document, in units of the file.
        text: its text.
        annotations: what is annotated in it.
    """

    offset: int
    text: str
    annotations: Sequence[Annotation] = field(default=())


def infon_ids(infons: Mapping[str, str]) -> tuple[str, ...]:
    """Read gold ids off the infons of an annotation."""
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
    """Put passages at their offsets, with a line break and blanks between them, and mentions into the whole text.

    Passages out of order are put in order, those that overlap one after the other; both are reported.
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
        """Append a passage; say what is wrong with its offset, ``None`` where nothing is."""
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
        """Find an offset of the file in the text: in the passage at a place, or else in that where it lies."""
        passage = self._passages[place]
        if not 0 <= offset - passage.offset <= unit_length(passage.text, self._unit):
            place = max(bisect_right(self._offsets, offset) - 1, 0)
        return self._starts[place] + self._translate[place](offset - self._offsets[place])
