"""Write down how far a run has come, so that it can go on when it was killed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from nymlink.core.errors import InputError, OutputError
from nymlink.core.json_objects import member
from nymlink.core.store.atomic import atomic_file


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
