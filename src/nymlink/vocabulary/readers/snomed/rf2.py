"""SNOMED CT, Release Format 2 (RF2): a release folder, or its description file.

Read column by column with Arrow. Of each component the row of the latest effectiveTime counts, so that a snapshot
and the full history give the same. Meanings of files and ids: SNOMED CT Release File Specifications, chapters 4
and 5 (https://docs.snomed.org/). Only the description file is required.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError
from nymlink.core.formats import Format
from nymlink.core.problems import Problems
from nymlink.core.store.arrays import Array
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.columns.delimited import CODE, NUMBER, TEXT
from nymlink.vocabulary.readers.columns.groups import distinct_pairs, group_lists
from nymlink.vocabulary.readers.columns.name_rows import name_table
from nymlink.vocabulary.readers.columns.tsv import read_tsv
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.readers.snomed.names import FULLY_SPECIFIED, Descriptions, name_rows, split_tags
from nymlink.vocabulary.readers.snomed.release import Release, has_release, open_release
from nymlink.vocabulary.tables import CONCEPT_SCHEMA, REDIRECT_SCHEMA, Tables

PREFIX: Final = "SNOMEDCT:"
_LICENCE: Final = "SNOMED CT Affiliate License"
_HEADER: Final = "id\teffectiveTime\tactive\tmoduleId\tconceptId\tlanguageCode\ttypeId\tterm"
_IS_A: Final = 116680003
_REPLACEMENTS: Final = (900000000000526001, 900000000000527005)  # REPLACED BY, SAME AS

_COMPONENT: Final = {"id": NUMBER, "effectivetime": NUMBER, "active": CODE}
_MEMBER: Final = _COMPONENT | {"id": TEXT, "refsetid": NUMBER, "referencedcomponentid": NUMBER}
_DESCRIPTION: Final = _COMPONENT | {"conceptid": NUMBER, "languagecode": CODE, "typeid": NUMBER, "term": TEXT}
_RELATIONSHIP: Final = _COMPONENT | {"sourceid": NUMBER, "destinationid": NUMBER, "typeid": NUMBER}


def _recognises(path: Path, head: str) -> bool:
    if path.is_dir():
        return has_release(path)
    return head.lstrip().lower().startswith(_HEADER.lower())


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read a release.

    Inactive concepts are kept as obsolete, other inactive components are left out. Names are active descriptions;
    a fully specified name loses its semantic tag, which is the concept's semantic type. The preferred name is that
    of the language reference set: for English the US one, then the GB one. Asking for ``en-GB`` or ``en-US``
    rather than ``en`` gives the names of that dialect, labelled so.
    """
    languages = LanguageFilter(options)
    release = open_release(path)
    table = _latest(release["Description"], _DESCRIPTION, ("term", "languagecode"), problems)
    if table is None or not len(table):
        raise InputError("no description that could be used", path=path)
    concepts = _latest(release["Concept"], _COMPONENT, (), problems, inactive=True)
    known = [] if concepts is None else concepts["id"].chunks
    ids = pc.unique(pa.chunked_array([*known, *table["conceptid"].chunks]))
    obsolete = np.zeros(len(ids), bool)
    if concepts is not None:
        obsolete[_places(concepts["id"], ids)] = pc.not_equal(concepts["active"].cast(TEXT), "1").to_numpy()
    curies = pc.binary_join_element_wise(PREFIX, ids.cast(TEXT), "")
    descriptions = Descriptions.of(table, ids, _latest_members(release, "acceptabilityid", "Language", problems))
    parents = group_lists(*_parents(release, ids, curies, problems), len(ids))
    return Tables(
        concepts=pa.table(
            {
                "id": curies,
                "definition": _definitions(release, ids, problems),
                "semantic_types": _semantic_types(descriptions, len(ids)),
                "xrefs": pa.repeat(pa.scalar([], pa.list_(TEXT)), len(ids)),
                "parents": parents,
                "obsolete": obsolete,
                "replaced_by": _replacements(release, ids, obsolete, problems),
            },
            schema=CONCEPT_SCHEMA,
        ),
        names=name_table(name_rows(descriptions, curies, languages, options.languages), languages),
        redirects=REDIRECT_SCHEMA.empty_table(),
        version=release.version,
        licence=_LICENCE,
    )


