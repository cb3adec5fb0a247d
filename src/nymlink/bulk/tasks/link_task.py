"""Link the mentions of tables and documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from nymlink.bulk.rows.row import Row
from nymlink.bulk.tasks.index_task import IndexTask
from nymlink.bulk.tasks.link_columns import LinkColumns
from nymlink.bulk.tasks.task import Answer, Work
from nymlink.corpus.model import Document, Mention
from nymlink.index.index import Index
from nymlink.linking.linker import Linker


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTask(IndexTask):
    """Links mentions to concepts; arguments are those of :class:`~nymlink.linking.linker.Linker`."""

    top_k: int = 1
    target_precision: float | None = None
    guesses: bool = True
    language: str | None = None

    command = "link"
    column = "mention"

    def open(self) -> Work:
        """Open the index and load its encoder.

        Raises:
            StoreError: the index is missing, damaged or of another version, or needs another encoder.
            InputError: the settings ask for what the index cannot give.
        """
        return _Linking(self)


class _Linking:
    def __init__(self, task: LinkTask) -> None:
        index = Index.load(task.index, encoder=task.encoder)
        # Now, and not at the first query: what is missing is to be said before any work.
        index.load_encoder()
        index.verify()
        self._linker = Linker(
            index,
            top_k=task.top_k,
            target_precision=task.target_precision,
            guesses=task.guesses,
            language=task.language,
        )
        self._columns = LinkColumns(annotated=False)
        self.schema = self._columns.schema
        self.identity: Mapping[str, Any] = {
            "index": task.index_digest,
            "settings": {**asdict(task), "index": None, "encoder": None},
        }

    def answers(self, rows: Sequence[Row]) -> Iterator[Answer]:
        for links in self._linker.link_documents(map(_document, rows)):
            yield self._columns.answer(links)


def _document(row: Row) -> Document:
    if row.mentions is not None:
        return Document(row.id or "", row.text, row.mentions)
    return Document(row.id or "", mentions=(Mention(row.text, language=row.language),))
