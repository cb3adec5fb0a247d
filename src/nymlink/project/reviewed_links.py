"""Rows of a project with their links and decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from nymlink.corpus.documents import Mention
from nymlink.linking.cells import DENIED
from nymlink.linking.link import GUESS, Candidate, Context, Link, Review
from nymlink.linking.linker import cut
from nymlink.linking.writers.writer import UserTable
from nymlink.project.links import kept_link, mention_of
from nymlink.project.project import Project
from nymlink.project.rows import Decision, Target, stored
from nymlink.tables.cells import Cells, typed_cell
from nymlink.tables.delimited import Record, format_record
from nymlink.vocabulary.concepts import Name

_FILE: Final = "file"
"""Column with the name of a row's file, if there are several files."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table.

    Attributes:
        file: number of its file.
        number: number of the row in the file.
        term: number of its term; ``None`` if it has none.
        code: code of the term.
        frequency: frequency of the term in this row.
        cells: cells as in the file.
        record: its cells, one for each column of the joined table.
    """

    file: int
    number: int
    term: int | None
    code: str
    frequency: int
    cells: list[str]
    record: Record


class ProjectTable:
    """All rows of a project under the joined columns of its files; with several files, each row names its file."""

    def __init__(self, project: Project) -> None:
        self._project = project
        with project.reading() as connection:
            files = connection.execute("SELECT id, name, header, reading FROM file ORDER BY id").fetchall()
            (has_types,) = connection.execute("SELECT EXISTS (SELECT 1 FROM row WHERE types != '{}')").fetchone()
        self._names = {row["id"]: row["name"] for row in files}
        self._headers = {row["id"]: stored(row["header"]) for row in files}
        readings: dict[int, dict[str, Any]] = {row["id"]: stored(row["reading"]) for row in files}
        headers = list(self._headers.values())
        self._is_uniform = all(header == headers[0] for header in headers)
        self._has_files = len(files) > 1
        header = headers[0] if headers and self._is_uniform else _union(headers)
        self._places = {file: _places(own, header) for file, own in self._headers.items()}
        roles = [reading["columns"] for reading in readings.values()]
        same = self._is_uniform and all(each == roles[0] for each in roles)
        columns = roles[0] if same and roles else {}
        delimiters = {reading["delimiter"] for reading in readings.values()} - {""}
        self.delimiter = delimiters.pop() if len(delimiters) == 1 else ","
        fields = [*header, *([_FILE] if self._has_files else [])]
        self._width = len(header)
        self.layout = UserTable(
            Record(1, fields, format_record(fields, self.delimiter)),
            self.delimiter,
            columns.get("code"),
            columns.get("frequency"),
            has_types=has_types,
        )

    def rows(self) -> Iterator[TableRow]:
        """Yield the rows, file by file."""
        for file in self._names:
            with self._project.reading() as connection:
                rows = connection.execute(
                    "SELECT number, term, code, frequency, cells, types FROM row WHERE file = ? ORDER BY id",
                    (file,),
                ).fetchall()
            for row in rows:
                cells = stored(row["cells"])
                record = self._record(file, row["number"], cells, stored(row["types"]))
                yield TableRow(file, row["number"], row["term"], row["code"], row["frequency"], cells, record)

    def _record(self, file: int, number: int, own: Sequence[str], types: Mapping[str, Any]) -> Record:
        cells = [""] * self._width
        values: list[Any] = [None] * self._width
        formats: list[str | None] = [None] * self._width
        for at, (place, cell) in enumerate(zip(self._places[file], own, strict=True)):
            kind, formats[place] = types.get(str(at), ("str", None))
            cells[place], values[place] = cell, typed_cell(cell, kind) if cell else None
        if self._has_files:
            cells.append(self._names[file])
            values, formats = [*values, self._names[file]], [*formats, None]
        typed = Cells(values, formats) if self.layout.has_types else None
        return Record(number, cells, format_record(cells, self.delimiter), cells=typed)


def link_of_row(row: TableRow, terms: Mapping[int, ReviewedTerm]) -> Link:
    """Return the link of a row's term, with its code and frequency; an empty link for a row without a term."""
    if row.term is None:
        return Link(Mention(""), "", nil=True)
    link = terms[row.term].link
    return replace(link, mention=replace(link.mention, id=row.code or None, frequency=row.frequency))


def _union(headers: list[list[str]]) -> list[str]:
    """Join headers; a name that occurs twice in a header occurs twice in the result."""
    joined: list[str] = []
    for header in headers:
        for name in dict.fromkeys(header):
            joined += [name] * (header.count(name) - joined.count(name))
    return joined


