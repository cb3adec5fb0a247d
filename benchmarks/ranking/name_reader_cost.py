"""What it costs to read the names of candidates: mentions a second, with and without."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.common.inputs import data_root
from benchmarks.common.tasks import Task, load
from benchmarks.ranking.name_pairs import Pair, Part
from benchmarks.ranking.name_reader import Int8Reader, NameReader
from nymlink.encode.model.embedded import MINI
from nymlink.index.index import Index
from nymlink.linking.linker import Linker

TIMED: Final = "BC5CDR disease dev, bare"
REPEATS: Final = 5


def costed(
    own: Path, task: Task, part: Part, pairs: Sequence[Pair], layers: Sequence[int]
) -> list[dict[str, str]]:
    """Time linking with the shipped ranker, and one reader in int8 of what it is not sure of, in turn.

    Args:
        own: folder to write readers in.
        task: whose distinct mentions are linked.
        part: what is read of it.
        pairs: all pairs, by their number.
        layers: of the readers.
    """
    vocabulary, (corpus, *_) = load(task, data_root())
    linker = Linker(Index.build(vocabulary, encoder=MINI))
    texts = sorted({mention.text for document in corpus.documents for mention in document.mentions})
    wanted = [pairs[number] for number in part.at[2].tolist()]
    # How quick one is does not depend on what it learned.
    readers = [Int8Reader(NameReader(MINI, count), own / f"{count} layers.onnx") for count in layers]
    linking, reading = [], []
    for _ in range(REPEATS):
        linking.append(_seconds(linker.link, texts))
        reading.append([_seconds(reader.read, wanted) for reader in readers])
    alone = min(linking) / len(texts)
    each = len(wanted) / len(part.asked.texts)
    rows = [{"": "trees", "mentions/s": f"{1 / alone:,.0f}"}]
    for count, seconds in zip(layers, np.min(reading, axis=0) / len(wanted), strict=True):
        rows.append(
            {
                "": f"and {count} layers",
                "mentions/s": f"{1 / (alone + each * seconds):,.0f}",
                "mentions read": f"{100 * len(part.read) / len(part.asked.texts):.0f} %",
                "pairs a mention": f"{each:.1f}",
                "pairs/s": f"{1 / seconds:,.0f}",
                "MB": f"{(own / f'{count} layers.onnx').stat().st_size / 1e6:.1f}",
            }
        )
    return rows


def _seconds(run: Callable[[Sequence[str]], object], given: Sequence[str]) -> float:
    start = time.perf_counter()
    run(given)
    return time.perf_counter() - start
