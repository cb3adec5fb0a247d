"""Linking in batches: one linker links the waiting mentions of many clients together."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from threading import Condition, Thread
from time import perf_counter
from typing import Final

from nymlink.core.errors import NymlinkError
from nymlink.corpus.documents import Document, Mention
from nymlink.index.index import Index
from nymlink.linking.calibration import DEPTH
from nymlink.linking.inputs import checked
from nymlink.linking.link import Link
from nymlink.linking.linker import Linker, cut
from nymlink.vocabulary.restriction import EVERYTHING, Restriction

_TOGETHER: Final = 256
"""Most mentions of a batch: more are hardly faster, and delay later requests."""

_SHARE: Final = 32
"""Fewest mentions of a request in a batch, if it has so many: fewer would need many batches."""

_PATIENCE: Final = 0.25
"""Longest wait for as many mentions as in the last batch, as a share of its time: clients with links ask again at
once, and large batches are cheaper."""


class OverloadedError(NymlinkError):
    """Too many mentions wait."""


class LinkTimeoutError(NymlinkError):
    """Links were not found in time."""

    @classmethod
    def of(cls, document: Document, seconds: float) -> LinkTimeoutError:
        """Make the error of a document."""
        return cls(f"{len(document.mentions):,} mentions were not linked within {seconds:g} seconds")


@dataclass(slots=True, eq=False)
class _Job:
    """A document to link.

    Attributes:
        document: the document with all its mentions.
        top_k: number of candidates of a mention.
        restriction: conditions on the names to link to.
        links: links of the first mentions.
        taken: number of mentions that are linked or in a batch.
        done: receives all links; cancelled if no client waits for them.
    """

    document: Document
    top_k: int
    restriction: Restriction = EVERYTHING
    links: list[Link] = field(default_factory=list)
    taken: int = 0
    done: Future[list[Link]] = field(default_factory=Future)

    @property
    def search(self) -> tuple[int, Restriction]:
        """Number of concepts to search, and the names to search; jobs of one search can share a batch."""
        return max(self.top_k, DEPTH), self.restriction

    @property
    def left(self) -> int:
        """Number of mentions not yet taken."""
        return len(self.document.mentions) - self.taken


@dataclass(frozen=True, slots=True)
class _Portion:
    """The mentions of a job in a batch."""

    job: _Job
    mentions: tuple[Mention, ...]

    @property
    def document(self) -> Document:
        return replace(self.job.document, mentions=self.mentions)


class BatchingLinker:
    """Links documents of many threads in a thread of its own.

    A batch has mentions of each waiting document in turn, so that long documents do not delay others. An error of
    one document does not affect others.

    Args:
        index: the index to link to.
        target_precision: as of :class:`~nymlink.linking.linker.Linker`.
        waiting_mentions: most waiting mentions.
    """

    def __init__(self, index: Index, *, target_precision: float | None = None, waiting_mentions: int) -> None:
        self._most = waiting_mentions
        self._linker = Linker(index, target_precision=target_precision)
        self._jobs: deque[_Job] = deque()
        self._changed = Condition()
        self._closed = False
        self._waiting = 0
        self._last = 1
        self._seconds = 0.0
        self._thread = Thread(target=self._work, name="linker", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Number of waiting mentions."""
        return self._waiting

    def link(
        self, document: Document, *, top_k: int = 1, restriction: Restriction = EVERYTHING, timeout: float
    ) -> list[Link]:
        """Link the mentions of a document, and wait for the links.

        Args:
            document: a text with mentions, or mentions alone.
            top_k: most candidates of a link.
            restriction: conditions on the names to link to.
            timeout: most seconds to wait.

        Raises:
            InputError: the offsets of a mention do not fit the text.
            OverloadedError: too many mentions wait.
            LinkTimeoutError: linking took too long.
        """
        links = self.submit(document, top_k=top_k, restriction=restriction)
        try:
            return links.result(timeout)
        except TimeoutError as error:
            links.cancel()
            raise LinkTimeoutError.of(document, timeout) from error

    def submit(
        self, document: Document, *, top_k: int = 1, restriction: Restriction = EVERYTHING
    ) -> Future[list[Link]]:
        """Start to link a document, as :meth:`link`; cancel the future to give up."""
        job = _Job(checked(document), top_k, restriction)
        if not document.mentions:
            job.done.set_result([])
            return job.done
        with self._changed:
            if self._closed:
                raise OverloadedError("the server is shutting down")
            if self._waiting + len(document.mentions) > self._most:
                raise OverloadedError(f"{self._waiting:,} mentions are waiting already")
            self._jobs.append(job)
            self._waiting += len(document.mentions)
            self._changed.notify()
        return job.done

    def end(self) -> None:
        """Accept no more mentions; the thread links the waiting ones and ends."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def close(self) -> None:
        """Link the waiting mentions, accept no more, and wait for the end of the thread."""
        self.end()
        self._thread.join()

    def _work(self) -> None:
        while portions := self._next_portions():
            started = perf_counter()
            self._link(portions)
            self._seconds = perf_counter() - started

    def _next_portions(self) -> list[_Portion]:
        """Wait for jobs, and take mentions of all jobs of the first one's search; none at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._waiting >= self._last, _PATIENCE * self._seconds)
            while not self._drop_given_up():
                if self._closed:
                    return []
                self._changed.wait()
            together = [job for job in self._jobs if job.search == self._jobs[0].search]
            share = max(_SHARE, _TOGETHER // len(together))
            portions: list[_Portion] = []
            room = _TOGETHER
            for job in together:
                # The mentions of a text tell what others mean.
                most = job.left if job.document.text else min(share, room)
                mentions = job.document.mentions[job.taken : job.taken + most]
                job.taken += len(mentions)
                room -= len(mentions)
                portions.append(_Portion(job, mentions))
                if room <= 0:
                    break
            served = {portion.job for portion in portions}
            left = [portion.job for portion in portions if portion.job.left]
            self._jobs = deque([job for job in self._jobs if job not in served] + left)
            self._last = sum(len(portion.mentions) for portion in portions)
            self._waiting -= self._last
            return portions

    def _drop_given_up(self) -> bool:
        """Drop cancelled jobs; return whether others are left."""
        self._waiting -= sum(job.left for job in self._jobs if job.done.cancelled())
        self._jobs = deque(job for job in self._jobs if not job.done.cancelled())
        return bool(self._jobs)

    def _link(self, portions: Sequence[_Portion]) -> None:
        """Link portions together; if that fails, one by one."""
        try:
            documents = (portion.document for portion in portions)
            most = max(portion.job.top_k for portion in portions)
            linked = list(
                self._linker.link_documents(documents, top_k=most, restriction=portions[0].job.restriction)
            )
        except Exception as error:
            if len(portions) == 1:
                self._fail(portions[0].job, error)
            else:
                for portion in portions:
                    self._link([portion])
            return
        for portion, links in zip(portions, linked, strict=True):
            job = portion.job
            job.links += [cut(link, job.top_k) for link in links]
            if len(job.links) == len(job.document.mentions) and job.done.set_running_or_notify_cancel():
                job.done.set_result(job.links)

    def _fail(self, job: _Job, error: Exception) -> None:
        """Report the failure of a job, and drop the rest of it."""
        with self._changed:
            self._waiting -= job.left
            job.taken = len(job.document.mentions)
            self._jobs = deque(other for other in self._jobs if other is not job)
        if job.done.set_running_or_notify_cancel():
            job.done.set_exception(error)
