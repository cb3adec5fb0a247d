"""The tables that readers return, and a builder that fills them concept by concept.

A reader of a small format (an ontology) uses :class:`TableBuilder`; a reader of a huge one (UMLS) makes the Arrow
tables itself, without a Python object per name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.core.prefixes import Prefixes, bare
from nymlink.vocabulary.concepts import KINDS, Source

_STRINGS: Final = pa.list_(pa.string())

CONCEPT_SCHEMA: Final = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("definition", pa.string()),
        pa.field("semantic_types", _STRINGS, nullable=False),
        pa.field("xrefs", _STRINGS, nullable=False),
        pa.field("parents", _STRINGS, nullable=False),
        pa.field("obsolete", pa.bool_(), nullable=False),
        pa.field("replaced_by", _STRINGS, nullable=False),
    ]
)
NAME_SCHEMA: Final = pa.schema(
    [
        pa.field("concept_id", pa.string(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field("lang", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
    ]
)
REDIRECT_SCHEMA: Final = pa.schema(
    [pa.field("old", pa.string(), nullable=False), pa.field("new", pa.string(), nullable=False)]
)


@dataclass(frozen=True, slots=True)
class Tables:
    """The content of one source, in columns.

    Attributes:
        concepts: :data:`CONCEPT_SCHEMA`, one row per concept.
        names: :data:`NAME_SCHEMA`, one row per name of a concept, in the order of the source.
        redirects: :data:`REDIRECT_SCHEMA`, alternate ids of live concepts (replacements of obsolete concepts are
            in ``concepts.replaced_by``).
        version: the version the source states, or ``None``.
        licence: the licence the source states, or ``None``.
        prefixes: the prefixes of ids that only the source declares, and their namespaces.
    """

    concepts: pa.Table
    names: pa.Table
    redirects: pa.Table
    version: str | None = None
    licence: str | None = None
    prefixes: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for table, schema in (
            (self.concepts, CONCEPT_SCHEMA),
            (self.names, NAME_SCHEMA),
            (self.redirects, REDIRECT_SCHEMA),
        ):
            if not table.schema.equals(schema):
                raise ValueError(f"table has schema\n{table.schema}\ninstead of\n{schema}")
            for column in schema:
                if not column.nullable and table[column.name].null_count:
                    raise ValueError(f"column {column.name!r} may not hold nulls")
        unknown = set(pc.unique(self.names["kind"]).to_pylist()) - set(KINDS)
        if unknown:
            raise ValueError(f"unknown kinds of names: {', '.join(sorted(unknown))}")


SourceTables = tuple[Source, Tables]
"""A source and its content."""


def with_common_prefixes(parts: Sequence[SourceTables]) -> list[SourceTables]:
    """Write the ids of all sources with the same prefixes, so that equal ids mean the same, and no others do.

    A namespace has the prefix with which it comes first, also in sources where it has none. A prefix that an
    earlier source declares for another namespace is not used: these ids are written as IRIs.
    """
    if len(parts) < 2 or not any(source.prefixes for source, _ in parts):
        return list(parts)
    names: dict[str, str] = {}
    owners: dict[str, str] = {}
    for source, _ in parts:
        for name, namespace in source.prefixes.items():
            if owners.setdefault(name.casefold(), bare(namespace)) == bare(namespace):
                names.setdefault(bare(namespace), name)
    contractions = [
        (f"^(?:https?://)?{re.escape(each)}([^\\s/#?]+)$", f"{name}:\\1") for each, name in names.items()
    ]
    result: list[SourceTables] = []
    for source, tables in parts:
        own = source.prefixes.items()
        expansions = [
            (f"^{re.escape(name)}:(.+)$", namespace.replace("\\", r"\\") + r"\1")
            for name, namespace in own
            if names.get(bare(namespace)) != name
        ]
        kept = {names[bare(namespace)]: namespace for _, namespace in own if bare(namespace) in names}
        written = _rewritten(tables, [*expansions, *contractions])
        result.append((replace(source, prefixes=kept), replace(written, prefixes=kept)))
    return result


def with_curies(tables: Tables, prefixes: Prefixes) -> Tables:
    """Write all ids that are IRIs in known namespaces as CURIEs."""

    def contract(column: pa.Array) -> pa.Array:
        is_iri = pc.match_substring(column, "://")
        if not pc.any(is_iri).as_py():
            return column
        codes = column.dictionary_encode()
        written = pa.array(list(map(prefixes.contract, codes.dictionary.to_pylist())), column.type)
        return written.take(codes.indices)

    tables = _with_ids(tables, contract)
    return replace(tables, prefixes={**tables.prefixes, **prefixes.used})


def _rewritten(tables: Tables, rules: Sequence[tuple[str, str]]) -> Tables:
    """Replace patterns in all ids, in this order: RE2 patterns, and replacements in which ``\\1`` is a group."""

    def rewrite(column: pa.Array) -> pa.Array:
        for pattern, replacement in rules:
            column = pc.replace_substring_regex(column, pattern, replacement)
        return column

    return _with_ids(tables, rewrite)


def _with_ids(tables: Tables, write: Callable[[pa.Array], pa.Array]) -> Tables:
    """Replace the columns of ids; ``write`` gets the values of a column without nulls."""

    def written(table: pa.Table, *names: str) -> pa.Table:
        for name in names:
            place, column = table.schema.get_field_index(name), table[name].combine_chunks()
            is_list = pa.types.is_list(column.type)
            old = column.flatten() if is_list else column
            new = write(old)
            if new is not old:
                if is_list:
                    sizes = pc.list_value_length(column).to_numpy(zero_copy_only=False)
                    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
                    new = pa.ListArray.from_arrays(pa.array(offsets), new, type=column.type)
                table = table.set_column(place, table.schema.field(place), new)
        return table

    return replace(
        tables,
        concepts=written(tables.concepts, "id", "xrefs", "parents", "replaced_by"),
        names=written(tables.names, "concept_id"),
        redirects=written(tables.redirects, "old", "new"),
    )


@dataclass(slots=True)
class _Concept:
    """A concept so far: its values, and its semantic types, xrefs, parents and replacements."""

    definition: str | None
    obsolete: bool
    lists: tuple[dict[str, None], ...]


def _list_array(lists: Sequence[Collection[str]]) -> pa.ListArray:
    """Make a column of lists of strings from one array of all strings, several times faster than Arrow does."""
    offsets = np.concatenate([[0], np.cumsum(np.fromiter(map(len, lists), np.int32, len(lists)))])
    values = pa.array(list(chain.from_iterable(lists)), pa.string())
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)


class TableBuilder:
    """A builder of tables that collects concepts, names and redirects one by one.

    A concept may be added several times: missing values are filled in, existing ones kept, and lists joined.
    Repeated names (same concept, text and language) are kept once, with the most reliable kind.
    """

    def __init__(self) -> None:
        self.version: str | None = None
        self.licence: str | None = None
        self.prefixes: Mapping[str, str] = {}
        self._concepts: dict[str, _Concept] = {}
        self._names: dict[tuple[str, str, str], str] = {}
        self._redirects: dict[tuple[str, str], None] = {}

    def __contains__(self, concept_id: str) -> bool:
        return concept_id in self._concepts

    def __len__(self) -> int:
        return len(self._concepts)

    def concept(
        self,
        concept_id: str,
        *,
        definition: str | None = None,
        semantic_types: Iterable[str] = (),
        xrefs: Iterable[str] = (),
        parents: Iterable[str] = (),
        obsolete: bool = False,
        replaced_by: Iterable[str] = (),
    ) -> None:
        """Add a concept, or further values of one added before."""
        # Dictionaries serve as ordered sets: no repeats, source order kept.
        lists = tuple(map(dict.fromkeys, (semantic_types, xrefs, parents, replaced_by)))
        known = self._concepts.get(concept_id)
        if known is None:
            self._concepts[concept_id] = _Concept(definition or None, obsolete, lists)
            return
        known.definition = known.definition or definition or None
        known.obsolete = known.obsolete or obsolete
        for own, added in zip(known.lists, lists, strict=True):
            own.update(added)

    def name(self, concept_id: str, text: str, *, lang: str = UNKNOWN_LANGUAGE, kind: str = "exact") -> None:
        """Add a name, with white space trimmed and collapsed; an empty name is ignored.

        Raises:
            ValueError: ``kind`` is not one of :data:`nymlink.vocabulary.concepts.KINDS`.
        """
        if kind not in KINDS:
            raise ValueError(f"unknown kind of name {kind!r}; known: {', '.join(KINDS)}")
        text = " ".join(text.split())
        if not text:
            return
        key = (concept_id, text, lang)
        known = self._names.get(key)
        if known is None or KINDS.index(kind) < KINDS.index(known):
            self._names[key] = kind

    def redirect(self, old: str, new: str) -> None:
        """Add an alternate id ``old`` of the concept ``new``."""
        if old != new:
            self._redirects[old, new] = None

    def build(self) -> Tables:
        """Return the tables collected so far."""
        rows = self._concepts.values()
        semantic_types, xrefs, parents, replaced_by = (
            _list_array([row.lists[place] for row in rows]) for place in range(4)
        )
        concepts = {
            "id": list(self._concepts),
            "definition": [row.definition for row in rows],
            "semantic_types": semantic_types,
            "xrefs": xrefs,
            "parents": parents,
            "obsolete": [row.obsolete for row in rows],
            "replaced_by": replaced_by,
        }
        names = {
            "concept_id": [key[0] for key in self._names],
            "text": [key[1] for key in self._names],
            "lang": [key[2] for key in self._names],
            "kind": list(self._names.values()),
        }
        redirects = {"old": [old for old, _ in self._redirects], "new": [new for _, new in self._redirects]}
        return Tables(
            concepts=pa.Table.from_pydict(concepts, schema=CONCEPT_SCHEMA),
            names=pa.Table.from_pydict(names, schema=NAME_SCHEMA),
            redirects=pa.Table.from_pydict(redirects, schema=REDIRECT_SCHEMA),
            version=self.version,
            licence=self.licence,
            prefixes=dict(self.prefixes),
        )
