"""Read vocabularies from files of any known format.

Unsupported syntaxes must be converted first: ROBOT reads every syntax of the OWL API, Jena's riot every syntax of
RDF. Python libraries for these syntaxes are not used: they lose the whole file at its first fault, and crash the
process if brackets are nested too deep.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError, UnknownFormatError
from nymlink.core.files import decoded_name, sha256
from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.core.store.ownership import MANIFEST
from nymlink.core.terminal import show_read_progress, track
from nymlink.vocabulary.concepts import FLAGS, ReadOptions, Source, unused_name
from nymlink.vocabulary.readers import VOCABULARY_FORMATS, VocabularyFormat
from nymlink.vocabulary.readers.tables.table import describe_table
from nymlink.vocabulary.tables import Tables, with_curies
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
        format: name of their format; ``None``: detected from the content. If the options name columns, a file of
            no known format is read as a table.
        options: options for the readers.
        problems: receives the faults of the input, also a source without names. If no source has names, this is
            rejected input, because nothing can be linked to the vocabulary.
        progress: whether to show progress when standard error is a terminal.

    Raises:
        InputError: no source is given, one cannot be read or holds no concept, no name is in the requested
            languages, or an option applies to none of the formats.
        UnknownNameError: there is no format of that name.

    Example:
        >>> from nymlink import read_vocabulary
        >>> vocabulary = read_vocabulary("diseases.obo")
        >>> len(vocabulary), vocabulary.name_count
        (61, 153)
    """
    options = options or ReadOptions()
    problems = problems if problems is not None else Problems()
    if not paths:
        raise InputError("no source is given: name at least one file")
    # No format recognises headers that only the caller knows.
    otherwise = "table" if options.columns else None
    sources = [
        (
            Path(path),
            find_format(VOCABULARY_FORMATS, Path(path), format, otherwise=otherwise, describe=_describe),
        )
        for path in paths
    ]
    _check_options(sources, options)
    parts: list[tuple[Source, Tables]] = []
    for path, reader in track(sources, "reading sources", shown=progress):
        with show_read_progress(shown=progress):
            tables = reader.read(path, options=options, problems=problems)
            tables = with_curies(tables, options.new_prefixes())
        # Return the memory that Arrow keeps after reading, for the next steps.
        pa.default_memory_pool().release_unused()
        source = Source(
            name=unused_name(_stem(path), [source.name for source, _ in parts]),
            format=reader.name,
            file=decoded_name(path),
            sha256=sha256(path) if path.is_file() else "",
            version=tables.version,
            licence=tables.licence,
            prefixes=tables.prefixes,
        )
        parts.append((source, tables))
    if options.languages is not None and not any(len(tables.names) for _, tables in parts):
        _check_languages(sources, options)
    _report_nameless(sources, [tables for _, tables in parts], options, problems)
    return Vocabulary.of(*parts, settings=options.to_dict())


def added_ids(vocabulary: Vocabulary) -> dict[str, list[str]]:
    """Return the ids that are only in a later source of a vocabulary: name of the source → its new ids."""
    concepts = vocabulary.columns.concepts
    labels = concepts["source"].cast(pa.string())
    found = {
        source.name: concepts["id"].filter(pc.equal(labels, source.name)).to_pylist()
        for source in vocabulary.sources[1:]
    }
    return {name: ids for name, ids in found.items() if ids}


def open_vocabulary(
    path: str | Path, *, options: ReadOptions | None = None, problems: Problems | None = None
) -> Vocabulary:
    """Open a vocabulary directory, or read a source in any known format, with options.

    Raises:
        StoreError: the vocabulary directory is damaged.
        InputError: the source cannot be read.
    """
    if (Path(path) / MANIFEST).is_file():
        return Vocabulary.load(path)
    try:
        return read_vocabulary(path, options=options, problems=problems)
    except UnknownFormatError as error:
        # The commands that call this have no option for the format.
        raise InputError(
            "not a vocabulary, and its format is not recognised: build the vocabulary first, with "
            "`nymlink vocab build --input-format …`",
            path=path,
        ) from error


def _describe(path: Path, head: str) -> str | None:
    return describe_syntax(path, head) or describe_table(head)


