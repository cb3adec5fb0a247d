"""List the rows of links, one for each candidate: the same for data frames, TSV and tables of the user."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from nymlink.linking.model import FLAGS, Candidate, Link
from nymlink.linking.review import REVIEW

PLACE: Final = ("document_id", "start", "end")
LANGUAGE: Final = "matched_language"
CANDIDATE: Final = ("rank", "concept_id", "concept_name", "matched_name", LANGUAGE, "score")
CONFIDENCE: Final = "confidence"
NOTE: Final = "note"


def rows(link: Link) -> list[dict[str, Any]]:
    """List the rows of a link, see :func:`part_rows`."""
    return [row for part in part_rows(link) for row in part]


def part_rows(link: Link) -> list[list[dict[str, Any]]]:
    """List the rows of a link, part by part: one row for each candidate, or one row without a candidate.

    A link that is NIL, or a part that is, has one row without a candidate.

    Returns:
        For each part of a composite mention, and else once, dictionaries with the keys ``document_id``, ``start``,
        ``end``, ``mention``, ``rank`` (from 1), ``concept_id``, ``concept_name``, ``matched_name``,
        ``matched_language``, ``score``, ``confidence``, the flags of its context, ``note``, and what a person
        decided of it (:data:`~nymlink.linking.review.REVIEW`); ``None`` where there is nothing. Confidence and
        note are those of the first candidate and stand in its row only.
    """
    return [_rows_of_part(link, part) for part in ((link,) if link.nil else link.singles)]


def is_located(links: Iterable[Link]) -> bool:
    """Whether a link says in which document, or where in a text, its mention stands."""
    return any(link.document_id is not None or link.mention.start is not None for link in links)


def _rows_of_part(link: Link, part: Link) -> list[dict[str, Any]]:
    mention = {
        "document_id": link.document_id,
        "start": link.mention.start,
        "end": link.mention.end,
        "mention": link.mention.text,
        **(dict.fromkeys(FLAGS) if link.context is None else link.context.flags),
    }
    candidates = [
        {
            "rank": rank,
            "concept_id": candidate.concept_id,
            "concept_name": candidate.concept_name,
            "matched_name": candidate.matched.text,
            LANGUAGE: candidate.matched.lang,
            "score": _score(candidate, link),
        }
        for rank, candidate in enumerate(() if part.nil else part.candidates, start=1)
    ]
    first = {CONFIDENCE: part.confidence, NOTE: "; ".join(part.notes) or None}
    return [
        {
            **mention,
            **candidate,
            **(first if place == 0 else dict.fromkeys(first)),
            **(dict.fromkeys(REVIEW) if link.review is None else link.review.cells(place)),
        }
        for place, candidate in enumerate(candidates or [dict.fromkeys(CANDIDATE)])
    ]


def _score(candidate: Candidate, link: Link) -> float | None:
    """Return the score; none of a concept that a person gave and no search had found."""
    return None if link.review is not None and not candidate.parts else candidate.score
