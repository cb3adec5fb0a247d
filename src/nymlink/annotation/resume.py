"""Resume an annotation that was killed: a journal says how far it came.

A format of text is written into a partial file, whose length is written down; what was written behind that is
cut off. Of a binary format the rows are kept in such a file, and written when all are there. Of a folder of files
those of the last documents are written anew.
"""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self, TextIO, cast

from nymlink.core.errors import InputError, OutputError
from nymlink.core.json_files import member
from nymlink.core.store.atomic import atomic_file, locked_file, output_errors
from nymlink.linking.writers import LINK_FORMATS
from nymlink.linking.writers.link_columns import RowWriter
from nymlink.linking.writers.link_files import TEXT_ERRORS, open_target, open_writer
from nymlink.linking.writers.writer import LinksInfo, LinkWriter, Target


@dataclass(frozen=True, slots=True)
class Journal:
    """A small file beside the output of a run, there until all is done.

    Attributes:
        path: the file.
        partial: what the run has written so far: a file or a folder.
        made_of: what the run depends on, as JSON values: a run with other values is not gone on with.
    """

    path: Path
    partial: Path
    made_of: Mapping[str, Any]

    @classmethod
    def beside(cls, output: Path, made_of: Mapping[str, Any]) -> Self:
        """Make the journal of a run that writes to ``output``."""
        partial, path = (output.with_name(f"{output.name}.{end}") for end in ("partial", "progress.json"))
        return cls(path, partial, json.loads(json.dumps(made_of)))

    def note(self, documents: int, size: int) -> None:
        """Write down that so many documents are written, in so many bytes of a partial file."""
        with atomic_file(self.path) as partial:
            state = {"documents": documents, "bytes": size, "made_of": self.made_of}
            partial.write_text(json.dumps(state), encoding="utf-8")

    def read(self) -> tuple[int, int]:
        """Read how far an earlier run came: its documents and bytes; zeros where there is none.

        Raises:
            InputError: it was another run.
            OutputError: what it left is damaged.
        """
        try:
            state = json.loads(self.path.read_text(encoding="utf-8"))
            documents, size, before = (
                member(state, "documents", int),
                member(state, "bytes", int),
                member(state, "made_of", dict),
            )
            if self.partial.is_file() and self.partial.stat().st_size < size:
                raise ValueError("the partial file is shorter than written down")
            if documents and not self.partial.exists():
                raise ValueError("what it had written is not there")
        except FileNotFoundError:
            return 0, 0
        except (OSError, ValueError) as error:
            raise OutputError(
                f"cannot go on with the earlier run ({error}): run without --resume", path=self.path
            ) from error
        made_of = self.made_of
        if changed := sorted(name for name in {*before, *made_of} if before.get(name) != made_of.get(name)):
            raise InputError(
                f"the earlier run had another {changed[0].replace('_', ' ')}: run without --resume to begin anew",
                path=self.path,
            )
        return documents, size


_EVERY: Final = 500
"""Documents after which it is written down how far a run has come."""


@dataclass(slots=True)
class ResumableLinks:
    """Links that are written document by document, and take their place when all is done.

    Attributes:
        writer: writes them.
        done: documents that an earlier run has written; they are to be passed over.
    """

    writer: LinkWriter
    done: int
    _note: Callable[[int], None]
    _written: int = field(init=False)

    def __post_init__(self) -> None:
        self._written = self.done

    def document_written(self) -> None:
        """Count a document that was written in full."""
        self._written += 1
        if self._written % _EVERY == 0:
            self._note(self._written)


