"""A partial download: the bytes received so far, and the address and stamp of the file on the server."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from nymlink.core.json_objects import member, to_dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """The validators of a file on a server, which tell whether it has changed (RFC 9110, section 8.8).

    Attributes:
        etag: its entity tag (``ETag``), or ``None``.
        modified: its modification date (``Last-Modified``) as the server writes it, or ``None``.
    """

    etag: str | None = None
    modified: str | None = None

    @property
    def strong(self) -> str | None:
        """The validator for resuming a download: the entity tag, unless it is weak, else the date."""
        return self.etag if self.etag and not self.etag.startswith("W/") else self.modified


class PartialDownload:
    """A file of the bytes received so far, with a JSON note of their origin beside it; it outlives the process.

    Args:
        path: the path of the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._note = path.with_name(path.name + ".json")

    @property
    def size(self) -> int:
        """The number of bytes received."""
        return self.path.stat().st_size if self.path.exists() else 0

    def begin(self, url: str, stamp: Stamp) -> None:
        """Start a new download: remove the bytes received and note the origin."""
        self.remove()
        self._note.write_text(json.dumps({"url": url, "stamp": asdict(stamp)}), encoding="utf-8")

    def stamp(self, url: str) -> Stamp | None:
        """Return the stamp of the partial file; ``None`` where it cannot be resumed."""
        try:
            note = json.loads(self._note.read_text(encoding="utf-8"))
            stamp = to_dataclass(Stamp, member(note, "stamp", dict))
        except (OSError, ValueError):
            return None
        return stamp if self.size and stamp.strong and note.get("url") == url else None

    def remove(self) -> None:
        """Remove the file and its note."""
        self._note.unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)
