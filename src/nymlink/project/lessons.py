"""Lessons from decisions, and the names that an index gets from them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TextIO

from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.corpus.documents import Mention
from nymlink.index.fusion import EXACT_MATCH
from nymlink.index.index import Index
from nymlink.linking.link import Candidate, Link, Relation
from nymlink.linking.writers.link_files import open_file
from nymlink.project.links import mention_of
from nymlink.project.project import Project
from nymlink.project.rows import Target
from nymlink.text.normalise import normalise
from nymlink.vocabulary.concepts import Name, Source
from nymlink.vocabulary.readers.column_files import ROWS
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

_LOOKED_AT: Final = ("review", "import", "release")
"""Origins of decisions for which a reviewer looked at the term. Other decisions only repeat the linker."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A decided term.

    Attributes:
        mention: the term.
        targets: the concepts that it means; empty if it means no concept of the vocabulary.
        looked_at: whether a reviewer looked at the term; false if it was accepted together with others.
    """

    mention: Mention
    targets: tuple[Target, ...]
    looked_at: bool


def lessons(project: Project) -> list[Lesson]:
    """List the decisions, the latest last. Flagged terms and terms on which reviewers disagree are left out."""
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT term.text, term.language, term.type, decision.targets, decision.origin "
            "FROM settled JOIN decision ON decision.id = settled.decision JOIN term ON term.id = settled.term "
            "WHERE decision.verdict IN ('concept', 'nil') "
            "AND settled.term NOT IN (SELECT term FROM disagreement) ORDER BY decision.id"
        ).fetchall()
    return [
        Lesson(
            mention_of(row["text"], row["language"], row["type"]),
            tuple(Target(**target) for target in json.loads(row["targets"])),
            row["origin"] in _LOOKED_AT,
        )
        for row in rows
    ]


_SOURCE: Final = Source("reviewed terms", "nymlink project")

_KINDS: Final[Mapping[Relation, str]] = {
    "exact": "exact",
    "broader": "narrow",
    "narrower": "broad",
    "related": "related",
    "part": "related",
}
"""Relation of the concept to the term → kind of the name that the term becomes."""

_NOT: Final = 0.01
"""Confidence of a link for a term that is known to mean no concept of the vocabulary."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A decided term.

    Attributes:
        text: the term as written.
        concept_id: its concept; empty if it means no concept of the vocabulary.
        kind: kind of the name.
        lang: code of its language.
    """

    text: str
    concept_id: str
    kind: str = "exact"
    lang: str = UNKNOWN_LANGUAGE

    def to_list(self) -> list[str]:
        return list(asdict(self).values())


class Overlay:
    """Decided terms as additional names.

    Args:
        decided: decided terms in any order.
    """

    def __init__(self, decided: Iterable[Decided]) -> None:
        self.decided = tuple(dict.fromkeys(decided))

    @classmethod
    def of(cls, lessons: Sequence[Lesson]) -> Overlay:
        """Make names from lessons. A term with parts or with several concepts does not become a name."""
        return cls(
            Decided(
                lesson.mention.text,
                target.concept_id if target else "",
                _KINDS[target.relation] if target else "exact",
                lesson.mention.language or UNKNOWN_LANGUAGE,
            )
            for lesson in lessons
            if len(lesson.targets) < 2
            and not any(each.part or each.denied or each.relation == "part" for each in lesson.targets)
            for target in (lesson.targets or (None,))
        )

    def extend(self, index: Index) -> Index:
        """Add the terms as names of concepts that the index has.

        A term is not added if it already is a name of the vocabulary. :meth:`recall` applies its decision.
        """
        builder = TableBuilder()
        for each in self.decided:
            if each.concept_id in index.vocabulary and index.entries.find(normalise(each.text)) is None:
                builder.concept(each.concept_id)
                builder.name(each.concept_id, each.text, lang=each.lang, kind=each.kind)
        return index.with_names(_SOURCE, builder.build()) if len(builder) else index

    def recall(self, link: Link, vocabulary: Vocabulary, surest: float | None) -> Link:
        """Put the concept decided for an equal term first, or make the link NIL if that is the decision.

        Terms are equal if they differ only in case and punctuation. If equal terms were decided differently, the
        link stays as it is.

        Args:
            link: link of a term.
            vocabulary: the vocabulary.
            surest: confidence of a name that only one concept has; ``None`` if there are no confidences.
        """
        known = self._known.get(normalise(link.mention.text), ())
        if len(known) != 1:
            return link
        (each,) = known
        if not each.concept_id:
            return replace(link, nil=True, confidence=None if surest is None else _NOT, parts=())
        row = vocabulary.row(each.concept_id)
        if row is None:
            return link
        name = vocabulary.preferred_name(row)
        matched = Name(each.text, each.concept_id, each.lang, each.kind, _SOURCE.name)
        found = [candidate for candidate in link.candidates if candidate.concept_id == each.concept_id]
        first = found[0] if found else Candidate(each.concept_id, name, matched, 1.0, {EXACT_MATCH: 1.0})
        others = [candidate for candidate in link.candidates if candidate.concept_id != each.concept_id]
        candidates = (replace(first, contradiction=None), *others[: max(len(link.candidates) - 1, 0)])
        return replace(
            link.reordered(candidates),
            parts=(),
            nil=False,
            confidence=surest,
            guessed=False,
            ordinary=False,
            meanings=0,
            tied=0,
            rival=None,
        )

    @cached_property
    def _known(self) -> Mapping[str, tuple[Decided, ...]]:
        """Normal form of a term → decisions on terms with this form, the first one for each concept."""
        known: dict[str, dict[str, Decided]] = defaultdict(dict)
        for each in self.decided:
            known[normalise(each.text)].setdefault(each.concept_id, each)
        return {text: tuple(own.values()) for text, own in known.items() if text}

    def to_list(self) -> list[list[str]]:
        return [each.to_list() for each in self.decided]

    @classmethod
    def from_list(cls, value: Iterable[Sequence[Any]]) -> Overlay:
        """Read the result of :meth:`to_list`."""
        return cls(Decided(*each) for each in value)


def write_names(project: Project, target: Path | TextIO) -> int:
    """Write the decisions as a table of names in the format ``shared-table``.

    All commands that read vocabularies can read the table. If they read it together with the vocabulary, the
    result has these names, too.

    Args:
        project: project with the decisions. It need not have learned from them.
        target: the table, which is replaced in one step, or a stream.

    Returns:
        Number of names.

    Raises:
        OutputError: it cannot be written.
    """
    names = [each for each in Overlay.of(lessons(project)).decided if each.concept_id]
    opened: AbstractContextManager[TextIO] = open_file(target) if isinstance(target, Path) else nullcontext(target)
    with opened as out:
        out.write("\t".join(ROWS.names) + "\n")
        for each in names:
            out.write("\t".join((each.concept_id, each.text, each.lang, each.kind, "", "")) + "\n")
    return len(names)


def names_given(project: Project, text: str, limit: int) -> list[dict[str, Any]]:
    """Find concepts by the terms that reviewers gave them, the shortest first.

    Args:
        project: the project.
        text: text that the term contains, ignoring case.
        limit: most concepts.

    Returns:
        For each its ``concept_id`` and ``concept_name``, and as ``matched`` the term.
    """
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT term.text, term.language, target.value ->> 'concept_id' AS concept_id, "
            "target.value ->> 'name' AS concept_name FROM settled JOIN term ON term.id = settled.term "
            "JOIN decision ON decision.id = settled.decision, json_each(decision.targets) AS target "
            "WHERE decision.verdict = 'concept' AND json_array_length(decision.targets) = 1 "
            "AND instr(term.folded, ?) > 0 GROUP BY concept_id ORDER BY min(length(term.text)) LIMIT ?",
            (" ".join(text.encode("utf-8", "replace").decode().casefold().split()), limit),
        ).fetchall()
    return [
        {
            "concept_id": row["concept_id"],
            "concept_name": row["concept_name"],
            "matched": {
                "text": row["text"],
                "concept_id": row["concept_id"],
                "lang": row["language"] or UNKNOWN_LANGUAGE,
                "kind": "exact",
                "source": "decisions",
            },
        }
        for row in rows
    ]
