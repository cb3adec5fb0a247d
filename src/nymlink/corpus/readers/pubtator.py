"""Reader of PubTator (NCBI Disease, BC5CDR): title and abstract lines, then one annotation per line.

::

    227508|t|Naloxone reverses the antihypertensive effect of clonidine.
    227508|a|In unanesthetized, spontaneously hypertensive rats ...
    227508<TAB>0<TAB>8<TAB>Naloxone<TAB>Chemical<TAB>D009270
    227508<TAB>CID<TAB>D008750<TAB>D007022

Offsets count characters in title + one character + abstract. A seventh column has the parts of a composite
mention; if one part has no concept (``D002544|-1``), the whole mention gets no gold ids. A mutation id
(``c|SUB|G|Ex2+860|C``) is not split. Relation rows, like the last one above, are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from nymlink.core.files import read_lines
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.corpus.documents import Document, Mention
from nymlink.corpus.offsets import OffsetUnit, place_mention, to_code_points
from nymlink.corpus.readers import CorpusFormat
from nymlink.corpus.readers.common import (
    MUTATION,
    CorpusOptions,
    distinct_documents,
    first_lines,
    require_documents,
    split_ids,
    split_parts,
)

_TEXT: Final = re.compile(r"\s*([^|\s][^|\t]*)\|([ta])\|(.*)")
_PART_WITHOUT_CONCEPT: Final = re.compile(r"(?:^|\|)\s*-1\s*(?:\||$)")
_NUMBER: Final = re.compile(r"\s*[0-9]{1,9}\s*")
_RELATION: Final = re.compile(r"\s*[A-Za-z][\w-]*\s*")


@dataclass(slots=True)
class _Draft:
    """The lines of one document, collected before offsets are checked in its whole text."""

    id: str
    line: int
    title: str | None = None
    abstract: str | None = None
    rows: list[tuple[int, list[str]]] = field(default_factory=list)


def _recognises(_: Path, head: str) -> bool:
    return any(_TEXT.match(line) for line in first_lines(head))


def _read(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:
    documents = distinct_documents(
        _documents(path, options.offsets, problems), path, problems, keep=options.keep_repeated
    )
    return require_documents(documents, path=path, problems=problems)


def _documents(path: Path, unit: OffsetUnit, problems: Problems) -> Iterator[tuple[int, Document]]:
    for draft in _drafts(path, problems):
        # A line break rather than a blank, because titles often end without a full stop.
        text = "\n".join(part for part in (draft.title, draft.abstract) if part is not None)
        offsets = to_code_points(text, unit)
        mentions = (
            _mention(text, row, offsets, path=path, line=line, problems=problems) for line, row in draft.rows
        )
        yield draft.line, Document(draft.id, text, tuple(mention for mention in mentions if mention is not None))


def _drafts(path: Path, problems: Problems) -> Iterator[_Draft]:
    draft: _Draft | None = None
    for number, line in read_lines(path, problems):
        if not line.strip():
            continue
        if match := _TEXT.fullmatch(line):
            id_, kind, text = match[1].strip(), match[2], match[3]
            if draft is None or kind == "t" or draft.id != id_ or draft.abstract is not None:
                if draft is not None:
                    yield draft
                draft = _Draft(id_, number)
            if kind == "t":
                draft.title = text
            else:
                draft.abstract = text
            continue
        row = line.split("\t")
        if draft is None or len(row) == 1 or row[0].strip() != draft.id:
            owner = "any document" if draft is None else f"document {draft.id}"
            problems.reject(path, number, f"not a title, an abstract, or a row of {owner}")
        else:
            draft.rows.append((number, row))
    if draft is not None:
        yield draft


def _mention(
    text: str, row: list[str], offsets: Callable[[int], int], *, path: Path, line: int, problems: Problems
) -> Mention | None:
    if len(row) in (4, 5) and _RELATION.fullmatch(row[1]):
        return None
    if len(row) < 5:
        problems.reject(path, line, f"an annotation has 5 to 7 columns, this row has {len(row)}")
        return None
    if not (_NUMBER.fullmatch(row[1]) and _NUMBER.fullmatch(row[2])):
        problems.reject(path, line, f"offsets {row[1]!r} and {row[2]!r} are not numbers")
        return None
    surface = row[3]
    if not surface.strip():
        problems.reject(path, line, "the mention is empty")
        return None
    mention = Mention(
        surface,
        type=row[4].strip(),
        concept_ids=_gold_ids(row[5]) if len(row) > 5 else (),
        parts=split_parts(row[6]) if len(row) > 6 else (),
    )
    stated = offsets(int(row[1])), offsets(int(row[2]))
    return place_mention(mention, text, [stated], path=path, line=line, problems=problems)


def _gold_ids(field: str) -> tuple[str, ...]:
    # The position of a mutation may be -1.
    return () if _PART_WITHOUT_CONCEPT.search(MUTATION.sub("", field)) else split_ids(field, "|+;,")


FORMAT: Final[CorpusFormat] = Format(
    name="pubtator",
    description="PubTator: title, abstract and annotation lines (NCBI disease, BC5CDR)",
    recognises=_recognises,
    read=_read,
)
