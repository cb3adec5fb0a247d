"""Turn SNOMED CT descriptions into names: without semantic tags, preferred by the language reference sets."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.language_codes import UNKNOWN_LANGUAGE, normalise_language
from nymlink.core.store.arrays import Array
from nymlink.vocabulary.readers.columns.groups import map_distinct
from nymlink.vocabulary.readers.language_filter import LanguageFilter

FULLY_SPECIFIED: Final = 900000000000003001
_PREFERRED: Final = 900000000000548007
_DIALECTS: Final = {"en-US": 900000000000509007, "en-GB": 900000000000508004}
_TAG: Final = r"^(?P<name>.*\S)\s*\((?P<tag>[^()]*[^()\s][^()]*)\)\s*$"

# Ranks of descriptions, the preferred one first; the last is used only where a concept has no other.
_IN_MAIN, _IN_OTHER, _FULL, _ANY = range(4)


@dataclass(frozen=True, slots=True)
class Descriptions:
    """Active descriptions with their membership in language reference sets.

    Attributes:
        concept, type, lang: (n) place of the concept; typeId; place in ``languages``.
        term: (n) strings.
        languages: BCP 47.
        member_of: reference set → (n) whether it holds the description.
        preferred_in: reference set → (n) whether it prefers the description.
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
        """Join description rows with the rows of language reference sets.

        Args:
            table: descriptions; every ``conceptid`` is one of ``ids``.
            ids: concept ids.
            members: rows of the reference sets, ``None`` where there are none.
        """
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
        """Place of English among the languages, -1 if it is missing."""
        return self.languages.index("en") if "en" in self.languages else -1


def split_tags(terms: pa.Array) -> pa.StructArray:
    """Split fully specified names into ``name`` and ``tag``, both null where there is no tag."""
    return pc.extract_regex(terms, _TAG)


def name_rows(
    descriptions: Descriptions, curies: pa.Array, languages: LanguageFilter, requested: Collection[str] | None
) -> pa.Table:
    """Build one row for each name: ``concept_id name lang kind``.

    Args:
        descriptions: the descriptions.
        curies: concept ids.
        languages: languages of which names are kept.
        requested: languages that the caller asked for; a dialect of English without English itself selects the
            descriptions of its reference set and those in neither dialect's.
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
    """Build the names of some rows, one preferred for each concept and language; ``label`` replaces languages."""
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
