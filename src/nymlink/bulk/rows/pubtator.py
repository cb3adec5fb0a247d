"""PubTator: a document is a row, with the mentions that it comes with."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from nymlink.bulk.rows.row import Row, Shard, Source
from nymlink.bulk.rows.row_format import Headers, RowFormat
from nymlink.bulk.rows.text_shards import (
    Record,
    cut_records,
    opened_text,
    rejected_rows,
    shard_bytes,
    shard_problems,
)
from nymlink.core.errors import InputError
from nymlink.corpus.options import CorpusOptions
from nymlink.corpus.readers import CORPUS_FORMATS

_NAME: Final = "pubtator"
_TITLE: Final = re.compile(rb"\s*([^|\s][^|\t\n]*)\|t\|")


def _recognises(path: Path, head: str) -> bool:
    return CORPUS_FORMATS.get(_NAME).recognises(path, head)


def _cut(source: Source, rows: int) -> Iterator[Shard]:
    with opened_text(source) as file:
        yield from cut_records(source, _records(file), rows)


def _records(file: IO[bytes]) -> Iterator[Record]:
    first, lines = 1, list[bytes]()
    begun = False
    for number, line in enumerate(file, 1):
        if _TITLE.match(line):
            if begun:
                yield first, b"".join(lines)
                first, lines = number, []
            begun = True
        lines.append(line)
    if lines:
        yield first, b"".join(lines)


def _read(shard: Shard) -> Iterator[Row]:
    content = shard_bytes(shard)
    line_of = {
        match[1].decode("utf-8", "replace").strip(): shard.line + place
        for place, line in reversed(list(enumerate(content.split(b"\n"))))
        if (match := _TITLE.match(line))
    }
    problems = shard_problems(shard)
    with tempfile.TemporaryDirectory(prefix="nymlink-") as folder:
        # The reader reads files.
        path = Path(folder) / "shard"
        path.write_bytes(b"\n" + content)
        try:
            for document in CORPUS_FORMATS.get(_NAME).read(path, options=CorpusOptions(), problems=problems):
                number = line_of.get(document.id, shard.line)
                yield Row(number, document.id, document.text, mentions=document.mentions)
        except InputError as error:
            # No document of the shard can be used: the problems say why of each.
            if not problems.rejected:
                problems.reject(path, 1, error.message)
    yield from rejected_rows(shard, problems)


FORMAT: Final = RowFormat(_NAME, _recognises, lambda _: Headers(), _cut, _read)
