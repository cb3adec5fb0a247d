"""Assign terms to reviewers: each a share of them, or all of them to two, who are compared then."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import ceil
from typing import Final

from nymlink.project.project import Project
from nymlink.project.review.decisions import checked_reviewer
from nymlink.project.review.terms import TermFilter

_SPREAD: Final = 2654435761
"""A multiplier that spreads numbers of terms: a share is not the first ones of the tables."""


def assign(project: Project, *, reviewer: str, terms: Sequence[int] | TermFilter, share: float = 1.0) -> int:
    """Assign a reviewer a share of some terms, in place of those of them that he or she had.

    Terms that fewer reviewers have are taken first, so that two halves make a whole.

    Args:
        project: opened to write.
        reviewer: to whom.
        terms: numbers of terms, or a filter.
        share: which part of them; 0 for none of them any more.

    Returns:
        How many terms the reviewer has of these now.

    Raises:
        InputError: the reviewer has no name.
        ReadOnlyError, NotSavedError: nothing can be saved.
    """
    reviewer = checked_reviewer(reviewer)
    with project.writing() as connection:
        if isinstance(terms, TermFilter):
            where, parameters = terms.where()
        else:
            where, parameters = "term.id IN (SELECT value FROM json_each(:ids))", {"ids": json.dumps(list(terms))}
        found = [row[0] for row in connection.execute(f"SELECT id FROM term WHERE {where}", parameters)]
        chosen = json.dumps(found)
        connection.execute(
            "DELETE FROM assignment WHERE reviewer = ? AND term IN (SELECT value FROM json_each(?))",
            (reviewer, chosen),
        )
        cursor = connection.execute(
            "INSERT INTO assignment SELECT value, ? FROM json_each(?) "
            "ORDER BY (SELECT count(*) FROM assignment WHERE term = value), value * ? % 4294967296 LIMIT ?",
            (reviewer, chosen, _SPREAD, ceil(share * len(found))),
        )
        return cursor.rowcount
