"""Seal the file of a project while nobody has it open, so that damage is noticed before anything is believed.

SQLite checks how a file is built, not what is written in it: a term with a flipped bit is another term to it. The
seal is a digest of all bytes. It stands in the file, in a property whose value is replaced in place, and counts as
zeros for the digest. Beside it stands SQLite's count of changes: when that is another one, some program has
changed the file since, and the seal says nothing.
"""

from __future__ import annotations

import os
import re
import sqlite3
from pathlib import Path
from typing import Final

from nymlink.core.store.digests import digest

_MARK: Final = b"nymlink-seal:"
_DIGITS: Final = 32 + 8
_SEAL: Final = re.compile(_MARK + rb"([0-9a-f]{%d})" % _DIGITS)
_ZEROS: Final = b"0" * _DIGITS
_CHANGES: Final = slice(24, 28)
"""The bytes of a database that count its changes."""


def make_room(connection: sqlite3.Connection) -> None:
    """Add the place of the seal to a project that has none, in a transaction of its own.

    Raises:
        sqlite3.Error: it cannot be written.
    """
    connection.execute("INSERT OR IGNORE INTO property VALUES ('seal', ?)", ((_MARK + _ZEROS).decode(),))


def seal(path: Path) -> None:
    """Seal a file that nobody writes to.

    Raises:
        OSError: it cannot be written.
    """
    content = path.read_bytes()
    places = [match.start(1) for match in _SEAL.finditer(content)]
    if len(places) != 1:
        return
    [at] = places
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(_digits(content, at))
        file.flush()
        os.fsync(file.fileno())


def is_broken(path: Path) -> bool:
    """Whether a file that is sealed is another than the one that was.

    Raises:
        OSError: it cannot be read.
    """
    if _has_log(path):
        return False
    content = path.read_bytes()
    places = list(_SEAL.finditer(content))
    # With a log now, somebody began to write meanwhile.
    if len(places) != 1 or places[0][1] == _ZEROS or _has_log(path):
        return False
    found, expected = places[0][1], _digits(content, places[0].start(1))
    return found != expected and found[32:] == expected[32:]


def _digits(content: bytes, at: int) -> bytes:
    whole = digest(content[:at] + _ZEROS + content[at + _DIGITS :]).hex()
    return (whole + content[_CHANGES].hex()).encode()


def _has_log(path: Path) -> bool:
    """Whether changes are in a file beside it that are not in it yet."""
    return any(
        (log := path.with_name(f"{path.name}{ending}")).is_file() and log.stat().st_size
        for ending in ("-wal", "-journal")
    )
