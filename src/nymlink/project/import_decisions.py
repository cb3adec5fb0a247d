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
from nymlink.core.prefixes import Prefixes
from nymlink.core.problems import Problems
from nymlink.project.decisions import (
    append,
    check_decision,
    checked_reviewer,
    current_decision,
    current_of,
    decision,
    other_forms,
    repeat,
)
from nymlink.project.forms import split_different
from nymlink.project.own_concepts import PREFIX, OwnConcept, concepts_in
from nymlink.project.project import Project
from nymlink.project.rows import Decision, ProjectError, Target, essence
from nymlink.project.stated_decisions import (
    StatedDecision,
    concept_map_decisions,
    exported_decisions,
    is_concept_map,
    is_exported,
    sssom_decisions,
    usagi_decisions,
)
from nymlink.tables.decoding import ClaimMemory, nothing_to_claim
from nymlink.tables.sheet import Sheet, read_sheet
from nymlink.text.normalise import normalise
from nymlink.vocabulary.vocabulary import Vocabulary


def project_decisions(other: Project) -> Iterator[StatedDecision]:
    """Yield the decisions that count now, of each reviewer on each term."""
    with other.reading() as connection:
        rows = connection.execute(
            "SELECT decision.*, term.text, term.language, term.type "
            "FROM current JOIN decision ON decision.id = current.decision "
            "JOIN term ON term.id = current.term WHERE decision.verdict != 'open' ORDER BY decision.id"
        ).fetchall()
    for row in rows:
        made = Decision.of(row)
        yield StatedDecision(
            made.id,
            row["text"],
            made.verdict,
            made.targets,
            made.reviewer,
            made.at,
            made.comment,
            of=(row["language"], row["type"]),
        )


