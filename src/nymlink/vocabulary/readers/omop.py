"""OMOP vocabularies as exported by Athena.

Tables: OMOP Common Data Model 5.4 (https://ohdsi.github.io/CommonDataModel/cdm54.html), read column by column with
Arrow. Only ``CONCEPT.csv`` is required; ``CONCEPT_SYNONYM``, ``CONCEPT_RELATIONSHIP`` and ``VOCABULARY`` are read
if present. Names of concepts are English; synonyms state their language.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError
from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.core.store.arrays import Array
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.column_files import (
    CODE,
    NUMBER,
    TEXT,
    distinct_pairs,
    group_lists,
    map_distinct,
    name_table,
    read_tsv,
)
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.tables import CONCEPT_SCHEMA, REDIRECT_SCHEMA, Tables

_STANDARD: Final = "S"
"""Value of standard_concept for concepts that are used in the tables of patients."""

INVALID: Final = frozenset({"U", "D"})
"""Values of invalid_reason for invalid rows: updated, deleted."""


def find_table(folder: Path, name: str) -> Path | None:
    """Find the file of a table (``CONCEPT``), plain or gzip."""
    endings = ("csv", "csv.gz")
    return next((path for ending in endings if (path := folder / f"{name}.{ending}").is_file()), None)


def read_table(
    folder: Path, name: str, columns: Mapping[str, pa.DataType], required: tuple[str, ...], problems: Problems
) -> Iterator[pa.Table]:
    """Read a table with :func:`~nymlink.vocabulary.readers.column_files.read_tsv`; nothing if it is missing."""
    file = find_table(folder, name)
    return iter(()) if file is None else read_tsv(file, columns, required=required, problems=problems)


def code_column(table: pa.Table, column: str) -> pa.ChunkedArray:
    """Encode a column of codes, with its blanks (read as null) as empty strings."""
    return pc.fill_null(table[column].cast(TEXT), "").dictionary_encode()


_ENGLISH: Final = "4180186"
_LANGUAGES: Final = {
    "Arabic": "ar",
    "Chinese": "zh",
    "Czech": "cs",
    "Danish": "da",
    "Dutch": "nl",
    "English": "en",
    "Finnish": "fi",
    "French": "fr",
    "German": "de",
    "Greek": "el",
    "Hebrew": "he",
    "Hungarian": "hu",
    "Italian": "it",
    "Japanese": "ja",
    "Korean": "ko",
    "Norwegian": "nb",
    "Polish": "pl",
    "Portuguese": "pt",
    "Romanian": "ro",
    "Russian": "ru",
    "Spanish": "es",
    "Swedish": "sv",
    "Thai": "th",
    "Turkish": "tr",
    "Ukrainian": "uk",
    "Vietnamese": "vi",
}


def language_concepts(table: pa.Table) -> Mapping[str, str]:
    """Map the concept_id of languages to BCP 47; their names are ``English language`` or ``English``."""
    rows = table.filter(map_distinct(code_column(table, "domain_id"), "Language".__eq__, bool))
    codes = {_ENGLISH: "en"}
    for id_, name in zip(rows["concept_id"].to_pylist(), rows["concept_name"].to_pylist(), strict=True):
        code = _LANGUAGES.get(name.removesuffix(" language"))
        if code is not None:
            codes[str(id_)] = code
    return codes


_RELATIONSHIP: Final = {
    "concept_id_1": NUMBER,
    "concept_id_2": NUMBER,
    "relationship_id": CODE,
    "invalid_reason": CODE,
}
_PARENT, _REPLACED, _NOTHING = "Is a", frozenset({"Maps to", "Concept replaced by"}), -1
_PREFIXES: Final = {"SNOMED": "SNOMEDCT", "MeSH": "MESH"}


class Relations:
    """Relations among the concepts of an export.

    Args:
        folder: folder of the export.
        ids: concept ids of OMOP.
        curies: the same ids as CURIEs.
        problems: receives broken rows.
    """

    def __init__(self, folder: Path, ids: pa.Array, curies: pa.Array, problems: Problems) -> None:
        self._count = len(ids)
        self._curies = curies
        pairs: dict[bool, list[tuple[Array, Array]]] = {True: [], False: []}
        for block in read_table(folder, "CONCEPT_RELATIONSHIP", _RELATIONSHIP, (), problems):
            valid = map_distinct(code_column(block, "invalid_reason"), lambda flag: flag not in INVALID, bool)
            names = code_column(block, "relationship_id")
            first = pc.index_in(block["concept_id_1"], ids).fill_null(_NOTHING).to_numpy()
            second = pc.index_in(block["concept_id_2"], ids).fill_null(_NOTHING).to_numpy()
            valid &= (first != _NOTHING) & (second != _NOTHING) & (first != second)
            for is_parent in (True, False):
                selected = (
                    map_distinct(names, _PARENT.__eq__ if is_parent else _REPLACED.__contains__, bool) & valid
                )
                pairs[is_parent].append((first[selected], second[selected]))
        self._parents, self._mapped = _joined(pairs[True]), _joined(pairs[False])

    def parents(self) -> pa.ListArray:
        """List the parents of each concept."""
        return self._lists(*self._parents)

    def retired(self, obsolete: Array, standard: Array) -> Array:
        """Whether each concept is obsolete, or is not standard and maps to a standard one: bool (C)."""
        sources, targets = self._mapped
        mapped = np.zeros(self._count, bool)
        mapped[sources[standard[targets] & ~obsolete[targets]]] = True
        return obsolete | (mapped & ~standard)

    def replacements(self, retired: Array) -> pa.ListArray:
        """List the replacements of each retired concept; empty lists for others."""
        sources, targets = self._mapped
        return self._lists(sources[retired[sources]], targets[retired[sources]])

    def successors(self, retired: Array) -> Array:
        """Find the row of the one concept that each retired concept is replaced by: int64 (C), -1 for none."""
        sources, targets = self._mapped
        chosen = retired[sources] & ~retired[targets]
        found = np.full(self._count, _NOTHING)
        found[sources[chosen]] = targets[chosen]
        found[np.bincount(sources[chosen], minlength=self._count) != 1] = _NOTHING
        return found

    def xrefs(self, table: pa.Table, retired: Array) -> pa.ListArray:
        """List the code of each concept, and what each concept that is not retired maps to."""
        sources, targets = self._mapped
        live = ~retired[sources]
        prefixes = map_distinct(code_column(table, "vocabulary_id"), lambda name: _prefix(name) + ":", object)
        codes = pc.fill_null(table["concept_code"], "")
        given = pc.not_equal(codes, "").to_numpy()
        codes = pc.binary_join_element_wise(pa.array(prefixes, TEXT), codes, "").filter(pa.array(given))
        values = pa.concat_arrays([codes.combine_chunks(), self._curies.take(pa.array(targets[live]))])
        owners = np.concatenate([np.flatnonzero(given), sources[live]])
        order = np.argsort(owners, kind="stable")
        return group_lists(owners[order], values.take(pa.array(order)), self._count)

    def _lists(self, owners: Array, values: Array) -> pa.ListArray:
        return group_lists(owners, self._curies.take(pa.array(values)), self._count)


def _joined(pairs: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    none = np.array([], np.int64)
    return distinct_pairs(
        np.concatenate([none, *(first for first, _ in pairs)]),
        np.concatenate([none, *(second for _, second in pairs)]),
    )


def _prefix(vocabulary: str) -> str:
    return _PREFIXES.get(vocabulary, vocabulary.replace(" ", "_"))


PREFIX: Final = "OMOP:"
_HEADER: Final = "concept_id\tconcept_name\tdomain_id\tvocabulary_id\t"
_CONCEPT: Final = {
    "concept_id": NUMBER,
    "concept_name": TEXT,
    "domain_id": CODE,
    "vocabulary_id": CODE,
    "standard_concept": CODE,
    "concept_code": TEXT,
    "invalid_reason": CODE,
}
_SYNONYM: Final = {"concept_id": NUMBER, "concept_synonym_name": TEXT, "language_concept_id": CODE}
_VOCABULARY: Final = {"vocabulary_id": TEXT, "vocabulary_version": TEXT}


def _recognises(path: Path, head: str) -> bool:
    if path.is_dir():
        return find_table(path, "CONCEPT") is not None
    header = head.lstrip().partition("\n")[0].lower().replace('"', "")
    return header.replace(",", "\t").startswith(_HEADER)


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read an export.

    Concepts with an invalid_reason are kept as obsolete, replaced by the concepts that they map to or that replace
    them. So are concepts that are not standard and map to a standard one of the export: OMOP writes standard ones
    into the tables of patients. If one concept replaces them, it gets their names as related ones. Live concepts
    get xrefs: their code in the source vocabulary. ``options.sources`` selects by vocabulary_id.
    """
    folder = path if path.is_dir() else path.parent
    file = path if path.is_file() else find_table(folder, "CONCEPT")
    if file is None:
        raise InputError("no CONCEPT.csv in the folder", path=path)
    languages = LanguageFilter(options)
    parts = list(read_tsv(file, _CONCEPT, required=("concept_name",), problems=problems))
    if not parts:
        raise InputError("no concept that could be used", path=file)
    table = pa.concat_tables(parts).unify_dictionaries().combine_chunks()
    keep = np.zeros(len(table), bool)
    keep[np.unique(table["concept_id"].to_numpy(), return_index=True)[1]] = True
    if options.sources is not None:
        keep &= map_distinct(table["vocabulary_id"], options.sources.__contains__, bool)
        if not keep.any():
            raise InputError(f"no concept of {', '.join(sorted(options.sources))}", path=file)
    langs = language_concepts(table)
    table = table.filter(pa.array(keep)).combine_chunks()
    ids = table["concept_id"].combine_chunks()
    curies = pc.binary_join_element_wise(PREFIX, ids.cast(TEXT), "")
    obsolete = map_distinct(code_column(table, "invalid_reason"), INVALID.__contains__, bool)
    standard = map_distinct(code_column(table, "standard_concept"), _STANDARD.__eq__, bool)
    relations = Relations(folder, ids, curies, problems)
    retired = relations.retired(obsolete, standard)
    return Tables(
        concepts=pa.table(
            {
                "id": curies,
                "definition": pa.nulls(len(ids), TEXT),
                "semantic_types": _semantic_types(table),
                "xrefs": relations.xrefs(table, retired),
                "parents": relations.parents(),
                "obsolete": retired,
                "replaced_by": relations.replacements(retired),
            },
            schema=CONCEPT_SCHEMA,
        ),
        names=name_table(
            _with_former(
                pa.concat_tables(_names(folder, table, ids, curies, langs, languages, problems)),
                curies,
                relations.successors(retired),
            ),
            languages,
        ),
        redirects=REDIRECT_SCHEMA.empty_table(),
        version=_version(folder, problems),
    )


