"""The UMLS and RxNorm: their concepts, with types, definitions and relations.

Read column by column with Arrow, because MRCONSO has some 15 million rows. File layout: UMLS Reference Manual,
chapter 3 (https://www.ncbi.nlm.nih.gov/books/NBK9685/). Only MRCONSO is required; MRSTY, MRDEF, MRREL, MRCUI,
MRSAB and MRFILES are read if present. RxNorm has files of the same columns, named RXNCONSO, RXNSTY, RXNREL, RXNCUI
and RXNSAB (https://www.nlm.nih.gov/research/umls/rxnorm/docs/techdoc.html).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.core.store.arrays import Array, Ints
from nymlink.vocabulary.concepts import KINDS, ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.column_files import Numbering, distinct_pairs, group_lists, map_distinct
from nymlink.vocabulary.readers.umls.atoms import RXNORM, SUPPRESSED, read_atoms
from nymlink.vocabulary.readers.umls.names import InheritedNames, names, xrefs
from nymlink.vocabulary.readers.umls.release import Release, has_release, open_release, open_rxnorm, read_rrf
from nymlink.vocabulary.tables import CONCEPT_SCHEMA, REDIRECT_SCHEMA, Tables

_FIRST_DEFINERS: Final = ("MSH", "NCI")
_RELEASE: Final = re.compile(r"\d{4}[A-Z]{2}")

# Relations of (CUI1, CUI2) in a row of MRREL. "REL is the relationship of the second concept to the first", and
# RELA reads "CUI2 RELA CUI1".
_NOTHING, _PARENT_IS_2, _PARENT_IS_1, _BRAND_IS_2, _BRAND_IS_1 = range(5)
_REL: Final = {"PAR": _PARENT_IS_2, "CHD": _PARENT_IS_1}
_RELA: Final = {
    "inverse_isa": _PARENT_IS_2,
    "isa": _PARENT_IS_1,
    "tradename_of": _BRAND_IS_2,
    "has_tradename": _BRAND_IS_1,
}


class ConceptAttributes:
    """Attributes of concepts from RRF files other than MRCONSO; a missing file gives none.

    Args:
        release: the release.
        ids: concept ids; attributes of other concepts are ignored.
        options: ``sources`` and ``suppressed`` apply to definitions and relations as they do to names.
        problems: receives broken rows.
    """

    def __init__(self, release: Release, ids: pa.StringArray, options: ReadOptions, problems: Problems) -> None:
        self._release, self._ids, self._options, self._problems = release, ids, options, problems

    def semantic_types(self) -> pa.ListArray:
        """Read MRSTY: one list of type names for each concept."""
        types, cuis, codes = Numbering(), _no_strings(), [np.array([], np.int32)]
        for block in self._read("MRSTY", strings=("CUI",), codes=("STY",), required=("CUI", "STY")):
            cuis.extend(block["CUI"].chunks)
            codes.append(map_distinct(block["STY"], types.__getitem__, np.int32))
        concept, known = self._places(cuis)
        owner, value = distinct_pairs(concept, np.concatenate(codes)[known])
        return group_lists(owner, pa.array(types, pa.string()).take(pa.array(value)), len(self._ids))

    def definitions(self) -> pa.Array:
        """Read MRDEF: one definition or null for each concept; MeSH's, else NCI's, else the first."""
        cuis, texts, ranks = _no_strings(), _no_strings(), [np.array([], np.int8)]
        order = {source: rank for rank, source in enumerate(_FIRST_DEFINERS)}
        for block in self._read(
            "MRDEF", strings=("CUI", "DEF"), codes=("SAB", "SUPPRESS"), required=("CUI", "DEF")
        ):
            block = self._selected(block)
            if len(block):
                cuis.extend(block["CUI"].chunks)
                texts.extend(block["DEF"].chunks)
                ranks.append(map_distinct(block["SAB"], lambda sab: order.get(sab, len(order)), np.int8))
        concept, known = self._places(cuis)
        best = np.lexsort((np.concatenate(ranks)[known], concept))
        concepts, first = np.unique(concept[best], return_index=True)
        chosen = np.full(len(self._ids), -1)
        chosen[concepts] = known[best[first]]
        text = pa.chunked_array(texts).combine_chunks()
        return pc.utf8_trim_whitespace(text.take(pa.array(chosen, mask=chosen < 0)))

    def relations(self) -> tuple[pa.ListArray, InheritedNames]:
        """Read MRREL: one list of parents for each concept, and the names that drugs inherit from each other.

        A generic drug inherits the names of its brands as ``tradename``; a brand inherits those of its generic
        drug as ``related``, because a generic name is no trade name.
        """
        first, second, relations = _no_strings(), _no_strings(), [np.array([], np.int8)]
        # In RxNorm, relations of atoms have no concepts.
        required = () if self._release.is_rxnorm else ("CUI1", "CUI2")
        for block in self._read(
            "MRREL", strings=("CUI1", "CUI2"), codes=("REL", "RELA", "SAB", "SUPPRESS"), required=required
        ):
            by_rela = map_distinct(block["RELA"], lambda rela: _RELA.get(rela, _NOTHING), np.int8)
            by_rel = map_distinct(block["REL"], lambda rel: _REL.get(rel, _NOTHING), np.int8)
            relation = np.where((by_rel == _NOTHING) | (by_rela >= _BRAND_IS_2), by_rela, by_rel)
            block = self._selected(block.append_column("relations", pa.array(relation)))
            block = block.filter(pc.not_equal(block["relations"], pa.scalar(_NOTHING, pa.int8())))
            first.extend(block["CUI1"].chunks)
            second.extend(block["CUI2"].chunks)
            relations.append(block["relations"].to_numpy())
        all_relations = np.concatenate(relations)
        # One look-up for both columns, because each builds a table of all ids.
        place, _ = self._all_places(first + second)
        subject, object_ = place[: len(all_relations)], place[len(all_relations) :]
        usable = (subject >= 0) & (object_ >= 0) & (subject != object_)
        subject, object_, all_relations = subject[usable], object_[usable], all_relations[usable]
        is_reversed = (all_relations == _PARENT_IS_1) | (all_relations == _BRAND_IS_1)
        subject, object_ = np.where(is_reversed, object_, subject), np.where(is_reversed, subject, object_)
        is_parent = all_relations < _BRAND_IS_2
        child, parent = distinct_pairs(subject[is_parent], object_[is_parent])
        parents = group_lists(child, self._ids.take(pa.array(parent)), len(self._ids))
        return parents, _inherited(subject[~is_parent], object_[~is_parent])

    def redirects(self) -> pa.Table:
        """Read MRCUI: retired ids that are synonymous (REL ``SY``) with a concept kept here; in RxNorm, merged."""
        old, new = _no_strings(), _no_strings()
        codes = () if self._release.is_rxnorm else ("REL",)
        for block in self._read("MRCUI", strings=("CUI1", "CUI2"), codes=codes, required=("CUI1",)):
            if codes:
                block = block.filter(pa.array(map_distinct(block["REL"], "SY".__eq__, bool)))
            old.extend(block["CUI1"].chunks)
            new.extend(block["CUI2"].chunks)
        table = pa.table({"old": pa.chunked_array(old), "new": pa.chunked_array(new)}, schema=REDIRECT_SCHEMA)
        live, retired = pc.is_in(table["new"], self._ids), pc.invert(pc.is_in(table["old"], self._ids))
        return table.filter(pc.and_(live, retired)).group_by(["old", "new"], use_threads=False).aggregate([])

    def version(self) -> str | None:
        """Read MRSAB: the newest release (``2020AA``) that added a current source. Every release adds a source.

        For RxNorm: the version of its own atoms (``RXNORM_25AA_250106F``).
        """
        if self._release.is_rxnorm:
            blocks = self._read("MRSAB", strings=("VSAB", "RSAB", "CURVER"), required=())
            own = (
                block.filter(pc.equal(block["RSAB"], pa.scalar(RXNORM)))["VSAB"].to_pylist() for block in blocks
            )
            return max((version for versions in own for version in versions if version), default=None)
        releases = [
            release
            for block in self._read("MRSAB", strings=("IMETA", "CURVER"), required=())
            for release in block.filter(pc.equal(block["CURVER"], pa.scalar("Y")))["IMETA"].to_pylist()
            if _RELEASE.fullmatch(release)
        ]
        return max(releases, default=None)

    def _read(
        self, name: str, *, strings: tuple[str, ...], codes: tuple[str, ...] = (), required: tuple[str, ...]
    ) -> Iterator[pa.Table]:
        return read_rrf(
            self._release, name, strings=strings, codes=codes, required=required, problems=self._problems
        )

    def _selected(self, block: pa.Table) -> pa.Table:
        keep = np.ones(len(block), bool)
        if not self._options.suppressed:
            keep &= map_distinct(block["SUPPRESS"], lambda flag: flag not in SUPPRESSED, bool)
        if self._options.sources is not None:
            keep &= map_distinct(block["SAB"], self._options.sources.__contains__, bool)
        return block if keep.all() else block.filter(pa.array(keep))

    def _all_places(self, cuis: list[pa.Array]) -> tuple[Array, Ints]:
        """Look up the concept of each row, -1 for an unknown id; also return the rows with a known id."""
        place = pc.index_in(pa.chunked_array(cuis), self._ids).combine_chunks().fill_null(-1).to_numpy()
        return place, np.flatnonzero(place >= 0)

    def _places(self, cuis: list[pa.Array]) -> tuple[Array, Ints]:
        """Return the rows with a known id and their concepts."""
        place, known = self._all_places(cuis)
        return place[known], known


def _no_strings() -> list[pa.Array]:
    """Begin a list of chunks of strings with an empty chunk, which makes it a valid column for a missing file."""
    return [pa.array([], pa.string())]


def _inherited(generic: Ints, brand: Ints) -> InheritedNames:
    of_brands, of_generics = distinct_pairs(generic, brand), distinct_pairs(brand, generic)
    tradename, related = KINDS.index("tradename"), KINDS.index("related")
    return InheritedNames(
        heir=np.concatenate([of_brands[0], of_generics[0]]),
        origin=np.concatenate([of_brands[1], of_generics[1]]),
        kind=np.repeat([tradename, related], len(of_brands[0])),
    )


_LICENCE: Final = "UMLS Metathesaurus License"
_ROW: Final = re.compile(r"C\d{7}\|[A-Z]{3}\|([^|\n]*\|){16}\r?(\n|$)")


def recognises(path: Path, head: str) -> bool:
    """Recognise a folder with MRCONSO in it or in ``META``, an MRCONSO file, or a file with such rows."""
    if path.is_dir():
        return has_release(path)
    return path.name.startswith("MRCONSO.RRF") or _ROW.match(head) is not None


def read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read a release.

    Concepts are those with at least one selected name, in the order of MRCONSO. Rows marked obsolete or
    suppressible (SUPPRESS O, E, Y) are left out by default. The preferred name of a concept in a language is the
    row with TS=P, STT=PF, ISPREF=Y; if the selection excludes it, the next best row. Xrefs come from SAB and CODE.
    Parents, xrefs and names of concepts that are not selected are left out.

    Args:
        path: see :func:`nymlink.vocabulary.readers.umls.release.open_release`.
        options: ``languages``, ``sources``, ``term_types`` and ``suppressed`` select rows; ``lang`` is the
            language for an empty LAT.
        problems: receives broken rows.

    Raises:
        InputError: there is no MRCONSO or nothing usable in it, a compressed file is damaged, or the options name
            a language, source or term type that occurs nowhere.
    """
    return _read_release(open_release(path, problems), options, problems, licence=_LICENCE)


