"""Mappings of terms as SSSOM.

The subject of a mapping is the term as a literal, or its code if that is a CURIE. A term without a concept is
mapped to ``sssom:NoTermFound``.
"""

from __future__ import annotations

import hashlib
import json
import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from importlib.metadata import version
from typing import Final, TextIO
from uuid import UUID

from nymlink.core.prefixes import UNKNOWN, Prefixes, divide, is_iri
from nymlink.linking.candidates import DICTIONARY, WRITING
from nymlink.linking.cells import DENIED
from nymlink.linking.link import Candidate, Link, Relation, Review
from nymlink.linking.writers.writer import LinkFormat, LinksInfo, LinkWriter
from nymlink.tables.delimited import Record, restore_cell
from nymlink.text.normalise import normalise
from nymlink.vocabulary.vocabulary import Vocabulary


def relation(candidate: Candidate, link: Link) -> Relation:
    """Return the relation of a candidate to a term: as a person decided, as stated, or by the name that matched.

    Args:
        candidate: the concept.
        link: the link of the term, or of its part.
    """
    if link.review is not None and candidate in link.candidates[: len(link.review.relations)]:
        return link.review.relations[link.candidates.index(candidate)]
    if candidate.relation is not None:
        return candidate.relation
    if not _is_name(candidate, link) or candidate.contradiction is not None or link.guessed or link.left_out:
        return "close"
    if candidate.matched.kind == "narrow":
        return "broader"
    if candidate.matched.kind == "broad":
        return "narrower"
    return "related" if candidate.matched.kind == "related" else "exact"


def is_lexical(candidate: Candidate) -> bool:
    """Whether a candidate was found by the words of a name rather than by similarity."""
    return WRITING in candidate.parts or DICTIONARY in candidate.parts


def _is_name(candidate: Candidate, link: Link) -> bool:
    """Whether a term equals the name that matched. A dictionary also finds other forms and orders of words."""
    if DICTIONARY in candidate.parts:
        return normalise(link.mention.text.removeprefix(DENIED)) == normalise(candidate.matched.text)
    return WRITING in candidate.parts


_COUNT: Final = re.compile(r"\s*[0-9]{1,12}\s*")


@dataclass(frozen=True, slots=True)
class Target:
    """A concept that a term is mapped to.

    Attributes:
        candidate: the concept.
        relation: relation of the concept to the term: ``"part"`` if the term has several parts.
        link: the link of the term, or of its part.
        is_part: whether the term has several parts.
    """

    candidate: Candidate
    relation: Relation
    link: Link
    is_part: bool = False

    @property
    def is_first(self) -> bool:
        """Whether it is the first candidate of the term or its part."""
        return self.candidate is self.link.candidates[0]

    @property
    def notes(self) -> tuple[str, ...]:
        """Comment of the reviewer, or else notes on the link, for its first candidate only. A part comes first."""
        review = self.link.review
        part = (f"part of the term: {self.link.mention.text}",) if self.is_part else ()
        if review is not None and self.link.is_reviewed:
            return (*part, *filter(None, (review.comment,)))
        return (*part, *(self.link.notes if self.is_first else ()))


@dataclass(slots=True)
class Term:
    """A term of the source.

    Attributes:
        code: its code; the term itself if it has none.
        name: the term, on one line.
        link: its link.
        frequency: how often it occurs.
        row: cells of the first row of the user's table with this term; empty without a table.
    """

    code: str
    name: str
    link: Link
    frequency: int
    row: tuple[str, ...]

    @property
    def best(self) -> list[Target]:
        """The concepts it is mapped to: those that a person chose, else the first of each part; none is denied."""
        if self.link.review is None or not self.link.review.relations:
            return first_targets(self.link)
        return [each for each in targets_of(self.link) if not each.link.is_denied]

    def targets(self) -> Iterator[Target]:
        """Yield all its targets, best first."""
        return targets_of(self.link)


