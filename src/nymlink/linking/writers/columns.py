"""Write the columns that describe a link, the same in TSV and in tables of the user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nymlink.linking.link_rows import CANDIDATE, CONFIDENCE, LANGUAGE, NOTE
from nymlink.linking.writers.writer import LinksInfo


def link_columns(info: LinksInfo) -> tuple[str, ...]:
    """List the columns that describe a link: confidences and languages only where there are such."""
    candidate = CANDIDATE if info.multilingual else tuple(name for name in CANDIDATE if name != LANGUAGE)
    return (*candidate, *((CONFIDENCE,) if info.calibrated else ()), NOTE)


def cell(row: Mapping[str, Any], column: str) -> str:
    """Write a value of :func:`nymlink.linking.link_rows.rows`; scores and confidences with four decimals."""
    value = row[column]
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)
