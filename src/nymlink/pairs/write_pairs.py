"""Writing pairs: as Parquet, or as text with a pair a line: ``concept||name1||name2``, which SapBERT reads too."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nymlink.core.progress import track
from nymlink.core.store.atomic import atomic_file
from nymlink.pairs.pairs import PAIRS, Pairs

_METADATA: Final = "nymlink"
SEPARATOR: Final = "||"
_STRETCH: Final = 1 << 18
# What would be read back as something else.
_AMBIGUOUS: Final = r"\|{3}|\|\|.*\|\|.*\|\||[\r\n]"


def write_pairs(pairs: Pairs, target: Path, *, progress: bool = False) -> int:
    """Write pairs in the order of their first epoch: as Parquet to a file of that ending, else as text.

    The metadata of the Parquet file say under ``nymlink``, in JSON, how the pairs were made and of which sources.
    Text is compressed where the file's name ends with ``.gz``.

    Returns:
        How many pairs were left out, see :func:`write_lines`; Parquet holds all.

    Raises:
        OutputError: the file cannot be written; nothing is left behind.
    """
    # Opened here and not by Arrow, which takes some names for addresses.
    with atomic_file(target) as partial, partial.open("wb") as stream:
        if target.suffix == ".parquet":
            _write_parquet(pairs, stream, progress=progress)
            return 0
        if target.suffix == ".gz":
            # Without a time stamp: the same pairs give the same bytes.
            with gzip.GzipFile(filename="", mode="wb", fileobj=stream, compresslevel=6, mtime=0) as compressed:
                return write_lines(pairs, cast(IO[bytes], compressed), progress=progress)
        return write_lines(pairs, stream, progress=progress)


def write_lines(pairs: Pairs, stream: IO[bytes], *, progress: bool = False) -> int:
    """Write pairs in the order of their first epoch, one a line.

    A pair whose line could be read as another pair is left out: a name has ``||`` or a line break in it, or ``|``
    next to the separator.

    Returns:
        How many pairs were left out.
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
    # In shuffled order hardly a name comes twice in a row group: a dictionary would only cost time.
    with pq.ParquetWriter(stream, schema, compression="zstd", use_dictionary=False) as file:
        for batch in _batches(pairs, progress=progress):
            file.write_batch(batch)


def _batches(pairs: Pairs, *, progress: bool) -> Iterator[pa.RecordBatch]:
    starts = range(0, len(pairs), _STRETCH)
    for start in track(starts, "writing pairs", shown=progress):
        yield pairs.batch(start, min(start + _STRETCH, len(pairs)))


def _provenance(pairs: Pairs) -> dict[str, Any]:
    return {
        "pairs": len(pairs),
        "settings": pairs.settings.to_dict(),
        "sources": [source.to_dict() for source in pairs.vocabulary.sources],
        "vocabulary": pairs.vocabulary.settings,
    }
