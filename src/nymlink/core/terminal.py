"""Messages and progress bars on standard error, and texts without control characters."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from tqdm import tqdm

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


# Matches control characters except line feed and tab; line and paragraph separators; bidirectional overrides; and
# lone surrogates, which stand for bytes that are not UTF-8.
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def escape_controls(text: str) -> str:
    r"""Replace control characters by their JSON escapes, for example ESC by ``\u001b``."""
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


class EscapingWriter(io.TextIOWrapper):
    """A text stream that writes through :func:`escape_controls`."""

    def write(self, text: str, /) -> int:
        super().write(escape_controls(text))
        return len(text)


@dataclass(slots=True)
class MessageStyle:
    """The messages of this process on standard error, as the command line chooses them.

    Attributes:
        quiet: leave out notes and progress bars; warnings and errors stay.
        verbose: write all problems of the input, messages of libraries, and the place of an error in the code.
        as_json: write each message as a line of JSON.
    """

    quiet: bool = False
    verbose: bool = False
    as_json: bool = False


STYLE: Final = MessageStyle()

Level = Literal["info", "notice", "warning", "error"]
"""Importance of a message. A ``notice`` is a warning whose text needs no label."""

_LABELS: Final = {"warning": "Warning: ", "error": "Error: "}


def tell(message: str, *, level: Level = "info", **fields: Any) -> None:
    """Write a message on standard error.

    Args:
        message: the message. As text it gets the label of its level ("Error: ").
        level: its importance. Messages of the level ``info`` are left out if the style is quiet.
        fields: further fields of the line of JSON. A file and a line also stand before the text.
    """
    if level == "info" and STYLE.quiet:
        return
    if STYLE.as_json:
        line = json_line(message, level=level, **fields)
    else:
        place = ":".join(str(fields[name]) for name in ("path", "line") if fields.get(name) is not None)
        line = escape_controls(f"{_LABELS.get(level, '')}{place and f'{place}: '}{message}")
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def json_line(message: str, *, level: str, **fields: Any) -> str:
    """Make a line of JSON with the time, the level and the message; fields of ``None`` are left out."""
    time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    given = {name: value for name, value in fields.items() if value is not None}
    level = "warning" if level == "notice" else level
    return json.dumps({"time": time, "level": level, "message": message, **given})


def no_bar(*, shown: bool = True) -> bool | None:
    """Return the argument ``disable`` of a bar of tqdm.

    Args:
        shown: whether to show the bar if standard error is a terminal.
    """
    # For tqdm, ``None`` means that the bar is disabled unless standard error is a terminal.
    return None if shown and not STYLE.quiet and not STYLE.as_json else True


T = TypeVar("T")


def track(work: Iterable[T], label: str, *, total: int | None = None, shown: bool = True) -> Iterator[T]:
    """Iterate over ``work`` with a progress bar.

    Args:
        work: the items.
        label: the label of the bar.
        total: the number of items, if ``work`` has no length.
        shown: whether to show the bar if standard error is a terminal.
    """
    disable = no_bar(shown=shown)
    # Making a bar that is never shown takes as long as linking a verbatim name.
    yield from work if disable else tqdm(work, label, total=total, disable=disable, leave=False)


_DELAY: Final = 2.0
"""Seconds until the bar appears."""
_SHOWN: Final = ContextVar("shown", default=False)


@contextlib.contextmanager
def show_read_progress(*, shown: bool = True) -> Iterator[None]:
    """Within the block, show a progress bar for each file whose reading takes more than two seconds.

    A context variable holds the setting, because files are opened deep inside the readers.

    Args:
        shown: whether to show bars if standard error is a terminal.
    """
    token = _SHOWN.set(shown)
    try:
        yield
    finally:
        _SHOWN.reset(token)


def open_raw(path: Path) -> io.FileIO:
    """Open a file for unbuffered reading. Within :func:`show_read_progress`, reading it shows a progress bar.

    Raises:
        OSError: it cannot be opened.
    """
    return _ProgressFile(path) if _SHOWN.get() else io.FileIO(path)


class _ProgressFile(io.FileIO):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        size = os.fstat(self.fileno()).st_size
        self._bar = tqdm(
            total=size, desc=path.name, unit="B", unit_scale=True, delay=_DELAY, leave=False, disable=no_bar()
        )

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        count = super().readinto(buffer)
        self._bar.update(count or 0)
        return count

    def close(self) -> None:
        # This is also called if opening the file failed.
        if hasattr(self, "_bar"):
            self._bar.close()
        super().close()
