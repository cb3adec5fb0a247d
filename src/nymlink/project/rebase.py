"""Apply the decisions of a project to another release of its vocabulary, and record the changes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from nymlink.linking.link import Link
from nymlink.project.decisions import append
from nymlink.project.index_reference import IndexReference
from nymlink.project.own_concepts import own_concepts
from nymlink.project.project import Project
from nymlink.project.rows import CHANGES, Decision, Target, Verdict, stored
from nymlink.vocabulary.vocabulary import Vocabulary

Kind = Literal["gone", "obsolete", "replaced", "renamed", "better"]
"""Changes to the concept of a term: it is gone from the vocabulary; it is obsolete with several or no
replacements; one concept replaces it; its preferred name differs; or the first candidate is a new one.
"""


@dataclass(frozen=True, slots=True)
class _Change:
    """The change of a concept."""

    kind: Kind
    target: Target
    now: tuple[Target, ...]


def rebase(project: Project, index: IndexReference, vocabulary: Vocabulary) -> dict[str, int]:
    """Apply the decisions of a project to another vocabulary, and mark all its terms for linking to it.

    A concept with exactly one replacement is replaced. A term is flagged if its concept is gone, or is obsolete
    with several or no replacements. Both are new entries of the log (origin ``"release"``) in the name of the
    reviewer of the decision. Concepts of the project's own stay as they are. Changes are kept until a term is
    decided again. Better candidates are known after linking: :func:`note_better`.

    Args:
        project: project opened for writing.
        index: the index of the vocabulary.
        vocabulary: the other release.

    Returns:
        Number of changed terms, by kind.

    Raises:
        ReadOnlyError, NotSavedError: it cannot be saved; nothing is changed.
    """
    own = frozenset(each.id for each in own_concepts(project))
    with project.writing() as connection:
        before = stored(connection.execute("SELECT value FROM property WHERE name = 'index'").fetchone()[0])
        connection.execute("DELETE FROM release_change")
        rows = connection.execute(
            "SELECT decision.* FROM current JOIN decision ON decision.id = current.decision "
            "WHERE decision.verdict != 'open' ORDER BY decision.term, decision.id"
        ).fetchall()
        changed = None
        for decided in map(Decision.of, rows):
            # The last decision on a term counts, and must stay the last.
            if _apply(connection, decided, vocabulary, own, again=changed == decided.term):
                changed = decided.term
        # Keep the links: new candidates are compared with the earlier ones.
        connection.execute("UPDATE term SET state = 'waiting'")
        _drop_proposals(connection, vocabulary)
        connection.execute("UPDATE property SET value = ? WHERE name = 'index'", (json.dumps(index.to_dict()),))
        connection.execute(
            "INSERT INTO property VALUES ('index_before', ?) ON CONFLICT DO UPDATE SET value = excluded.value",
            (json.dumps(before),),
        )
    return count_changes(project)


def _drop_proposals(connection: sqlite3.Connection, vocabulary: Vocabulary) -> None:
    """Let the proposals of mapping tables whose concepts are gone be candidates like others."""
    found = connection.execute("SELECT id, link FROM term WHERE link LIKE '%\"relation\":%'").fetchall()
    for term, text in found:
        link = json.loads(text)
        for candidate in link["candidates"]:
            if candidate["concept_id"] not in vocabulary:
                candidate.pop("relation", None)
                candidate.pop("confidence", None)
        connection.execute("UPDATE term SET link = ? WHERE id = ?", (json.dumps(link, ensure_ascii=False), term))


def count_changes(project: Project) -> dict[str, int]:
    """Count the terms that another release changed, by kind."""
    with project.reading() as connection:
        found = dict(
            connection.execute("SELECT kind, count(DISTINCT term) FROM release_change GROUP BY kind").fetchall()
        )
    return {kind: found.get(kind, 0) for kind in CHANGES}


def note_better(connection: sqlite3.Connection, term: int, before: Link | None, link: dict[str, Any]) -> None:
    """Note, in the transaction of the caller, that a term has a better candidate than before.

    A better candidate is a first candidate that is none of the term's concepts, and was no candidate before.

    Args:
        connection: connection in a transaction.
        term: number of the term.
        before: its link before; ``None`` for none.
        link: its link now, as JSON values.
    """
    if before is None or not link["candidates"]:
        return
    row = connection.execute(
        "SELECT decision.* FROM settled JOIN decision ON decision.id = settled.decision WHERE settled.term = ?",
        (term,),
    ).fetchone()
    if row is None:
        return
    first = link["candidates"][0]
    known = {candidate.concept_id for candidate in before.candidates}
    decided = Decision.of(row)
    given = [target.concept_id for target in decided.targets]
    if first["concept_id"] in known or first["concept_id"] in given or decided.verdict == "flag":
        return
    target = decided.targets[0] if decided.targets else Target("")
    found = Target(first["concept_id"], first["concept_name"])
    _note(connection, term, _Change("better", target, (found,)))


def _apply(
    connection: sqlite3.Connection, decided: Decision, vocabulary: Vocabulary, own: frozenset[str], *, again: bool
) -> bool:
    """Apply a decision: note the changes, and append the new decision if it differs, or must be made ``again``.

    Returns:
        Whether it was appended.
    """
    changes = [None if target.concept_id in own else _change(target, vocabulary) for target in decided.targets]
    for change in changes:
        if change is not None:
            _note(connection, decided.term, change)
    targets, verdict = _targets_now(decided, changes)
    if again or (targets, verdict) != (decided.targets, decided.verdict):
        append(
            connection,
            reviewer=decided.reviewer,
            term=decided.term,
            verdict=verdict,
            targets=targets,
            comment=decided.comment,
            origin="release",
            details={"was": decided.id},
        )
        return True
    return False


def _targets_now(decided: Decision, changes: Sequence[_Change | None]) -> tuple[tuple[Target, ...], Verdict]:
    targets: dict[str, Target] = {}
    verdict = decided.verdict
    for target, change in zip(decided.targets, changes, strict=True):
        if change is not None and change.kind in ("gone", "obsolete"):
            verdict = "flag"
        now = change.now[0] if change is not None and change.kind in ("replaced", "renamed") else target
        targets.setdefault(now.concept_id, now)
    return tuple(targets.values()), verdict


def _change(target: Target, vocabulary: Vocabulary) -> _Change | None:
    """Describe the change of a concept; ``None`` if it is unchanged."""
    row = vocabulary.row(target.concept_id)
    live = row is not None and not vocabulary.concept(row).obsolete
    if row is not None and live:
        name = vocabulary.preferred_name(row)
        now = replace(target, name=name)
        return None if name == target.name or not target.name else _Change("renamed", target, (now,))
    others = [other for other in vocabulary.resolve(target.concept_id) if other != target.concept_id]
    now_ids = tuple(
        replace(target, concept_id=other, name=vocabulary.concept(at).name)
        for other in others
        if (at := vocabulary.row(other)) is not None and not vocabulary.concept(at).obsolete
    )
    if len(now_ids) == 1:
        return _Change("replaced", target, now_ids)
    return _Change("gone" if row is None and not now_ids else "obsolete", target, now_ids)


def _note(connection: sqlite3.Connection, term: int, change: _Change) -> None:
    now = json.dumps([{"concept_id": each.concept_id, "name": each.name} for each in change.now])
    connection.execute(
        "INSERT INTO release_change VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET now = excluded.now",
        (term, change.kind, change.target.concept_id, change.target.name, now),
    )
