"""Write links so that a run that was killed can go on: a partial file, and how far it is right."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TextIO, cast

from nymlink.core.errors import InputError, OutputError
from nymlink.core.json_objects import member
from nymlink.core.store.atomic import atomic_file, output_errors
from nymlink.linking.writers.files import TEXT_ERRORS

_EVERY: Final = 500
"""Documents after which it is written down how far a run has come."""


class _HeaderlessStream(io.TextIOBase):
    """A stream to write to; a writer writes its header when it is made, which an earlier run may have done.

    Args:
        out: where it is written.
        begun: whether to write; else it is left out.
    """

    def __init__(self, out: TextIO, *, begun: bool) -> None:
        self._out = out
        self.begun = begun

    def write(self, text: str) -> int:
        return self._out.write(text) if self.begun else len(text)


@dataclass(slots=True)
class ResumableFile:
    """A file that is written document by document, and takes its place when all is done.

    Attributes:
        out: the partial file.
        done: documents that an earlier run has written; they are to be passed over.
    """

    out: TextIO
    done: int
    _journal: Path
    _made_of: Mapping[str, Any]
    _stream: _HeaderlessStream = field(init=False)
    _written: int = field(init=False)

    def __post_init__(self) -> None:
        self._written = self.done
        self._stream = _HeaderlessStream(self.out, begun=not self.done)

    @property
    def stream(self) -> TextIO:
        """Stream for a writer: what it writes before :meth:`begin` is left out where an earlier run wrote it."""
        return cast(TextIO, self._stream)

    def begin(self) -> None:
        """Write what is written from now on: the first documents follow. A header before is of the earlier run."""
        self._stream.begun = True

    def document_written(self) -> None:
        """Count a document that was written in full."""
        self._written += 1
        if self._written % _EVERY == 0:
            self.note()

    def note(self) -> None:
        """Write down how far this run has come."""
        self.out.flush()
        os.fsync(self.out.fileno())
        state = {
            "documents": self._written,
            "bytes": os.fstat(self.out.fileno()).st_size,
            "made_of": self._made_of,
        }
        with atomic_file(self._journal) as partial:
            partial.write_text(json.dumps(state), encoding="utf-8")


@contextmanager
def resumable_file(path: Path, made_of: Mapping[str, Any], *, resume: bool) -> Iterator[ResumableFile]:
    """Open a file to write links to; beside it are a partial file and a journal until all is done.

    Args:
        path: the file.
        made_of: what the run depends on, as JSON values: a run with other values is not gone on with.
        resume: whether to go on with a run that was killed; without one, or without asking, from the beginning.

    Raises:
        InputError: the earlier run was of other input or with other settings.
        OutputError: the file cannot be written.
    """
    partial, journal = (path.with_name(f"{path.name}.{ending}") for ending in ("partial", "progress.json"))
    made_of = json.loads(json.dumps(made_of))
    done, size = _earlier(journal, partial, made_of) if resume else (0, 0)
    with output_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        journal.unlink(missing_ok=True) if not done else None
        with open(partial, "ab" if done else "wb") as file:
            file.truncate(size)
        with open(partial, "a", encoding="utf-8", errors=TEXT_ERRORS, newline="") as out:
            yield ResumableFile(out, done, journal, made_of)
        os.replace(partial, path)
        journal.unlink(missing_ok=True)


def _earlier(journal: Path, partial: Path, made_of: Mapping[str, Any]) -> tuple[int, int]:
    """Read how far an earlier run came: its documents and bytes; zeros where there is none.

    Raises:
        InputError: it was another run.
    """
    try:
        state = json.loads(journal.read_text(encoding="utf-8"))
        documents, size, before = (
            member(state, "documents", int),
            member(state, "bytes", int),
            member(state, "made_of", dict),
        )
        if partial.stat().st_size < size:
            raise ValueError("the partial file is shorter than written down")
    except FileNotFoundError:
        return 0, 0
    except (OSError, ValueError) as error:
        raise OutputError(
            f"cannot go on with the earlier run ({error}): run without --resume", path=journal
        ) from error
    if changed := sorted(name for name in {*before, *made_of} if before.get(name) != made_of.get(name)):
        raise InputError(
            f"the earlier run had another {changed[0].replace('_', ' ')}: run without --resume to begin anew",
            path=journal,
        )
    return documents, size
