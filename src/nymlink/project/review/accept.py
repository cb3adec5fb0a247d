"""Accept the first candidates of all terms that are sure enough, at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.linking.review import Relation as TermRelation
from nymlink.linking.writers.mappings.relations import relation
from nymlink.project.links import kept_link, mention_of
from nymlink.project.model import Relation, Target
from nymlink.project.project import Project
from nymlink.project.review.decisions import append, checked_reviewer

_OPEN: Final = (
    "state = 'linked' AND nil = 0 AND confidence >= ? AND id NOT IN (SELECT term FROM settled) ORDER BY id"
)
"""Terms that are sure enough, and nobody has decided or flagged."""

_RELATIONS: Final[Mapping[TermRelation, Relation]] = {
    "equal": "exact",
    "close": "exact",
    "narrower": "broader",
    "broader": "narrower",
    "related": "related",
}
"""How a concept is to a term, by how the term is to the concept; what is like its name is taken to mean it."""


def accept(project: Project, *, reviewer: str, above: float, dry_run: bool = False) -> dict[str, Any]:
    """Give all terms that nobody has decided, and that are sure enough, their first candidates, as one batch.

    Args:
        project: opened to write, unless nothing is to be done.
        reviewer: who decides.
        above: confidence at least, 0 to 1.
        dry_run: whether only to tell what it would mean.

    Returns:
        How many ``terms`` and ``rows``, and how many terms will be wrong, as far as confidences tell
        (``expected_wrong``: the sum of what each lacks to 1).

    Raises:
        InputError: the reviewer has no name, or no link has a confidence.
        ReadOnlyError, NotSavedError: nothing can be saved.
    """
    reviewer = checked_reviewer(reviewer)
    with project.reading() as connection:
        states = dict(connection.execute("SELECT state, count(confidence) FROM term GROUP BY state").fetchall())
    if "linked" in states and not sum(states.values()):
        raise InputError(
            "the links have no confidences, as the index is not calibrated: run `nymlink calibrate`, then "
            "`nymlink project rebase`"
        )
    if dry_run:
        with project.reading() as connection:
            rows = connection.execute(f"SELECT confidence, rows FROM term WHERE {_OPEN}", (above,)).fetchall()
        return _counted(rows)
    with project.writing() as connection:
        rows = connection.execute(f"SELECT * FROM term WHERE {_OPEN}", (above,)).fetchall()
        batch: int | None = None
        accepted = []
        for row in rows:
            link = kept_link(row["link"], mention_of(row["text"], row["language"], row["type"]))
            if link is None or not link.candidates:
                continue
            accepted.append(row)
            first = link.candidates[0]
            target = Target(first.concept_id, first.concept_name, _RELATIONS[relation(first, link)])
            number = append(
                connection,
                reviewer=reviewer,
                term=row["id"],
                verdict="concept",
                targets=[target],
                origin="accept",
                # The first is its own batch, so that it is undone with the others.
                batch=batch,
            )
            if batch is None:
                batch = number
                connection.execute("UPDATE decision SET batch = id WHERE id = ?", (number,))
    return _counted(accepted)


def _counted(rows: list[Any]) -> dict[str, Any]:
    return {
        "terms": len(rows),
        "rows": sum(row["rows"] for row in rows),
        "expected_wrong": sum(1 - row["confidence"] for row in rows),
    }
