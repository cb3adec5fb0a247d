"""What has come of a file so far, and which file of the server's it is part of."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from nymlink.core.json_objects import member, record


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """What a server says of a file, to ask later whether it still has the same one (RFC 9110, section 8.8).

    Attributes:
        etag: its entity tag, or ``None``.
        modified: its date as the server writes it, or ``None``.
    """

    etag: str | None = None
    modified: str | None = None

    @property
    def strong(self) -> str | None:
        """What vouches for every byte, so that a download may go on where it broke off."""
        return self.etag if self.etag and not self.etag.startswith("W/") else self.modified


class Part:
    """A part file, with a note beside it of where it comes from. It outlives the process that began it.

    Args:
        path: where it lies.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._note = path.with_name(path.name + ".json")

    @property
    def size(self) -> int:
        """How many bytes have come."""
        return self.path.stat().st_size if self.path.exists() else 0

    def begin(self, url: str, stamp: Stamp) -> None:
        """Note which file is about to come, in place of what came before."""
        self.drop()
        self._note.write_text(json.dumps({"url": url, "stamp": asdict(stamp)}), encoding="utf-8")

    def stamp(self, url: str) -> Stamp | None:
        """What the server said of the file that has begun to come; ``None`` where nothing can be gone on from."""
        try:
            note = json.loads(self._note.read_text(encoding="utf-8"))
            stamp = record(Stamp, member(note, "stamp", dict))
        except (OSError, ValueError):
            return None
        return stamp if self.size and stamp.strong and note.get("url") == url else None

    def drop(self) -> None:
        """Remove it."""
        self._note.unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)
