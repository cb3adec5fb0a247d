"""Projects of a folder, with linking in the background."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Lock, RLock, Thread
from typing import Any, Final

from nymlink.core.errors import NymlinkError
from nymlink.corpus.documents import Document, Mention
from nymlink.linking.cells import split_mention
from nymlink.linking.link import Link
from nymlink.project.index_reference import ADVICE, IndexReference, IndexState
from nymlink.project.learned import Learned, LearnedLinker
from nymlink.project.links import CANDIDATES, Progress, count_progress, link_waiting
from nymlink.project.project import ENDING, Project
from nymlink.project.rows import LockedError, NotSavedError, ReadOnlyError
from nymlink.project.summary import short_summary
from nymlink.serve.batching import LinkTimeoutError, OverloadedError
from nymlink.serve.errors import ProblemError
from nymlink.serve.served import ServedIndex, ServedIndexes, labelled

_PAUSE: Final = 1.0
"""Seconds to wait for an overloaded server."""

_STOPPED: Final = "linking_stopped"
"""Property of a project with linking stopped by a user; a restart does not resume it."""


class _StoppedError(Exception):
    """Linking was stopped while it waited for links."""


class BackgroundLinking:
    """Links the waiting terms of a project, through the linker shared by all requests.

    Args:
        project: opened to write.
        index: returns the project's index, or raises ReadOnlyError.
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
        """Progress of the linking."""
        counted = count_progress(self._project)
        if self._thread is not None and self._thread.is_alive() and not self._stop.is_set():
            return replace(counted, state="linking", per_second=self._rate)
        if counted.state == "waiting" and self._project.property(_STOPPED):
            counted = replace(counted, state="stopped")
        return replace(counted, problem=self._problem)

    def resume(self) -> None:
        """Resume linking after a start, unless a user stopped it.

        Raises:
            ReadOnlyError: the project's index has changed, or is not served.
        """
        if not self._project.property(_STOPPED):
            self._start()

    def go_on(self) -> None:
        """Resume linking, even if a user stopped it; errors are those of :meth:`resume`."""
        self._index()
        if self._project.property(_STOPPED):
            self._project.set_property(_STOPPED, False)
        self._start()

    def cancel(self) -> None:
        """Stop linking until a user resumes it."""
        self._project.set_property(_STOPPED, True)
        self.end()

    def end(self) -> None:
        """Stop linking until the next start; links found so far are saved."""
        with self._turn:
            self._wait_for_end()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pause linking during the block, for changes that affect its results."""
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
        """Link with what the project has learned; otherwise through the shared linker."""
        learned, restriction = Learned.of(self._project), self._project.restriction
        if learned is not None:
            return LearnedLinker(
                served.index,
                learned,
                target_precision=served.target_precision,
                composites=self._project.composites,
                restriction=restriction,
            ).link

        def link(mentions: Sequence[Mention]) -> list[Link]:
            if self._project.composites == "always":
                mentions = [split_mention(mention, served.index.entries) for mention in mentions]
            document = Document("", mentions=tuple(mentions))
            while not self._stop.is_set():
                try:
                    return served.link(document, top_k=CANDIDATES, restriction=restriction)
                except (OverloadedError, LinkTimeoutError):
                    self._stop.wait(_PAUSE)
            raise _StoppedError

        return link


_RELATIVES: Final = 20
"""Most parents, and children, shown of a candidate."""


def describe_candidate(served: ServedIndex | None, candidate: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a candidate of a link, as JSON values.

    Args:
        served: the index; ``None`` if it is gone, to describe only the link's values.
        candidate: :meth:`nymlink.linking.link.Candidate.to_dict`.
    """
    concept_id, matched = candidate["concept_id"], candidate["matched"]
    shown = {
        "id": concept_id,
        "name": candidate["concept_name"],
        "matched": matched["text"],
        "language": matched["lang"],
        "kind": matched["kind"],
        "score": candidate["score"],
        "parts": candidate["parts"],
        "contradiction": candidate["contradiction"],
    }
    if served is None or concept_id not in served.vocabulary:
        return {**shown, "definition": None, "parents": [], "children": [], "children_count": 0, "obsolete": None}
    concept = served.vocabulary[concept_id]
    children = served.children.owners(concept_id)
    return {
        **shown,
        "definition": concept.definition,
        "parents": [labelled(served, parent) for parent in concept.parents[:_RELATIVES]],
        "children": [labelled(served, served.vocabulary.concept_id(row)) for row in children[:_RELATIVES]],
        "children_count": len(children),
        "obsolete": concept.obsolete,
    }


_NAME: Final = re.compile(r"(?!\.)[A-Za-z0-9._-]{1,100}")


