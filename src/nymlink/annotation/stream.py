"""Annotate a stream of documents as a job: in their order, in several processes, in parts that a later run keeps.

Documents are cut into shards as they come. Without a folder the links only go to the caller; with one each shard
is a part of the folder, too, and a later run takes its links from there.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from importlib.metadata import version
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import xxhash

from nymlink.annotation.annotator import Annotator
from nymlink.annotation.annotator_settings import AnnotatorSettings
from nymlink.core.environment import usable_cores
from nymlink.core.errors import InputError, OutputError
from nymlink.core.store.atomic import locked_file, output_errors
from nymlink.corpus.documents import Document, Mention
from nymlink.index.index import Index
from nymlink.jobs.engine import Engine, InProcess, WorkerEndedError
from nymlink.jobs.job_folder import JobFolder, Part, write_part
from nymlink.jobs.processes import Processes
from nymlink.linking.link import Candidate, Context, Domain, Link, Review
from nymlink.text.drugs import Drug
from nymlink.vocabulary.concepts import Name

_FEW: Final = 256
"""Documents that are annotated in this process, because others take a second or two to start."""

_LONG: Final = 1 << 20
"""Characters of a text that other processes are worth for."""

_SHARD_DOCUMENTS: Final = 64
_SHARD_CHARACTERS: Final = 1 << 18
"""Documents and characters of a shard at most."""

KIND: Final = "annotation"

Annotated = tuple[Document, list[Link]]


@contextmanager
def annotation_folder(output: Path, described: Mapping[str, Any], *, resume: bool) -> Iterator[KeptShards]:
    """Open the folder ``OUTPUT.partial`` with the parts of a run; it is removed when the block ends well.

    Args:
        output: what the run writes.
        described: what the run depends on, as JSON values.
        resume: whether to keep the parts of a run that was killed.

    Raises:
        InputError: the earlier run was of other input or with other settings.
        OutputError: the folder holds something else, cannot be written, or another run writes the output.
    """
    folder = JobFolder(
        output.with_name(f"{output.name}.partial"),
        KIND,
        ".jsonl",
        {"version of nymlink": version("nymlink"), **described},
        replace="run without --resume to begin anew",
    )
    if folder.path.exists() and not folder.path.is_dir():
        raise OutputError("this is in the way: remove it", path=folder.path)
    with output_errors(output):
        output.parent.mkdir(parents=True, exist_ok=True)
    with locked_file(output, KIND):
        with folder.opened(restart=not resume) as done:
            yield KeptShards(folder, done)
        folder.remove()


@dataclass(frozen=True, slots=True)
class KeptShards:
    """The parts of a run.

    Attributes:
        folder: where they are.
        done: the shards of an earlier run, each with the record of its part.
    """

    folder: JobFolder
    done: Mapping[int, Part]


def annotate_stream(
    annotator: Annotator,
    documents: Iterable[Document],
    *,
    processes: int | None = None,
    kept: KeptShards | None = None,
) -> Iterator[Annotated]:
    """Annotate documents as they come, in their order.

    Args:
        annotator: annotates them; other processes open its index again.
        documents: of any number.
        processes: how many processes; ``None`` for one a core. A few hundred documents are annotated in this one,
            and so are all of an index that is in memory only.
        kept: where each shard is written to as well; ``None`` for nowhere.

    Raises:
        InputError: a process ended before its work was done, again and again.
        OutputError: a part cannot be written.
    """
    count = usable_cores() if processes is None else processes
    handed: deque[_Shard] = deque()
    own = _Worker(annotator, None if kept is None else kept.folder)

    def done(engine: Engine, shards: Iterable[_Shard]) -> Iterator[Annotated]:
        order = _Order(annotator.index, annotator.settings, own.folder)
        with engine.started(order, own, ()) as workers:
            for report in workers.do(_noted(shards, handed)):
                shard = handed.popleft()
                if kept is not None and report.part is not None:
                    kept.folder.note(shard.number, report.part)
                yield from zip(shard.documents, report.links, strict=True)

    shards = _shards(documents, kept)
    first: list[_Shard] = []
    for shard in shards:
        if shard.is_kept and not first:
            yield from done(InProcess(), [shard])
            continue
        first.append(shard)
        alone = count < 2 or annotator.index.directory is None
        if alone or sum(map(len, map(attrgetter("documents"), first))) >= _FEW or _characters(first) >= _LONG:
            break
    else:
        alone = True
    try:
        yield from done(InProcess() if alone else Processes(count), chain(first, shards))
    except WorkerEndedError as error:
        raise InputError(
            f"a process that annotated ended early {error.tries} times, which too little memory does: use fewer "
            f"(--processes 1), or look at {handed[0].described}"
        ) from error


@dataclass(frozen=True, slots=True)
class _Shard:
    """Documents that follow each other.

    Attributes:
        number: place of the shard, from 0.
        documents: the documents.
        digest: of the documents; empty where no part is written.
        is_kept: whether an earlier run has annotated them.
    """

    number: int
    documents: Sequence[Document]
    digest: str = ""
    is_kept: bool = False

    @property
    def described(self) -> str:
        """Which documents these are, for a message."""
        return f"the {len(self.documents)} documents from {self.documents[0].id!r} on"


def _shards(documents: Iterable[Document], kept: KeptShards | None) -> Iterator[_Shard]:
    for number, batch in enumerate(_batches(documents)):
        if kept is None:
            yield _Shard(number, batch)
            continue
        digest, part = _digest(batch), kept.done.get(number)
        # Documents that have changed since are annotated again.
        yield _Shard(number, batch, digest, part is not None and part.facts.get("documents") == digest)


def _batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    batch: list[Document] = []
    characters = 0
    for document in documents:
        batch.append(document)
        characters += len(document.text)
        if len(batch) >= _SHARD_DOCUMENTS or characters >= _SHARD_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _characters(shards: Iterable[_Shard]) -> int:
    return sum(len(document.text) for shard in shards for document in shard.documents)


def _digest(documents: Iterable[Document]) -> str:
    hasher = xxhash.xxh3_128()
    for document in documents:
        hasher.update(repr((document.id, document.mentions, len(document.text))).encode("utf-8", "surrogatepass"))
        hasher.update(document.text.encode("utf-8", "surrogatepass"))
    return hasher.hexdigest()


def _noted(shards: Iterable[_Shard], handed: deque[_Shard]) -> Iterator[_Shard]:
    """Keep the shards that are handed to workers, in their order, until they are reported."""
    for shard in shards:
        handed.append(shard)
        yield shard


@dataclass(frozen=True, slots=True)
class _Report:
    """Links of a shard.

    Attributes:
        shard: number of the shard.
        links: those of each document.
        part: record of the part that was written; ``None`` where none was.
    """

    shard: int
    links: Sequence[list[Link]]
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class _Order:
    """What a process needs to annotate."""

    index: Index
    settings: AnnotatorSettings
    folder: JobFolder | None

    def open(self) -> _Worker:
        return _Worker(Annotator(self.index, self.settings), self.folder)


@dataclass(frozen=True, slots=True)
class _Worker:
    """Annotates shards, and writes a part for each where there is a folder."""

    annotator: Annotator
    folder: JobFolder | None

    def do(self, shard: _Shard) -> _Report:
        if shard.is_kept and (kept := self._kept(shard)) is not None:
            return _Report(shard.number, kept)
        try:
            found = [links for _, links in self.annotator.annotate_documents(shard.documents)]
        except MemoryError as error:
            raise InputError(
                f"memory does not suffice for {shard.described}: use fewer (--processes 1), or divide them"
            ) from error
        if self.folder is None:
            return _Report(shard.number, found)
        lines = "".join(json.dumps(list(map(link_values, links))) + "\n" for links in found)
        part = write_part(
            self.folder.part(shard.number),
            lambda path: path.write_text(lines, encoding="utf-8"),
            {"documents": shard.digest},
        )
        return _Report(shard.number, found, part)

    def _kept(self, shard: _Shard) -> list[list[Link]] | None:
        """Read the part of an earlier run; ``None`` if that cannot be read."""
        assert self.folder is not None, "what is kept is in a folder"
        try:
            lines = self.folder.part(shard.number).read_text(encoding="utf-8").splitlines()
            links = [list(map(link_of, json.loads(line))) for line in lines]
        except (OSError, ValueError, TypeError, LookupError, RecursionError):
            return None
        return links if len(links) == len(shard.documents) else None


def _getter(cls: type) -> attrgetter[tuple[Any, ...]]:
    return attrgetter(*(field.name for field in fields(cls)))


_MENTION: Final = _getter(Mention)
_NAME: Final = _getter(Name)

_NESTED: Final[Mapping[str, type]] = {"context": Context, "review": Review, "drug": Drug, "domain": Domain}
"""Field of a link → the class of its value, whose fields are numbers, texts or lists of texts."""

_WRITTEN: Final = {"mention", "query", "candidates", "parts"}
_PLAIN: Final = tuple(each.name for each in fields(Link) if each.name not in {*_WRITTEN, *_NESTED})
"""Fields of a link with numbers, texts or lists of texts."""

_NESTED_VALUES: Final = {name: _getter(cls) for name, cls in _NESTED.items()}
_PLAIN_VALUES: Final = attrgetter(*_PLAIN)


def link_values(link: Link) -> list[Any]:
    """Write a link as JSON values from which :func:`link_of` makes the same link."""
    nested = ((getattr(link, name), values) for name, values in _NESTED_VALUES.items())
    return [
        _MENTION(link.mention),
        link.query,
        list(map(_candidate_values, link.candidates)),
        list(map(link_values, link.parts)),
        *(None if value is None else values(value) for value, values in nested),
        *_PLAIN_VALUES(link),
    ]


def _candidate_values(of: Candidate) -> tuple[Any, ...]:
    said = of.contradiction, of.relation, of.confidence
    return of.concept_id, of.concept_name, _NAME(of.matched), of.score, dict(of.parts), *said


def link_of(values: Sequence[Any]) -> Link:
    """Make a link of the values of :func:`link_values`.

    Raises:
        ValueError, TypeError, LookupError: they are not such values.
    """
    mention, query, candidates, parts, *others = values
    nested, plain = others[: len(_NESTED)], others[len(_NESTED) :]
    given: dict[str, Any] = dict(zip(_PLAIN, map(_as_tuple, plain), strict=True))
    for (field, cls), value in zip(_NESTED.items(), nested, strict=True):
        given[field] = None if value is None else cls(*map(_as_tuple, value))
    return Link(
        _mention_of(*mention),
        query,
        tuple(
            Candidate(concept_id, name, Name(*matched), score, scores, *said)
            for concept_id, name, matched, score, scores, *said in candidates
        ),
        tuple(map(link_of, parts)),
        **given,
    )


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _mention_of(
    text: str,
    start: int | None,
    end: int | None,
    type: str,
    concept_ids: list[str],
    parts: list[str],
    prepared: bool,
    language: str | None,
    id: str | None,
    spans: list[list[int]],
    frequency: int,
) -> Mention:
    pieces = tuple((first, last) for first, last in spans)
    return Mention(
        text, start, end, type, tuple(concept_ids), tuple(parts), prepared, language, id, pieces, frequency
    )
