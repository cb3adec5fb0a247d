"""Write links as tab-separated text: a line for each candidate, under a header."""

from __future__ import annotations

from typing import TextIO

from nymlink.linking.writers.columns import link_columns
from nymlink.linking.writers.csv_table import CsvWriter
from nymlink.linking.writers.lines import LineWriter
from nymlink.linking.writers.writer import LinkFormat, LinksInfo, LinkWriter


def _open(out: TextIO, info: LinksInfo) -> LinkWriter:
    if info.table is not None:
        return CsvWriter(out, info.table, "\t", link_columns(info))
    return LineWriter(out, info, "\t")


FORMAT = LinkFormat(
    name="tsv",
    description="tab-separated, a line for each candidate; the columns of your table come first",
    open=_open,
    endings=(".tsv",),
    keeps_table=True,
    resumable=True,
)