_NOBODY: Final = "import"
"""The reviewer of decisions if neither the file nor the caller names one."""
_LATEST: Final = 253_402_300_800_000
"""The first millisecond after the year 9999; later times cannot be written."""
_OF_PROJECT: Final = 8
"""Bytes of memory for decisions, for each byte of a project file."""
_OF_JSON: Final = 12
"""Bytes of memory for parsed JSON, for each byte of it."""
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

    A decision is skipped if the reviewer has made the same or a later one: importing a file twice changes nothing.

    Args:
        project: project opened for writing.
        raw: content of the file: a review of Usagi, SSSOM, a ConceptMap of FHIR, a table or JSON lines exported
            from a project, or a project file.
        name: name of the file.
        vocabulary: the vocabulary that the project is linked to; ``None`` if unknown.
        reviewer: who decided, if the file does not say.
        encoding: encoding of a text file; ``None`` to detect it.
        delimiter: see :func:`~nymlink.tables.sheet.read_sheet`.
        column: column of terms in an exported table; ``None`` to detect it.
        claim: see :func:`~nymlink.tables.sheet.read_sheet`.

    Returns:
        Numbers of decisions: ``decisions`` (all in the file), ``new``, ``unknown_terms`` (on terms that the
        project lacks); ``unknown_concepts``, ids that the vocabulary lacks (their decisions are kept); and
        ``problems``.

    Raises:
        InputError: the file has none of these formats.
        ReadOnlyError, NotSavedError: nothing can be saved.
    """
    problems = Problems()
    if raw.startswith(_DATABASE):
        claim(_OF_PROJECT * len(raw))
        stated = _of_project(raw, project.path.parent, name)
    elif is_concept_map(raw):
        claim(_OF_JSON * len(raw))
        prefixes = Prefixes.recorded({} if vocabulary is None else vocabulary.prefixes)
        stated = list(concept_map_decisions(raw, name, prefixes, problems))
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
        InputError: it states no decisions.
    """
    if sheet.format == "usagi":
        return list(usagi_decisions(sheet))
    if sheet.format == "sssom":
        return list(sssom_decisions(sheet))
    if not is_exported(sheet):
        raise InputError(
            "this states no decisions: give a review of Usagi, SSSOM, a ConceptMap of FHIR, a project, or a table "
            "exported from a project (with its columns concept_id, decision, relation, reviewer, decided_at and "
            "comment)",
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
        connection: connection in a transaction.
        stated: the decisions.
        vocabulary: see :func:`import_decisions`.
        reviewer: who decided, if the file does not say.
        problems: receives decisions that cannot be used, or that contradict each other.
        name: name of the file, for messages.
        file: number of the file, if its rows are kept in the project.
    """
    terms: dict[str, dict[int, tuple[str, str]]] = {}
    for id_, text, language, type_ in connection.execute("SELECT id, text, language, type FROM term"):
        terms.setdefault(text, {})[id_] = (language, type_)
    concepts = concepts_in(connection)
    own = {each.id: each for each in concepts}
    own_names = {normalise(name): each for each in concepts for name in each.synonyms}
    own_names |= {normalise(each.name): each for each in concepts}
    counts = {"stated": 0, "new": 0, "unknown_terms": 0}
    unknown: dict[str, None] = {}
    seen: dict[tuple[int, str], str] = {}
    batch: int | None = None
    made: list[tuple[int, int]] = []
    for each in stated:
        counts["stated"] += 1
        text = " ".join(each.text.split())
        if text not in terms:
            counts["unknown_terms"] += 1
            continue
        comment = each.comment.encode("utf-8", "replace").decode()
        try:
            targets = tuple(
                _own(target, own, own_names) or _known(target, vocabulary, unknown) for target in each.targets
            )
            who = checked_reviewer(each.reviewer or reviewer or _NOBODY)
            check_decision(each.verdict, targets, comment)
        except InputError as error:
            problems.reject(Path(name), each.line, error.message)
            continue
        what = essence(each.verdict, targets)
        same = [term for term, of in terms[text].items() if of == each.of]
        for term in same or terms[text]:
            if seen.setdefault((term, who), what) != what:
                problems.repair(
                    Path(name), each.line, f"{who} decided the same term differently before: this decision counts"
                )
            if each.assigned:
                connection.execute("INSERT OR IGNORE INTO assignment VALUES (?, ?)", (term, each.assigned))
            present = current_decision(connection, term, who)
            at = each.at if each.at is not None and 0 < each.at < _LATEST else None
            said = comment
            if present is not None:
                # A file without a comment is no reason to drop the comment of the same decision.
                if not comment and (at is None or present.at >= at):
                    said = present.comment
                is_same = (essence(present.verdict, present.targets), present.comment) == (what, said)
                if is_same or (at is not None and present.at > at):
                    continue
            number = append(
                connection,
                reviewer=who,
                term=term,
                verdict=each.verdict,
                targets=targets,
                comment=said,
                origin="import",
                batch=batch,
                at=at,
                details={"from": name, **({} if file is None else {"file": file})},
            )
            batch = number if batch is None else batch
            made.append((number, term))
            counts["new"] += 1
    split_different(connection, dict.fromkeys(term for _, term in made))
    undecided = {
        term: [form for form in other_forms(connection, term) if not current_of(connection, form)]
        for term in dict.fromkeys(term for _, term in made)
    }
    for number, term in made:
        for form in undecided[term]:
            repeat(connection, decision(connection, number), form)
    return {**counts, "unknown_concepts": list(unknown)}


def _own(target: Target, own: Mapping[str, OwnConcept], names: Mapping[str, OwnConcept]) -> Target | None:
    """Find a target among the project's own concepts: first by name, because other projects use the same ids.

    Args:
        target: the target.
        own: the concepts by id.
        names: the concepts by normalised name.

    Raises:
        InputError: the project uses the id for another concept.
    """
    named = names.get(normalise(target.name)) if target.concept_id.startswith(f"{PREFIX}:") else None
    if named is not None:
        return replace(target, concept_id=named.id, name=named.name)
    same = own.get(target.concept_id)
    if same is not None and target.name:
        raise InputError(
            f"{target.concept_id} is {target.name[:40]!r} there and {same.name[:40]!r} in this project: add a "
            f"concept {target.name[:40]!r} to this project, then import again"
        )
    return None if same is None else target


def _known(target: Target, vocabulary: Vocabulary | None, unknown: dict[str, None]) -> Target:
    """Write a target with the id and name of the vocabulary; note and keep an unknown target as it is."""
    if vocabulary is None:
        return target
    # In SSSOM, ids without a prefix get the name of their source as prefix.
    for concept_id in (target.concept_id, target.concept_id.partition(":")[2]):
        row = vocabulary.row(concept_id) if concept_id else None
        if row is not None:
            return replace(target, concept_id=concept_id, name=vocabulary.preferred_name(row))
    unknown[target.concept_id] = None
    return target


def _of_project(raw: bytes, beside: Path, name: str) -> list[StatedDecision]:
    """Read the decisions of an uploaded project file.

    SQLite needs a file. It is made in the folder of projects: if this process is killed and the file stays behind,
    no one else can read it there.
    """
    with tempfile.TemporaryDirectory(prefix=".import-", dir=beside) as folder:
        path = Path(folder) / "project"
        path.write_bytes(raw)
        try:
            with Project(path) as other:
                return list(project_decisions(other))
        except ProjectError as error:
            raise InputError(error.message, path=name) from error
