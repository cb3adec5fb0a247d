"""Read the decisions in files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.core.prefixes import Prefixes, read_curie_map
from nymlink.core.problems import Problems
from nymlink.corpus.readers.tables.usagi import NO_CONCEPT, OMOP
from nymlink.linking.cells import DENIED
from nymlink.linking.link import REVIEW, Relation
from nymlink.linking.links import SPLIT
from nymlink.project.rows import RELATIONS, Target, Verdict
from nymlink.project.table_columns import find_roles
from nymlink.tables.sheet import Sheet

_TABLE: Final = files("nymlink.project") / "data" / "stated.tsv"


@dataclass(frozen=True, slots=True)
class StatedDecision:
    """A decision in a file.

    Attributes:
        line: its line in the file.
        text: the term.
        verdict: the verdict.
        targets: the concepts.
        reviewer: who decided; empty if not stated.
        at: when, in milliseconds since 1970 in UTC; ``None`` if not stated.
        comment: remark of the reviewer.
        assigned: person that the term is assigned to; empty for nobody.
        of: language and type of the term; ``None`` if not stated.
    """

    line: int
    text: str
    verdict: Verdict
    targets: tuple[Target, ...] = ()
    reviewer: str = ""
    at: int | None = None
    comment: str = ""
    assigned: str = ""
    of: tuple[str, str] | None = None


@cache
def meanings(format: str, column: str) -> Mapping[str, str]:
    """Read the table that maps the values of a format's column to those of a project."""
    lines = _TABLE.read_text(encoding="utf-8").splitlines()[1:]
    rows = (line.split("\t") for line in lines)
    return {stated: means for of, name, stated, means, _ in rows if (of, name) == (format, column)}


