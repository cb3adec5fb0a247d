"""Mappings between the concepts of vocabularies, as SSSOM tables state them.

SSSOM: https://mapping-commons.github.io/sssom/. A table (TSV or CSV) of one mapping a row, before it a block of
metadata in lines that begin with ``#``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from nymlink.core.delimited import delimiter_of, records
from nymlink.core.errors import InputError
from nymlink.core.files import read_lines, sha256
from nymlink.core.problems import Problems
from nymlink.vocabulary.readers.tables.header_rows import Row, header_rows

REQUIRED: Final = ("subject_id", "predicate_id", "object_id")
_METADATA: Final = re.compile(r"#\s?(?P<key>\w+):\s*(?P<value>.*\S)")
_NO_TERM: Final = "sssom:NoTermFound"

# Local names in small letters: predicates, and justifications below.
_EXACT: Final = frozenset({"exactmatch", "equivalentclass", "sameas"})
_INEXACT: Final = frozenset({"broadmatch", "narrowmatch", "closematch", "relatedmatch"})
_XREF: Final = frozenset({"hasdbxref"})
_SURE: Final = 0.8
_FOUND_BY_PROGRAM: Final = frozenset(
    {
        "lexicalmatching",
        "lexicalsimilaritythresholdmatching",
        "semanticsimilaritythresholdmatching",
        "structuralmatching",
        "instancebasedmatching",
    }
)


@dataclass(frozen=True, slots=True)
class Mapping:
    """One statement about two concepts.

    Attributes:
        subject_id: one concept.
        predicate_id: what it is to the other, as stated (``skos:exactMatch``).
        object_id: the other concept.
        negated: whether the statement is that this does *not* hold (``predicate_modifier`` is ``Not``).
        confidence: how sure it is, 0 to 1, or ``None`` where nothing is said.
        justification: how it was found (``semapv:ManualMappingCuration``).
        subject_label: a name of the one.
        object_label: a name of the other.
    """

    subject_id: str
    predicate_id: str
    object_id: str
    negated: bool = False
    confidence: float | None = None
    justification: str = ""
    subject_label: str = ""
    object_label: str = ""

    @property
    def is_exact(self) -> bool:
        """Whether the predicate is that both are the same (negated or not)."""
        return self._predicate in _EXACT

    @property
    def is_inexact(self) -> bool:
        """Whether the predicate is that both are near each other, but not the same."""
        return self._predicate in _INEXACT

    @property
    def is_xref(self) -> bool:
        """Whether the predicate says no more than a cross-reference does."""
        return self._predicate in _XREF

    @property
    def is_sure(self) -> bool:
        """Whether it can be relied on: its confidence is high or, where none is stated, a person made it."""
        if self.confidence is not None:
            return self.confidence >= _SURE
        return _local_name(self.justification) not in _FOUND_BY_PROGRAM

    @property
    def _predicate(self) -> str:
        return _local_name(self.predicate_id)


@dataclass(frozen=True, slots=True)
class MappingSet:
    """The mappings of one file.

    Attributes:
        file: file name as given (never a full path).
        mappings: in the order of the file.
        sha256: digest of the file.
        version: the release the file states, or ``None``.
        licence: the licence the file states, or ``None``.
    """

    file: str
    mappings: tuple[Mapping, ...]
    sha256: str = ""
    version: str | None = None
    licence: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Where the mappings come from and how many they are, without the mappings."""
        return {
            "file": self.file,
            "sha256": self.sha256,
            "version": self.version,
            "licence": self.licence,
            "mappings": len(self.mappings),
        }


def read_mappings(path: str | Path, *, problems: Problems | None = None) -> MappingSet:
    """Read an SSSOM table, plain or gzip.

    Args:
        path: the file.
        problems: told of each row that cannot be used, with its line number.

    Raises:
        InputError: the file cannot be read, is no SSSOM table, or holds no mapping that could be used.
    """
    path = Path(path)
    problems = problems if problems is not None else Problems()
    lines = read_lines(path, problems)
    metadata: dict[str, str] = {}
    header = ""
    for _, line in lines:
        if found := _METADATA.match(line):
            metadata.setdefault(found["key"], found["value"].strip("\"'"))
        elif line.strip() and not line.startswith("#"):
            header = line
            break
    headers = header_of(header)
    if not set(headers) >= set(REQUIRED):
        raise InputError(f"not an SSSOM table: its header must name the columns {', '.join(REQUIRED)}", path=path)
    delimiter = delimiter_of(header)
    rows = header_rows(lines, headers, delimiter=delimiter, required=REQUIRED, path=path, problems=problems)
    mappings = tuple(_mappings(rows, path, problems))
    if not mappings:
        raise InputError("no mapping that could be used", path=path)
    return MappingSet(
        file=os.fsencode(path.name).decode("utf-8", errors="replace"),
        mappings=mappings,
        sha256=sha256(path),
        version=metadata.get("mapping_set_version"),
        licence=metadata.get("license"),
    )


def header_of(line: str) -> list[str]:
    """The names of the columns, out of quotation marks where they are in such."""
    return [name.strip() for record in records([(1, line)], delimiter_of(line)) for name in record.fields]


def _mappings(rows: Iterator[Row], path: Path, problems: Problems) -> Iterator[Mapping]:
    for row in rows:
        if _NO_TERM in (row.get("subject_id"), row.get("object_id")):
            continue
        yield Mapping(
            subject_id=row.get("subject_id"),
            predicate_id=row.get("predicate_id"),
            object_id=row.get("object_id"),
            negated=row.get("predicate_modifier").lower() == "not",
            confidence=_confidence(row, path, problems),
            justification=row.get("mapping_justification"),
            subject_label=row.get("subject_label"),
            object_label=row.get("object_label"),
        )


def _confidence(row: Row, path: Path, problems: Problems) -> float | None:
    stated = row.get("confidence")
    if not stated:
        return None
    try:
        confidence = float(stated)
    except ValueError:
        confidence = -1.0
    if not 0 <= confidence <= 1:
        problems.repair(path, row.line, f"confidence {stated!r} is no number from 0 to 1: taken as not stated")
        return None
    return confidence


def _local_name(curie: str) -> str:
    """``skos:exactMatch``, or its full IRI → ``exactmatch``."""
    return re.split(r"[:/#]", curie)[-1].lower()
