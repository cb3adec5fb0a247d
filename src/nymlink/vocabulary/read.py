"""From source files to one vocabulary."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from nymlink.errors import InputError
from nymlink.files import sha256
from nymlink.formats import find_format
from nymlink.problems import Problems
from nymlink.progress import track
from nymlink.vocabulary.model import Source
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
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
        format: name of their format; told by content when ``None``.
        options: selections and hints.
        problems: gets what was wrong in the input.
        progress: whether to show which source is being read when standard error is a terminal.

    Raises:
        InputError: there is no source, or one cannot be read or holds no concept.
        UnknownNameError: there is no format of that name.
    """
    options = options or ReadOptions()
    problems = problems if problems is not None else Problems()
    if not paths:
        raise InputError("no source to read a vocabulary from")
    parts: list[tuple[Source, Tables]] = []
    for path in track([Path(path) for path in paths], "reading sources", shown=progress):
        reader = find_format(VOCABULARY_FORMATS, path, format)
        tables = reader.read(path, options=options, problems=problems)
        # Reading leaves much memory that Arrow keeps for later, and the next source or joining needs it elsewhere.
        pa.default_memory_pool().release_unused()
        source = Source(
            name=_unused(_stem(path), [source.name for source, _ in parts]),
            format=reader.name,
            file=_text(path.name),
            sha256=sha256(path) if path.is_file() else "",
            version=tables.version,
            licence=tables.licence,
        )
        parts.append((source, tables))
    return Vocabulary.of(*parts, settings=options.to_dict())


def _stem(path: Path) -> str:
    """``hp.obo.gz`` → ``hp``."""
    name = _text(path.resolve().name)
    return name.removesuffix(".gz").split(".")[0] or name


def _text(name: str) -> str:
    """A file name with what is not UTF-8 in it replaced, so that it can be written down."""
    return os.fsencode(name).decode("utf-8", errors="replace")


def _unused(name: str, taken: Sequence[str]) -> str:
    number = 2
    unused = name
    while unused in taken:
        unused = f"{name}-{number}"
        number += 1
    return unused
