"""What hostile clients do, tried by kind and counted: ``python -m benchmarks.campaigns.hostile``."""

from __future__ import annotations

from typing import TypedDict


class Row(TypedDict):
    """What was tried of one kind.

    Attributes:
        kind: what was tried.
        tried: how often.
        fell: how often it did what it should not.
        note: the first that fell; or a figure.
    """

    kind: str
    tried: int
    fell: int
    note: str
