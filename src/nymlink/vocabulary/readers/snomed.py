"""SNOMED CT in Release Format 2.

Files and ids: SNOMED CT Release File Specifications, chapters 3 to 5 (https://docs.snomed.org/). The latest row of
each component counts: a snapshot and a full history give the same result. Only the description file is required.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError
from nymlink.core.language_codes import UNKNOWN_LANGUAGE, normalise_language
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

# <FileType>_<ContentType>_<Summary><ReleaseType>-<language>_<country and namespace>_<date>. Extensions put their
# own names into the summary (UKCL, SpanishExtension), before or after that of the reference set.
_FILE: Final = re.compile(
    r"(?P<key>[xz]*(?:sct2_(?P<terminology>Concept|Description|TextDefinition|Relationship)_[A-Za-z0-9]*?"
    r"|der2_cRefset_[A-Za-z0-9]*?(?P<refset>Language|Association)[A-Za-z0-9]*?))"
    r"(?P<type>Snapshot|Full|Delta)(?P<place>(?:-[A-Za-z0-9-]+)?(?:_[A-Za-z0-9]+)??)"
    r"(?:_(?P<date>\d{8})[TZ0-9]*)?\.txt(?:\.gz)?"
)
# In order of preference: a snapshot is the smallest; some extensions have only a delta.
_TYPES: Final = ("Snapshot", "Full", "Delta")
# Relative to the folder of several releases, of a release, of one of its types, or of its files.
_PLACES: Final = ("*", *(f"{above}Terminology/*" for above in ("", "*/", "*/*/", "*/*/*/")))


@dataclass(frozen=True, slots=True)
class Release:
    """Files of a release or of several editions in one folder, each of one type (snapshot, full or delta).

    Attributes:
        files: content (``Concept``, ``Description``, ``TextDefinition``, ``Relationship``, ``Language`` or
            ``Association``) → its files, one per language, module or edition.
        version: latest date in the file names, ``YYYYMMDD``, or ``None``.
    """

    files: dict[str, tuple[Path, ...]]
    version: str | None

    def __getitem__(self, content: str) -> tuple[Path, ...]:
        return self.files.get(content, ())


def has_release(folder: Path) -> bool:
    """Whether the folder or one of the subfolders of a release holds a description file."""
    return any(match["terminology"] == "Description" for match, _ in _files(folder, _PLACES))


def open_release(path: Path) -> Release:
    """Find the files of a release.

    Args:
        path: a release folder, one of its subfolders (``Snapshot``, ``Terminology``), or a description file, which
            is read with the other files of its release.

    Raises:
        InputError: no description file was found.
    """
    home = path.parent if path.is_file() else path
    home = home.parent if home.name == "Terminology" else home
    matches = list(_files(home, (*_PLACES, *(place.replace("Terminology", "Refset/*") for place in _PLACES))))
    own = _FILE.fullmatch(path.name) if path.is_file() else None
    types = [own["type"]] if own else _TYPES
    # Of each file, the best type: an extension may lack a type that the International Edition has.
    best: dict[tuple[str, str], str] = {}
    for match, _ in sorted(matches, key=lambda found: _TYPES.index(found[0]["type"])):
        if match["type"] in types:
            best.setdefault((match["key"], match["place"]), match["type"])
    chosen = [found for found in matches if best.get((found[0]["key"], found[0]["place"])) == found[0]["type"]]
    files: dict[str, tuple[Path, ...]] = {}
    for match, file in chosen:
        content = match["terminology"] or match["refset"]
        if file not in files.get(content, ()):
            files[content] = (*files.get(content, ()), file)
    if path.is_file():
        files["Description"] = (path,)
    if "Description" not in files:
        raise InputError(
            "no description file (sct2_Description_Snapshot….txt) here or in its Terminology folder", path=path
        )
    dates = [match["date"] for match, _ in chosen if match["date"]]
    return Release(files=files, version=max(dates, default=None))


def _files(folder: Path, places: tuple[str, ...]) -> Iterator[tuple[re.Match[str], Path]]:
    for place in places:
        for file in sorted(folder.glob(place)):
            match = _FILE.fullmatch(file.name)
            if match and file.is_file():
                yield match, file


FULLY_SPECIFIED: Final = 900000000000003001
_PREFERRED: Final = 900000000000548007
_DIALECTS: Final = {"en-US": 900000000000509007, "en-GB": 900000000000508004}
_TAG: Final = r"^(?P<name>.*\S)\s*\((?P<tag>[^()]*[^()\s][^()]*)\)\s*$"

# Ranks of descriptions, best first.
_IN_MAIN, _IN_OTHER, _FULL, _ANY = range(4)


@dataclass(frozen=True, slots=True)
class Descriptions:
    """Active descriptions with their membership in language reference sets.

    Attributes:
        concept, type, lang: (n) place of the concept, typeId, and place in ``languages``.
        term: (n) strings.
        languages: BCP 47 codes.
        member_of: reference set → bool (n), its members.
        preferred_in: reference set → bool (n), its preferred members.
    """

    concept: Array
    type: Array
    lang: Array
    term: pa.Array
    languages: list[str]
    member_of: dict[int, Array]
    preferred_in: dict[int, Array]

    @classmethod
    def of(cls, table: pa.Table, ids: pa.Array, members: pa.Table | None) -> Descriptions:
        """Join descriptions with the rows of language reference sets; ``ids`` has every ``conceptid``."""
        languages: list[str] = []

        def code(stated: str) -> int:
            lang = normalise_language(stated) or UNKNOWN_LANGUAGE
            if lang not in languages:
                languages.append(lang)
            return languages.index(lang)

        member_of: dict[int, Array] = {}
        preferred_in: dict[int, Array] = {}
        if members is not None:
            places = pc.index_in(members["referencedcomponentid"], table["id"].combine_chunks())
            place = places.fill_null(-1).to_numpy()
            refset = members["refsetid"].to_numpy()
            preferred = members["acceptabilityid"].to_numpy() == _PREFERRED
            for id_ in np.unique(refset).tolist():
                in_refset = (refset == id_) & (place >= 0)
                member_of[id_], preferred_in[id_] = np.zeros(len(table), bool), np.zeros(len(table), bool)
                member_of[id_][place[in_refset]] = True
                preferred_in[id_][place[in_refset & preferred]] = True
        return cls(
            concept=pc.index_in(table["conceptid"], ids).to_numpy(),
            type=table["typeid"].to_numpy(),
            lang=map_distinct(table["languagecode"], code, np.int32),
            term=table["term"].combine_chunks(),
            languages=languages,
            member_of=member_of,
            preferred_in=preferred_in,
        )

    @property
    def english(self) -> int:
        """Place of English among the languages, or -1."""
        return self.languages.index("en") if "en" in self.languages else -1


def split_tags(terms: pa.Array) -> pa.StructArray:
    """Split fully specified names into ``name`` and ``tag``; both are null if there is no tag."""
    return pc.extract_regex(terms, _TAG)


def name_rows(
    descriptions: Descriptions, curies: pa.Array, languages: LanguageFilter, requested: Collection[str] | None
) -> pa.Table:
    """Build one row for each name: ``concept_id name lang kind``.

    Args:
        descriptions: the descriptions.
        curies: concept ids.
        languages: languages to keep.
        requested: languages requested by the caller. A dialect of English, requested without English, selects the
            descriptions in its reference set and those in the set of no dialect.
    """
    wanted = {normalise_language(code) for code in requested or ()}
    dialects = [] if "en" in wanted else [dialect for dialect in _DIALECTS if dialect in wanted]
    full = descriptions.type == FULLY_SPECIFIED
    untagged = split_tags(descriptions.term.filter(pa.array(full))).field("name")
    texts = pc.replace_with_mask(
        descriptions.term, pa.array(full), pc.coalesce(untagged, descriptions.term.filter(pa.array(full)))
    )
    tables = []
    if dialects and descriptions.english >= 0:
        english = descriptions.lang == descriptions.english
        in_dialects = [descriptions.member_of.get(id_, np.zeros(len(full), bool)) for id_ in _DIALECTS.values()]
        in_none = ~np.logical_or.reduce(in_dialects)
        for dialect in dialects:
            refset = _DIALECTS[dialect]
            kept = english & (descriptions.member_of.get(refset, in_none) | in_none)
            tables.append(_view(descriptions, curies, texts, np.flatnonzero(kept), refset, dialect))
    kept_languages = np.array([languages.wants(lang) for lang in descriptions.languages], bool)
    rows = np.flatnonzero(kept_languages[descriptions.lang])
    tables.append(_view(descriptions, curies, texts, rows, _DIALECTS["en-US"], None))
    return pa.concat_tables(tables)


def _view(
    descriptions: Descriptions, curies: pa.Array, texts: pa.Array, rows: Array, main: int, label: str | None
) -> pa.Table:
    """Build the names of some rows, one preferred per concept and language; ``label`` replaces the languages."""
    full = descriptions.type[rows] == FULLY_SPECIFIED
    rank = np.where(full, _FULL, _ANY)
    for refset, preferred in descriptions.preferred_in.items():
        refset_rank = _IN_MAIN if refset == main else _IN_OTHER
        rank[preferred[rows] & ~full] = np.minimum(rank[preferred[rows] & ~full], refset_rank)
    concept, lang = descriptions.concept[rows], descriptions.lang[rows]
    group = concept.astype(np.int64) * len(descriptions.languages) + lang
    order = np.lexsort((rank, group))
    best = order[np.append(True, group[order][1:] != group[order][:-1])] if len(order) else order
    kinds = np.zeros(len(rows), np.int8)
    kinds[best] = 1
    langs = pa.array(descriptions.languages if label is None else [label] * len(descriptions.languages))
    table = pa.table(
        {
            "concept_id": curies.take(pa.array(concept)),
            "name": texts.take(pa.array(rows)),
            "lang": langs.take(pa.array(lang)),
            "kind": pa.array(["exact", "preferred"]).take(pa.array(kinds)),
        }
    )
    return table.filter(pc.not_equal(pc.utf8_trim_whitespace(table["name"]), ""))


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

    Inactive concepts become obsolete; other inactive components are left out. Names are active descriptions. The
    semantic tag of a fully specified name becomes the semantic type. The language reference set gives the
    preferred name: for English the US one, then the GB one. The languages ``en-GB`` and ``en-US`` select the names
    of one dialect.
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
    return Tables(
        concepts=pa.table(
            {
                "id": curies,
                "definition": _definitions(release, ids, problems),
                "semantic_types": _semantic_types(descriptions, len(ids)),
                "xrefs": pa.repeat(pa.scalar([], pa.list_(TEXT)), len(ids)),
                "parents": group_lists(*_parents(release, ids, curies, problems), len(ids)),
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
    """Read the latest row of each component, in file order; ``inactive`` keeps inactive ones."""
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
    """Look up the place of each value among the ids, -1 for unknown ones."""
    places: Array = pc.index_in(values, ids).fill_null(-1).to_numpy()
    return places


def _parents(release: Release, ids: pa.Array, curies: pa.Array, problems: Problems) -> tuple[Array, pa.Array]:
    """Read the places of children and the ids of their parents, ordered by child."""
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
    """Read the first text definition of each concept, preferably in English."""
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
    """Get the semantic tag of each concept's fully specified name, preferably in English."""
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
