"""Link for many clients with one linker: what waits at the same time is linked together."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import lru_cache
from threading import Condition, Thread
from typing import Final

from nymlink.core.errors import NymlinkError
from nymlink.corpus.model import Document, Mention
from nymlink.index.index import Index
from nymlink.linking.inputs import checked
from nymlink.linking.linker import Linker
from nymlink.linking.model import Link

_TOGETHER: Final = 256
"""Mentions linked together: more are hardly faster, and hold up those that come meanwhile."""


class OverloadedError(NymlinkError):
    """More mentions wait than the server takes."""


class LinkTimeoutError(NymlinkError):
    """Links that were not found in time."""


@dataclass(slots=True, eq=False)
class _Job:
    """A document to link.

    Attributes:
        document: with all its mentions.
        top_k: candidates of a mention.
        links: of its first mentions.
        taken: how many mentions are linked, or being so.
        done: gets all links.
        given_up: whether nobody waits for them any more.
    """

    document: Document
    top_k: int
    links: list[Link] = field(default_factory=list)
    taken: int = 0
    done: Future[list[Link]] = field(default_factory=Future)
    given_up: bool = False


@dataclass(frozen=True, slots=True)
class _Portion:
    """Mentions of a job that are linked together."""

    job: _Job
    mentions: tuple[Mention, ...]

    @property
    def document(self) -> Document:
        return replace(self.job.document, mentions=self.mentions)


class BatchingLinker:
    """Links documents that many threads ask for at the same time, in a thread of its own.

    The mentions that wait are linked together, some of each document in turn, so that a long one does not hold up
    the others. An error of one document does not reach the others.

    Args:
        index: what to link to.
        target_precision: as of a linker.
        waiting_mentions: how many mentions may wait.
    """

    def __init__(self, index: Index, *, target_precision: float | None = None, waiting_mentions: int) -> None:
        self._most = waiting_mentions
        self._linker = lru_cache(lambda top_k: Linker(index, top_k=top_k, target_precision=target_precision))
        self._linker(1)
        self._jobs: deque[_Job] = deque()
        self._changed = Condition()
        self._closed = False
        self._thread = Thread(target=self._work, name="linker", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many mentions wait."""
        with self._changed:
            return self._waiting()

    def link(self, document: Document, *, top_k: int = 1, timeout: float | None = None) -> list[Link]:
        """Link the mentions of a document; wait for it.

        Args:
            document: a text with mentions, or mentions alone.
            top_k: how many candidates a link has at most.
            timeout: seconds to wait at most.

        Raises:
            InputError: offsets are not those of a mention.
            OverloadedError: too many mentions wait.
            LinkTimeoutError: it took too long.
        """
        job = _Job(checked(document), top_k)
        if not document.mentions:
            return []
        with self._changed:
            waiting = self._waiting()
            if self._closed or waiting + len(document.mentions) > self._most:
                raise OverloadedError(
                    "the server is shutting down" if self._closed else f"{waiting:,} mentions are waiting already"
                )
            self._jobs.append(job)
            self._changed.notify()
        try:
            return job.done.result(timeout)
        except TimeoutError as error:
            job.given_up = True
            message = f"{len(document.mentions):,} mentions were not linked within {timeout:g} seconds"
            raise LinkTimeoutError(message) from error

    def close(self) -> None:
        """Link what waits, take nothing more, and end the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _waiting(self) -> int:
        return sum(len(job.document.mentions) - job.taken for job in self._jobs)

    def _work(self) -> None:
        while portions := self._next_portions():
            self._link(portions)

    def _next_portions(self) -> list[_Portion]:
        """Wait for jobs, and take mentions of each that wants as many candidates as the first; none at the end."""
        with self._changed:
            while not (jobs := [job for job in self._jobs if not job.given_up]):
                self._jobs.clear()
                if self._closed:
                    return []
                self._changed.wait()
            together = [job for job in jobs if job.top_k == jobs[0].top_k][:_TOGETHER]
            share = _TOGETHER // len(together)
            portions = []
            for job in together:
                mentions = job.document.mentions[job.taken : job.taken + share]
                job.taken += len(mentions)
                portions.append(_Portion(job, mentions))
            left = [job for job in together if job.taken < len(job.document.mentions)]
            served = set(together)
            self._jobs = deque([job for job in jobs if job not in served] + left)
            return portions

    def _link(self, portions: Sequence[_Portion]) -> None:
        """Link portions together, or one by one where that fails."""
        try:
            linker = self._linker(portions[0].job.top_k)
            linked = list(linker.link_documents(portion.document for portion in portions))
        except Exception as error:
            if len(portions) > 1:
                for portion in portions:
                    self._link([portion])
            elif not portions[0].job.done.done():
                portions[0].job.given_up = True
                portions[0].job.done.set_exception(error)
            return
        for portion, links in zip(portions, linked, strict=True):
            job = portion.job
            job.links += links
            if len(job.links) == len(job.document.mentions):
                job.done.set_result(job.links)
