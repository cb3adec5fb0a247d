"""Find the mentions of texts, and link them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from nymlink.annotation.annotator import Annotator
from nymlink.annotation.settings import AnnotatorSettings
from nymlink.bulk.rows.row import Row
from nymlink.bulk.tasks.index_task import IndexTask
from nymlink.bulk.tasks.link_columns import LinkColumns
from nymlink.bulk.tasks.task import Answer, Work
from nymlink.corpus.model import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotateTask(IndexTask):
    """Finds mentions of the concepts of an index in texts.

    Attributes:
        settings: how mentions are found.
    """

    settings: AnnotatorSettings = field(default_factory=AnnotatorSettings)

    command = "annotate"
    column = "text"

    def open(self) -> Work:
        """Open the index, and the table of its names, from the cache of the machine or made anew.

        Raises:
            StoreError: the index is missing, damaged or of another version, or needs another encoder.
            UnknownNameError, InputError, MissingExtraError: the settings ask for what is not there.
        """
        return _Annotating(self)


class _Annotating:
    def __init__(self, task: AnnotateTask) -> None:
        self._annotator = Annotator.load(task.index, task.settings, encoder=task.encoder)
        self._annotator.index.verify()
        self._columns = LinkColumns(annotated=True)
        self.schema = self._columns.schema
        self.identity: Mapping[str, Any] = {
            "index": task.index_digest,
            "settings": asdict(task.settings),
        }

    def answers(self, rows: Sequence[Row]) -> Iterator[Answer]:
        documents = (Document(row.id or "", row.text, row.mentions or ()) for row in rows)
        for _, links in self._annotator.annotate_documents(documents):
            yield self._columns.answer(links)
