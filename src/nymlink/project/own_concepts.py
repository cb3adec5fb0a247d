"""Concepts of a project's own, for terms whose meaning the vocabulary lacks, and requests to add them to it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.corpus.documents import Mention
from nymlink.index.fusion import EXACT_MATCH
from nymlink.index.index import Index
from nymlink.linking.link import Candidate, Link
from nymlink.linking.linker import Linker
from nymlink.project.decisions import checked_reviewer
from nymlink.project.project import Project, now, store_property
from nymlink.project.rows import ProjectError, stored
from nymlink.tables.delimited import tab_line
from nymlink.text.normalise import normalise
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

PROPERTY: Final = "concepts"
"""Name of the property of the project file."""
PREFIX: Final = "LOCAL"
"""Prefix of the ids."""
TEMPLATES: Final = ("robot", "issue")

_MOST: Final = 10_000
_LONGEST: Final = 1000
"""Characters of the longest name, and of the longest definition."""
_SIMILAR: Final = 0.5
"""Score from which a concept that no name equals is a candidate."""
_DECIDED: Final = (
    "SELECT DISTINCT term.text, term.frequency FROM term JOIN current ON current.term = term.id "
    "JOIN decision ON decision.id = current.decision, json_each(decision.targets) AS target "
    "WHERE decision.verdict = 'concept' AND json_extract(target.value, '$.concept_id') = ? "
    "ORDER BY term.frequency DESC, term.folded LIMIT ?"
)
_SHOWN: Final = 20
"""Number of terms in the text of an issue."""
_ROBOT: Final = {
    "ID": "ID",
    "Label": "LABEL",
    "Parent": "SC % SPLIT=|",
    "Synonym": "A oboInOwl:hasExactSynonym SPLIT=|",
    "Definition": "A IAO:0000115",
}
"""Header → template string of ROBOT (https://robot.obolibrary.org/template)."""


@dataclass(frozen=True, slots=True)
class OwnConcept:
    """A concept of a project's own.

    Attributes:
        id: its id, for example ``LOCAL:0000001``. An id is never used for another concept.
        name: its preferred name.
        parents: ids of broader concepts, of the vocabulary or of the project.
        synonyms: other names with exactly its meaning.
        definition: its definition; empty if there is none.
        reviewer: who added it; empty if unknown.
        at: when, in milliseconds since 1970 in UTC.
    """

    id: str
    name: str
    parents: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()
    definition: str = ""
    reviewer: str = ""
    at: int = 0

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "parents": list(self.parents), "synonyms": list(self.synonyms)}


def own_concepts(project: Project) -> list[OwnConcept]:
    """List the concepts of a project's own, in the order of their ids.

    Raises:
        ProjectError: they are damaged.
    """
    with project.reading() as connection:
        return concepts_in(connection)


def concepts_in(connection: sqlite3.Connection) -> list[OwnConcept]:
    """List the concepts of a project's own in the transaction of the caller, see :func:`own_concepts`."""
    row = connection.execute("SELECT value FROM property WHERE name = ?", (PROPERTY,)).fetchone()
    lists = ("parents", "synonyms")
    try:
        return [
            OwnConcept(**{**each, **{name: tuple(each[name]) for name in lists}})
            for each in ([] if row is None else stored(row[0]))
        ]
    except (LookupError, TypeError) as error:
        raise ProjectError(f"its concepts are damaged ({error}): take a copy from before") from error


