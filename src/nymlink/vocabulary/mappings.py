"""Mappings between the concepts of vocabularies, read from SSSOM tables.

SSSOM (https://mapping-commons.github.io/sssom/) has two forms. One is a TSV or CSV table with one mapping per row,
after metadata in lines that begin with ``#``. The other is a JSON object with metadata and a list ``mappings``.
"""

from __future__ import annotations

import re
from collections import abc
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.core.files import decoded_name, read_head, read_lines, sha256
from nymlink.core.json_files import read_json
from nymlink.core.prefixes import Prefixes, read_curie_map
from nymlink.core.problems import Problems
from nymlink.tables.delimited import guess_delimiter, parse_records
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers.tables.header_rows import Row, header_rows

_REQUIRED: Final = ("predicate_id", "object_id")
_SUBJECTS: Final = ("subject_id", "subject_label")
"""Columns of which a row has at least one. A literal mapping has the label alone."""
_JSON: Final = re.compile(
    r'\s*\{(?=.*"(?:mappings|mapping_set_id|subject_id|mapping_set_version)"\s*:)', re.DOTALL
)
_METADATA: Final = re.compile(r"#\s?(?P<key>\w+):\s*+(?P<value>\S(?:.*\S)?)")
_NO_TERM: Final = "sssom:NoTermFound"

