"""Import decisions from files and from other projects."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.project.decisions import append, check_decision, checked_reviewer, current_decision
from nymlink.project.project import Project
from nymlink.project.rows import Decision, ProjectError, Target, essence
from nymlink.project.sheet import Sheet, read_sheet
from nymlink.project.stated_decisions import (
    StatedDecision,
    exported_decisions,
    is_exported,
    sssom_decisions,
    usagi_decisions,
)
from nymlink.tables.decoding import ClaimMemory, nothing_to_claim
from nymlink.vocabulary.vocabulary import Vocabulary


def project_decisions(other: Project) -> Iterator[StatedDecision]:
    """Yield the decisions that count now, of each reviewer on each term."""
    with other.reading() as connection:
        rows = connection.execute(
            "SELECT decision.*, term.text FROM current JOIN decision ON decision.id = current.decision "
            "JOIN term ON term.id = current.term WHERE decision.verdict != 'open' ORDER BY decision.id"
        ).fetchall()
    for row in rows:
        made = Decision.of(row)
        yield StatedDecision(
            made.id, row["text"], made.verdict, made.targets, made.reviewer, made.at, made.comment
        )


_NOBODY: Final = "import"
"""The reviewer of decisions of which a file does not say who made them, and nobody says it now."""
_LATEST: Final = 253_402_300_800_000
"""The first millisecond after the year 9999: later times cannot be written."""
_OF_PROJECT: Final = 8
"""Bytes of memory that the decisions of a byte of a project take."""
_DATABASE: Final = b"SQLite format 3\0"


def import_decisions(
    project: Project,
    raw: bytes,
    name: str,
    *,
    vocabulary: Vocabulary | None,
    reviewer: str = "",
    encoding: str | None = None,
    delimiter: str | None = None,
    column: str | None = None,
    claim: ClaimMemory = nothing_to_claim,
) -> dict[str, Any]:
    """Read decisions from a file, and apply them to equal terms of a project.

    A decision that the reviewer has made already, or a later one, stays as it is: the same file twice is as once.

    Args:
        project: opened to write.
        raw: the bytes of the file: a review of Usagi, SSSOM, a table or JSON lines that a project exported, or a
            project file.
        name: its name.
        vocabulary: the concepts that the project is linked to; ``None`` where they are not known.
        reviewer: who decided, where the file does not say.
        encoding: of a text; ``None`` to find it.
        delimiter: as of :func:`~nymlink.project.sheet.read_sheet`.
        column: of an exported table the column of terms, where it is not to be guessed.
        claim: as of :func:`~nymlink.project.sheet.read_sheet`.

    Returns:
        How many ``decisions`` were ``stated``, how many of them are ``new``, how many are of ``unknown_terms``,
        ``unknown_concepts``: ids that the vocabulary does not have (their decisions are kept), and ``problems``.

    Raises:
        InputError: it is no such file.
        ReadOnlyError, NotSavedError: nothing can be saved.
    """
    problems = Problems()
    if raw.startswith(_DATABASE):
        claim(_OF_PROJECT * len(raw))
        stated = _of_project(raw, project.path.parent, name)
    else:
        sheet = read_sheet(raw, name, problems, encoding=encoding, delimiter=delimiter, claim=claim)
        stated = sheet_decisions(sheet, {} if column is None else {"mention": column}, project, problems)
    with project.writing() as connection:
        counts = apply_decisions(
            connection, stated, vocabulary=vocabulary, reviewer=reviewer, problems=problems, name=name
        )
    return {**counts, "problems": problems.to_dict()}


def sheet_decisions(
    sheet: Sheet, said: Mapping[str, str], project: Project, problems: Problems
) -> list[StatedDecision]:
    """Read the decisions of a table.

    Raises:
        InputError: it states none.
    """
    if sheet.format == "usagi":
        return list(usagi_decisions(sheet))
    if sheet.format == "sssom":
        return list(sssom_decisions(sheet))
    if not is_exported(sheet):
        raise InputError(
            "this states no decisions: give a review of Usagi, SSSOM, a project, or a table that a project "
            "exported (with its columns concept_id, decision, relation, reviewer, decided_at and comment)",
            path=sheet.name,
        )
    with project.reading() as connection:
        files = connection.execute("SELECT header, reading FROM file ORDER BY id").fetchall()
    known = [
        {"header": json.loads(row["header"]), "mention": json.loads(row["reading"])["columns"]["mention"]}
        for row in files
    ]
    return list(exported_decisions(sheet, said, known, problems))


def apply_decisions(
    connection: sqlite3.Connection,
    stated: Iterable[StatedDecision],
    *,
    vocabulary: Vocabulary | None,
    reviewer: str,
    problems: Problems,
    name: str,
    file: int | None = None,
) -> dict[str, Any]:
    """Apply decisions in the transaction of the caller.

    Args:
        connection: of the transaction.
        stated: the decisions.
        vocabulary: as of :func:`import_decisions`.
        reviewer: who decided, where the file does not say.
        problems: gets decisions that cannot be used, or that contradict each other.
        name: of the file, for messages.
        file: number of the file, where its rows are kept in the project.
    """
    terms: dict[str, list[int]] = {}
    for id_, text in connection.execute("SELECT id, text FROM term"):
        terms.setdefault(text, []).append(id_)
    counts = {"stated": 0, "new": 0, "unknown_terms": 0}
    unknown: dict[str, None] = {}
    seen: dict[tuple[int, str], str] = {}
    batch: int | None = None
    for each in stated:
        counts["stated"] += 1
        text = " ".join(each.text.split())
        if text not in terms:
            counts["unknown_terms"] += 1
            continue
        targets = tuple(_known(target, vocabulary, unknown) for target in each.targets)
        comment = each.comment.encode("utf-8", "replace").decode()
        try:
            who = checked_reviewer(each.reviewer or reviewer or _NOBODY)
            check_decision(each.verdict, targets, comment)
        except InputError as error:
            problems.reject(Path(name), each.line, error.message)
            continue
        what = essence(each.verdict, targets)
        for term in terms[text]:
            if seen.setdefault((term, who), what) != what:
                problems.repair(
                    Path(name), each.line, f"{who} decided the same term otherwise before: this counts"
                )
            if each.assigned:
                connection.execute("INSERT OR IGNORE INTO assignment VALUES (?, ?)", (term, each.assigned))
            present = current_decision(connection, term, who)
            at = each.at if each.at is not None and 0 < each.at < _LATEST else None
            if present is not None:
                is_same = (essence(present.verdict, present.targets), present.comment) == (what, comment)
                if is_same or (at is not None and present.at > at):
                    continue
            number = append(
                connection,
                reviewer=who,
                term=term,
                verdict=each.verdict,
                targets=targets,
                comment=comment,
                origin="import",
                batch=batch,
                at=at,
                details={"from": name, **({} if file is None else {"file": file})},
            )
            batch = number if batch is None else batch
            counts["new"] += 1
    return {**counts, "unknown_concepts": list(unknown)}


def _known(target: Target, vocabulary: Vocabulary | None, unknown: dict[str, None]) -> Target:
    """Write a target as the vocabulary does; one that it does not have stays as it is, and is noted."""
    if vocabulary is None:
        return target
    # Ids without a prefix get the name of their source for one in SSSOM.
    for concept_id in (target.concept_id, target.concept_id.partition(":")[2]):
        row = vocabulary.row(concept_id) if concept_id else None
        if row is not None:
            return replace(target, concept_id=concept_id, name=vocabulary.preferred_name(row))
    unknown[target.concept_id] = None
    return target


def _of_project(raw: bytes, beside: Path, name: str) -> list[StatedDecision]:
    """Read the decisions of a project file that was sent.

    SQLite wants a file: where projects are, for others may read what a killed process leaves elsewhere.
    """
    with tempfile.TemporaryDirectory(prefix=".import-", dir=beside) as folder:
        path = Path(folder) / "project"
        path.write_bytes(raw)
        try:
            with Project(path) as other:
                return list(project_decisions(other))
        except ProjectError as error:
            raise InputError(error.message, path=name) from error
