"""What a person decided of a link."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

Relation = Literal["equal", "narrower", "broader", "related", "close"]
"""The term means the concept; something narrower; something broader; something related; or something like it."""

Verdict = Literal["concept", "nil", "flag"]
"""The mention means the candidates; none of the concepts; or is to be looked at again."""

REVIEW: Final = ("decision", "relation", "reviewer", "decided_at", "comment")
"""Columns that say what was decided, in tables of links."""

_SAID: Final = {
    "equal": "exact",
    "narrower": "broader",
    "broader": "narrower",
    "related": "related",
    "close": "close",
}
"""How a concept is to a term, by how the term is to the concept."""


@dataclass(frozen=True, slots=True)
class Review:
    """What a person decided of a link.

    Attributes:
        verdict: what. Of a link that is given concepts they are its candidates, all of which it means.
        reviewer: who.
        at: when, in milliseconds since 1970 in UTC.
        comment: what the reviewer said of it.
        relations: how the mention is to each of the candidates.
        assigned: to whom it was assigned; empty for nobody.
    """

    verdict: Verdict
    reviewer: str
    at: int
    comment: str = ""
    relations: tuple[Relation, ...] = ()
    assigned: str = ""

    @property
    def decided_at(self) -> str:
        """When, as in ISO 8601, to the millisecond."""
        time = datetime.fromtimestamp(self.at / 1000, UTC)
        return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def cells(self, place: int) -> dict[str, Any]:
        """Write the columns :data:`REVIEW` of the row of a candidate.

        Args:
            place: which candidate; one beyond them for a row without.
        """
        relation = _SAID[self.relations[place]] if place < len(self.relations) else None
        values = (self.verdict, relation, self.reviewer, self.decided_at, self.comment or None)
        return dict(zip(REVIEW, values, strict=True))

    def to_dict(self) -> dict[str, Any]:
        return {
            "decision": self.verdict,
            "relations": [_SAID[relation] for relation in self.relations],
            "reviewer": self.reviewer,
            "decided_at": self.decided_at,
            "comment": self.comment,
        }