def _places(header: list[str], joined: list[str]) -> list[int]:
    places: list[int] = []
    for name in header:
        places.append(next(at for at, other in enumerate(joined) if other == name and at not in places))
    return places


@dataclass(frozen=True, slots=True)
class ReviewedTerm:
    """A term with its link and decision.

    Attributes:
        id: its number.
        text: the term.
        link: its link with the decided concepts; for an undecided term with guesses, or without candidates.
        decision: the last decision of any reviewer; ``None`` if there is none.
    """

    id: int
    text: str
    link: Link
    decision: Decision | None

    @property
    def is_decided(self) -> bool:
        """Whether its verdict is concept or nil."""
        return self.decision is not None and self.decision.verdict in ("concept", "nil")


def reviewed_terms(project: Project, *, guesses: int) -> dict[int, ReviewedTerm]:
    """Read all terms of a project, by their numbers.

    Args:
        project: the project.
        guesses: largest number of candidates of an undecided term, which are marked as guesses; 0 for none.
    """
    with project.reading() as connection:
        decisions = {
            row["term"]: Decision.of(row)
            for row in connection.execute(
                "SELECT decision.* FROM settled JOIN decision ON decision.id = settled.decision"
            )
        }
        assigned = dict(
            connection.execute(
                "SELECT term, group_concat(reviewer, ', ') FROM assignment GROUP BY term"
            ).fetchall()
        )
        rows = connection.execute("SELECT id, text, language, type, link FROM term ORDER BY id").fetchall()
    found = {}
    for row in rows:
        mention = mention_of(row["text"], row["language"], row["type"])
        # A term that is not linked yet has no concept.
        nothing = Link(mention, "", nil=True)
        linked = kept_link(row["link"], mention)
        decision = decisions.get(row["id"])
        if decision is not None:
            link = _reviewed(linked or nothing, decision, assigned.get(row["id"], ""), guesses > 0)
        elif guesses and linked is not None:
            link = cut(linked, guesses)
            link = replace(link, review=GUESS, parts=tuple(replace(part, review=GUESS) for part in link.parts))
        else:
            link = nothing
        found[row["id"]] = ReviewedTerm(row["id"], row["text"], link, decision)
    return found


def _reviewed(link: Link, decision: Decision, assigned: str, has_guesses: bool) -> Link:
    """Replace the candidates by the decided concepts. With guesses, a flagged term keeps its first candidate."""
    if decision.verdict == "open":
        return link
    review = Review(
        decision.verdict,
        decision.reviewer,
        decision.at,
        decision.comment,
        tuple(target.relation for target in decision.targets),
        assigned,
    )
    if decision.verdict == "flag" and not decision.targets and has_guesses:
        return replace(link, candidates=link.candidates[:1], review=review)
    known = {candidate.concept_id: candidate for candidate in link.candidates}
    chosen = tuple(known.get(target.concept_id) or _candidate(target) for target in decision.targets)
    decided = link.reordered(chosen)
    return replace(
        decided,
        parts=_decided_parts(link, decision, chosen, review),
        confidence=decided.confidence if chosen else None,
        nil=not chosen,
        review=review,
    )


def _decided_parts(
    link: Link, decision: Decision, chosen: Sequence[Candidate], review: Review
) -> tuple[Link, ...]:
    """Make the parts of a decided term: one for each concept, and one for each part without a concept."""
    if not any(target.part or target.denied for target in decision.targets):
        return ()
    known = {part.mention.text.removeprefix(DENIED): part for part in link.parts}
    made = []
    for target, candidate in zip(decision.targets, chosen, strict=True):
        text = target.part or link.mention.text
        part = known.pop(text, None)
        is_first = part is not None and part.candidates[:1] == (candidate,)
        made.append(
            Link(
                Mention(f"{DENIED}{text}" if target.denied and target.part else text),
                "",
                (candidate,),
                confidence=part.confidence if part is not None and is_first else None,
                context=Context(negated="no") if target.denied else None,
                review=replace(review, relations=(target.relation,)),
            )
        )
    without = replace(review, relations=())
    return (*made, *(Link(part.mention, "", nil=True, review=without) for part in known.values()))


def _candidate(target: Target) -> Candidate:
    """Make a candidate for a concept that no search found."""
    name = target.name or target.concept_id
    nothing: dict[str, Any] = {}
    return Candidate(target.concept_id, name, Name(name, target.concept_id, kind="preferred"), 0.0, nothing)
