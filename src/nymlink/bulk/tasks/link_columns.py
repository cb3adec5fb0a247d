"""Columns of links, typed as in every Parquet file that nymlink writes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import pyarrow as pa

from nymlink.bulk.tasks.task import Answer
from nymlink.linking.model import Link
from nymlink.linking.writers.flat_rows import FlatRows
from nymlink.linking.writers.parquet import ARROW_TYPES
from nymlink.linking.writers.writer import LinksInfo


class LinkColumns:
    """The columns of links, and the answers made of them.

    Args:
        annotated: whether mentions are found in texts, and have flags of their context.

    Attributes:
        schema: names and types.
    """

    def __init__(self, *, annotated: bool) -> None:
        self._rows: Final = FlatRows(LinksInfo(annotated=annotated))
        types = map(ARROW_TYPES.__getitem__, self._rows.types)
        self.schema: Final = pa.schema(list(zip(self._rows.names, types, strict=True)))

    def answer(self, links: Iterable[Link]) -> Answer:
        """Make the answer of a row of its links."""
        links = list(links)
        rows = [values for link in links for values in self._rows.of(link, None)]
        return Answer(rows, len(links), sum(link.nil for link in links))
