"""From sources to one vocabulary: fetched, read, joined by id, and merged where mappings are among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.progress import track
from nymlink.sources.cache import Fetched
from nymlink.sources.fetch import FetchOptions, fetch
from nymlink.sources.source import PublishedSource
from nymlink.vocabulary.mappings import MappingSet, read_mappings
from nymlink.vocabulary.merge.merge import merge
from nymlink.vocabulary.model import Source
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.tables import Tables
from nymlink.vocabulary.vocabulary import Vocabulary

Result = TypeVar("Result")


def fetch_all(
    sources: Sequence[PublishedSource],
    *,
    options: FetchOptions | None = None,
    problems: Problems,
    progress: bool = False,
) -> list[tuple[PublishedSource, Fetched]]:
    """The files of several sources. One that fails is reported and costs no other.

    Args:
        sources: which.
        options: where and how.
        problems: told of each source that failed.
        progress: whether to show progress when standard error is a terminal.

    Raises:
        InputError: none could be fetched.
        OutputError: the cache cannot be written.
    """

    def fetched(source: PublishedSource) -> tuple[PublishedSource, Fetched]:
        return source, fetch(source, options=options, problems=problems, progress=progress)

    files = _each(fetched, sources, problems, progress=progress)
    if not files:
        raise InputError("none of the sources could be fetched: see above")
    return files


def get_vocabulary(
    sources: Sequence[PublishedSource],
    *,
    options: FetchOptions | None = None,
    problems: Problems,
    progress: bool = False,
) -> Vocabulary:
    """One vocabulary of several sources, in order of precedence. One that fails is reported and costs no other.

    Concepts of the same id are joined. Where tables of mappings are among the sources, concepts that are the same
    are merged (:func:`nymlink.vocabulary.merge.merge.merge`).

    Args:
        sources: which, vocabularies and tables of mappings.
        options: where and how files are fetched.
        problems: told of each source that failed, and of what in the others could not be used.
        progress: whether to show progress when standard error is a terminal.

    Raises:
        InputError: there is no vocabulary among the sources, or none of those could be fetched and read.
        OutputError: the cache cannot be written.
    """
    if all(source.is_mappings for source in sources):
        raise InputError("mappings alone make no vocabulary: name one to merge along them")

    urls: dict[str, str] = {}

    def got(source: PublishedSource) -> tuple[Source, Tables] | MappingSet:
        file = fetch(source, options=options, problems=problems, progress=progress)
        urls[source.name] = file.url
        try:
            return _mappings(source, file, problems) if source.is_mappings else _part(source, file, problems)
        except InputError as error:
            raise InputError(
                f"{error.message}: remove the file to have it fetched again", path=file.path
            ) from error

    results = _each(got, sources, problems, progress=progress)
    mappings = [result for result in results if isinstance(result, MappingSet)]
    parts = [result for result in results if not isinstance(result, MappingSet)]
    if not parts:
        raise InputError("none of the vocabularies could be had: see above")
    if any(source.is_mappings for source in sources):
        vocabulary = merge([Vocabulary.of(part) for part in parts], mappings, progress=progress).vocabulary
    else:
        vocabulary = Vocabulary.of(*parts, settings=ReadOptions().to_dict())
    return Vocabulary(vocabulary.columns, vocabulary.sources, vocabulary.settings | {"urls": urls})


def _mappings(source: PublishedSource, file: Fetched, problems: Problems) -> MappingSet:
    found = read_mappings(file.path, problems=problems)
    return replace(found, licence=found.licence or source.licence)


def _part(source: PublishedSource, file: Fetched, problems: Problems) -> tuple[Source, Tables]:
    tables = VOCABULARY_FORMATS.get(source.format).read(file.path, options=ReadOptions(), problems=problems)
    tables = _own(tables, source.prefix)
    # Reading leaves much memory that Arrow keeps for later, and the next source needs it elsewhere.
    pa.default_memory_pool().release_unused()
    provenance = Source(
        name=source.name,
        format=source.format,
        file=file.path.name,
        sha256=file.sha256,
        version=tables.version,
        licence=tables.licence or source.licence,
    )
    return provenance, tables


def _own(tables: Tables, prefix: str) -> Tables:
    """What a source says of its own concepts."""

    def own(table: pa.Table, column: str) -> pa.Table:
        return table.filter(pc.starts_with(table[column], prefix))

    concepts = own(tables.concepts, "id")
    if not len(concepts):
        raise InputError(f"no id in it begins with {prefix}")
    return replace(
        tables, concepts=concepts, names=own(tables.names, "concept_id"), redirects=own(tables.redirects, "new")
    )


def _each(
    work: Callable[[PublishedSource], Result],
    sources: Sequence[PublishedSource],
    problems: Problems,
    *,
    progress: bool,
) -> list[Result]:
    """The results for those sources that give one; what is wrong with the others is reported.

    Raises:
        InputError: there is but one source, and it gives none.
    """
    results: list[Result] = []
    for source in track(sources, "getting sources", shown=progress):
        try:
            results.append(work(source))
        except InputError as error:
            if len(sources) == 1:
                raise
            problems.reject(error.path or source.name, None, error.message)
    return results
