"""Define what is done with the rows of a job: a task, which is sent to workers, and its work, which they open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from nymlink.bulk.rows.row import Row
from nymlink.core.errors import NymlinkError, OutputError, StoreError


@dataclass(frozen=True, slots=True)
class Answer:
    """What a row was answered with.

    Attributes:
        rows: values of the columns of the work: a row of the output each.
        mentions: how many mentions or names they are of.
        nil: how many of these mean no concept, or have a vector of zeros.
        error: why there is no answer; ``None`` where there is one.
    """

    rows: Sequence[tuple[Any, ...]] = ()
    mentions: int = 0
    nil: int = 0
    error: str | None = None


class Work(Protocol):
    """A task with all that it needs loaded.

    Attributes:
        schema: the columns of its answers.
        identity: what the answers depend on, as JSON values: the same for every worker of a job.
    """

    schema: pa.Schema
    identity: Mapping[str, Any]

    def answers(self, rows: Sequence[Row]) -> Iterator[Answer]:
        """Answer rows, in their order.

        Raises:
            Exception: one of them cannot be answered.
        """
        ...


class Task(Protocol):
    """Something to do with rows; can be pickled.

    Attributes:
        command: its name.
        column: the column of tables that is read unless another is named.
        unit: what is counted, in the plural.
        folders: folders that every worker must see.
    """

    @property
    def command(self) -> str: ...

    @property
    def column(self) -> str: ...

    @property
    def unit(self) -> str: ...

    @property
    def folders(self) -> tuple[str, ...]: ...

    def open(self) -> Work:
        """Load what the work needs, once for each worker.

        Raises:
            NymlinkError: something of it is missing, damaged or of no use.
        """
        ...


def answer_all(work: Work, rows: Sequence[Row]) -> list[Answer]:
    """Answer rows; those that cannot be answered say why, and take no other with them.

    Raises:
        NymlinkError: the work itself is damaged, or cannot be written.
        MemoryError: memory does not suffice.
    """
    usable = [row for row in rows if row.error is None]
    answered = iter(_answered(work, usable))
    return [next(answered) if row.error is None else Answer(error=row.error) for row in rows]


def _answered(work: Work, rows: Sequence[Row]) -> list[Answer]:
    try:
        return list(work.answers(rows))
    except (MemoryError, OutputError, StoreError):
        raise
    # Whatever a row does to a library of others, the rows beside it are answered.
    except Exception as error:
        if len(rows) == 1:
            return [Answer(error=_message(error))]
    # Halves, and halves of these: a row that fails costs a few calls more, not one for each row.
    middle = len(rows) // 2
    return _answered(work, rows[:middle]) + _answered(work, rows[middle:])


def _message(error: Exception) -> str:
    text = str(error).partition("\n")[0][:200]
    return text if isinstance(error, NymlinkError) else f"{type(error).__name__}: {text}"