def _read_release(release: Release, options: ReadOptions, problems: Problems, *, licence: str) -> Tables:
    atoms = read_atoms(release, options, problems)
    attributes = ConceptAttributes(release, atoms.ids, options, problems)
    parents, inherited = attributes.relations()
    count = len(atoms.ids)
    concepts = pa.table(
        {
            "id": atoms.ids,
            "definition": attributes.definitions(),
            "semantic_types": attributes.semantic_types(),
            "xrefs": xrefs(atoms),
            "parents": parents,
            "obsolete": pa.repeat(False, count),
            "replaced_by": pa.repeat(pa.scalar([], pa.list_(pa.string())), count),
        },
        schema=CONCEPT_SCHEMA,
    )
    return Tables(
        concepts=concepts,
        names=names(atoms, inherited),
        redirects=attributes.redirects(),
        version=attributes.version(),
        licence=licence,
    )


FORMAT: Final[VocabularyFormat] = Format(
    name="rrf",
    description="UMLS Metathesaurus, Rich Release Format (a folder with MRCONSO.RRF)",
    recognises=recognises,
    read=read,
    options=frozenset({"sources", "term_types", "suppressed"}),
)


_RXNORM_LICENCE: Final = "UMLS Metathesaurus License; atoms of RXNORM are in the public domain"
_RXNORM_ROW: Final = re.compile(r"\d{1,8}\|[A-Z]{3}\|([^|\n]*\|){5}\d+\|([^|\n]*\|){10}\r?(\n|$)")


