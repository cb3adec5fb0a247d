"""The tasks of bulk jobs: link, annotate, encode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import pyarrow as pa

from nymlink.annotation.annotator import Annotator
from nymlink.annotation.annotator_settings import AnnotatorSettings
from nymlink.bulk.row_formats import Row
from nymlink.core.errors import InputError, NymlinkError, OutputError, StoreError
from nymlink.core.files import sha256
from nymlink.core.store.ownership import MANIFEST
from nymlink.corpus.documents import Document, Mention
from nymlink.encode.backend import Precision
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.encoder_settings import Pooling
from nymlink.encode.model.folder import MINI
from nymlink.index.index import Index
from nymlink.linking.link import Link
from nymlink.linking.linker import Linker
from nymlink.linking.links import LINK_SCHEMA
from nymlink.linking.links import rows as link_rows
from nymlink.tables.cells import mention_fault
from nymlink.vocabulary.restriction import EVERYTHING, Restriction


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a row.

    Attributes:
        rows: values of the columns of the work, one tuple per row of the output.
        mentions: number of mentions or names.
        nil: number of NIL mentions, or of names with a vector of zeros.
        error: why there is no answer; ``None`` if there is one.
    """

    rows: Sequence[tuple[Any, ...]] = ()
    mentions: int = 0
    nil: int = 0
    error: str | None = None


class Work(Protocol):
    """A task with everything loaded.

    Attributes:
        schema: the columns of its answers, among them ``document_id`` or ``id`` for the id of the row.
        identity: what the answers depend on, as JSON values: the same for every worker of a job.
    """

    schema: pa.Schema
    identity: Mapping[str, Any]

    def answers(self, rows: Sequence[Row]) -> Iterator[Answer]:
        """Answer rows, in their order.

        Raises:
            Exception: a row cannot be answered.
        """
        ...


class Task(Protocol):
    """A task on rows; can be pickled.

    Attributes:
        command: its name.
        column: the default column of tables.
        unit: the noun of its counts, in the plural.
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
        """Load everything the work needs, once per worker.

        Raises:
            NymlinkError: something is missing, damaged or unusable.
        """
        ...


def answer_all(work: Work, rows: Sequence[Row]) -> list[Answer]:
    """Answer rows; a row that cannot be answered gets an error and does not affect others.

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
    # A row can raise any error in another library; the other rows are still answered.
    except Exception as error:
        if len(rows) == 1:
            return [Answer(error=_message(error))]
    # Halve repeatedly: a failing row costs a few more calls, not one per row.
    middle = len(rows) // 2
    return _answered(work, rows[:middle]) + _answered(work, rows[middle:])


def _message(error: Exception) -> str:
    text = str(error).partition("\n")[0][:200]
    return text if isinstance(error, NymlinkError) else f"{type(error).__name__}: {text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexTask:
    """A task that links mentions with an index.

    Attributes:
        index: the folder of the index.
        encoder: the place of the index's encoder, if it was moved.
    """

    index: str
    encoder: str | None = None

    unit = "mentions"

    @property
    def folders(self) -> tuple[str, ...]:
        return (self.index,)

    @property
    def index_digest(self) -> str:
        """Digest of the manifest of the index, which has the digests of all its files."""
        return sha256(Path(self.index) / MANIFEST)


def _answer(links: Sequence[Link]) -> Answer:
    """Make the answer of a row of its links, with the columns of ``LINK_SCHEMA``."""
    found = [tuple(row[name] for name in LINK_SCHEMA.names) for link in links for row in link_rows(link)]
    return Answer(found, len(links), sum(link.nil for link in links))


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTask(IndexTask):
    """Links mentions to concepts; arguments are those of :class:`~nymlink.linking.linker.Linker`."""

    top_k: int = 1
    target_precision: float | None = None
    guesses: bool = True
    language: str | None = None
    composites: Literal["given", "always"] = "given"
    restriction: Restriction = EVERYTHING

    command = "link"
    column = "mention"

    def open(self) -> Work:
        """Open the index and load its encoder.

        Raises:
            StoreError: the index is missing, damaged or of another version, or needs another encoder.
            InputError: the settings do not suit the index.
        """
        return _Linking(self)


