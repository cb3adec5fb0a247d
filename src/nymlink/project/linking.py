"""Link the terms of a project that wait, a few at a time, each saved as it arrives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from threading import Event
from time import monotonic
from typing import Any, Final

from nymlink.core.errors import NymlinkError
from nymlink.corpus.model import Mention
from nymlink.linking.model import Link
from nymlink.project.links import store_links, waiting_terms
from nymlink.project.project import Project

_TOGETHER: Final = 64
"""Terms that are linked and saved together: what is lost at most when the process is killed."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far linking is.

    Attributes:
        done: terms that are linked, or cannot be.
        total: all terms.
        failed: those that cannot be.
        per_second: how many were linked in a second, since it began; ``None`` where nothing is being linked.
        state: ``"linking"``, ``"done"``, ``"stopped"`` on demand, or ``"waiting"`` for someone to go on.
        problem: why it does not go on, in words; ``None`` where nothing is wrong.
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
    """Link all terms that wait, the most frequent first.

    Args:
        project: opened to write.
        link: makes a link of each mention, in order.
        stop: ends it between two portions when it is set.
        report: called after each portion with the number of terms linked so far, and the seconds since the start.

    Raises:
        ReadOnlyError, NotSavedError: links cannot be saved; those before are.
    """
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
    """Link mentions together; one by one where one of them is refused, which gets no link."""
    try:
        return link(mentions)
    except NymlinkError:
        if len(mentions) == 1:
            return [None]
        return [each for mention in mentions for each in _linked([mention], link)]
