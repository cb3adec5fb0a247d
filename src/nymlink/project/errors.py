"""What may be wrong with a project, beyond bad input."""

from __future__ import annotations

from typing import Any

from nymlink.core.errors import NymlinkError, OutputError, StoreError, UnknownNameError


class ProjectError(StoreError):
    """A project file that is missing, damaged, of a newer version, or none."""


class UnknownTermError(UnknownNameError):
    """A number that no term of the project has."""


class LockedError(NymlinkError):
    """A project file that another process writes to."""


class ReadOnlyError(NymlinkError):
    """A project in which nothing can be decided now: it was opened to read, or its vocabulary is not the same."""


class NotSavedError(OutputError):
    """Something could not be written: the disk is full, or not ours to write. What was saved before is kept."""


class ConflictError(NymlinkError):
    """A decision made on what is no longer so.

    Args:
        message: what was wrong, and what to do.
        present: the decision that there is now, as JSON values; ``None`` for none.
    """

    def __init__(self, message: str, present: dict[str, Any] | None) -> None:
        super().__init__(message)
        self.present = present
