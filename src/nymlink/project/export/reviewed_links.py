"""Make links of what was decided of terms: their candidates are the concepts that they were given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from nymlink.linking.model import Candidate, Link
from nymlink.linking.review import Relation as TermRelation
from nymlink.linking.review import Review
from nymlink.project.links import kept_link, mention_of
from nymlink.project.model import Decision, Relation, Target
from nymlink.project.project import Project
from nymlink.vocabulary.model import Name

_RELATIONS: Final[Mapping[Relation, TermRelation]] = {
    "exact": "equal",
    "broader": "narrower",
    "narrower": "broader",
    "related": "related",
}
"""How a term is to a concept, by how the concept is to the term."""


@dataclass(frozen=True, slots=True)
class ReviewedTerm:
    """A term, its link, and what was decided of it.

    Attributes:
        id: its number.
        text: the term.
        link: its link: with its candidates, or with the concepts that it was given.
        decision: the last of any reviewer; ``None`` where there is none.
    """

    id: int
    text: str
    link: Link
    decision: Decision | None

    @property
    def is_decided(self) -> bool:
        """Whether it was given concepts, or none."""
        return self.decision is not None and self.decision.verdict in ("concept", "nil")


def reviewed_terms(project: Project, *, candidates: int) -> dict[int, ReviewedTerm]:
    """Read all terms of a project, by their numbers.

    Args:
        project: where.
        candidates: how many candidates a link has at most of a term that nobody decided.
    """
    with project.reading() as connection:
        decisions = {
            row["term"]: Decision.of(row)
            for row in connection.execute(
                "SELECT decision.* FROM settled JOIN decision ON decision.id = settled.decision"
            )
        }
        assigned = dict(
            connection.execute(
                "SELECT term, group_concat(reviewer, ', ') FROM assignment GROUP BY term"
            ).fetchall()
        )
        rows = connection.execute("SELECT id, text, language, type, link FROM term ORDER BY id").fetchall()
    found = {}
    for row in rows:
        mention = mention_of(row["text"], row["language"], row["type"])
        # What is not linked yet means nothing yet.
        link = kept_link(row["link"], mention) or Link(mention, "", nil=True)
        decision = decisions.get(row["id"])
        if decision is None:
            link = replace(link, candidates=link.candidates[:candidates])
        else:
            link = _reviewed(link, decision, assigned.get(row["id"], ""))
        found[row["id"]] = ReviewedTerm(row["id"], row["text"], link, decision)
    return found


def _reviewed(link: Link, decision: Decision, assigned: str) -> Link:
    """Put what was decided in the place of the candidates; of a flagged term without targets, beside the first."""
    if decision.verdict == "open":
        return link
    review = Review(
        decision.verdict,
        decision.reviewer,
        decision.at,
        decision.comment,
        tuple(_RELATIONS[target.relation] for target in decision.targets),
        assigned,
    )
    if decision.verdict == "flag" and not decision.targets:
        return replace(link, candidates=link.candidates[:1], review=review)
    known = {candidate.concept_id: candidate for candidate in link.candidates}
    chosen = tuple(known.get(target.concept_id) or _candidate(target) for target in decision.targets)
    is_first = bool(chosen) and chosen[0] is link.candidates[0] if link.candidates else False
    return replace(
        link,
        candidates=chosen,
        parts=(),
        confidence=link.confidence if is_first else None,
        nil=decision.verdict == "nil",
        review=review,
    )


def _candidate(target: Target) -> Candidate:
    """Make a candidate of a concept that no search had found."""
    name = target.name or target.concept_id
    nothing: dict[str, Any] = {}
    return Candidate(target.concept_id, name, Name(name, target.concept_id, kind="preferred"), 0.0, nothing)
