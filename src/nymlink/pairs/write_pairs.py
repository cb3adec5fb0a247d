"""Write pairs as Parquet, or as text with one pair per line, ``concept||name1||name2``, as SapBERT reads it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nymlink.core.store.atomic import atomic_file
from nymlink.core.terminal.progress import track
from nymlink.pairs.pairs import PAIRS, Pairs

_METADATA: Final = "nymlink"
SEPARATOR: Final = "||"
_BATCH: Final = 1 << 18
# Lines that would be read back as another pair.
_AMBIGUOUS: Final = r"\|{3}|\|\|.*\|\|.*\|\||[\r\n]"


def write_pairs(pairs: Pairs, target: Path, *, progress: bool = False) -> int:
    """Write pairs in the order of their first epoch: as Parquet if the file ends with ``.parquet``, else as text.

    The metadata of a Parquet file give, as JSON under ``nymlink``, the settings and sources of the pairs. Text is
    gzip-compressed if the file name ends with ``.gz``.

    Returns:
        The number of pairs left out, see :func:`write_lines`; 0 for Parquet.

    Raises:
        OutputError: the file cannot be written; nothing is left behind.
    """
    # Opened here rather than by Arrow, which takes some names for URLs.
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

    A pair whose line could be read as another pair is left out: a name contains ``||`` or a line break, or has
    ``|`` next to the separator.

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
