"""The projects of a server, in one folder: each is opened once, and is this server's until its end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, RLock
from typing import Any, Final

from nymlink.core.errors import NymlinkError
from nymlink.project.errors import LockedError, ReadOnlyError
from nymlink.project.index_reference import ADVICE, IndexReference, IndexState
from nymlink.project.project import ENDING, Project
from nymlink.project.summary import short_summary
from nymlink.serve.errors import ProblemError
from nymlink.serve.projects.background import BackgroundLinking
from nymlink.serve.served import ServedIndex, ServedIndexes

_NAME: Final = re.compile(r"(?!\.)[A-Za-z0-9._-]{1,100}")


class ServedProject:
    """A project, the index that it is linked to, and its linking in the background.

    Attributes:
        name: of its file, without the ending.
        project: the project, opened to write.
        served: the index of its vocabulary; where none has it, that of its name; ``None`` where there is neither.
        index_state: whether the vocabulary is still the same.
        linking: its linking.
        learning: held while it learns.
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
        """Find the index of its vocabulary among those that are served."""
        wanted = self.project.index
        same = [served for served in indexes if served.vocabulary_digest == wanted.digest]
        named = [served for served in indexes if served.name == wanted.name]
        both = [served for served in same if served in named]
        self.served = next(iter([*both, *same, *named]), None)
        self.index_state = wanted.state(None if self.served is None else self.served.vocabulary_digest)

    def require_index(self) -> ServedIndex:
        """Return the index that it is linked to.

        Raises:
            ReadOnlyError: it is another one, or not here.
        """
        if self.served is None or self.index_state != "same":
            raise ReadOnlyError(ADVICE[self.index_state])
        return self.served

    def resume(self) -> None:
        """Go on linking after a start, where it can be."""
        if self.served is not None and self.index_state == "same":
            self.linking.resume()

    def describe_index(self) -> dict[str, Any]:
        """Describe the index that it is linked to, and whether that is here, as JSON values."""
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
        folder: where they are; made when the first is.
        indexes: what they are linked to.
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
        """Open a project, or find it opened.

        Raises:
            ProblemError: there is none of this name.
            ProjectError: its file is damaged, or of a newer version.
            LockedError: another process has it.
        """
        if not _NAME.fullmatch(name) or not (path := self._path(name)).is_file():
            raise ProblemError(404, "unknown_project", "there is no project of this name", "see GET /projects")
        with self._turn:
            if name not in self._open:
                self._require_open()
                self._open[name] = ServedProject(name, Project(path), self._indexes)
                self._open[name].resume()
            return self._open[name]

    def create(self, name: str, *, title: str, index: str | None) -> ServedProject:
        """Make a project.

        Raises:
            ProblemError: this is no name, there is such a project, or no such index.
            NotSavedError: it cannot be written.
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

    def summaries(self) -> Iterator[dict[str, Any]]:
        """Sum all projects up; of one that cannot be opened, say what is wrong."""
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
        """Open all projects, and go on linking where that was not finished."""
        for name in self.names():
            if self._closed.is_set():
                return
            with suppress(NymlinkError, ProblemError):
                self.named(name)

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