def recognises_rxnorm(path: Path, head: str) -> bool:
    """Recognise a folder with RXNCONSO in it or in ``rrf``, or a file with such rows."""
    if path.is_dir():
        return has_release(path, is_rxnorm=True)
    return _RXNORM_ROW.match(head) is not None


def read_rxnorm(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read a release of RxNorm like one of the UMLS; ids are ``RXNORM:`` and the RXCUI.

    The preferred name is RxNorm's own normal name. A generic drug has the names of its brands as ``tradename``.
    Parents are those of ``isa``; RXNCUI redirects merged ids.

    Raises:
        InputError: see :func:`read`.
    """
    tables = _read_release(open_rxnorm(path), options, problems, licence=_RXNORM_LICENCE)
    parents = tables.concepts["parents"].combine_chunks()
    lists = pa.ListArray.from_arrays(parents.offsets, _prefixed(parents.values))
    concepts = tables.concepts.set_column(0, CONCEPT_SCHEMA.field("id"), _prefixed(tables.concepts["id"]))
    return replace(
        tables,
        concepts=concepts.set_column(
            CONCEPT_SCHEMA.get_field_index("parents"), CONCEPT_SCHEMA.field("parents"), lists
        ),
        names=tables.names.set_column(
            0, tables.names.schema.field("concept_id"), _prefixed(tables.names["concept_id"])
        ),
        redirects=pa.table(
            {column: _prefixed(tables.redirects[column]) for column in REDIRECT_SCHEMA.names},
            schema=REDIRECT_SCHEMA,
        ),
    )


def _prefixed(ids: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    return pc.binary_join_element_wise(pa.scalar(f"{RXNORM}:", ids.type), ids, pa.scalar("", ids.type))


RXNORM_FORMAT: Final[VocabularyFormat] = Format(
    name="rxnorm",
    description="RxNorm, Rich Release Format (a folder with RXNCONSO.RRF)",
    recognises=recognises_rxnorm,
    read=read_rxnorm,
    options=frozenset({"sources", "term_types", "suppressed"}),
)
