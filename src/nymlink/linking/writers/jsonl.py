"""Write links as JSON lines."""

from __future__ import annotations

import json
from collections import Counter
from typing import TextIO

from nymlink.core.delimited import Record
from nymlink.core.errors import InputError
from nymlink.linking.model import Link
from nymlink.linking.writers.writer import LinkFormat, LinksInfo, LinkWriter


class JsonWriter(LinkWriter):
    """Writes :meth:`nymlink.linking.model.Link.to_dict` as one line; under ``row`` the cells of the user's table.

    Raises:
        InputError: two columns of the table have the same name.
    """

    def __init__(self, out: TextIO, info: LinksInfo) -> None:
        self._out = out
        self._header = () if info.table is None else tuple(info.table.header.fields)
        repeated = [name for name, times in Counter(self._header).items() if times > 1]
        if repeated:
            raise InputError(
                f"two columns are called {repeated[0]!r}, and a JSON object has room for one: rename one of them"
            )

    def write(self, link: Link, row: Record | None = None) -> None:
        values = link.to_dict()
        if row is not None:
            values["row"] = dict(zip(self._header, row.fields, strict=True))
        self._out.write(json.dumps(values, ensure_ascii=False) + "\n")


FORMAT = LinkFormat(
    name="jsonl",
    description="a JSON object for each mention, with all that is known of its link",
    open=JsonWriter,
    endings=(".jsonl",),
    keeps_table=True,
    resumable=True,
)