def add_concept(
    project: Project,
    vocabulary: Vocabulary,
    name: str,
    *,
    parents: Sequence[str] = (),
    synonyms: Sequence[str] = (),
    definition: str = "",
    reviewer: str = "",
) -> OwnConcept:
    """Add a concept to a project. It becomes a candidate of terms that are linked from now on.

    Args:
        project: project opened for writing.
        vocabulary: the vocabulary that the project is linked to.
        name: preferred name.
        parents: ids of broader concepts, of the vocabulary or of the project.
        synonyms: other names with exactly its meaning.
        definition: its definition.
        reviewer: who adds it.

    Raises:
        InputError: the name is empty or too long, another concept has it, or a parent does not exist.
        ReadOnlyError, NotSavedError: it cannot be saved.
    """
    name, definition = " ".join(name.split()), " ".join(definition.split())
    synonyms = [each for synonym in synonyms if (each := " ".join(synonym.split())) and each != name]
    if not normalise(name):
        raise InputError("a concept needs a name with letters or digits")
    if any(len(text) > _LONGEST for text in (name, definition, *synonyms)):
        raise InputError(f"a name or a definition may have at most {_LONGEST:,} characters")
    with project.writing() as connection:
        before = concepts_in(connection)
        if len(before) >= _MOST:
            raise InputError(f"a project may have at most {_MOST:,} concepts of its own")
        _require_new(name, before, vocabulary)
        ids = {each.id for each in before}
        for parent in parents:
            if parent not in ids and parent not in vocabulary:
                raise InputError(
                    f"the parent {parent!r} is no concept of the vocabulary or of the project: give the id of one"
                )
        number = max((int(each.id.partition(":")[2]) for each in before), default=0) + 1
        added = OwnConcept(
            f"{PREFIX}:{number:07d}",
            name,
            tuple(dict.fromkeys(parents)),
            tuple(dict.fromkeys(synonyms)),
            definition,
            checked_reviewer(reviewer) if reviewer.strip() else "",
            now(),
        )
        store_property(connection, PROPERTY, [each.to_dict() for each in (*before, added)])
    return added


def find_own_concepts(project: Project, text: str, limit: int) -> list[dict[str, Any]]:
    """Find concepts of a project's own by a part of a name, ignoring case, or by their id.

    Returns:
        For each its ``concept_id`` and ``concept_name``, and as ``matched`` the name, ``None`` if its id matched.
    """
    typed = " ".join(text.split()).casefold()
    found: list[dict[str, Any]] = []
    for each in own_concepts(project) if typed else ():
        name = next((name for name in (each.name, *each.synonyms) if typed in name.casefold()), None)
        if name is None and typed != each.id.casefold():
            continue
        matched = {
            "text": name,
            "concept_id": each.id,
            "lang": UNKNOWN_LANGUAGE,
            "kind": "exact",
            "source": "project",
        }
        found.append({"concept_id": each.id, "concept_name": each.name, "matched": matched if name else None})
    return found[:limit]


def _require_new(name: str, before: Sequence[OwnConcept], vocabulary: Vocabulary) -> None:
    """Check that no concept of the project has a name, and none of the vocabulary has it as preferred name.

    Raises:
        InputError: a concept has it.
    """
    same = normalise(name)
    for each in before:
        if same in {normalise(other) for other in (each.name, *each.synonyms)}:
            raise InputError(f"{each.id} of the project has the name {name!r} already: decide for that concept")
    for found in vocabulary.find(name):
        if found.kind in ("preferred", "exact"):
            raise InputError(
                f"{found.concept_id} of the vocabulary has the name {name!r} already: decide for that concept"
            )


Links = Callable[[Sequence[Mention]], Sequence[Link]]


def with_own_concepts(project: Project, link: Links) -> Links:
    """Make a function that links terms to the concepts of a project's own, too.

    A concept is the first candidate if it has the term as a name, and the first candidate of the vocabulary has
    not. The link then has no confidence. Other similar concepts follow by their scores.

    Args:
        project: the project.
        link: links terms to the vocabulary.
    """
    own = own_concepts(project)
    if not own:
        return link
    builder = TableBuilder()
    for each in own:
        builder.concept(each.id, definition=each.definition or None, parents=each.parents)
        builder.name(each.id, each.name, kind="preferred")
        for synonym in each.synonyms:
            builder.name(each.id, synonym)
    index = Index.build(Vocabulary.of((Source("own concepts", "nymlink project"), builder.build())), encoder=None)
    # Scores are comparable with those of the vocabulary, probabilities are not. Among few words, most words of a
    # term would be taken for misspelt ones.
    linker = Linker(index.with_ranker(None), top_k=3, guesses=False)

    def both(mentions: Sequence[Mention]) -> list[Link]:
        return [_joined(*each) for each in zip(link(mentions), linker.link(list(mentions)), strict=True)]

    return both


