"""Write SSSOM TSV: a mapping a line, after metadata on the set (https://mapping-commons.github.io/sssom/).

The subject of a mapping is a term as a literal, unless its code is a CURIE. A term without a concept is mapped to
``sssom:NoTermFound``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from datetime import date
from importlib.metadata import version
from typing import Final, TextIO
from uuid import UUID

from nymlink.linking.model import Link
from nymlink.linking.review import Relation, Review
from nymlink.linking.writers.mappings.prefixes import prefix, split_curie
from nymlink.linking.writers.mappings.relations import is_lexical
from nymlink.linking.writers.mappings.term_writer import Target, Term, TermWriter
from nymlink.linking.writers.writer import LinkFormat, LinksInfo

_PREDICATES: Final[Mapping[Relation, str]] = {
    "equal": "skos:exactMatch",
    "narrower": "skos:broadMatch",
    "broader": "skos:narrowMatch",
    "related": "skos:relatedMatch",
    "close": "skos:closeMatch",
}
"""The object is broader than a narrower term."""

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
    """Writes all mappings when it is closed: the metadata name the prefixes that occur in them."""

    def __init__(self, out: TextIO, info: LinksInfo) -> None:
        super().__init__(info)
        self._out = out
        self._info = info
        sources = () if info.vocabulary is None else info.vocabulary.sources
        self._source = sources[0].name if len(sources) == 1 else ""
        self._licence = _licence({source.licence for source in sources})
        self._version = sources[0].version if len(sources) == 1 else None
        self._prefixes = dict(_OWN_PREFIXES)

    def write_terms(self, terms: list[Term]) -> None:
        rows = [row for term in terms for row in self._rows(term)]
        # Columns without a value are left out.
        columns = [column for column in _COLUMNS if any(row.get(column) for row in rows) or column == "object_id"]
        lines = ["\t".join(columns), *("\t".join(row.get(column, "") for column in columns) for row in rows)]
        body = "\n".join(lines) + "\n"
        for line in self._metadata(body):
            self._out.write(f"#{line}\n")
        self._out.write(body)

    def _rows(self, term: Term) -> Iterator[dict[str, str]]:
        subject = {"subject_label": _cell(term.name)}
        if _CURIE.fullmatch(term.code):
            subject["subject_id"] = self._curie(term.code)
        else:
            subject["subject_type"] = "rdfs literal"
        subject |= _review(term.link.review)
        if term.code != term.name and "subject_id" not in subject:
            subject["other"] = "; ".join(filter(None, (subject.get("other"), _cell(f"code={term.code}"))))
        targets = list(term.targets())
        for target in targets:
            yield {**subject, **self._object(target, is_first=target is targets[0])}
        if not targets:
            yield {
                **subject,
                "predicate_id": "skos:exactMatch",
                "object_id": "sssom:NoTermFound",
                "mapping_justification": "semapv:CompositeMatching" if term.link.review is None else _MANUAL,
                "comment": _comment(term.link),
            }

    def _object(self, target: Target, *, is_first: bool) -> dict[str, str]:
        candidate, link = target.candidate, target.link
        matching = "semapv:LexicalMatching" if is_lexical(candidate) else _SIMILARITY
        decided = link.review is not None and bool(link.review.relations)
        # A confidence is that of the first candidate; one that is no measured probability is not stated.
        stated = self._info.calibrated and candidate is link.candidates[0]
        confidence = link.confidence if stated else None
        return {
            "predicate_id": _PREDICATES[target.relation],
            "object_id": self._curie(candidate.concept_id),
            "object_label": _cell(candidate.concept_name),
            "mapping_justification": _MANUAL if decided else matching,
            # A concept that a person gave may be none that a search had found.
            "similarity_score": f"{min(max(candidate.score, 0), 1):.4f}" if candidate.parts else "",
            "confidence": "" if confidence is None else f"{confidence:.4f}",
            "comment": _comment(link) if is_first else "",
        }

    def _curie(self, concept_id: str) -> str:
        name, local = split_curie(concept_id, self._source)
        name = re.sub(r"[^\w.-]", "_", name)
        self._prefixes.setdefault(name, prefix(name).iri)
        return f"{name}:{_SPACE.sub('_', local)}"

    def _metadata(self, body: str) -> Iterator[str]:
        """Yield the lines of the metadata, in YAML."""
        yield 'sssom_version: "1.1"'
        yield "curie_map:"
        for name in sorted(self._prefixes):
            yield f"  {name}: {json.dumps(self._prefixes[name])}"
        # The same mappings have the same id.
        yield f"mapping_set_id: https://w3id.org/sssom/mappings/{_uuid(body)}"
        title = f"{self._info.title or 'terms'} linked by nymlink"
        yield f"mapping_set_title: {json.dumps(title)}"
        yield f"license: {self._licence}"
        yield "mapping_tool: nymlink"
        yield f"mapping_tool_version: {json.dumps(version('nymlink'))}"
        yield f"mapping_date: {json.dumps(date.today().isoformat())}"
        if self._version:
            yield f"object_source_version: {json.dumps(_cell(self._version))}"


def _licence(stated: set[str | None]) -> str:
    """Return the IRI of the licence of all sources, or that of an unspecified one."""
    if len(stated) != 1 or not (licence := (stated.pop() or "").strip()):
        return _UNSPECIFIED
    is_iri = re.fullmatch(r"https?://[^\s<>\"]+", licence) is not None
    return licence if is_iri else _LICENCES.get(licence.casefold(), _UNSPECIFIED)


def _comment(link: Link) -> str:
    """Write what is to be said of a link: by the reviewer, else what there is to doubt."""
    return _cell("; ".join(link.notes) if link.review is None else link.review.comment)


def _review(review: Review | None) -> dict[str, str]:
    """Write who decided, and when; what SSSOM has no column for, in `other`."""
    if review is None:
        return {}
    flagged = "decision=flag; " if review.verdict == "flag" else ""
    return {
        "reviewer_label": _cell(review.reviewer),
        "mapping_date": review.decided_at[:10],
        "other": f"{flagged}decided_at={review.decided_at}",
    }


def _cell(text: str) -> str:
    return " ".join(text.split())


def _uuid(text: str) -> UUID:
    return UUID(bytes=hashlib.sha256(text.encode("utf-8", "replace")).digest()[:16], version=5)


FORMAT = LinkFormat(
    name="sssom",
    description="SSSOM: a mapping a line, with metadata; each term once",
    open=SssomWriter,
    endings=(".sssom.tsv",),
)
