"""OMOP standardised vocabularies as Athena exports them: a folder with ``CONCEPT.csv`` (tab-separated).

Tables: OMOP Common Data Model 5.4 (https://ohdsi.github.io/CommonDataModel/cdm54.html). Read column
by column with Arrow. Only ``CONCEPT.csv`` is required; ``CONCEPT_SYNONYM``, ``CONCEPT_RELATIONSHIP`` and
``VOCABULARY`` are read where they are present. Names of concepts are English; synonyms state their language.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError
from nymlink.core.formats import Format
from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.core.problems import Problems
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.columns.delimited import CODE, NUMBER, TEXT
from nymlink.vocabulary.readers.columns.groups import group_lists, map_distinct
from nymlink.vocabulary.readers.columns.name_rows import name_table
from nymlink.vocabulary.readers.columns.tsv import read_tsv
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.readers.omop.languages import language_concepts
from nymlink.vocabulary.readers.omop.relations import Relations
from nymlink.vocabulary.readers.omop.tables import INVALID, code_column, find_table, read_table
from nymlink.vocabulary.tables import CONCEPT_SCHEMA, REDIRECT_SCHEMA, Tables

PREFIX: Final = "OMOP:"
_HEADER: Final = "concept_id\tconcept_name\tdomain_id\tvocabulary_id\t"
_CONCEPT: Final = {
    "concept_id": NUMBER,
    "concept_name": TEXT,
    "domain_id": CODE,
    "vocabulary_id": CODE,
    "concept_code": TEXT,
    "invalid_reason": CODE,
}
_SYNONYM: Final = {"concept_id": NUMBER, "concept_synonym_name": TEXT, "language_concept_id": CODE}
_VOCABULARY: Final = {"vocabulary_id": TEXT, "vocabulary_version": TEXT}


def _recognises(path: Path, head: str) -> bool:
    if path.is_dir():
        return find_table(path, "CONCEPT") is not None
    return head.lstrip().lower().startswith(_HEADER)


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read an export.

    Concepts with an invalid_reason are kept as obsolete, replaced by the concepts that they map to or that replace
    them; live concepts have the standard concepts that they map to as xrefs, after the code of the source
    vocabulary. ``options.sources`` selects by vocabulary_id.
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
    relations = Relations(folder, ids, curies, problems)
    return Tables(
        concepts=pa.table(
            {
                "id": curies,
                "definition": pa.nulls(len(ids), TEXT),
                "semantic_types": _semantic_types(table),
                "xrefs": relations.xrefs(table, obsolete),
                "parents": relations.parents(),
                "obsolete": obsolete,
                "replaced_by": relations.replacements(obsolete),
            },
            schema=CONCEPT_SCHEMA,
        ),
        names=name_table(
            pa.concat_tables(_names(folder, table, ids, curies, langs, languages, problems)), languages
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


def _name_rows(ids: pa.Array, names: pa.ChunkedArray, langs: pa.Array, kind: str) -> pa.Table:
    return pa.table({"concept_id": ids, "name": names, "lang": langs, "kind": pa.repeat(kind, len(names))})


def _version(folder: Path, problems: Problems) -> str | None:
    """Read the version of the export, which VOCABULARY.csv has in the row named None."""
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
