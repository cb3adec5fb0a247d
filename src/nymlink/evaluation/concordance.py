"""Check whether names and concept ids that stand side by side agree, for example in a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from nymlink.corpus.documents import Document
from nymlink.index.fusion import EXACT_MATCH
from nymlink.index.index import Index
from nymlink.linking.certain import Ids
from nymlink.linking.link import Link
from nymlink.linking.linker import Linker
from nymlink.tables.coded import CodedTable

AGREES: Final = "agrees"
DISAGREEMENTS: Final = {
    "unknown": "the vocabulary does not have the id",
    "obsolete": "the id is an old one, and nothing replaces it",
    "replaced": "the id is an old one; the concept that replaces it is given",
    "opposite": "the name contradicts the concept",
    "broader": "the name is that of an ancestor of the concept",
    "narrower": "the name is that of a descendant of the concept",
    "other": "the name is that of another concept",
    "unlike": "no name of the concept is like the name",
}
VERDICTS: Final = {
    AGREES: "the concept has the name, or the name is linked to the concept",
    "similar": "the concept is among the first candidates for the name",
    "missing": "the row has no name or no id",
    **DISAGREEMENTS,
}
"""Verdict on a name and an id → what it means."""

CANDIDATES: Final = 20
"""Number of candidates searched for a name. A candidate that contradicts the name may be far behind."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a name and a concept id agree.

    Attributes:
        where: id of the document of the name. For a table, it is the file and the line.
        name: the name.
        stated: the id that stands beside the name.
        verdict: one of :data:`VERDICTS`.
        concept_id: id of the concept to use instead: the concept to which the name is linked, or that replaces an
            old id; ``None`` if the name and the id agree, or there is no such concept.
        concept_name: preferred name of the concept to use.
        confidence: confidence in the concept to use, if the name was linked to it and the index is calibrated.
    """

    where: str
    name: str
    stated: str
    verdict: str
    concept_id: str | None = None
    concept_name: str | None = None
    confidence: float | None = None

    @property
    def disagrees(self) -> bool:
        """Whether the name and the id contradict each other, or the id cannot be used."""
        return self.verdict in DISAGREEMENTS

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def check_names(linker: Linker, documents: Iterable[Document]) -> Iterator[Verdict]:
    """Check the gold ids of mentions. Yield a verdict for each id of each mention, in order.

    An id may have any spelling ("MONDO_0005068", an IRI). If another concept replaces an old id, the verdict is
    ``"replaced"``, even if the name is linked to this concept.

    Args:
        linker: links the names.
        documents: mentions with gold ids.

    Raises:
        InputError: a mention cannot be linked, see :meth:`~nymlink.linking.linker.Linker.link_documents`.
    """
    waiting: list[Document] = []

    def read() -> Iterator[Document]:
        for document in documents:
            waiting.append(document)
            yield document

    for links in linker.link_documents(read(), top_k=CANDIDATES):
        yield from check_links(linker.index, waiting.pop(0), links)


def check_links(index: Index, document: Document, links: Iterable[Link]) -> Iterator[Verdict]:
    """Check the gold ids of the mentions of a document, as :func:`check_names`.

    Args:
        index: the index of the links.
        document: mentions with gold ids.
        links: a link for each mention, with :data:`CANDIDATES` candidates.
    """
    ids = Ids(index)
    for mention, link in zip(document.mentions, links, strict=True):
        for stated in mention.concept_ids or ("",):
            kind, concept_id = _judge(index, ids, stated, link)
            first = link.candidates[0] if link.candidates else None
            own = first is not None and first.concept_id == concept_id
            name = None if concept_id is None else index.vocabulary[concept_id].name
            confidence = link.confidence if own else None
            yield Verdict(document.id, mention.text, stated, kind, concept_id, name, confidence)


def _judge(index: Index, ids: Ids, stated: str, link: Link) -> tuple[str, str | None]:
    """Return the verdict on an id and the link of its name, and the id of the concept to use."""
    vocabulary = index.vocabulary
    if not stated or not link.mention.text.strip():
        return "missing", None
    first = link.candidates[0] if link.candidates else None
    suggested = None if first is None else first.concept_id
    row = ids.find(stated)
    if row is None:
        exact = first is not None and first.parts.get(EXACT_MATCH) == 1
        return "obsolete" if vocabulary.resolve(stated) else "unknown", suggested if exact else None
    concept_id = vocabulary.concept_id(row)
    if not _is_spelling(stated, concept_id):
        return "replaced", concept_id
    if row in index.concepts_named(link.query):
        return AGREES, None
    own = next((each for each in link.candidates if each.concept_id == concept_id), None)
    if own is not None and own.contradiction is not None:
        return "opposite", None if suggested == concept_id else suggested
    if suggested == concept_id:
        return AGREES, None
    if first is not None and first.parts.get(EXACT_MATCH) == 1:
        if first.concept_id in vocabulary.ancestors(concept_id):
            return "broader", suggested
        return "narrower" if concept_id in vocabulary.ancestors(first.concept_id) else "other", suggested
    return "unlike" if own is None else "similar", suggested


def _is_spelling(stated: str, concept_id: str) -> bool:
    """Whether a text is the id of a concept. Capitals, the prefix and the sign after the prefix may differ."""
    last = re.split(r"[/#]", stated)[-1].replace("_", ":", 1).casefold()
    own = concept_id.casefold()
    return own == stated.casefold() or last in (own, own.partition(":")[2])


def fixed_rows(
    table: CodedTable, place: int, verdicts: Iterable[Verdict]
) -> tuple[list[str], Iterator[list[str]]]:
    """Put the concepts to use in the place of ids that disagree; add the columns ``verdict`` and ``old_id``.

    An id stays where the name is like none of its names, but no name of another concept.

    Args:
        table: the checked table.
        place: of the column of ids.
        verdicts: those on its rows that do not agree.

    Returns:
        The header and the rows.
    """
    by_row = {int(verdict.where.rpartition(":")[2]): verdict for verdict in verdicts}
    added = {}
    for number, cells in table.rows:
        if (verdict := by_row.get(number)) is None:
            continue
        replaced = verdict.disagrees and verdict.verdict != "unlike" and verdict.concept_id is not None
        added[number] = [verdict.verdict, cells[place] if replaced else ""]
        if replaced:
            cells[place] = str(verdict.concept_id)
    return table.with_columns(["verdict", "old_id"], added)
