"""Write and read files of pairs."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nymlink.core.errors import InputError
from nymlink.core.files import open_bytes, read_batches
from nymlink.core.problems import Problems
from nymlink.core.store.atomic import atomic_file, output_errors
from nymlink.core.terminal import track
from nymlink.pairs.pairs import PAIRS, NamedPairs, Pairs
from nymlink.pairs.permutation import permute, seeded_keys
from nymlink.tables.parquet import MAGIC

_METADATA: Final = "nymlink"
SEPARATOR: Final = "||"
_BATCH: Final = 1 << 18
# Lines that would be read back as another pair.
_AMBIGUOUS: Final = r"\|{3}|\|\|.*\|\|.*\|\||[\r\n]"


def write_pairs(pairs: Pairs, target: Path, *, progress: bool = False) -> int:
    """Write pairs in the order of their first epoch.

    The pairs are written as Parquet if the file name ends with ``.parquet``, otherwise as text. Text is compressed
    with gzip if the name ends with ``.gz``. The metadata of a Parquet file have a key ``nymlink``; its value is
    JSON with the settings and sources of the pairs.

    Returns:
        The number of pairs left out, see :func:`write_lines`; 0 for Parquet.

    Raises:
        OutputError: the file cannot be written; nothing is left behind.
    """
    # Opened here: Arrow takes some names for URLs.
    with atomic_file(target) as partial, partial.open("wb") as stream:
        if target.suffix == ".parquet":
            _write_parquet(pairs, stream, progress=progress)
            return 0
        if target.suffix == ".gz":
            # No file name and time stamp, so that the same pairs give the same bytes.
            with gzip.GzipFile(filename="", mode="wb", fileobj=stream, compresslevel=6, mtime=0) as compressed:
                return write_lines(pairs, cast(IO[bytes], compressed), progress=progress)
        return write_lines(pairs, stream, progress=progress)


def write_lines(pairs: Pairs, stream: IO[bytes], *, progress: bool = False) -> int:
    """Write pairs in the order of their first epoch, one per line.

    A pair is left out if its line could be read as another pair. This is so if a name contains ``||`` or a line
    break, or has a ``|`` next to the separator.

    Returns:
        The number of pairs left out.
    """
    left_out = 0
    for batch in _batches(pairs, progress=progress):
        lines = pc.binary_join_element_wise(*batch.columns, SEPARATOR)
        kept = lines.filter(pc.invert(pc.match_substring_regex(lines, _AMBIGUOUS)))
        left_out += len(lines) - len(kept)
        stream.write("".join(f"{line}\n" for line in kept.to_pylist()).encode())
    return left_out


def _write_parquet(pairs: Pairs, stream: IO[bytes], *, progress: bool) -> None:
    schema = PAIRS.with_metadata({_METADATA: json.dumps(_provenance(pairs), ensure_ascii=False)})
    # In shuffled order names rarely repeat within a row group: dictionary encoding would only cost time.
    with pq.ParquetWriter(stream, schema, compression="zstd", use_dictionary=False) as file:
        for batch in _batches(pairs, progress=progress):
            file.write_batch(batch)


def _batches(pairs: Pairs, *, progress: bool) -> Iterator[pa.RecordBatch]:
    starts = range(0, len(pairs), _BATCH)
    for start in track(starts, "writing pairs", shown=progress):
        yield pairs.batch(start, min(start + _BATCH, len(pairs)))


def _provenance(pairs: Pairs) -> dict[str, Any]:
    return {
        "pairs": len(pairs),
        "settings": pairs.settings.to_dict(),
        "sources": [source.to_dict() for source in pairs.vocabulary.sources],
        "vocabulary": pairs.vocabulary.settings,
    }


_ROWS: Final = 1 << 16


def read_pairs(path: str | Path, *, problems: Problems | None = None) -> Iterator[pa.RecordBatch]:
    """Read a file of pairs in batches; the format is detected from the content.

    Names are not changed.

    Args:
        path: a Parquet file with the columns of :data:`~nymlink.pairs.pairs.PAIRS`, or a plain or gzip text file.
        problems: receives lines (in Parquet: rows) that are not pairs, and lines that are not UTF-8.

    Yields:
        Batches of pairs, in the columns of :data:`~nymlink.pairs.pairs.PAIRS`.

    Raises:
        InputError: the file cannot be read, lacks a column, or holds no pair.
    """
    path = Path(path)
    problems = problems if problems is not None else Problems()
    empty = True
    with open_bytes(path) as file:
        # Peek instead of opening twice: a pipe can be opened only once.
        is_parquet = cast(io.BufferedReader, file).peek(len(MAGIC)).startswith(MAGIC)
        for batch in _parquet(file, path, problems) if is_parquet else _lines(file, path, problems):
            if len(batch):
                empty = False
                yield batch
    if empty:
        raise InputError("the file holds no pair", path=path)


def _lines(file: IO[bytes], path: Path, problems: Problems) -> Iterator[pa.RecordBatch]:
    for lines in read_batches(file, path, problems):
        rows = []
        for number, line in lines:
            fields = line.split(SEPARATOR)
            if len(fields) == len(PAIRS) and all(map(str.strip, fields)):
                rows.append(fields)
            elif line.strip():
                problems.reject(path, number, f"not of the form {SEPARATOR.join(PAIRS.names)}")
        columns = {name: [row[at] for row in rows] for at, name in enumerate(PAIRS.names)}
        yield pa.RecordBatch.from_pydict(columns, PAIRS)


def _parquet(stream: IO[bytes], path: Path, problems: Problems) -> Iterator[pa.RecordBatch]:
    try:
        with pq.ParquetFile(stream) as file:
            columns_in_file = file.schema_arrow.names
            if missing := [name for name in PAIRS.names if name not in columns_in_file]:
                raise InputError(
                    f"no column {missing[0]!r}; the file has: {', '.join(columns_in_file)}", path=path
                )
            rows_read = 0
            for batch in file.iter_batches(_ROWS, columns=PAIRS.names):
                columns = [batch[name].cast(pa.string()) for name in PAIRS.names]
                kept = np.ones(len(batch), bool)
                for column in columns:
                    # Arrow does not check by itself that texts are UTF-8.
                    column.validate(full=True)
                    blank = pc.equal(pc.utf8_trim_whitespace(column), "").fill_null(True)
                    kept &= ~blank.to_numpy(zero_copy_only=False)
                for row in np.flatnonzero(~kept).tolist():
                    problems.reject(path, rows_read + row + 1, "a row without a concept or a name")
                rows_read += len(batch)
                yield pa.RecordBatch.from_arrays([column.filter(kept) for column in columns], schema=PAIRS)
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise InputError(
            f"the Parquet file cannot be read as pairs ({error}): write it again", path=path
        ) from error


_BLOCK: Final = 1 << 16


class PairTable:
    """Pairs in a memory-mapped Arrow file; see :class:`~nymlink.pairs.pairs.PairSequence`.

    Args:
        blocks: the pairs, :data:`_BLOCK` in each block but the last.
        seed: the seed of the shuffled order.
    """

    def __init__(self, blocks: list[pa.RecordBatch], *, seed: int) -> None:
        self._blocks = blocks
        self._length = sum(map(len, blocks))
        self._seed = seed

    @classmethod
    def convert(cls, pairs: Path, target: Path, *, seed: int, problems: Problems) -> PairTable:
        """Convert a file of pairs to a memory-mapped file, and open the new file.

        The file may have any form that :func:`~nymlink.pairs.pair_files.read_pairs` can read.

        Raises:
            InputError: the file cannot be read, or holds no pair.
            OutputError: ``target`` cannot be written.
        """
        with output_errors(target), pa.OSFile(str(target), "wb") as sink, pa.ipc.new_file(sink, PAIRS) as file:
            for block in _blocks(read_pairs(pairs, problems=problems)):
                file.write_batch(block)
        with pa.memory_map(str(target)) as source:
            reader = pa.ipc.open_file(source)
            blocks = [reader.get_batch(number) for number in range(reader.num_record_batches)]
        return cls(blocks, seed=seed)

    def __len__(self) -> int:
        return self._length

    def slice(self, start: int, stop: int, *, epoch: int) -> NamedPairs:
        key = seeded_keys([f"epoch {epoch}"], seed=self._seed)
        numbers = permute(np.arange(start, stop), size=len(self), key=key)
        places = list(zip(*(part.tolist() for part in np.divmod(numbers, _BLOCK)), strict=True))
        concepts, left, right = (
            [self._blocks[block].column(column)[row].as_py() for block, row in places]
            for column in range(len(PAIRS))
        )
        return NamedPairs(np.array(concepts), left, right)


def _blocks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Regroup batches into blocks of equal length."""
    pending = PAIRS.empty_table()
    for batch in batches:
        pending = pa.concat_tables([pending, pa.Table.from_batches([batch])])
        while len(pending) >= _BLOCK:
            yield from pending.slice(0, _BLOCK).combine_chunks().to_batches()
            pending = pending.slice(_BLOCK)
    yield from pending.combine_chunks().to_batches()
