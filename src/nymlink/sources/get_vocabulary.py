"""Make one vocabulary of published sources: download, read, join by id, and merge along mappings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError
from nymlink.core.prefixes import Prefixes
from nymlink.core.problems import Problems
from nymlink.core.terminal import track
from nymlink.sources.fetch import Fetched, FetchOptions, fetch
from nymlink.sources.source import PublishedSource
from nymlink.vocabulary.concepts import ReadOptions, Source
from nymlink.vocabulary.mappings import MappingSet, read_mappings
from nymlink.vocabulary.merge.merge import merge
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.subset import subset
from nymlink.vocabulary.tables import Tables, with_curies
from nymlink.vocabulary.vocabulary import Vocabulary

Result = TypeVar("Result")


def fetch_all(
    sources: Sequence[PublishedSource],
    *,
    options: FetchOptions | None = None,
    problems: Problems,
    progress: bool = False,
) -> list[tuple[PublishedSource, Fetched]]:
    """Get the files of several sources; a source that fails is reported and left out.

    Args:
        sources: the sources.
        options: the cache folder, and how to download.
        problems: receives a report of each source that failed.
        progress: whether to show progress when standard error is a terminal.

    Raises:
        InputError: no source could be downloaded.
        OutputError: the cache cannot be written.
    """

    def get_file(source: PublishedSource) -> tuple[PublishedSource, Fetched]:
        return source, fetch(source, options=options, problems=problems, progress=progress)

    files = _for_each(get_file, sources, problems, progress=progress)
    if not files:
        raise InputError("none of the sources could be downloaded: see above")
    return files


def get_vocabulary(
    sources: Sequence[PublishedSource],
    *,
    languages: Collection[str] = (),
    options: FetchOptions | None = None,
    problems: Problems | None = None,
    progress: bool = False,
) -> Vocabulary:
    """Make one vocabulary from several sources; a source that fails is reported and left out.

    Concepts with the same id are joined. With tables of mappings among the sources, equivalent concepts are merged
    (:func:`nymlink.vocabulary.merge.merge.merge`).

    Args:
        sources: vocabularies and tables of mappings, in order of precedence.
        languages: codes of the languages of names to keep; empty for all. Concepts without such a name are left
            out. :func:`nymlink.sources.catalogue.with_translations` adds the sources of translations.
        options: the cache folder, and how to download.
        problems: receives a report of each failed source, and the problems of the others.
        progress: whether to show progress when standard error is a terminal.

    Raises:
        InputError: no vocabulary is among the sources, none of them could be downloaded and read, or none has a
            name in one of the languages.
        OutputError: the cache cannot be written.
    """
    problems = problems if problems is not None else Problems()
    if all(source.is_mappings for source in sources):
        raise InputError("only mappings are named: name at least one vocabulary to merge along them")

    urls: dict[str, str] = {}

    def get_content(source: PublishedSource) -> tuple[Source, Tables] | MappingSet:
        file = fetch(source, options=options, problems=problems, progress=progress)
        urls[source.name] = file.url
        try:
            return _mappings(source, file, problems) if source.is_mappings else _part(source, file, problems)
        except InputError as error:
            raise InputError(
                f"{error.message}: remove the file to have it downloaded again", path=file.path
            ) from error

    results = _for_each(get_content, sources, problems, progress=progress)
    mappings = [result for result in results if isinstance(result, MappingSet)]
    parts = [result for result in results if not isinstance(result, MappingSet)]
    if not parts:
        raise InputError("none of the vocabularies could be downloaded and read: see above")
    if any(source.is_mappings for source in sources):
        vocabulary = merge([Vocabulary.of(part) for part in parts], mappings, progress=progress).vocabulary
    else:
        vocabulary = Vocabulary.of(*parts, settings=ReadOptions().to_dict())
    whole = Vocabulary(vocabulary.columns, vocabulary.sources, vocabulary.settings | {"urls": urls})
    return subset(whole, languages=languages) if languages else whole


def _mappings(source: PublishedSource, file: Fetched, problems: Problems) -> MappingSet:
    mappings = read_mappings(file.path, problems=problems)
    return replace(mappings, licence=mappings.licence or source.licence)


def _part(source: PublishedSource, file: Fetched, problems: Problems) -> tuple[Source, Tables]:
    tables = VOCABULARY_FORMATS.get(source.format).read(file.path, options=ReadOptions(), problems=problems)
    tables = _with_prefix(with_curies(tables, Prefixes()), source.prefix)
    # Return the memory that Arrow keeps after reading, for the next source.
    pa.default_memory_pool().release_unused()
    provenance = Source(
        name=source.name,
        format=source.format,
        file=file.path.name,
        sha256=file.sha256,
        version=tables.version,
        licence=tables.licence or source.licence,
        prefixes=tables.prefixes,
    )
    return provenance, tables


def _with_prefix(tables: Tables, prefix: str) -> Tables:
    """Restrict tables to the concepts whose ids begin with ``prefix``."""

    def restrict(table: pa.Table, column: str) -> pa.Table:
        return table.filter(pc.starts_with(table[column], prefix))

    concepts = restrict(tables.concepts, "id")
    if not len(concepts):
        raise InputError(f"no id in it begins with {prefix}")
    return replace(
        tables,
        concepts=concepts,
        names=restrict(tables.names, "concept_id"),
        redirects=restrict(tables.redirects, "new"),
    )


def _for_each(
    work: Callable[[PublishedSource], Result],
    sources: Sequence[PublishedSource],
    problems: Problems,
    *,
    progress: bool,
) -> list[Result]:
    """Apply ``work`` to each source and report failures.

    Returns:
        The results of the other sources.

    Raises:
        InputError: the only source fails.
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
