"""Read chosen columns of an RRF file, which may be cut into parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from nymlink.core.files import MAX_LINE, open_bytes
from nymlink.core.problems import Problems
from nymlink.vocabulary.readers.columns.delimited import CODE, TEXT, Block, RowFormat, read_blocks, read_columns
from nymlink.vocabulary.readers.umls.release import Release


def read_rrf(
    release: Release,
    name: str,
    *,
    strings: Sequence[str],
    codes: Sequence[str] = (),
    required: Sequence[str],
    problems: Problems,
) -> Iterator[pa.Table]:
    """Yield the good rows of a file, some hundred thousand at a time.

    Args:
        release: its release; a missing file yields nothing.
        name: file name without ending, for example ``MRSTY``.
        strings: columns wanted as strings.
        codes: columns wanted dictionary-encoded, because they hold few distinct values.
        required: columns that may not be blank.
        problems: receives each row that is rejected or repaired, with its line number.

    Raises:
        InputError: see :func:`nymlink.core.files.open_bytes`.
    """
    wanted = dict.fromkeys(strings, TEXT) | dict.fromkeys(codes, CODE)
    layout = RowFormat(release.columns[name], wanted, required, delimiter="|", is_closed=True)
    return read_columns(_blocks(release.parts.get(name, ()), problems), layout, problems)


def _blocks(parts: Sequence[Path], problems: Problems) -> Iterator[Block]:
    """Cut a file into whole lines; a line that continues in the next part belongs to the part it starts in."""
    carried: Block | None = None
    for part in parts:
        with open_bytes(part) as file:
            for block in read_blocks(file, part, problems):
                if carried is not None:
                    head, line_feed, rest = block.data.partition(b"\n")
                    kept = head if len(carried.data) <= MAX_LINE else b""
                    carried = Block(carried.path, carried.line, carried.data + kept + line_feed)
                    if not line_feed:
                        continue
                    yield carried
                    carried, block = None, Block(part, 2, rest)
                if block.data.endswith(b"\n"):
                    yield block
                elif block.data:
                    carried = block
    if carried is not None:
        yield carried