# Local names of predicates, and below of justifications, in lower case.
_EXACT: Final = frozenset({"exactmatch", "equivalentclass", "sameas"})
_INEXACT: Final = frozenset({"broadmatch", "narrowmatch", "closematch", "relatedmatch"})
_XREF: Final = frozenset({"hasdbxref"})
_RELIABLE: Final = 0.8
"""Confidence from which a mapping is reliable."""
_AUTOMATIC: Final = frozenset(
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
    """A mapping between two concepts.

    Attributes:
        subject_id: the first concept; empty for a literal mapping.
        predicate_id: its relation to the second, as stated (``skos:exactMatch``).
        object_id: the second concept.
        negated: whether the mapping states that the relation does *not* hold (``predicate_modifier`` is ``Not``).
        confidence: its confidence, 0 to 1, or ``None`` if not stated.
        justification: how it was found (``semapv:ManualMappingCuration``).
        subject_label: a name of the first concept.
        object_label: a name of the second concept.
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
        """Whether the predicate is one for concepts that are the same. The mapping may be negated."""
        return self._predicate in _EXACT

    @property
    def is_inexact(self) -> bool:
        """Whether the predicate states that both are related, but not the same."""
        return self._predicate in _INEXACT

    @property
    def is_xref(self) -> bool:
        """Whether the predicate is that of a cross-reference."""
        return self._predicate in _XREF

    @property
    def kind_of_name(self) -> str:
        """Kind that the label of the subject has as a name of the object: ``skos:broadMatch`` → ``"narrow"``."""
        if self.is_exact:
            return "exact"
        return {"broadmatch": "narrow", "narrowmatch": "broad"}.get(self._predicate, "related")

    @property
    def is_reliable(self) -> bool:
        """Whether its confidence is high; if it states none, whether it was not found automatically."""
        if self.confidence is not None:
            return self.confidence >= _RELIABLE
        return _local_name(self.justification) not in _AUTOMATIC

    @property
    def _predicate(self) -> str:
        return _local_name(self.predicate_id)


@dataclass(frozen=True, slots=True)
class MappingSet:
    """The mappings of one file.

    Attributes:
        file: the file name (never a full path).
        mappings: the mappings, in the order of the file.
        literals: literal mappings: their subject is a name without an id, and ``subject_id`` is empty.
        sha256: SHA-256 digest of the file.
        version: the version stated in the file, or ``None``.
        licence: the licence stated in the file, or ``None``.
        prefixes: the prefixes of ids that only the file declares, and their namespaces.
    """

    file: str
    mappings: tuple[Mapping, ...]
    literals: tuple[Mapping, ...] = ()
    sha256: str = ""
    version: str | None = None
    licence: str | None = None
    prefixes: abc.Mapping[str, str] = field(default_factory=dict, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the provenance and number of the mappings, without the mappings, as JSON values."""
        return {
            "file": self.file,
            "sha256": self.sha256,
            "version": self.version,
            "licence": self.licence,
            "mappings": len(self.mappings) + len(self.literals),
        }


def read_mappings(
    path: str | Path, *, options: ReadOptions | None = None, problems: Problems | None = None
) -> MappingSet:
    """Read SSSOM, a table or JSON, plain or gzip. Ids in known namespaces are written as CURIEs.

    Args:
        path: the file.
        options: options of readers; only those for prefixes are used.
        problems: receives a report of each row that cannot be used, with its line number.

    Raises:
        InputError: the file cannot be read, is not SSSOM, or has no row that can be used.
    """
    path = Path(path)
    problems = problems if problems is not None else Problems()
    read = _read_json if is_json(read_head(path)) else _read_table
    metadata, curie_map, rows = read(path, problems)
    prefixes = (options or ReadOptions()).new_prefixes()
    for name, namespace in curie_map.items():
        prefixes.declare(name, namespace)
    mappings = tuple(_mappings(rows, path, prefixes, problems))
    prefixes.report(path, problems)
    if not mappings:
        raise InputError("no usable mapping", path=path)
    return MappingSet(
        file=decoded_name(path),
        mappings=tuple(each for each in mappings if each.subject_id),
        literals=tuple(each for each in mappings if not each.subject_id),
        sha256=sha256(path),
        version=metadata.get("mapping_set_version"),
        licence=metadata.get("license"),
        prefixes=dict(prefixes.used),
    )


def is_json(head: str) -> bool:
    """Whether a text begins like SSSOM in JSON."""
    return _JSON.match(head) is not None


_Parts = tuple[dict[str, str], dict[str, str], Iterator[Row]]
"""Metadata, prefix → namespace, and rows of a file."""


def _read_json(path: Path, problems: Problems) -> _Parts:
    document = read_json(path, problems, instead="take the mappings as TSV")
    mappings = document.get("mappings") if isinstance(document, dict) else None
    if not isinstance(mappings, list):
        raise InputError("not SSSOM: there is no list of mappings", path=path)

    def rows() -> Iterator[Row]:
        for mapping in mappings:
            values = {key: str(value) for key, value in mapping.items()} if isinstance(mapping, dict) else {}
            missing = next((column for column in _REQUIRED if not values.get(column)), None)
            if missing is None:
                yield Row(None, values)
            else:
                problems.reject(path, None, f"a mapping without {missing}")

    return _texts(document), _texts(document.get("curie_map")), rows()


def _texts(value: Any) -> dict[str, str]:
    """Select the texts among the values of an object."""
    return {key: text for key, text in value.items() if isinstance(text, str)} if isinstance(value, dict) else {}


def _read_table(path: Path, problems: Problems) -> _Parts:
    lines = read_lines(path, problems)
    metadata: dict[str, str] = {}
    header = ""
    comments: list[str] = []
    for _, line in lines:
        comments += [line] if line.startswith("#") else []
        if match := _METADATA.match(line):
            metadata.setdefault(match["key"], match["value"].strip("\"'"))
        elif line.strip() and not line.startswith("#"):
            header = line
            break
    headers = parse_header(header)
    if not is_header(header):
        raise InputError(
            f"not an SSSOM table: its header must have the columns subject_id, {', '.join(_REQUIRED)}", path=path
        )
    delimiter = guess_delimiter(header)
    rows = header_rows(
        lines, headers, delimiter=delimiter, required=_REQUIRED, path=path, problems=problems, may_be_short=True
    )
    return metadata, read_curie_map(comments), rows


def is_header(line: str) -> bool:
    """Whether a line is the header of an SSSOM table."""
    headers = set(parse_header(line))
    return headers.issuperset(_REQUIRED) and not headers.isdisjoint(_SUBJECTS)


def parse_header(line: str) -> list[str]:
    """Parse the header of a table into column names, without quotation marks."""
    return [name.strip() for record in parse_records([(1, line)], guess_delimiter(line)) for name in record.fields]


def _mappings(rows: Iterator[Row], path: Path, prefixes: Prefixes, problems: Problems) -> Iterator[Mapping]:
    for row in rows:
        if _NO_TERM in (row.get("subject_id"), row.get("object_id")):
            continue
        if not any(map(row.get, _SUBJECTS)):
            problems.reject(path, row.line, "subject_id and subject_label are blank")
            continue
        yield Mapping(
            subject_id=prefixes.read(subject) if (subject := row.get("subject_id")) else "",
            predicate_id=row.get("predicate_id"),
            object_id=prefixes.read(row.get("object_id")),
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
        problems.repair(path, row.line, f"confidence {stated!r} is not a number from 0 to 1: read as not stated")
        return None
    return confidence


def _local_name(curie: str) -> str:
    """Return the local name of a CURIE or IRI in lower case: ``skos:exactMatch`` → ``exactmatch``."""
    return re.split(r"[:/#]", curie)[-1].lower()
