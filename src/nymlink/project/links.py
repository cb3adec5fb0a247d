"""Keep the links of terms: as JSON values, and back as links for what writes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from nymlink.corpus.model import Mention
from nymlink.linking.model import Candidate, Link
from nymlink.project.errors import ProjectError
from nymlink.project.project import Project
from nymlink.project.rebase import note_better
from nymlink.project.stored_json import stored
from nymlink.vocabulary.model import Name

CANDIDATES: Final = 10
"""Candidates of a term that are kept."""

_FIELDS: Final = ("meanings", "ordinary", "tied", "settled")
"""What a link knows beyond its JSON values, from which its notes are made."""


def waiting_terms(project: Project, most: int) -> list[tuple[int, Mention]]:
    """List terms that are to be linked, those that occur most often first.

    Args:
        project: where.
        most: how many.
    """
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT id, text, language, type FROM term WHERE state = 'waiting' "
            "ORDER BY frequency DESC, id LIMIT ?",
            (most,),
        ).fetchall()
    return [(row["id"], mention_of(row["text"], row["language"], row["type"])) for row in rows]


def mention_of(text: str, language: str, type: str) -> Mention:
    """Make the mention of a term."""
    return Mention(text, type=type, language=language or None)


def store_links(project: Project, links: Iterable[tuple[int, Link | None]]) -> None:
    """Save the links of terms; ``None`` for a term that cannot be linked.

    Raises:
        ReadOnlyError, NotSavedError: they cannot be saved.
    """
    with project.writing() as connection:
        for term, link in links:
            values = None if link is None else link_values(link)
            if values is not None:
                (before,) = connection.execute("SELECT link FROM term WHERE id = ?", (term,)).fetchone()
                note_better(connection, term, kept_link(before, Mention("")), values)
            connection.execute(
                "UPDATE term SET state = ?, link = ?, confidence = ?, margin = ?, nil = ? WHERE id = ?",
                (
                    "failed" if link is None else "linked",
                    None if values is None else json.dumps(values, ensure_ascii=False),
                    None if link is None else link.confidence,
                    None if link is None else margin(link),
                    None if link is None else link.nil,
                    term,
                ),
            )


def margin(link: Link) -> float | None:
    """Say how much better the first candidate's score is than the second's; ``None`` without candidates.

    An only candidate is ahead by its score. Where a ranker put them in another order than their scores, it is
    below 0.
    """
    if not link.candidates:
        return None
    first, *others = (candidate.score for candidate in link.candidates)
    return first - (others[0] if others else 0.0)


def link_values(link: Link) -> dict[str, Any]:
    """Write a link as JSON values from which it can be made again."""
    value = link.to_dict()
    value["also"] = {name: getattr(link, name) for name in _FIELDS} | {"left_out": list(link.left_out)}
    value["parts"] = [link_values(part) for part in link.parts]
    return value


def kept_link(text: str | None, mention: Mention) -> Link | None:
    """Read the link of a term; ``None`` where it has none, or one that cannot be read."""
    try:
        return None if text is None else link_of(stored(text), mention)
    except (ProjectError, LookupError, TypeError, AttributeError):
        return None


def link_of(value: Mapping[str, Any], mention: Mention) -> Link:
    """Make a link of the result of :func:`link_values`."""
    also = value["also"]
    return Link(
        mention,
        value["query"],
        tuple(
            Candidate(**{**candidate, "matched": Name(**candidate["matched"])})
            for candidate in value["candidates"]
        ),
        tuple(link_of(part, Mention(part["mention"])) for part in value["parts"]),
        confidence=value["confidence"],
        nil=value["nil"],
        guessed=value["guessed"],
        left_out=tuple(also["left_out"]),
        **{name: also[name] for name in _FIELDS},
    )
