"""What a file states of terms, whatever its format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Final

from nymlink.project.model import Target, Verdict

_TABLE: Final = files("nymlink.project") / "data" / "stated.tsv"


@dataclass(frozen=True, slots=True)
class StatedDecision:
    """A decision that a file states.

    Attributes:
        line: where, in the file.
        text: the term.
        verdict: what was decided.
        targets: the concepts.
        reviewer: who; empty where it is not stated.
        at: when, in milliseconds since 1970 in UTC; ``None`` where it is not stated.
        comment: what the reviewer said of it.
        assigned: to whom it is assigned; empty for nobody.
    """

    line: int
    text: str
    verdict: Verdict
    targets: tuple[Target, ...] = ()
    reviewer: str = ""
    at: int | None = None
    comment: str = ""
    assigned: str = ""


@cache
def meanings(format: str, column: str) -> Mapping[str, str]:
    """Read what the values of a column of a format mean to a project."""
    lines = _TABLE.read_text(encoding="utf-8").splitlines()[1:]
    rows = (line.split("\t") for line in lines)
    return {stated: means for of, name, stated, means, _ in rows if (of, name) == (format, column)}


def milliseconds(text: str) -> int | None:
    """Read a time of ISO 8601, or a date, taken for its first moment in UTC; ``None`` for anything else."""
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    return round(time.timestamp() * 1000)