@contextmanager
def resumable_links(
    path: Path, format: str, info: LinksInfo, made_of: Mapping[str, Any], *, resume: bool
) -> Iterator[ResumableLinks]:
    """Open a writer of links; beside the output are a partial one and a journal until all is done.

    Args:
        path: the file, or a folder that is empty or not there.
        format: name of a format that can be gone on with.
        info: what is known of the links.
        made_of: what the run depends on, as JSON values: a run with other values is not gone on with.
        resume: whether to go on with a run that was killed; without one, or without asking, from the beginning.

    Raises:
        InputError: the earlier run was of other input or with other settings.
        OutputError: the output cannot be written, or another run is writing it.
    """
    journal = Journal.beside(path, made_of)
    with output_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with locked_file(path, "annotation"), output_errors(path):
        done, size = journal.read() if resume else (0, 0)
        with _KEEPERS[LINK_FORMATS.get(format).target](path, format, info, journal, done, size) as links:
            yield links
        journal.path.unlink(missing_ok=True)


@contextmanager
def _keep_text(
    path: Path, format: str, info: LinksInfo, journal: Journal, done: int, size: int
) -> Iterator[ResumableLinks]:
    with _partial_file(journal, done, size) as out:
        # A writer writes its header when it is opened, which an earlier run has done.
        stream = _HeaderlessStream(out, begun=not done)
        writer = open_writer(format, cast(TextIO, stream), info)
        stream.begun = True
        yield ResumableLinks(writer, done, _noting(journal, out))
    os.replace(journal.partial, path)


@contextmanager
def _keep_rows(
    path: Path, format: str, info: LinksInfo, journal: Journal, done: int, size: int
) -> Iterator[ResumableLinks]:
    with open_target(path, format) as target:
        whole = cast(RowWriter, open_writer(format, target, info))
        with _partial_file(journal, done, size) as out:
            yield ResumableLinks(_KeptRows(out, info), done, _noting(journal, out))
        with open(journal.partial, encoding="utf-8") as lines:
            for line in lines:
                whole.add(tuple(json.loads(line)))
        whole.close()
    journal.partial.unlink()


@contextmanager
def _keep_folder(
    path: Path, format: str, info: LinksInfo, journal: Journal, done: int, size: int
) -> Iterator[ResumableLinks]:
    partial = journal.partial
    if not done and partial.exists():
        # Only what a run of ours has left is removed.
        if not journal.path.is_file():
            raise OutputError("this is in the way: remove it", path=partial)
        shutil.rmtree(partial)
    journal.note(done, size)
    partial.mkdir(exist_ok=True)
    yield ResumableLinks(open_writer(format, partial, info), done, lambda documents: journal.note(documents, 0))
    if path.is_dir():
        path.rmdir()
    os.replace(partial, path)


_Keep = Callable[[Path, str, LinksInfo, Journal, int, int], AbstractContextManager[ResumableLinks]]
_KEEPERS: Final[Mapping[Target, _Keep]] = {"text": _keep_text, "binary": _keep_rows, "folder": _keep_folder}


@contextmanager
def _partial_file(journal: Journal, done: int, size: int) -> Iterator[TextIO]:
    """Open the partial file behind what is written down; without that an earlier run counts for nothing."""
    if not done:
        journal.path.unlink(missing_ok=True)
    with open(journal.partial, "ab" if done else "wb") as file:
        file.truncate(size)
    with open(journal.partial, "a", encoding="utf-8", errors=TEXT_ERRORS, newline="") as out:
        yield out


def _noting(journal: Journal, out: TextIO) -> Callable[[int], None]:
    """Make the function that writes down how much of a file is written."""

    def note(documents: int) -> None:
        out.flush()
        os.fsync(out.fileno())
        journal.note(documents, os.fstat(out.fileno()).st_size)

    return note


class _KeptRows(RowWriter):
    """Keeps rows as lines of JSON."""

    def __init__(self, out: TextIO, info: LinksInfo) -> None:
        super().__init__(info)
        self._out = out

    def add(self, values: tuple[Any, ...]) -> None:
        self._out.write(json.dumps(values) + "\n")


class _HeaderlessStream(io.TextIOBase):
    """A stream to write to, which leaves out what a writer writes before it is ``begun``."""

    def __init__(self, out: TextIO, *, begun: bool) -> None:
        self._out = out
        self.begun = begun

    def write(self, text: str) -> int:
        return self._out.write(text) if self.begun else len(text)