def _latest(
    files: Iterable[Path],
    columns: Mapping[str, pa.DataType],
    required: Iterable[str],
    problems: Problems,
    *,
    inactive: bool = False,
) -> pa.Table | None:
    """Read the latest row of each component in the order of the file; only active ones unless ``inactive``."""
    tables = [part for file in files for part in read_tsv(file, columns, required=[*required], problems=problems)]
    if not tables:
        return None
    table = pa.concat_tables(tables).unify_dictionaries().combine_chunks()
    key = table["id"].combine_chunks()
    codes = key.dictionary_encode().indices.to_numpy() if key.type == TEXT else key.to_numpy()
    if len(pc.unique(pa.array(codes))) < len(codes):
        order = np.lexsort((table["effectivetime"].to_numpy(), codes))
        last = np.append(codes[order][1:] != codes[order][:-1], True)
        table = table.take(pa.array(np.sort(order[last])))
    return table if inactive else table.filter(pc.equal(table["active"].cast(TEXT), "1")).combine_chunks()


def _latest_members(release: Release, value: str, refset: str, problems: Problems) -> pa.Table | None:
    return _latest(release[refset], _MEMBER | {value: NUMBER}, (), problems)


def _places(values: pa.ChunkedArray, ids: pa.Array) -> Array:
    """Look up the concept of each value, -1 where the id is unknown."""
    places: Array = pc.index_in(values, ids).fill_null(-1).to_numpy()
    return places


def _parents(release: Release, ids: pa.Array, curies: pa.Array, problems: Problems) -> tuple[Array, pa.Array]:
    """Read (child, parent's id), in the order of the children."""
    table = _latest(release["Relationship"], _RELATIONSHIP, (), problems)
    if table is None:
        return np.array([], np.int64), pa.array([], TEXT)
    table = table.filter(pc.equal(table["typeid"], _IS_A))
    child, parent = _places(table["sourceid"], ids), _places(table["destinationid"], ids)
    usable = (child >= 0) & (parent >= 0)
    child, parent = distinct_pairs(child[usable], parent[usable])
    return child, curies.take(pa.array(parent))


def _replacements(release: Release, ids: pa.Array, obsolete: Array, problems: Problems) -> pa.ListArray:
    table = _latest_members(release, "targetcomponentid", "Association", problems)
    if table is None:
        return group_lists(np.array([], np.int64), pa.array([], TEXT), len(ids))
    table = table.filter(pc.is_in(table["refsetid"], pa.array(_REPLACEMENTS)))
    old = _places(table["referencedcomponentid"], ids)
    targets = pc.dictionary_encode(table["targetcomponentid"].combine_chunks())
    usable = np.flatnonzero(old >= 0)
    usable = usable[obsolete[old[usable]]]
    owners, values = distinct_pairs(old[usable], targets.indices.to_numpy()[usable])
    texts = pc.binary_join_element_wise(PREFIX, targets.dictionary.take(pa.array(values)).cast(TEXT), "")
    return group_lists(owners, texts, len(ids))


def _definitions(release: Release, ids: pa.Array, problems: Problems) -> pa.Array:
    """Read the first text definition of each concept, in English where there is one."""
    table = _latest(release["TextDefinition"], _DESCRIPTION, ("term",), problems)
    if table is None:
        return pa.nulls(len(ids), TEXT)
    owners = _places(table["conceptid"], ids)
    foreign = pc.not_equal(table["languagecode"].cast(TEXT), "en").to_numpy()
    order = np.lexsort((foreign, owners))
    order = order[owners[order] >= 0]
    concepts, first = np.unique(owners[order], return_index=True)
    chosen = np.full(len(ids), -1)
    chosen[concepts] = order[first]
    return pc.utf8_trim_whitespace(table["term"].combine_chunks().take(pa.array(chosen, mask=chosen < 0)))


def _semantic_types(descriptions: Descriptions, count: int) -> pa.ListArray:
    """Get the semantic tag of each concept's fully specified name, the English one where there is one."""
    rows = np.flatnonzero(descriptions.type == FULLY_SPECIFIED)
    tags = split_tags(descriptions.term.take(pa.array(rows))).field("tag")
    rows, tags = rows[tags.is_valid().to_numpy(zero_copy_only=False)], tags.drop_null()
    english = descriptions.lang[rows] == descriptions.english
    order = np.lexsort((~english, descriptions.concept[rows]))
    owners, first = np.unique(descriptions.concept[rows][order], return_index=True)
    return group_lists(owners, tags.take(pa.array(order[first])), count)


FORMAT: Final[VocabularyFormat] = Format(
    name="snomed",
    description="SNOMED CT, Release Format 2 (a release folder, or its description file)",
    recognises=_recognises,
    read=_read,
)
