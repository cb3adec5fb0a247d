"""Random access to the pairs of a file, without holding them in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from nymlink.core.problems import Problems
from nymlink.core.store.atomic import output_errors
from nymlink.pairs.pairs import PAIRS
from nymlink.pairs.permutation import permute, seeded_keys
from nymlink.pairs.read_pairs import read_pairs
from nymlink.pairs.sequence import NamedPairs

_BLOCK: Final = 1 << 16


class PairTable:
    """Pairs in a memory-mapped Arrow file; see :class:`~nymlink.pairs.sequence.PairSequence`.

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
        """Convert a file of pairs, in any form :func:`~nymlink.pairs.read_pairs.read_pairs` reads, and open it.

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