class _Linking:
    def __init__(self, task: LinkTask) -> None:
        index = Index.load(task.index, encoder=task.encoder)
        # Load the encoder now, not at the first query, so that errors come before any work.
        index.load_encoder()
        index.verify()
        self._linker = Linker(
            index,
            top_k=task.top_k,
            target_precision=task.target_precision,
            guesses=task.guesses,
            language=task.language,
            composites=task.composites,
            restriction=task.restriction,
        )
        self.schema = LINK_SCHEMA
        self.identity: Mapping[str, Any] = {
            "index": task.index_digest,
            "settings": {**asdict(task), "index": None, "encoder": None},
        }

    def answers(self, rows: Sequence[Row]) -> Iterator[Answer]:
        for links in self._linker.link_documents(map(_document, rows)):
            yield _answer(links)


def _document(row: Row) -> Document:
    """Make a document from a row.

    Raises:
        InputError: its mention is too long.
    """
    if row.mentions is not None:
        return Document(row.id or "", row.text, row.mentions)
    if (fault := mention_fault(row.text)) is not None:
        raise InputError(fault)
    return Document(row.id or "", mentions=(Mention(row.text, language=row.language),))


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
        """Open the index, and the table of its names from the cache of the machine, or make the table.

        Raises:
            StoreError: the index is missing, damaged or of another version, or needs another encoder.
            UnknownNameError, InputError, MissingExtraError: the settings cannot be met.
        """
        return _Annotating(self)


class _Annotating:
    def __init__(self, task: AnnotateTask) -> None:
        self._annotator = Annotator.load(task.index, task.settings, encoder=task.encoder)
        self._annotator.index.verify()
        self.schema = LINK_SCHEMA
        self.identity: Mapping[str, Any] = {
            "index": task.index_digest,
            "settings": asdict(task.settings),
        }

    def answers(self, rows: Sequence[Row]) -> Iterator[Answer]:
        documents = (Document(row.id or "", row.text, row.mentions or ()) for row in rows)
        for _, links in self._annotator.annotate_documents(documents):
            yield _answer(links)


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodeTask:
    """Encodes names; arguments are those of :meth:`~nymlink.encode.encoder.Encoder.load`.

    Attributes:
        encoder: an installed encoder, a folder, or the name of a model on the Hugging Face hub.
    """

    encoder: str = MINI
    backend: str | None = None
    precision: Precision | None = None
    device: str | None = None
    pooling: Pooling | None = None
    max_length: int | None = None

    command = "encode"
    column = "name"
    unit = "names"

    @property
    def folders(self) -> tuple[str, ...]:
        """The folder of the encoder, if it is one."""
        return (self.encoder,) if Path(self.encoder).is_dir() else ()

    def open(self) -> Work:
        """Load the encoder.

        Raises:
            InputError, StoreError, UnknownNameError, MissingExtraError: see
                :meth:`~nymlink.encode.encoder.Encoder.load`.
        """
        return _Encoding(self)


class _Encoding:
    def __init__(self, task: EncodeTask) -> None:
        self._encoder = Encoder.load(
            task.encoder,
            backend=task.backend,
            precision=task.precision,
            device=task.device,
            pooling=task.pooling,
            max_length=task.max_length,
        )
        vector = pa.list_(pa.float32(), self._encoder.width)
        self.schema = pa.schema([("id", pa.string()), ("name", pa.string()), ("vector", vector)])
        self.identity: Mapping[str, Any] = {
            "encoder": self._encoder.fingerprint,
            "settings": {"precision": self._encoder.network.precision},
        }

    def answers(self, rows: Sequence[Row]) -> Iterator[Answer]:
        if any(row.mentions is not None for row in rows):
            raise InputError("a document is no name: encode a table of names")
        vectors = self._encoder.encode([row.text for row in rows])
        for row, vector in zip(rows, vectors, strict=True):
            yield Answer([(row.id, row.text, vector)], 1, int(not vector.any()))