def targets_of(link: Link) -> Iterator[Target]:
    """Yield the candidates of a term as targets, best first; none for a NIL link or part."""
    is_part = len(link.parts) > 1
    for part in link.singles:
        for candidate in () if part.nil else part.candidates:
            is_given = part.is_reviewed or not is_part
            yield Target(candidate, relation(candidate, part) if is_given else "part", part, is_part)


def first_targets(link: Link) -> list[Target]:
    """List the first target of a term, or of each of its parts, without denied ones."""
    return [each for each in targets_of(link) if each.is_first and not each.link.is_denied]


class TermWriter(LinkWriter):
    """Collects terms, each once, and writes them when it is closed.

    The code of a term comes from the user's table or the mention, else it is the term itself. If a term was linked
    differently in different contexts, its most frequent link is written.
    """

    def __init__(self, info: LinksInfo) -> None:
        self._table = info.table
        self._terms: dict[tuple[str, str], dict[tuple[str, ...], Term]] = {}

    def write(self, link: Link, row: Record | None = None) -> None:
        name = " ".join(link.mention.text.split())
        if not name:
            return
        # The context of one mention does not hold for the term in general.
        link = replace(link, context=None)
        fields = () if row is None else tuple(map(restore_cell, row.fields))
        code = self._code(link, fields) or name
        best = tuple(candidate.concept_id for part in link.singles for candidate in part.candidates)
        ways = self._terms.setdefault((code, name), {})
        ways.setdefault(best, Term(code, name, link, 0, fields)).frequency += self._frequency(
            fields, link.mention.frequency
        )

    def close(self) -> None:
        terms = []
        for ways in self._terms.values():
            chosen = max(ways.values(), key=lambda term: term.frequency)
            terms.append(replace(chosen, frequency=sum(term.frequency for term in ways.values())))
        self.write_terms(terms)

    @abstractmethod
    def write_terms(self, terms: list[Term]) -> None:
        """Write all terms, in the order in which they first occur."""

    def _code(self, link: Link, fields: tuple[str, ...]) -> str:
        if self._table is not None and self._table.code is not None:
            return fields[self._table.code].strip()
        # The id of a mention in a text ("T1") is no code.
        return link.mention.id or "" if link.mention.start is None else ""

    def _frequency(self, fields: tuple[str, ...], frequency: int) -> int:
        if self._table is None or self._table.frequency is None:
            return frequency
        stated = fields[self._table.frequency]
        return int(stated) if _COUNT.fullmatch(stated) else 0


_PREDICATES: Final[Mapping[Relation, str]] = {
    "exact": "skos:exactMatch",
    "broader": "skos:broadMatch",
    "narrower": "skos:narrowMatch",
    "related": "skos:relatedMatch",
    "part": "skos:relatedMatch",
    "close": "skos:closeMatch",
}

_OWN_PREFIXES: Final = {
    "semapv": "https://w3id.org/semapv/vocab/",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "sssom": "https://w3id.org/sssom/",
}
_COLUMNS: Final = (
    "subject_id",
    "subject_label",
    "subject_type",
    "predicate_id",
    "predicate_modifier",
    "object_id",
    "object_label",
    "mapping_justification",
    "similarity_score",
    "confidence",
    "reviewer_label",
    "mapping_date",
    "comment",
    "other",
)
_LICENCES: Final = {
    "cc0": "https://creativecommons.org/publicdomain/zero/1.0/",
    "cc0 1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
    "cc by 4.0": "https://creativecommons.org/licenses/by/4.0/",
    "cc-by 4.0": "https://creativecommons.org/licenses/by/4.0/",
    "cc-by-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "cc by-sa 4.0": "https://creativecommons.org/licenses/by-sa/4.0/",
}
_UNSPECIFIED: Final = "https://w3id.org/sssom/license/unspecified"
_MANUAL: Final = "semapv:ManualMappingCuration"
_SIMILARITY: Final = "semapv:SemanticSimilarityThresholdMatching"
_SPACE: Final = re.compile(r"\s")
_CURIE: Final = re.compile(r"[A-Za-z][\w.-]*:[^\s:/]\S*")


