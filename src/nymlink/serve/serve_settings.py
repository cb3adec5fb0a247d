"""The settings of a server, and the limits of a request."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Final

from nymlink.linking.judge import JudgeSettings
from nymlink.serve.guards.memory import usual_budget

API: Final = "/v1"
"""Beginning of the paths of the API. Paths of probes, metrics, reconciliation and pages have no version."""

MATCH_PRECISION: Final = 0.94
"""Wanted share of correct names among those that reconciliation matches automatically."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a request; an error names the limit that a request exceeds.

    Attributes:
        body_bytes: bytes of a body.
        body_seconds: seconds for the headers, and for the body, to arrive.
        file_bytes: bytes of a file sent to a project.
        file_seconds: seconds for such a file to arrive, and seconds that it waits for other files. Files are read
            one after the other, because a table takes many times the memory of its file.
        answer_seconds: seconds to find the links.
        taking_seconds: seconds that a client may take no bytes of its answer.
        mentions: mentions of a request.
        mention_characters: characters of a mention.
        text_characters: characters of the text around the mentions.
        top_k: candidates of a mention.
        queries: queries of a reconciliation batch.
        waiting_mentions: mentions that wait for an answer, for each index.
        requests: requests at the same time.
        memory_bytes: bytes of memory for all requests together: bodies, tables, waiting links.
        requests_per_minute: requests of a token in a minute; ``None`` for any number.

    Raises:
        ValueError: a limit is not above 0.
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
    requests_per_minute: int | None = None

    def __post_init__(self) -> None:
        wrong = [
            each.name for each in fields(self) if (value := getattr(self, each.name)) is not None and value <= 0
        ]
        if wrong:
            raise ValueError(f"limits must be above 0: {', '.join(wrong)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings:
    """Settings of a server.

    Attributes:
        limits: limits of a request.
        tokens: bearer tokens; a request must have one of them. Without tokens and without a file, none is needed.
        token_file: file with further tokens, one per line, which is read again at a reload.
        origins: other sites whose pages may send requests (``"*"`` for all). Any page may send reconciliation
            requests.
        hosts: accepted ``Host`` names; empty for any.
        public_url: address for browsers, if it differs from the listening address (behind a proxy).
        access_log: whether to log a line for each request.
        projects: folder of project files; ``None`` for none.
        judge: model that requests may have asked about doubtful links; ``None`` for none.
    """

    limits: Limits = field(default_factory=Limits)
    tokens: tuple[str, ...] = ()
    token_file: Path | None = None
    origins: tuple[str, ...] = ()
    hosts: frozenset[str] = frozenset()
    public_url: str | None = None
    access_log: bool = True
    projects: Path | None = None
    judge: JudgeSettings | None = None

    @property
    def needs_token(self) -> bool:
        """Whether a request needs a token."""
        return bool(self.tokens) or self.token_file is not None