class ServedProject:
    """A project, its index, and its linking in the background.

    Attributes:
        name: name of its file, without the ending.
        project: the project, opened to write.
        served: the index with its vocabulary, else the index with its name, else ``None``.
        index_state: whether the vocabulary is still the same.
        linking: its linking.
        learning: lock held while it learns.
    """

    def __init__(self, name: str, project: Project, indexes: ServedIndexes) -> None:
        self.name = name
        self.project = project
        self.linking = BackgroundLinking(project, self.require_index)
        self.learning = Lock()
        self.served: ServedIndex | None
        self.index_state: IndexState
        self.find_index(indexes)

    def find_index(self, indexes: ServedIndexes) -> None:
        """Find the project's index among the served ones."""
        wanted = self.project.index
        same = [served for served in indexes if served.vocabulary_digest == wanted.digest]
        named = [served for served in indexes if served.name == wanted.name]
        both = [served for served in same if served in named]
        self.served = next(iter([*both, *same, *named]), None)
        self.index_state = wanted.state(None if self.served is None else self.served.vocabulary_digest)

    def require_index(self) -> ServedIndex:
        """Return the project's index.

        Raises:
            ReadOnlyError: the index has changed, or is not served.
        """
        if self.served is None or self.index_state != "same":
            raise ReadOnlyError(ADVICE[self.index_state])
        return self.served

    def resume(self) -> None:
        """Resume linking after a start, if the index is unchanged."""
        if self.served is not None and self.index_state == "same":
            self.linking.resume()

    def describe_index(self) -> dict[str, Any]:
        """Describe the project's index and its state, as JSON values."""
        wanted = self.project.index
        return {
            "name": wanted.name,
            "served_as": None if self.served is None else self.served.name,
            "sources": wanted.sources,
            "state": self.index_state,
            "what_to_do": ADVICE.get(self.index_state),
        }

    def close(self) -> None:
        """Stop linking and close the file."""
        self.linking.end()
        self.project.close()


class ServedProjects:
    """All projects in a folder.

    Args:
        folder: their folder; made with the first project.
        indexes: the served indexes.
    """

    def __init__(self, folder: Path, indexes: ServedIndexes) -> None:
        self._folder = folder
        self._indexes = indexes
        self._open: dict[str, ServedProject] = {}
        self._turn = RLock()
        self._closed = Event()

    def names(self) -> list[str]:
        """List the names of all projects in the folder, sorted."""
        files = self._folder.glob(f"*{ENDING}") if self._folder.is_dir() else ()
        names = (path.name.removesuffix(ENDING) for path in files if path.is_file())
        return sorted(name for name in names if _NAME.fullmatch(name))

    def named(self, name: str) -> ServedProject:
        """Open a project once.

        Raises:
            ProblemError: unknown project.
            ProjectError: its file is damaged, or of a newer version.
            LockedError: another process has it open.
        """
        if not _NAME.fullmatch(name) or not (path := self._path(name)).is_file():
            raise ProblemError(404, "unknown_project", "there is no project of this name", "see GET /projects")
        with self._turn:
            if name not in self._open:
                self._require_open()
                # Before the file is opened, which locks it.
                _ = self._indexes.by_name
                self._open[name] = ServedProject(name, Project(path), self._indexes)
                self._open[name].resume()
            return self._open[name]

    def create(self, name: str, *, title: str, index: str | None) -> ServedProject:
        """Make a project.

        Raises:
            ProblemError: invalid name, existing project, or unknown index.
            NotSavedError: the project cannot be written.
        """
        if not _NAME.fullmatch(name):
            to_do = "use 1 to 100 letters, digits, '.', '_' and '-', and no '.' at the beginning"
            raise ProblemError(422, "invalid_name", "this is no name for a project", to_do)
        served = self._indexes.named(index)
        with self._turn:
            self._require_open()
            if self._path(name).exists():
                raise ProblemError(409, "project_exists", "there is a project of this name", "choose another name")
            reference = IndexReference.of(served.name, served.index)
            project = Project.create(self._path(name), index=reference, title=title)
            self._open[name] = ServedProject(name, project, self._indexes)
            return self._open[name]

    def delete(self, name: str) -> None:
        """Delete a project with its decisions.

        Raises:
            ProblemError: unknown project.
            NotSavedError: the file cannot be removed.
        """
        if name not in self.names():
            raise ProblemError(404, "unknown_project", "there is no project of this name", "see GET /projects")
        with self._turn:
            self._require_open()
            opened = self._open.pop(name, None)
            if opened is not None:
                opened.close()
            try:
                self._path(name).unlink(missing_ok=True)
            except OSError as error:
                raise NotSavedError(f"the project cannot be removed ({error.strerror})") from error

    def summaries(self) -> Iterator[dict[str, Any]]:
        """Summarise all projects; report the problem of a project that cannot be opened."""
        for name in self.names():
            problem, summed = None, {}
            try:
                opened = self.named(name)
                summed = short_summary(opened.project)
                problem = ADVICE.get(opened.index_state)
            except LockedError as error:
                problem = error.message
                with suppress(NymlinkError), Project(self._path(name), writes=False) as read:
                    summed = short_summary(read)
            except (NymlinkError, ProblemError) as error:
                problem = error.message if isinstance(error, NymlinkError) else error.problem.what
            empty = dict.fromkeys(("terms", "rows", "decided", "rows_decided", "created"))
            yield {"name": name, "title": name, "index": None, **empty, **summed, "problem": problem}

    def resume(self) -> None:
        """Open all projects, and continue unfinished linking."""
        for name in self.names():
            if self._closed.is_set():
                return
            with suppress(NymlinkError, ProblemError):
                self.named(name)

    def find_indexes(self) -> None:
        """Find the indexes of open projects among reloaded ones; linking goes on if the vocabulary is the same."""
        with self._turn:
            for opened in self._open.values():
                opened.linking.end()
                opened.find_index(self._indexes)
                with suppress(NymlinkError):
                    opened.resume()

    def close(self) -> None:
        """Stop linking, and close all files."""
        self._closed.set()
        with self._turn:
            for opened in self._open.values():
                opened.close()
            self._open.clear()

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{ENDING}"

    def _require_open(self) -> None:
        if self._closed.is_set():
            raise ProblemError(503, "shutting_down", "the server is shutting down", "send it again in a while")