def _semantic_types(table: pa.Table) -> pa.ListArray:
    domains = code_column(table, "domain_id").cast(TEXT).combine_chunks()
    rows = np.flatnonzero(pc.not_equal(domains, "").to_numpy(zero_copy_only=False))
    return group_lists(rows, domains.take(pa.array(rows)), len(table))


def _names(
    folder: Path,
    table: pa.Table,
    ids: pa.Array,
    curies: pa.Array,
    langs: Mapping[str, str],
    languages: LanguageFilter,
    problems: Problems,
) -> Iterator[pa.Table]:
    yield _name_rows(curies, table["concept_name"], pa.repeat("en", len(table)), "preferred")
    for block in read_table(folder, "CONCEPT_SYNONYM", _SYNONYM, ("concept_synonym_name",), problems):
        stated = map_distinct(
            code_column(block, "language_concept_id"),
            lambda id_: languages.default if id_ in ("", "0") else langs.get(id_, UNKNOWN_LANGUAGE),
            object,
        )
        owner = pc.index_in(block["concept_id"], ids)
        rows = _name_rows(curies.take(owner), block["concept_synonym_name"], pa.array(stated, TEXT), "exact")
        yield rows.filter(owner.is_valid())


def _with_former(names: pa.Table, curies: pa.Array, successors: Array) -> pa.Table:
    """Add the names of retired concepts to their successors."""
    row = pc.index_in(names["concept_id"], curies).to_numpy()
    heirs = successors[row]
    inherited = names.filter(pa.array(heirs != _NOTHING))
    owners = curies.take(pa.array(heirs[heirs != _NOTHING]))
    added = _name_rows(owners, inherited["name"], inherited["lang"], "related")
    return pa.concat_tables([names, added.cast(names.schema)])


def _name_rows(ids: pa.Array, names: pa.ChunkedArray, langs: pa.Array, kind: str) -> pa.Table:
    return pa.table({"concept_id": ids, "name": names, "lang": langs, "kind": pa.repeat(kind, len(names))})


def _version(folder: Path, problems: Problems) -> str | None:
    """Read the version of the export, in the row named None of VOCABULARY.csv."""
    for block in read_table(folder, "VOCABULARY", _VOCABULARY, (), problems):
        for name, version in zip(*(block[column].to_pylist() for column in _VOCABULARY), strict=True):
            if name == "None" and version:
                return str(version)
    return None


FORMAT: Final[VocabularyFormat] = Format(
    name="omop",
    description="OMOP vocabularies, Athena export (a folder with CONCEPT.csv)",
    recognises=_recognises,
    read=_read,
    options=frozenset({"sources"}),
)
