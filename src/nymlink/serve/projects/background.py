"""Link the terms of a project in a thread, while reviewers decide what is linked already."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import Event, Lock, Thread
from typing import Final

from nymlink.core.errors import NymlinkError
from nymlink.corpus.model import Document, Mention
from nymlink.linking.model import Link
from nymlink.project.learning.learned import Learned, LearnedLinker
from nymlink.project.linking import Progress, count_progress, link_waiting
from nymlink.project.links import CANDIDATES
from nymlink.project.project import Project
from nymlink.serve.batching import LinkTimeoutError, OverloadedError
from nymlink.serve.served import ServedIndex

_PAUSE: Final = 1.0
"""Seconds to wait where the server has too much to do."""

_STOPPED: Final = "linking_stopped"
"""The property of a project whose linking was stopped on demand: a restart does not go on with it."""


class _StoppedError(Exception):
    """It was stopped while it waited for links."""


class BackgroundLinking:
    """Links the waiting terms of a project, through the linker that all requests share.

    Args:
        project: opened to write.
        index: gives the index that the project is linked to now, or raises ReadOnlyError.
    """

    def __init__(self, project: Project, index: Callable[[], ServedIndex]) -> None:
        self._project = project
        self._index = index
        self._turn = Lock()
        self._stop = Event()
        self._paused = 0
        self._thread: Thread | None = None
        self._rate: float | None = None
        self._problem: str | None = None

    @property
    def progress(self) -> Progress:
        """How far it is."""
        counted = count_progress(self._project)
        if self._thread is not None and self._thread.is_alive() and not self._stop.is_set():
            return replace(counted, state="linking", per_second=self._rate)
        if counted.state == "waiting" and self._project.property(_STOPPED):
            counted = replace(counted, state="stopped")
        return replace(counted, problem=self._problem)

    def resume(self) -> None:
        """Go on after a start, unless someone stopped it.

        Raises:
            ReadOnlyError: the index of the project is another one now, or not here.
        """
        if not self._project.property(_STOPPED):
            self._start()

    def go_on(self) -> None:
        """Go on, also where it was stopped; errors are those of :meth:`resume`."""
        self._index()
        if self._project.property(_STOPPED):
            self._project.set_property(_STOPPED, False)
        self._start()

    def cancel(self) -> None:
        """Stop it until someone goes on."""
        self._project.set_property(_STOPPED, True)
        self.end()

    def end(self) -> None:
        """Stop it until the next start; what is linked is saved."""
        with self._turn:
            self._wait_for_end()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Link nothing during the block, whoever asks for it: what is found is about to change."""
        with self._turn:
            self._paused += 1
            self._wait_for_end()
        try:
            yield
        finally:
            with self._turn:
                self._paused -= 1
            with suppress(NymlinkError):
                self.resume()

    def _wait_for_end(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _start(self) -> None:
        with self._turn:
            if self._paused or (self._thread is not None and self._thread.is_alive() and not self._stop.is_set()):
                return
            served = self._index()
            self._stop.clear()
            self._problem = self._rate = None
            self._thread = Thread(target=self._work, args=(served,), name="project-linking", daemon=True)
            self._thread.start()

    def _work(self, served: ServedIndex) -> None:
        try:
            link_waiting(self._project, self._link_of(served), stop=self._stop, report=self._report)
        except _StoppedError:
            pass
        except NymlinkError as error:
            self._problem = error.message

    def _report(self, done: int, seconds: float) -> None:
        self._rate = round(done / max(seconds, 1e-9), 1)

    def _link_of(self, served: ServedIndex) -> Callable[[Sequence[Mention]], Sequence[Link]]:
        """Link with what the project has learned; where that is nothing, through the linker that all share."""
        learned = Learned.of(self._project)
        if learned is not None:
            return LearnedLinker(served.index, learned, target_precision=served.target_precision).link

        def link(mentions: Sequence[Mention]) -> list[Link]:
            document = Document("", mentions=tuple(mentions))
            while not self._stop.is_set():
                try:
                    return served.link(document, top_k=CANDIDATES)
                except (OverloadedError, LinkTimeoutError):
                    self._stop.wait(_PAUSE)
            raise _StoppedError

        return link
