"""Cells of the columns that describe a link, the same in TSV and in tables of the user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nymlink.linking.rows import CANDIDATE, CONFIDENCE, NOTE


def link_columns(*, calibrated: bool) -> tuple[str, ...]:
    """List the columns that describe a link, with confidences or without."""
    return (*CANDIDATE, *((CONFIDENCE,) if calibrated else ()), NOTE)


def cell(row: Mapping[str, Any], column: str) -> str:
    """Write a value of :func:`nymlink.linking.rows.rows`; scores and confidences with four decimals."""
    value = row[column]
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)