def _joined(link: Link, own: Link) -> Link:
    added = [each for each in own.candidates if each.score >= _SIMILAR and each.contradiction is None]
    if link.parts or own.parts or not added:
        return link
    given = list(link.candidates)
    if _likeness(added[0], link) > (_likeness(given[0], link) if given else 0):
        rest = sorted([*given, *added[1:]], key=lambda each: -each.score)
        return replace(link.reordered(_cut([added[0], *rest], given)), nil=False)
    rest = sorted([*given[1:], *added], key=lambda each: -each.score)
    return replace(link, candidates=_cut([*given[:1], *rest], given))


def _cut(candidates: Sequence[Candidate], given: Sequence[Candidate]) -> tuple[Candidate, ...]:
    return tuple(candidates[: max(len(given), 10)])


def _likeness(candidate: Candidate, link: Link) -> int:
    """Return 2 if the name is the term, 1 if a rule put the name in place of the term ("HL"), else 0."""
    if candidate.parts.get(EXACT_MATCH) != 1:
        return 0
    return 2 if normalise(candidate.matched.text) == normalise(link.mention.text) else 1


def request_text(project: Project, vocabulary: Vocabulary | None, template: str) -> str:
    """Write the concepts of a project's own as requests to the maintainers of the vocabulary.

    Args:
        project: the project.
        vocabulary: the vocabulary, for the names of parents; ``None`` if it is not here.
        template: ``"robot"`` for a template of ROBOT (tab-separated), ``"issue"`` for issues in Markdown.

    Raises:
        InputError: there is no such template.
    """
    if template not in TEMPLATES:
        raise InputError(f"no template {template!r}: there are {', '.join(TEMPLATES)}")
    own = own_concepts(project)
    if template == "robot":
        rows = [list(_ROBOT), list(_ROBOT.values())]
        rows += [[e.id, e.name, "|".join(e.parents), "|".join(e.synonyms), e.definition] for e in own]
        return "".join(f"{tab_line(row)}\n" for row in rows)
    names = {each.id: each.name for each in own}
    return "\n".join(_issue(project, each, vocabulary, names) for each in own)


def _issue(project: Project, concept: OwnConcept, vocabulary: Vocabulary | None, names: Mapping[str, str]) -> str:
    def labelled(parent: str) -> str:
        row = None if vocabulary is None else vocabulary.row(parent)
        name = names.get(parent) if row is None or vocabulary is None else vocabulary.concept(row).name
        return f"{parent} ({name})" if name else parent

    with project.reading() as connection:
        terms = connection.execute(_DECIDED, (concept.id, _SHOWN)).fetchall()
    used = "; ".join(f"{json.dumps(text, ensure_ascii=False)} ({frequency:,})" for text, frequency in terms)
    lines = (
        f"# New term request: {concept.name}",
        "",
        f"- **Preferred label:** {concept.name}",
        f"- **Synonyms:** {'; '.join(concept.synonyms) or '-'}",
        f"- **Definition:** {concept.definition or '-'}",
        f"- **Parent:** {'; '.join(map(labelled, concept.parents)) or '-'}",
        f"- **Terms in our data, with their frequency:** {used or '-'}",
        f"- **Local id:** {concept.id}",
        *([f"- **Requested by:** {concept.reviewer}"] if concept.reviewer else []),
        "",
    )
    return "\n".join(lines)
