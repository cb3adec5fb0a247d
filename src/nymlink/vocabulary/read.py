"""From source files to one vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError, UnknownFormatError
from nymlink.core.files import name_of, sha256
from nymlink.core.formats import find_format
from nymlink.core.problems import Problems
from nymlink.core.progress import track
from nymlink.core.read_progress import watched_reading
from nymlink.core.store.belongings import MANIFEST
from nymlink.vocabulary.model import Source, unused_name
from nymlink.vocabulary.options import FLAGS, ReadOptions
from nymlink.vocabulary.readers import VOCABULARY_FORMATS, VocabularyFormat
from nymlink.vocabulary.tables import Tables
from nymlink.vocabulary.vocabulary import Vocabulary


def read_vocabulary(
    *paths: str | Path,
    format: str | None = None,
    options: ReadOptions | None = None,
    problems: Problems | None = None,
    progress: bool = False,
) -> Vocabulary:
    """Read source files (any known format, plain or gzip) into one vocabulary.

    Args:
        paths: the sources, in order of precedence.
        format: name of their format; told by content when ``None``. Where the options name columns, a file of
            no known format is a table.
        options: selections and hints.
        problems: gets what was wrong in the input.
        progress: whether to show which source is being read when standard error is a terminal.

    Raises:
        InputError: there is no source, or one cannot be read or holds no concept, or no name in it is in the
            languages asked for, or something is asked for that no source's format has.
        UnknownNameError: there is no format of that name.
    """
    options = options or ReadOptions()
    problems = problems if problems is not None else Problems()
    if not paths:
        raise InputError("no source to read a vocabulary from")
    # Headers that only the caller can tell are recognised by no format.
    otherwise = "table" if options.columns else None
    sources = [
        (Path(path), find_format(VOCABULARY_FORMATS, Path(path), format, otherwise=otherwise)) for path in paths
    ]
    _check_heeded(sources, options)
    parts: list[tuple[Source, Tables]] = []
    for path, reader in track(sources, "reading sources", shown=progress):
        with watched_reading(shown=progress):
            tables = reader.read(path, options=options, problems=problems)
        # Reading leaves much memory that Arrow keeps for later, and the next source or joining needs it elsewhere.
        pa.default_memory_pool().release_unused()
        source = Source(
            name=unused_name(_stem(path), [source.name for source, _ in parts]),
            format=reader.name,
            file=name_of(path),
            sha256=sha256(path) if path.is_file() else "",
            version=tables.version,
            licence=tables.licence,
        )
        parts.append((source, tables))
    if options.languages is not None and not any(len(tables.names) for _, tables in parts):
        _check_languages(sources, options)
    return Vocabulary.of(*parts, settings=options.to_dict())


def open_vocabulary(path: str | Path, *, problems: Problems | None = None) -> Vocabulary:
    """A vocabulary that nymlink saved, or one read from a source in any known format.

    Raises:
        StoreError: the vocabulary directory is damaged.
        InputError: the source cannot be read.
    """
    if (Path(path) / MANIFEST).is_file():
        return Vocabulary.load(path)
    try:
        return read_vocabulary(path, problems=problems)
    except UnknownFormatError as error:
        # Who asks for this has no option that says the format.
        raise InputError(
            "neither a vocabulary nor a source whose format shows: build the vocabulary first, with "
            "`nymlink vocab build --format …`",
            path=path,
        ) from error


def _check_heeded(sources: Sequence[tuple[Path, VocabularyFormat]], options: ReadOptions) -> None:
    """See that nothing is asked for in vain: what holds for no format of the sources.

    Raises:
        InputError: something is.
    """
    for name in options.special():
        if not any(name in reader.heeds for _, reader in sources):
            able = " or ".join(known for known, reader in VOCABULARY_FORMATS if name in reader.heeds)
            path, reader = sources[0]
            raise InputError(f"{FLAGS[name]} is for {able}, and this is {reader.name}: leave it out", path=path)


def _check_languages(sources: Sequence[tuple[Path, VocabularyFormat]], options: ReadOptions) -> None:
    """See that sources that gave no name have none in any language (lists of equivalent ids, for example).

    Raises:
        InputError: they have names, in other languages than those asked for.
    """
    known: set[str] = set()
    for path, reader in sources:
        # Only sources that gave nothing are read again, so that others need not remember what they left out.
        everything = reader.read(path, options=replace(options, languages=None), problems=Problems())
        known.update(pc.unique(everything.names["lang"]).to_pylist())
    if known:
        asked = ", ".join(sorted(options.languages or ()))
        there = ", ".join(sorted(known))
        raise InputError(f"no name is left: languages asked for: {asked}; there are: {there}", path=sources[0][0])


def _stem(path: Path) -> str:
    """``hp.obo.gz`` → ``hp``."""
    name = name_of(path.resolve())
    return name.removesuffix(".gz").split(".")[0] or name
