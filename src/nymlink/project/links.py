"""Links of terms: made, stored as JSON values, and read back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from threading import Event
from time import monotonic
from typing import Any, Final

from nymlink.core.errors import NymlinkError
from nymlink.corpus.documents import Mention
from nymlink.linking.cells import DENIED
from nymlink.linking.link import Candidate, Context, Link
from nymlink.linking.writers.sssom import targets_of
from nymlink.project.own_concepts import with_own_concepts
from nymlink.project.project import Project
from nymlink.project.rebase import note_better
from nymlink.project.rows import ProjectError, Target, stored
from nymlink.text.drugs import Drug
from nymlink.vocabulary.concepts import Name
from nymlink.vocabulary.vocabulary import Vocabulary

CANDIDATES: Final = 10
"""Number of candidates that are stored for a term."""

_FIELDS: Final = ("meanings", "ordinary", "tied", "settled", "rival", "former", "foreign", "judged")
"""Fields of a link that its JSON values lack, but its notes need."""


def waiting_terms(project: Project, most: int) -> list[tuple[int, Mention]]:
    """List terms that wait for linking, the most frequent first.

    Args:
        project: the project.
        most: largest number of terms.
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


def store_proposals(
    connection: sqlite3.Connection,
    proposals: Iterable[tuple[str, Target, float | None]],
    vocabulary: Vocabulary,
) -> None:
    """Keep the proposals of a mapping table as the first candidates of its undecided terms, which wait then.

    Later links of these terms begin with the proposals.

    Args:
        connection: connection in a transaction.
        proposals: term, concept with its relation, and confidence if stated.
        vocabulary: the vocabulary that the project is linked to; concepts of others are no proposals.
    """
    of_terms: dict[str, dict[str, Candidate]] = {}
    for label, target, confidence in proposals:
        # In SSSOM, ids without a prefix get the name of their source as prefix.
        ids = (target.concept_id, target.concept_id.partition(":")[2])
        row = next((row for id_ in ids if id_ and (row := vocabulary.row(id_)) is not None), None)
        if row is not None:
            concept_id, name = vocabulary.concept_id(row), vocabulary.preferred_name(row)
            of_terms.setdefault(" ".join(label.split()), {})[concept_id] = Candidate(
                concept_id,
                name,
                Name(name, concept_id),
                confidence or 0.0,
                {},
                relation=target.relation,
                confidence=confidence,
            )
    settled = {term for (term,) in connection.execute("SELECT term FROM settled")}
    numbers: dict[str, list[int]] = {}
    for number, text in connection.execute("SELECT id, text FROM term"):
        if text in of_terms and number not in settled:
            numbers.setdefault(text, []).append(number)
    for text, candidates in of_terms.items():
        ranked = sorted(candidates.values(), key=lambda candidate: -(candidate.confidence or 0.0))
        link = Link(Mention(text), text, tuple(ranked), confidence=ranked[0].confidence)
        stored = json.dumps(link_values(link), ensure_ascii=False)
        connection.executemany(
            "UPDATE term SET link = ?, state = 'waiting' WHERE id = ?",
            [(stored, number) for number in numbers.get(text, ())],
        )


def _with_proposals(link: Link, before: Link | None) -> Link:
    """Put the proposals among the candidates of the link before in front of the candidates of a link."""
    proposed = () if before is None else tuple(each for each in before.candidates if each.relation is not None)
    if not proposed:
        return link
    known = {candidate.concept_id for candidate in proposed}
    others = tuple(each for each in link.candidates if each.concept_id not in known)
    confidence = proposed[0].confidence
    return replace(
        link.reordered((*proposed, *others)[:CANDIDATES]),
        parts=(),
        confidence=link.confidence if confidence is None else confidence,
        nil=False,
    )


def store_links(project: Project, links: Iterable[tuple[int, Link | None]]) -> None:
    """Save the links of terms; ``None`` for a term that cannot be linked.

    Raises:
        ReadOnlyError, NotSavedError: they cannot be saved.
    """
    with project.writing() as connection:
        for term, link in links:
            (text,) = connection.execute("SELECT link FROM term WHERE id = ?", (term,)).fetchone()
            before = kept_link(text, Mention(""))
            link = None if link is None else _with_proposals(_with_candidates(link), before)
            values = None if link is None else link_values(link)
            if values is not None:
                note_better(connection, term, before, values)
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


def _with_candidates(link: Link) -> Link:
    """Add the candidates of the parts of a term, for the review: first the concepts that it means."""
    if not link.parts:
        return link
    meant = [part.best for part in link.parts if part.best is not None and not part.is_denied]
    others = [candidate for part in link.parts for candidate in part.candidates]
    found = {candidate.concept_id: candidate for candidate in (*meant, *others)}
    return replace(link, candidates=tuple(found.values())[:CANDIDATES])


