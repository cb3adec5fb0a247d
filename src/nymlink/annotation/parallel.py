"""Annotate a stream of documents in several processes, in order and in constant memory."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from multiprocessing.connection import wait
from typing import Final

from nymlink.annotation.annotator import Annotator
from nymlink.annotation.annotator_settings import AnnotatorSettings
from nymlink.core.environment import usable_cores
from nymlink.core.errors import InputError
from nymlink.corpus.documents import Document
from nymlink.index.index import Index
from nymlink.linking.link import Link

_FEW: Final = 256
"""Documents that are annotated in this process: others take a second or two to start."""

_LONG: Final = 1 << 20
"""Characters of a text that other processes are worth for."""

_BATCH_DOCUMENTS: Final = 64
_BATCH_CHARACTERS: Final = 1 << 18
"""Documents and characters that are handed to a process at once."""

_WAITING: Final = 3
"""Batches for each process that are read ahead."""

Annotated = tuple[Document, list[Link]]


def annotate_stream(
    annotator: Annotator, documents: Iterable[Document], *, processes: int | None = None
) -> Iterator[Annotated]:
    """Annotate documents as they come, in their order.

    Args:
        annotator: annotates them; other processes open its index again.
        documents: of any number.
        processes: how many processes; ``None`` for one a core. A few hundred documents are annotated in this one,
            and so are all of an index that is in memory only.

    Raises:
        InputError: a process ended before its work was done.
    """
    processes = usable_cores() if processes is None else processes
    documents = iter(documents)
    if processes < 2 or annotator.index.directory is None:
        yield from annotator.annotate_documents(documents)
        return
    first = list(islice(documents, _FEW))
    if len(first) < _FEW and sum(len(document.text) for document in first) < _LONG:
        yield from annotator.annotate_documents(first)
        return
    # Not forked: threads of ONNX Runtime and Arrow would be missing in the copy.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        processes, mp_context=context, initializer=_open, initargs=(annotator.index, annotator.settings)
    ) as pool:
        try:
            yield from _in_order(pool, _batches(chain(first, documents)), processes * _WAITING)
        except BrokenProcessPool as error:
            raise InputError(
                "a process that annotated ended early, which too little memory does: use fewer (--processes 1)"
            ) from error
        except BaseException:
            # Whoever reads no further is not kept waiting.
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _in_order(pool: ProcessPoolExecutor, batches: Iterable[list[Document]], most: int) -> Iterator[Annotated]:
    waiting: deque[tuple[list[Document], Future[list[list[Link]]]]] = deque()
    for batch in batches:
        waiting.append((batch, pool.submit(_annotate, batch)))
        if len(waiting) >= most:
            yield from _result(*waiting.popleft())
    while waiting:
        yield from _result(*waiting.popleft())


def _result(batch: list[Document], future: Future[list[list[Link]]]) -> Iterator[Annotated]:
    return zip(batch, future.result(), strict=True)


def _batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    batch: list[Document] = []
    characters = 0
    for document in documents:
        batch.append(document)
        characters += len(document.text)
        if len(batch) >= _BATCH_DOCUMENTS or characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


_annotator: Annotator
"""The annotator of a process that others hand documents to."""


def _open(index: Index, settings: AnnotatorSettings) -> None:
    global _annotator
    # Ctrl-C is for the process that waits: it ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _annotator = Annotator(index, settings)


def _end_with_parent() -> None:
    """End this process when the one that started it is killed: it would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _annotate(documents: list[Document]) -> list[list[Link]]:
    return [links for _, links in _annotator.annotate_documents(documents)]