def _check_options(sources: Sequence[tuple[Path, VocabularyFormat]], options: ReadOptions) -> None:
    """Check that each option applies to the format of at least one source.

    Raises:
        InputError: an option applies to no source.
    """
    for name in options.format_specific():
        if not any(name in reader.options for _, reader in sources):
            able = " or ".join(known for known, reader in VOCABULARY_FORMATS if name in reader.options)
            path, reader = sources[0]
            raise InputError(
                f"{FLAGS[name]} applies to {able}, but this is {reader.name}: leave it out", path=path
            )


def _check_languages(sources: Sequence[tuple[Path, VocabularyFormat]], options: ReadOptions) -> None:
    """Check that sources without a name in the requested languages have no names at all, like lists of ids.

    Raises:
        InputError: they have names in other languages.
    """
    available: set[str] = set()
    for path, reader in sources:
        # Read again, so that readers need not keep count of the names they leave out.
        tables = reader.read(path, options=replace(options, languages=None), problems=Problems())
        available.update(pc.unique(tables.names["lang"]).to_pylist())
    if available:
        raise InputError(
            f"no name is in the requested languages ({', '.join(sorted(options.languages or ()))}); "
            f"the source has: {', '.join(sorted(available))}",
            path=sources[0][0],
        )


def _report_nameless(
    sources: Sequence[tuple[Path, VocabularyFormat]],
    tables: Sequence[Tables],
    options: ReadOptions,
    problems: Problems,
) -> None:
    """Report sources without names, such as lists of ids or mappings."""
    are_all = not any(len(part.names) for part in tables)
    for (path, reader), part in zip(sources, tables, strict=True):
        if len(part.names) or not len(part.concepts):
            continue
        message = f"none of its {len(part.concepts):,} concepts has a name that the format {reader.name} reads"
        if are_all:
            problems.reject(path, None, message, outcome="nothing can be linked to it")
        elif options.languages is None:
            problems.repair(path, None, message)


def _stem(path: Path) -> str:
    """Return the file name without endings: ``hp.obo.gz`` → ``hp``."""
    name = decoded_name(path.resolve())
    return name.removesuffix(".gz").split(".")[0] or name


_ROBOT: Final = "ROBOT (https://robot.obolibrary.org): `robot convert --input {file} --output {stem}.owl`"
_RIOT: Final = "Apache Jena (https://jena.apache.org): `riot --output=turtle {file} > {stem}.ttl`"


@dataclass(frozen=True, slots=True)
class _Syntax:
    """An unsupported syntax: its name, a pattern at the beginning of its files, a command to convert them."""

    name: str
    sign: re.Pattern[str]
    convert: str


_SYNTAXES: Final = (
    _Syntax(
        "OWL in Manchester syntax",
        re.compile(r"^[ \t]*+(?:Prefix:\s++[\w.-]*+:?\s*+<|Ontology:[ \t]*+(?:<|$)|Class:\s+\S)", re.MULTILINE),
        _ROBOT,
    ),
    _Syntax(
        "OWL/XML", re.compile(r"<(?:\w{1,20}:)?Ontology\s[^<>]{0,2000}http://www\.w3\.org/2002/07/owl#"), _ROBOT
    ),
    _Syntax(
        "KRSS",
        re.compile(r"^[ \t]*+\((?:define-(?:primitive-)?(?:concept|role)|implies|equivalent)\s", re.MULTILINE),
        _ROBOT,
    ),
    _Syntax("JSON-LD", re.compile(r'\A\s*+[\[{][^@]*+@(?:context|graph|id)"\s*+:'), _RIOT),
)


def describe_syntax(path: Path, head: str) -> str | None:
    """Name the unsupported syntax of an ontology, and the command that converts it.

    Args:
        path: the file.
        head: the beginning of its text.

    Returns:
        The syntax and the command; ``None`` if the text is in none of these syntaxes.
    """
    found = next((syntax for syntax in _SYNTAXES if syntax.sign.search(head)), None)
    if found is None:
        return None
    stem = path.with_name(path.name.removesuffix(".gz").rsplit(".", 1)[0] or path.name)
    command = found.convert.format(file=shlex.quote(str(path)), stem=shlex.quote(str(stem)))
    return f"{found.name} is not supported: convert it with {command}"