def milliseconds(text: str) -> int | None:
    """Read a time in ISO 8601, or a date as its first moment in UTC; ``None`` for any other text."""
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return round((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)


_FIRST: Final = ("rank", "concept_id", "concept_name")
"""The first columns that an export adds to a table."""
_JSON: Final = ("mention", "candidates", "review")
_WANTED: Final = ("rank", *REVIEW, "concept_id", "concept_name", *SPLIT)
_RELATIONS: Final[Mapping[str, Relation]] = {each: each for each in RELATIONS}
_VERDICTS: Final[dict[str, Verdict]] = {"concept": "concept", "nil": "nil", "flag": "flag"}


def is_exported(sheet: Sheet) -> bool:
    """Whether a table has the columns of an export."""
    columns = (*REVIEW, "concept_id")
    return set(_JSON) <= set(sheet.header) or None not in (_column(sheet.header, name) for name in columns)


_Draft = tuple[StatedDecision, dict[str, Target]]
"""A decision whose targets are still being read, and these by concept."""


def exported_decisions(
    sheet: Sheet, said: Mapping[str, str], known: Sequence[Mapping[str, Any]], problems: Problems
) -> Iterator[StatedDecision]:
    """Yield the decisions of a table.

    Args:
        sheet: the table.
        said: column of the terms (``mention``), if stated by the caller.
        known: for each file of the project its ``header`` and its column of terms (``mention``).
        problems: receives cells that cannot be read as decisions.
    """
    drafts: dict[tuple[str, str, int | None], _Draft] = {}
    for line, row in _json_rows(sheet) if set(_JSON) <= set(sheet.header) else _rows(sheet, said, known):
        decision, text = row["decision"].strip().casefold(), " ".join(row["text"].split())
        if not text or decision in ("", "guess"):
            continue
        if (verdict := _VERDICTS.get(decision)) is None:
            what = f"{row['decision'][:40]!r} is no decision: one of {', '.join(_VERDICTS)}"
            problems.reject(Path(sheet.name), line, what)
            continue
        at, reviewer = milliseconds(row["decided_at"]), row["reviewer"].strip()
        stated = StatedDecision(line, text, verdict, (), reviewer, at, row["comment"])
        _, targets = drafts.setdefault((text, reviewer, at), (stated, {}))
        concept = row["concept_id"].strip()
        if concept and verdict != "nil" and (row["relation"].strip() or verdict == "concept"):
            relation = _RELATIONS.get(row["relation"].strip().casefold() or "exact")
            if relation is None:
                what = f"{row['relation'][:40]!r} is no relation ({', '.join(RELATIONS)}): read as exact"
                problems.repair(Path(sheet.name), line, what)
            denied = row["negated"].strip().casefold() == "true"
            part = row["part"].removeprefix(DENIED) if denied else row["part"]
            targets.setdefault(concept, Target(concept, row["concept_name"], relation or "exact", part, denied))
    for stated, targets in drafts.values():
        if stated.verdict == "concept" and not targets:
            problems.reject(Path(sheet.name), stated.line, "the decision is concept, and there is no concept_id")
            continue
        yield replace(stated, targets=tuple(targets.values()))


def _rows(
    sheet: Sheet, said: Mapping[str, str], known: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table, with nymlink's names of columns."""
    places = {name: place for name in _WANTED if (place := _column(sheet.header, name)) is not None}
    # The user's own columns come first.
    own = min(places[name] for name in _FIRST if name in places)
    places = {name: place for name, place in places.items() if place >= own}
    mention = _mention(sheet, said, known, max(own, 1))
    for number, cells in sheet.rows:
        if number not in sheet.ragged:
            row = {name: cells[places[name]] if name in places else "" for name in _WANTED}
            yield number, {**row, "text": cells[mention]}


def _mention(sheet: Sheet, said: Mapping[str, str], known: Sequence[Mapping[str, Any]], own: int) -> int:
    """Find the column of terms among the user's own columns."""
    for file in () if said else known:
        if sheet.header[: len(file["header"])] == file["header"]:
            return int(file["mention"])
    rows = [(number, cells[:own]) for number, cells in sheet.rows]
    return find_roles(replace(sheet, format="table", header=sheet.header[:own], rows=rows), said)[0].mention


def _json_rows(sheet: Sheet) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield a row for each target in each line of JSON."""
    nothing = dict.fromkeys(_WANTED, "")
    for number, cells in sheet.rows:
        try:
            line = dict(zip(sheet.header, cells, strict=True))
            whole = {name: json.loads(line.get(name) or "null") for name in ("review", "candidates", "parts")}
            review = whole["review"] or {}
            row = {name: str(review.get(name) or "") for name in REVIEW} | {"text": line["mention"]}
            yield number, {**nothing, **row}
            for link in whole["parts"] or [{**whole, "mention": ""}]:
                of_part = {"part": link["mention"], "negated": str(link.get("negated", ""))}
                relations = (link.get("review") or {}).get("relations", [])
                for candidate, relation in zip(link["candidates"] or [], relations, strict=False):
                    concept = {name: str(candidate.get(name) or "") for name in ("concept_id", "concept_name")}
                    yield number, {**nothing, **row, **concept, **of_part, "relation": str(relation)}
        except (ValueError, AttributeError, TypeError, KeyError):
            yield number, {**nothing, "text": "?", "decision": "?"}


def _column(header: Sequence[str], name: str) -> int | None:
    """Find a column added by the export; it is called ``nymlink_…`` if the table already had its name."""
    given = f"nymlink_{name}" if f"nymlink_{name}" in header else name
    return len(header) - 1 - list(reversed(header)).index(given) if given in header else None


_SAID: Final = re.compile(
    r"(?P<verdict>decided|flagged) by (?P<who>.+?) at (?P<at>\d{4}-[^\s;]+)(?:; (?P<comment>.*))?", re.DOTALL
)
_OWN: Final = "TermsLinkedByNymlink"
_PART: Final = re.compile(r"part of the term: ([^;]*)(?:; )?")


def is_concept_map(raw: bytes) -> bool:
    """Whether a file begins like a ConceptMap of FHIR, or a Bundle with one."""
    return raw.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and b'"ConceptMap"' in raw


def concept_map_decisions(
    raw: bytes, name: str, prefixes: Prefixes, problems: Problems
) -> Iterator[StatedDecision]:
    """Yield a decision for each element of ConceptMaps (FHIR R4 or R5, JSON), in one resource or a Bundle.

    A target that is denied (``disjoint``, ``not-related-to``) is no target; in a map that nymlink wrote, it is a
    finding that the term denies. Of such a map only the decisions of persons count.

    Args:
        raw: content of the file.
        name: name of the file.
        prefixes: the prefixes of the vocabulary.
        problems: receives elements that cannot be read.

    Raises:
        InputError: this is no JSON, or has no ConceptMap.
    """
    try:
        resource = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"no JSON ({error}): export the ConceptMap again", path=name) from error
    resources = [resource, *(entry.get("resource") for entry in _objects(resource, "entry"))]
    maps = [each for each in resources if isinstance(each, dict) and each.get("resourceType") == "ConceptMap"]
    if not maps:
        raise InputError("no ConceptMap in this FHIR JSON", path=name)
    terms: dict[tuple[str, str], _Draft] = {}
    groups = [(each.get("name") == _OWN, group) for each in maps for group in _objects(each, "group")]
    pairs = ((is_own, group, element) for is_own, group in groups for element in _objects(group, "element"))
    for of_nymlink, system, element in pairs:
        code, text = (_string(element, key) for key in ("code", "display"))
        if not (text or code):
            problems.reject(Path(name), None, "an element without code and display")
        elif (found := _element(element, _string(system, "target"), prefixes, is_own=of_nymlink)) is not None:
            stated, targets = terms.setdefault((code, text), (replace(found, text=text or code), {}))
            targets.update((target.concept_id, target) for target in found.targets)
    for stated, targets in terms.values():
        verdict: Verdict = "concept" if targets and stated.verdict == "nil" else stated.verdict
        yield replace(stated, verdict=verdict, targets=tuple(targets.values()))


def _element(
    element: Mapping[str, Any], system: str, prefixes: Prefixes, *, is_own: bool
) -> StatedDecision | None:
    """Read the decision of an element, without its text; ``None`` if it decides nothing."""
    targets: list[Target] = []
    comments: dict[str, None] = {}
    is_nil = element.get("noMap") is True
    said = None
    for target in _objects(element, "target"):
        relation = meanings("fhir", "relationship").get(
            _string(target, "relationship") or _string(target, "equivalence") or "related-to", "related"
        )
        is_nil = is_nil or relation == "nil"
        comment = _string(target, "comment")
        match = _SAID.search(comment)
        if is_own and match is None:
            continue
        said = said or match
        part = _PART.search(comment) if is_own else None
        comments[(match["comment"] or "") if match else comment] = None
        code, denied = _string(target, "code"), is_own and relation == "denied"
        if code and (denied or relation in RELATIONS):
            means: Relation = "part" if part else _RELATIONS.get(relation, "exact")
            text = part[1].removeprefix(DENIED if denied else "") if part else ""
            targets.append(Target(prefixes.coded(system, code), _string(target, "display"), means, text, denied))
    if not targets and (not is_nil or (is_own and said is None)):
        return None
    verdict: Verdict = "nil" if not targets else "flag" if said and said["verdict"] == "flagged" else "concept"
    who, at = (said["who"], milliseconds(said["at"])) if said else ("", None)
    return StatedDecision(1, "", verdict, tuple(targets), who, at, "; ".join(filter(None, comments)))


def _objects(value: Any, key: str) -> list[dict[str, Any]]:
    """List the objects in a member of an object; anything else is passed over."""
    members = value.get(key) if isinstance(value, dict) else None
    return [each for each in members if isinstance(each, dict)] if isinstance(members, list) else []


def _string(value: Mapping[str, Any], key: str) -> str:
    member = value.get(key)
    return " ".join(member.split()) if isinstance(member, str) else ""


_NOTHING: Final = "sssom:NoTermFound"
_REVIEWERS: Final = ("reviewer_label", "reviewer_id", "author_label", "author_id", "creator_label", "creator_id")
"""Columns with the name of the reviewer, the likeliest first."""
_DECIDED_AT: Final = re.compile(r"\bdecided_at=(\S+?)(?:;|$)")
_FLAGGED: Final = re.compile(r"\bdecision=flag\b")
_PART_OF: Final = re.compile(r"\bpart=([^;]*)")


def sssom_decisions(sheet: Sheet) -> Iterator[StatedDecision]:
    """Yield a decision for each subject with a mapping made or reviewed by a person.

    A negated mapping gives no target, unless nymlink wrote it for a finding that the term denies.
    """
    prefixes = _sssom_prefixes(sheet)
    for group in _grouped(sheet, "subject_id", "subject_label"):
        rows = [(number, row) for number, row in group if _is_reviewed(row) and _is_mapping(row)]
        label = group[0][1].get("subject_label") or group[0][1].get("subject_id", "")
        if not (rows and label):
            continue
        line, first = rows[0]
        is_flagged = _FLAGGED.search(first.get("other", "")) is not None
        # A flagged subject may also have suggestions of a program.
        chosen = [row for _, row in rows if not is_flagged or _is_justified(row)]
        targets = tuple(_sssom_targets(chosen, prefixes))
        verdict: Verdict = "flag" if is_flagged else "concept" if targets else "nil"
        stated = _DECIDED_AT.search(first.get("other", ""))
        reviewer = next((name for column in _REVIEWERS if (name := first.get(column, "").strip())), "")
        comments = dict.fromkeys(comment for _, row in rows if (comment := row.get("comment", "").strip()))
        yield StatedDecision(
            line,
            label,
            verdict,
            targets,
            reviewer=reviewer,
            at=milliseconds(first.get("mapping_date", "") if stated is None else stated[1]),
            comment="; ".join(comments),
        )


def sssom_proposals(sheet: Sheet) -> Iterator[tuple[str, Target, float | None]]:
    """Yield the mappings that only programs justify: label of the subject, object, and confidence if stated."""
    prefixes = _sssom_prefixes(sheet)
    for number, cells in sheet.rows:
        row = dict(zip(sheet.header, cells, strict=False))
        label = row.get("subject_label", "") or row.get("subject_id", "")
        if number in sheet.ragged or _is_reviewed(row) or row.get("predicate_modifier", ""):
            continue
        try:
            confidence = float(row.get("confidence", ""))
        except ValueError:
            confidence = -1.0
        for target in _sssom_targets([row], prefixes):
            yield label, target, confidence if 0 <= confidence <= 1 else None


def _sssom_prefixes(sheet: Sheet) -> Prefixes:
    """Read the prefixes that a table of SSSOM declares."""
    prefixes = Prefixes()
    for name, namespace in read_curie_map(sheet.preamble.splitlines()).items():
        prefixes.declare(name, namespace)
    return prefixes


def _grouped(sheet: Sheet, *columns: str) -> list[list[tuple[int, dict[str, str]]]]:
    """List the rows that have as many cells as the header, together if they are equal in some columns."""
    groups: dict[tuple[str, ...], list[tuple[int, dict[str, str]]]] = {}
    for number, cells in sheet.rows:
        row = dict(zip(sheet.header, cells, strict=True))
        if number not in sheet.ragged:
            groups.setdefault(tuple(row.get(name, "") for name in columns), []).append((number, row))
    return list(groups.values())


def _is_mapping(row: dict[str, str]) -> bool:
    """Whether a row maps to a concept; a literal is none, and does not say that there is none."""
    is_negated = bool(row.get("predicate_modifier")) and not _PART_OF.search(row.get("other", ""))
    return bool(row.get("object_id", "").strip()) and not is_negated


def _is_reviewed(row: dict[str, str]) -> bool:
    """Whether a person made or reviewed a mapping; mappings justified only by programs are suggestions."""
    return _is_justified(row) or any(row.get(column, "").strip() for column in ("reviewer_id", "reviewer_label"))


def _is_justified(row: dict[str, str]) -> bool:
    known = meanings("sssom", "mapping_justification")
    return known.get(row.get("mapping_justification", "").strip()) == "decided"


def _sssom_targets(rows: list[dict[str, str]], prefixes: Prefixes) -> Iterator[Target]:
    seen = set()
    for row in rows:
        concept = prefixes.read(row.get("object_id", "").strip())
        if concept in ("", _NOTHING) or concept in seen:
            continue
        seen.add(concept)
        stated = row["predicate_id"].strip()
        means = meanings("sssom", "predicate_id").get(stated)
        relation = _RELATIONS.get(means or "", "related")
        is_usual = stated in ("skos:exactMatch", "skos:broadMatch", "skos:narrowMatch", "skos:relatedMatch")
        details = {} if is_usual else {"predicate_id": stated}
        part = _PART_OF.search(row.get("other", ""))
        if part is not None and relation == "related":
            relation = "part"
        of_part = ("", False) if part is None else (part[1].strip(), bool(row.get("predicate_modifier")))
        yield Target(concept, row.get("object_label", "").strip(), relation, *of_part, details)


def usagi_decisions(sheet: Sheet) -> Iterator[StatedDecision]:
    """Yield a decision for each code that somebody has decided on."""
    for rows in _grouped(sheet, "sourceCode", "sourceName"):
        line, first = rows[0]
        name = first["sourceName"]
        status = meanings("usagi", "mappingStatus").get(first["mappingStatus"].strip(), "nothing")
        if status == "nothing" or not name.strip():
            continue
        targets = () if status == "nil" else tuple(_usagi_targets([row for _, row in rows]))
        verdict: Verdict = "flag" if status == "flag" else "concept" if targets else "nil"
        at = first.get("statusSetOn", "").strip()
        yield StatedDecision(
            line,
            name,
            verdict,
            targets,
            reviewer=first.get("statusSetBy", "").strip(),
            at=int(at[:20]) if at.isascii() and at.isdecimal() else None,
            comment=_PART.sub("", first.get("comment", "")),
            assigned=first.get("assignedReviewer", "").strip(),
        )


def _usagi_targets(rows: list[dict[str, str]]) -> Iterator[Target]:
    """Yield the concepts of a code, each once, with the mapping type if it is not the meaning (``MAPS_TO``)."""
    seen = set()
    for row in rows:
        concept = row["conceptId"].strip()
        if concept in ("", NO_CONCEPT) or concept in seen:
            continue
        seen.add(concept)
        means = meanings("usagi", "equivalence").get(row.get("equivalence", "").strip(), "exact")
        part = _PART.match(row.get("comment", ""))
        relation: Relation = "part" if part else _RELATIONS[means]
        mapped_for = row.get("mappingType", "").strip()
        details = {"mappingType": mapped_for} if mapped_for not in ("", "MAPS_TO") else {}
        yield Target(
            OMOP + concept, row.get("conceptName", "").strip(), relation, part[1] if part else "", details=details
        )