class SssomWriter(TermWriter):
    """Writes all mappings when it is closed, because the metadata at the start list all prefixes that occur."""

    def __init__(self, out: TextIO, info: LinksInfo) -> None:
        super().__init__(info)
        self._out = out
        self._info = info
        self._subjects, self._objects = _Side.of(info.subjects), _Side.of(info.vocabulary)
        self._prefixes = dict(_OWN_PREFIXES)

    def write_terms(self, terms: list[Term]) -> None:
        rows = [row for term in terms for row in self._rows(term)]
        # Columns without a value are left out.
        columns = [column for column in _COLUMNS if any(row.get(column) for row in rows) or column == "object_id"]
        lines = ["\t".join(columns)]
        lines += ["\t".join(_quoted(row.get(column, "")) for column in columns) for row in rows]
        body = "\n".join(lines) + "\n"
        for line in self._metadata(body):
            self._out.write(f"#{line}\n")
        self._out.write(body)

    def _rows(self, term: Term) -> Iterator[dict[str, str]]:
        subject = {"subject_label": _cell(term.name)}
        if self._info.subjects is not None or _CURIE.fullmatch(term.code):
            subject["subject_id"] = self._curie(
                term.code, self._objects if self._info.subjects is None else self._subjects
            )
        else:
            subject["subject_type"] = "rdfs literal"
        subject |= _review(term.link.review)
        if term.code != term.name and "subject_id" not in subject:
            subject["other"] = "; ".join(filter(None, (subject.get("other"), _cell(f"code={term.code}"))))
        targets = list(term.targets())
        for target in targets:
            part = f"part={_cell(target.link.mention.text.removeprefix(DENIED))}" if term.link.parts else ""
            other = "; ".join(filter(None, (subject.get("other"), part)))
            yield {**subject, **self._object(target), "other": other}
        if not targets:
            yield {
                **subject,
                "predicate_id": "skos:exactMatch",
                "object_id": "sssom:NoTermFound",
                "mapping_justification": _MANUAL if term.link.is_reviewed else "semapv:CompositeMatching",
                "comment": _comment(term.link),
            }

    def _object(self, target: Target) -> dict[str, str]:
        candidate, link = target.candidate, target.link
        matching = "semapv:LexicalMatching" if is_lexical(candidate) else _SIMILARITY
        decided = link.review is not None and bool(link.review.relations)
        # A confidence belongs to the first candidate, and is stated only if it is a measured probability.
        stated = self._info.calibrated and candidate is link.candidates[0]
        confidence = link.confidence if stated and candidate.confidence is None else candidate.confidence
        return {
            "predicate_id": _PREDICATES[target.relation],
            "predicate_modifier": "Not" if link.is_denied else "",
            "object_id": self._curie(candidate.concept_id, self._objects),
            "object_label": _cell(candidate.concept_name),
            "mapping_justification": _MANUAL if decided else matching,
            # A concept that a person chose may not have been found by the search; it has no score.
            "similarity_score": f"{min(max(candidate.score, 0), 1):.4f}" if candidate.parts else "",
            "confidence": "" if confidence is None else f"{confidence:.4f}",
            "comment": _cell("; ".join(target.notes)),
        }

    def _curie(self, concept_id: str, side: _Side) -> str:
        """Write an id as a CURIE with a declared prefix, because SSSOM/TSV allows no other ids."""
        if is_iri(concept_id):
            namespace, local = divide(concept_id)
            # The same in every file.
            name = f"ns{int.from_bytes(hashlib.sha256(namespace.encode()).digest()[:4])}"
        else:
            name, local = concept_id.partition(":")[::2]
            if not local or " " in name:
                # The source is the namespace of an id without a prefix.
                name, local = side.source or "nymlink", concept_id
            name = re.sub(r"[^\w.-]", "_", name)
            # No address: nothing is known of the prefix, and the format requires an IRI.
            namespace = side.declared.namespace(name) or f"{UNKNOWN}{name}:"
        self._prefixes.setdefault(name, namespace)
        return f"{name}:{_SPACE.sub('_', local)}"

    def _metadata(self, body: str) -> Iterator[str]:
        """Yield the lines of the metadata, as YAML."""
        yield 'sssom_version: "1.1"'
        yield "curie_map:"
        for name in sorted(self._prefixes):
            yield f"  {name}: {json.dumps(self._prefixes[name])}"
        # The id is a hash of the mappings.
        yield f"mapping_set_id: https://w3id.org/sssom/mappings/{_uuid(body)}"
        yield f"mapping_set_title: {json.dumps(self._title())}"
        yield f"license: {_licence(self._subjects.licences | self._objects.licences)}"
        yield "mapping_tool: nymlink"
        yield f"mapping_tool_version: {json.dumps(version('nymlink'))}"
        yield f"mapping_date: {json.dumps(date.today().isoformat())}"
        for name, side in (("subject", self._subjects), ("object", self._objects)):
            if side.version:
                yield f"{name}_source_version: {json.dumps(_cell(side.version))}"

    def _title(self) -> str:
        if self._info.subjects is None:
            return f"{self._info.title or 'terms'} linked by nymlink"
        return (
            f"{self._subjects.source or 'concepts'} matched with {self._objects.source or 'concepts'} by nymlink"
        )


