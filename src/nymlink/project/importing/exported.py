"""Read the decisions of a table that a project was exported as, perhaps changed in a spreadsheet since."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from nymlink.core.problems import Problems
from nymlink.linking.review import REVIEW
from nymlink.project.importing.stated import StatedDecision, milliseconds
from nymlink.project.model import RELATIONS, Relation, Target, Verdict
from nymlink.project.tables.columns import find_roles
from nymlink.project.tables.sheet import Sheet

_FIRST: Final = ("rank", "concept_id", "concept_name")
"""The first columns that an export adds to a table."""
_JSON: Final = ("mention", "candidates", "review")
_VERDICTS: Final[dict[str, Verdict]] = {"concept": "concept", "nil": "nil", "flag": "flag"}


def is_exported(sheet: Sheet) -> bool:
    """Whether a table has the columns of an export."""
    has_columns = all(_column(sheet.header, name) is not None for name in (*REVIEW, "concept_id"))
    return has_columns or set(_JSON) <= set(sheet.header)


@dataclass(slots=True)
class _Draft:
    """A decision that rows are added to: of several targets, each has a row."""

    line: int
    text: str
    verdict: Verdict
    reviewer: str
    at: int | None
    comment: str
    targets: dict[str, Target] = field(default_factory=dict)


def exported_decisions(
    sheet: Sheet, said: Mapping[str, str], known: Sequence[Mapping[str, Any]], problems: Problems
) -> Iterator[StatedDecision]:
    """Yield the decisions of a table.

    Args:
        sheet: the table.
        said: which column holds the terms (``mention``), where that is not to be guessed.
        known: of the files of the project their ``header``, and under ``mention`` which column holds terms.
        problems: gets cells that are no decision.
    """
    drafts: dict[tuple[str, str, int | None], _Draft] = {}
    for line, row in _json_rows(sheet) if set(_JSON) <= set(sheet.header) else _rows(sheet, said, known):
        verdict = _VERDICTS.get(row["decision"].strip().casefold())
        text = " ".join(row["text"].split())
        if not text or not row["decision"].strip():
            continue
        if verdict is None:
            what = f"{row['decision'][:40]!r} is no decision: one of {', '.join(_VERDICTS)}"
            problems.reject(Path(sheet.name), line, what)
            continue
        at = milliseconds(row["decided_at"])
        draft = _Draft(line, text, verdict, row["reviewer"].strip(), at, row["comment"])
        draft = drafts.setdefault((text, draft.reviewer, at), draft)
        concept = row["concept_id"].strip()
        if concept and verdict != "nil" and (row["relation"].strip() or verdict == "concept"):
            relation = _relation(row["relation"], sheet, line, problems)
            draft.targets.setdefault(concept, Target(concept, row["concept_name"], relation))
    for draft in drafts.values():
        if draft.verdict == "concept" and not draft.targets:
            problems.reject(Path(sheet.name), draft.line, "the decision is concept, and there is no concept_id")
            continue
        targets = tuple(draft.targets.values())
        yield StatedDecision(
            draft.line, draft.text, draft.verdict, targets, draft.reviewer, draft.at, draft.comment
        )


def _rows(
    sheet: Sheet, said: Mapping[str, str], known: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table, by our names of columns."""
    wanted = (*REVIEW, "concept_id", "concept_name")
    places = {name: place for name in wanted if (place := _column(sheet.header, name)) is not None}
    mention = _mention(sheet, said, known)
    for number, cells in sheet.rows:
        if number not in sheet.ragged:
            row = {name: cells[places[name]] if name in places else "" for name in wanted}
            yield number, {**row, "text": cells[mention]}


def _mention(sheet: Sheet, said: Mapping[str, str], known: Sequence[Mapping[str, Any]]) -> int:
    """Find the column of terms among those before the ones that the export added."""
    firsts = (_column(sheet.header, name) for name in _FIRST)
    own = min((place for place in firsts if place is not None), default=len(sheet.header))
    if not said:
        for file in known:
            header = file["header"]
            if sheet.header[: len(header)] == header:
                return int(file["mention"])
    rows = [(number, cells[: max(own, 1)]) for number, cells in sheet.rows]
    table = replace(sheet, format="table", header=sheet.header[: max(own, 1)], rows=rows)
    return find_roles(table, said)[0].mention


def _json_rows(sheet: Sheet) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield a row for each target of each line of JSON."""
    at = {name: sheet.header.index(name) for name in _JSON}
    for number, cells in sheet.rows:
        try:
            review = json.loads(cells[at["review"]] or "{}")
            candidates = json.loads(cells[at["candidates"]] or "[]")
            row = {name: str(review.get(name) or "") for name in REVIEW} | {"text": cells[at["mention"]]}
            targets = list(zip(candidates, review.get("relations", []), strict=False))
            for candidate, relation in targets or [({}, "")]:
                concept = {name: str(candidate.get(name) or "") for name in ("concept_id", "concept_name")}
                yield number, {**row, **concept, "relation": str(relation)}
        except (ValueError, AttributeError, TypeError):
            yield (
                number,
                {**dict.fromkeys((*REVIEW, "concept_id", "concept_name"), ""), "text": "?", "decision": "?"},
            )


def _column(header: Sequence[str], name: str) -> int | None:
    """Find a column that the export added; where the table had one of this name, it has another."""
    for given in (f"nymlink_{name}", name):
        if given in header:
            return len(header) - 1 - list(reversed(header)).index(given)
    return None


def _relation(cell: str, sheet: Sheet, line: int, problems: Problems) -> Relation:
    stated = cell.strip().casefold() or "exact"
    for relation in RELATIONS:
        if relation == stated:
            return relation
    problems.repair(
        Path(sheet.name), line, f"{cell[:40]!r} is no relation ({', '.join(RELATIONS)}): read as exact"
    )
    return "exact"
