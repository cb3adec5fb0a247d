"""A part of a vocabulary: what is below some concepts, or of some semantic types, sources, languages or kinds."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError
from nymlink.core.store.arrays import Array, Bools
from nymlink.vocabulary.columns import NAMES, Columns
from nymlink.vocabulary.languages import with_regions
from nymlink.vocabulary.model import KINDS
from nymlink.vocabulary.reach import below, flat, leading_to
from nymlink.vocabulary.vocabulary import Vocabulary

_LISTED: Final = 30


def subset(
    vocabulary: Vocabulary,
    *,
    branches: Collection[str] = (),
    semantic_types: Collection[str] = (),
    sources: Collection[str] = (),
    languages: Collection[str] = (),
    kinds: Collection[str] = (),
) -> Vocabulary:
    """What meets all conditions; of several values of one condition any will do, and one without values is none.

    Where names are chosen (by source, language, kind), concepts without such a name go. Concepts that stay are as
    they were: a parent may be one that is gone. Alternate ids and obsolete concepts stay where they lead to a
    concept that does, so that old ids are resolved as before.

    Args:
        vocabulary: the whole.
        branches: ids of concepts; these stay, and all below them.
        semantic_types: semantic types, in full, whatever their case.
        sources: names of sources. A name that several sources have is of the first of them.
        languages: BCP 47 codes of languages, each with its regions.
        kinds: kinds of names.

    Raises:
        InputError: nothing is left, or there is no such type, source, language or kind at all.
        UnknownNameError: a branch is no concept of the vocabulary.
    """
    columns = vocabulary.columns
    concepts, names = np.ones(len(vocabulary), bool), np.ones(vocabulary.name_count, bool)
    if branches:
        concepts &= below(vocabulary, branches)
    if semantic_types:
        concepts &= _of_types(columns, semantic_types, concepts)
    owners = columns.names["concept"].to_numpy()
    there = vocabulary.counts("lang")
    spelt = [lang for code in languages for lang in with_regions([code], there) or [code]]
    for noun, field, asked, known in (
        ("source", "source", sources, [source.name for source in vocabulary.sources]),
        ("language", "lang", spelt, ()),
        ("kind of name", "kind", kinds, KINDS),
    ):
        if asked:
            column = columns.names[field].combine_chunks()
            labels = _Labels(noun, np.arange(len(names)), column.indices.to_numpy(), column.dictionary.to_pylist())
            names &= labels.chosen(asked, names & concepts[owners], known=known)
            concepts &= np.diff(_counted(names)[columns.name_offsets]) > 0
    retired, redirects = leading_to(columns, concepts)
    concepts |= retired
    part = _cut(columns, concepts, names & concepts[owners], redirects)
    conditions = {
        "branches": branches,
        "semantic_types": semantic_types,
        "sources": sources,
        "languages": languages,
        "kinds": kinds,
    }
    made = {name: sorted(values) for name, values in conditions.items() if values}
    left = {source for table in (part.concepts, part.names) for source in pc.unique(table["source"]).to_pylist()}
    return Vocabulary(
        part,
        [source for source in vocabulary.sources if source.name in left],
        {**vocabulary.settings, "subset": [*vocabulary.settings.get("subset", ()), made]},
    )


@dataclass(frozen=True, slots=True)
class _Labels:
    """What rows of a table are labelled with.

    Attributes:
        noun: what a label is.
        rows: a row for each label given; a row may have any number of labels.
        codes: which label that is.
        values: the labels.
    """

    noun: str
    rows: Array
    codes: Array
    values: list[str]

    def chosen(self, asked: Collection[str], left: Bools, *, known: Collection[str] = ()) -> Bools:
        """The rows that have one of the labels asked for.

        Args:
            asked: the labels.
            left: of each row whether it is left by earlier conditions.
            known: labels that may be asked for even if there are none.

        Raises:
            InputError: none of the rows left has, or there is no such label.
        """
        if unknown := sorted({*asked} - {*self.values, *known}):
            every = self._listed(np.ones_like(left))
            raise InputError(f"no {self.noun} {unknown[0]!r} in the vocabulary; there are: {every}")
        wanted = np.array([value in asked for value in self.values], bool)
        chosen = np.zeros_like(left)
        chosen[self.rows[wanted[self.codes]]] = True
        if not (chosen & left).any():
            among = "" if left.all() else "among what else was asked for "
            raise InputError(
                f"nothing is left: {self.noun} asked for: {', '.join(sorted(asked))}; "
                f"{among}there are: {self._listed(left)}"
            )
        return chosen

    def _listed(self, left: Bools) -> str:
        """The labels of the rows left, the most frequent first."""
        counts = np.bincount(self.codes[left[self.rows]], minlength=len(self.values))
        values = [self.values[code] for code in np.argsort(-counts, kind="stable") if counts[code]]
        more = f" and {len(values) - _LISTED:,} more" if len(values) > _LISTED else ""
        return (", ".join(values[:_LISTED]) or "none") + more


def _of_types(columns: Columns, asked: Collection[str], left: Bools) -> Bools:
    """The concepts of some semantic types, whatever their case."""
    rows, types = flat(columns.concepts["semantic_types"])
    encoded = types.dictionary_encode()
    values = encoded.dictionary.to_pylist()
    folded = {one.casefold(): one for one in asked}
    there = [value for value in values if value.casefold() in folded]
    missing = folded.keys() - {value.casefold() for value in there}
    labels = _Labels("semantic type", rows, encoded.indices.to_numpy(), values)
    return labels.chosen([*there, *(folded[one] for one in missing)], left)


def _cut(columns: Columns, concepts: Bools, names: Bools, redirects: Bools) -> Columns:
    """The columns of some concepts, of names of theirs, and of some redirects, all in the order they were in."""
    table = columns.names.filter(pa.array(names)).combine_chunks()
    concept_rows, name_rows = _counted(concepts).astype(np.int32), _counted(names)
    owners = pa.array(concept_rows[table["concept"].to_numpy()])
    by_id, by_key = columns.concepts_by_id, columns.names_by_key
    return Columns(
        concepts=columns.concepts.filter(pa.array(concepts)).combine_chunks(),
        names=table.set_column(0, NAMES.field("concept"), owners),
        redirects=columns.redirects.filter(pa.array(redirects)).combine_chunks(),
        # No name is left of concepts in between: those of the next one that stays follow at once.
        name_offsets=name_rows[columns.name_offsets[np.append(concepts, True)]],
        concepts_by_id=concept_rows[by_id[concepts[by_id]]],
        names_by_key=name_rows[by_key[names[by_key]]].astype(np.int32),
    )


def _counted(mask: Bools) -> npt.NDArray[np.int64]:
    """How many are true before each place, and before the end: int64 (one more than the mask)."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(mask)])
