"""Link documents in several processes of this machine. The links are those of one process, in the same order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.problems import CollectedCounts
from nymlink.corpus.documents import Document
from nymlink.encode.batches import TruncationCounts
from nymlink.jobs.engine import WorkerEndedError
from nymlink.jobs.processes import Processes
from nymlink.linking.inputs import UnknownScripts
from nymlink.linking.link import Link
from nymlink.linking.linker import Linker
from nymlink.linking.several import SeveralLinkers

SHARD_DOCUMENTS: Final = 64
"""Documents that a process takes at a time."""

Linked = tuple[Document, Sequence[Link]]


def link_in_processes(
    linker: SeveralLinkers, documents: Iterable[Document], processes: int, *, shard: int = SHARD_DOCUMENTS
) -> Iterator[Linked]:
    """Link documents, and yield each with its links, in order.

    Each process opens the indexes again, and computes on one thread. Some documents are read ahead.

    Args:
        linker: links; its indexes are in folders, and it has no re-ranker.
        documents: any number of documents.
        processes: number of processes.
        shard: number of documents that a process takes at a time.

    Raises:
        InputError: an index is in memory only, the linker has a re-ranker, or a process ended early again and
            again.
    """
    waiting: deque[Sequence[Document]] = deque()

    def shards() -> Iterator[_Shard]:
        for number, some in enumerate(_batches(documents, shard)):
            waiting.append(some)
            yield _Shard(number, some)

    order = _Order(linker.linkers)
    try:
        with Processes(processes).started(order, _Worker(linker)) as workers:
            for report in workers.do(shards()):
                for counts in report.counts:
                    # The caller collects them for one warning.
                    counts.warn(stacklevel=1)
                yield from zip(waiting.popleft(), report.links, strict=True)
    except WorkerEndedError as error:
        raise InputError(
            f"a process that linked ended early {error.tries} times, which too little memory does: use fewer "
            f"(processes=1), or look at the mentions from {_first(waiting[0])!r} on"
        ) from error


def _batches(documents: Iterable[Document], size: int) -> Iterator[list[Document]]:
    batch: list[Document] = []
    for document in documents:
        batch.append(document)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def _first(documents: Sequence[Document]) -> str:
    return next((mention.text for document in documents for mention in document.mentions), "")


@dataclass(frozen=True, slots=True)
class _Shard:
    """Documents that follow each other; ``number`` is the place of the shard, from 0."""

    number: int
    documents: Sequence[Document]


@dataclass(frozen=True, slots=True)
class _Report:
    """Links of each document of a shard, and counts for warnings."""

    shard: int
    links: Sequence[Sequence[Link]]
    counts: Sequence[CollectedCounts]


@dataclass(frozen=True, slots=True)
class _Order:
    """What a process needs to link. A linker is pickled as the path of its index and its settings."""

    linkers: tuple[Linker, ...]

    def open(self) -> _Worker:
        return _Worker(SeveralLinkers(self.linkers))


@dataclass(frozen=True, slots=True)
class _Worker:
    linker: SeveralLinkers

    def do(self, shard: _Shard) -> _Report:
        counts = TruncationCounts(), UnknownScripts()
        with counts[0].collected(), counts[1].collected():
            links = [list(found) for found in self.linker.link_documents(shard.documents)]
        return _Report(shard.number, links, counts)
