"""The settings of a server, and the limits of a request."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from nymlink.serve.guards.memory import usual_budget

MATCH_PRECISION: Final = 0.94
"""Share of reconciled names to be right of those that are matched without asking."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a request may ask for; more is refused with an error that says what the limit is.

    Attributes:
        body_bytes: of a body.
        body_seconds: until a body, or the headers of a request, must have arrived.
        file_bytes: of a file that is sent to a project.
        file_seconds: until such a file must have arrived; and how long it waits for others, which are read one
            after the other: a table in memory is many times as large as its file.
        answer_seconds: until links must have been found.
        taking_seconds: until a client must have taken some of an answer that waits for it.
        mentions: of a request.
        mention_characters: of a mention.
        text_characters: of the text that mentions stand in.
        top_k: candidates of a mention.
        queries: of a batch of reconciliation queries.
        waiting_mentions: of all requests that are not yet answered, for each index.
        requests: that are worked on at the same time.
        memory_bytes: that all requests together may take: bodies, tables that are read, links that wait.
    """

    body_bytes: int = 8 * 2**20
    body_seconds: float = 10.0
    file_bytes: int = 64 * 2**20
    file_seconds: float = 120.0
    answer_seconds: float = 60.0
    taking_seconds: float = 60.0
    mentions: int = 2000
    mention_characters: int = 2000
    text_characters: int = 500_000
    top_k: int = 100
    queries: int = 100
    waiting_mentions: int = 100_000
    requests: int = 512
    memory_bytes: int = field(default_factory=usual_budget)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings:
    """How a server answers.

    Attributes:
        limits: of a request.
        tokens: bearer tokens, one of which every request must carry; empty for none.
        origins: other sites whose pages may ask it (``"*"`` for all); reconciliation may be asked by all.
        hosts: names that it is asked by; others are refused; empty for any.
        public_url: where browsers reach it, if that is not where it listens (behind a proxy).
        access_log: whether a line for each request is logged.
        projects: folder of project files; ``None`` for none.
    """

    limits: Limits = field(default_factory=Limits)
    tokens: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    hosts: frozenset[str] = frozenset()
    public_url: str | None = None
    access_log: bool = True
    projects: Path | None = None