@dataclass(frozen=True, slots=True)
class _Side:
    """What is known of the vocabulary of subjects or of objects.

    Attributes:
        source: name of its source; empty if it has several.
        version: version of this source, or ``None``.
        licences: the licences of all its sources.
        declared: the prefixes of its ids.
    """

    source: str
    version: str | None
    licences: frozenset[str | None]
    declared: Prefixes

    @classmethod
    def of(cls, vocabulary: Vocabulary | None) -> _Side:
        sources = () if vocabulary is None else vocabulary.sources
        [source, version] = (sources[0].name, sources[0].version) if len(sources) == 1 else ("", None)
        licences = frozenset(source.licence for source in sources)
        return cls(source, version, licences, Prefixes.recorded({} if vocabulary is None else vocabulary.prefixes))


def _licence(stated: frozenset[str | None]) -> str:
    """Return the IRI of the licence if all sources have the same, else that of an unspecified licence."""
    if len(stated) != 1 or not (licence := (next(iter(stated)) or "").strip()):
        return _UNSPECIFIED
    is_iri = re.fullmatch(r"https?://[^\s<>\"]+", licence) is not None
    return licence if is_iri else _LICENCES.get(licence.casefold(), _UNSPECIFIED)


def _comment(link: Link) -> str:
    """Write the comment of the reviewer, or else the notes."""
    return _cell(link.review.comment if link.review is not None and link.is_reviewed else "; ".join(link.notes))


def _review(review: Review | None) -> dict[str, str]:
    """Write the reviewer and the time of a decision; facts without an SSSOM column go into `other`."""
    if review is None or review.verdict == "guess":
        return {} if review is None else {"other": "decision=guess"}
    flagged = "decision=flag; " if review.verdict == "flag" else ""
    return {
        "reviewer_label": _cell(review.reviewer),
        "mapping_date": review.decided_at[:10],
        "other": f"{flagged}decided_at={review.decided_at}",
    }


def _cell(text: str) -> str:
    return " ".join(text.split())


def _quoted(cell: str) -> str:
    """Quote a cell with quotation marks, as SSSOM demands."""
    return '"' + cell.replace('"', '""') + '"' if '"' in cell else cell


def _uuid(text: str) -> UUID:
    return UUID(bytes=hashlib.sha256(text.encode("utf-8", "replace")).digest()[:16], version=5)


FORMAT = LinkFormat(
    name="sssom",
    description="SSSOM: a mapping a line, with metadata; each term once",
    open=SssomWriter,
    endings=(".sssom.tsv",),
)