def suggested_targets(link: Link) -> list[Target]:
    """List the concepts to accept: the first candidate, or that of each part, with what the term denies."""
    return [
        Target(
            each.candidate.concept_id,
            each.candidate.concept_name,
            "exact" if each.relation == "close" else each.relation,
            each.link.mention.text.removeprefix(DENIED) if link.parts else "",
            each.link.is_denied,
        )
        for each in targets_of(link)
        if each.is_first
    ]


def part_values(link: Link) -> list[dict[str, Any]]:
    """Describe the parts of a term: ``text``, whether it is ``denied``, and ids of its ``candidates``."""
    return [
        {
            "text": part.mention.text.removeprefix(DENIED),
            "denied": part.is_denied,
            "candidates": [candidate.concept_id for candidate in part.candidates],
        }
        for part in link.parts
    ]


def margin(link: Link) -> float | None:
    """Compute the lead of the first candidate's score over the second's; ``None`` without candidates.

    For a single candidate, this is its score. It is negative if a ranker put a candidate with a lower score first.
    """
    if not link.candidates:
        return None
    first, *others = (candidate.score for candidate in link.candidates)
    return first - (others[0] if others else 0.0)


def link_values(link: Link) -> dict[str, Any]:
    """Write a link as JSON values that :func:`link_of` reads."""
    value = link.to_dict()
    value["also"] = {name: getattr(link, name) for name in _FIELDS} | {"left_out": list(link.left_out)}
    value["parts"] = [link_values(part) for part in link.parts]
    return value


def kept_link(text: str | None, mention: Mention) -> Link | None:
    """Read the link of a term; ``None`` if it has none or it cannot be read."""
    try:
        return None if text is None else link_of(stored(text), mention)
    except (ProjectError, LookupError, TypeError, AttributeError):
        return None


def link_of(value: Mapping[str, Any], mention: Mention) -> Link:
    """Rebuild a link from :func:`link_values`."""
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
        drug=Drug(**value["drug"]) if "drug" in value else None,
        context=Context(**value["triggers"]) if "triggers" in value else None,
        # Links that were stored before lack some.
        **{name: also[name] for name in _FIELDS if name in also},
    )


_TOGETHER: Final = 64
"""Number of terms that are linked and saved together; at most these are lost if the process is killed."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of linking.

    Attributes:
        done: terms that are linked, or cannot be linked.
        total: all terms.
        failed: terms that cannot be linked.
        per_second: terms linked per second since the start; ``None`` if nothing is being linked.
        state: ``"linking"``, ``"done"``, ``"stopped"`` on request, or ``"waiting"`` for a user to continue.
        problem: why linking has stopped, in words; ``None`` if nothing is wrong.
    """

    done: int
    total: int
    failed: int
    per_second: float | None = None
    state: str = "waiting"
    problem: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def count_progress(project: Project) -> Progress:
    """Count the terms that are linked, and those that wait."""
    with project.reading() as connection:
        counts = dict(connection.execute("SELECT state, count(*) FROM term GROUP BY state").fetchall())
    total = sum(counts.values())
    waiting = counts.get("waiting", 0)
    return Progress(total - waiting, total, counts.get("failed", 0), state="waiting" if waiting else "done")


def link_waiting(
    project: Project,
    link: Callable[[Sequence[Mention]], Sequence[Link]],
    *,
    stop: Event | None = None,
    report: Callable[[int, float], None] = lambda *_: None,
) -> None:
    """Link all waiting terms, the most frequent first. Concepts of the project's own are candidates, too.

    Args:
        project: project opened for writing.
        link: returns a link for each mention, in order.
        stop: when set, linking ends after the current batch.
        report: called after each batch with the number of terms linked so far, and the seconds since the start.

    Raises:
        ReadOnlyError, NotSavedError: links cannot be saved; earlier links are saved.
    """
    link = with_own_concepts(project, link)
    started, done = monotonic(), 0
    while (stop is None or not stop.is_set()) and (portion := waiting_terms(project, _TOGETHER)):
        terms = [term for term, _ in portion]
        mentions = [mention for _, mention in portion]
        store_links(project, zip(terms, _linked(mentions, link), strict=True))
        done += len(portion)
        report(done, monotonic() - started)


def _linked(
    mentions: Sequence[Mention], link: Callable[[Sequence[Mention]], Sequence[Link]]
) -> Sequence[Link | None]:
    """Link mentions together; if one is refused, link them one by one, and give the refused one no link."""
    try:
        return link(mentions)
    except NymlinkError:
        if len(mentions) == 1:
            return [None]
        return [each for mention in mentions for each in _linked([mention], link)]
