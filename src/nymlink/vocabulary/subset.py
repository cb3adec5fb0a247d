"""Subsets of a vocabulary: by branch, semantic type, source, language and kind of name."""

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
from nymlink.vocabulary.concepts import KINDS, matching_languages
from nymlink.vocabulary.hierarchy import descendants, find_superseded, flatten_lists
from nymlink.vocabulary.vocabulary import Vocabulary

_LISTED: Final = 30
"""Largest number of labels in a message."""


def subset(
    vocabulary: Vocabulary,
    *,
    branches: Collection[str] = (),
    semantic_types: Collection[str] = (),
    sources: Collection[str] = (),
    languages: Collection[str] = (),
    kinds: Collection[str] = (),
) -> Vocabulary:
    """Restrict a vocabulary to concepts and names that meet all conditions. One value of a condition is enough.

    If names are restricted (by source, language, kind), concepts without such a name are left out. Concepts are
    not changed: their parents may be missing. Alternate ids and obsolete concepts that lead to a kept concept are
    kept, and old ids still resolve.

    Args:
        vocabulary: the whole vocabulary.
        branches: ids of concepts to keep with all their descendants.
        semantic_types: semantic types of concepts, in full; case is ignored.
        sources: sources of names; a name with several sources belongs to the first of them.
        languages: BCP 47 codes of languages, each with its regions.
        kinds: kinds of names.

    Raises:
        InputError: nothing is left, or a type, source, language or kind does not exist.
        UnknownNameError: a branch is not a concept of the vocabulary.
    """
    columns = vocabulary.columns
    concepts, names = np.ones(len(vocabulary), bool), np.ones(vocabulary.name_count, bool)
    if branches:
        concepts &= descendants(vocabulary, branches)
    if semantic_types:
        concepts &= _of_types(columns, semantic_types, concepts)
    owners = columns.names["concept"].to_numpy()
    available = vocabulary.counts("lang")
    codes = [lang for code in languages for lang in matching_languages([code], available) or [code]]
    for noun, field, requested, known in (
        ("source", "source", sources, [source.name for source in vocabulary.sources]),
        ("language", "lang", codes, ()),
        ("kind of name", "kind", kinds, KINDS),
    ):
        if requested:
            column = columns.names[field].combine_chunks()
            labels = _Labels(noun, np.arange(len(names)), column.indices.to_numpy(), column.dictionary.to_pylist())
            names &= labels.select(requested, names & concepts[owners], known=known)
            concepts &= np.diff(_cumulative_counts(names)[columns.name_offsets]) > 0
    retired, redirects = find_superseded(columns, concepts)
    concepts |= retired
    part = _restrict(columns, concepts, names & concepts[owners], redirects)
    conditions = {
        "branches": branches,
        "semantic_types": semantic_types,
        "sources": sources,
        "languages": languages,
        "kinds": kinds,
    }
    settings = {name: sorted(values) for name, values in conditions.items() if values}
    kept = {source for table in (part.concepts, part.names) for source in pc.unique(table["source"]).to_pylist()}
    return Vocabulary(
        part,
        [source for source in vocabulary.sources if source.name in kept],
        {**vocabulary.settings, "subset": [*vocabulary.settings.get("subset", ()), settings]},
    )


def part_of(vocabulary: Vocabulary, concepts: Bools) -> Vocabulary:
    """Keep some concepts with all their names, in the order of the vocabulary, without old ids.

    Args:
        vocabulary: a vocabulary of C concepts.
        concepts: bool (C): which to keep.
    """
    columns = vocabulary.columns
    names = concepts[columns.names["concept"].to_numpy()]
    part = _restrict(columns, concepts, names, np.zeros(len(columns.redirects), bool))
    return Vocabulary(part, vocabulary.sources, vocabulary.settings)


@dataclass(frozen=True, slots=True)
class _Labels:
    """The labels of the rows of a table; a row may have any number of labels.

    Attributes:
        noun: the word for a label in messages.
        rows: int (L): the row of each of L labellings.
        codes: int (L): the label of each, as a place in ``values``.
        values: the distinct labels.
    """

    noun: str
    rows: Array
    codes: Array
    values: list[str]

    def select(self, requested: Collection[str], kept: Bools, *, known: Collection[str] = ()) -> Bools:
        """Select the rows that have one of the requested labels.

        Args:
            requested: the labels.
            kept: whether each row meets the earlier conditions.
            known: labels that are valid even if no row has them.

        Returns:
            Whether each row has one of the labels.

        Raises:
            InputError: a label does not exist, or no kept row has one of them.
        """
        if unknown := sorted({*requested} - {*self.values, *known}):
            every = self._list(np.ones_like(kept))
            raise InputError(f"no {self.noun} {unknown[0]!r} in the vocabulary; there are: {every}")
        wanted = np.array([value in requested for value in self.values], bool)
        selected = np.zeros_like(kept)
        selected[self.rows[wanted[self.codes]]] = True
        if not (selected & kept).any():
            others = "" if kept.all() else " that meets the other conditions"
            raise InputError(
                f"nothing is left: no concept{others} has the {self.noun} {' or '.join(sorted(requested))}; "
                f"there are: {self._list(kept)}"
            )
        return selected

    def _list(self, kept: Bools) -> str:
        """List the labels of the kept rows for a message, the most frequent first."""
        counts = np.bincount(self.codes[kept[self.rows]], minlength=len(self.values))
        values = [self.values[code] for code in np.argsort(-counts, kind="stable") if counts[code]]
        more = f" and {len(values) - _LISTED:,} more" if len(values) > _LISTED else ""
        return (", ".join(values[:_LISTED]) or "none") + more


def _of_types(columns: Columns, requested: Collection[str], kept: Bools) -> Bools:
    """Select the concepts of some semantic types, ignoring case."""
    rows, types = flatten_lists(columns.concepts["semantic_types"])
    encoded = types.dictionary_encode()
    values = encoded.dictionary.to_pylist()
    by_folded = {label.casefold(): label for label in requested}
    present = [value for value in values if value.casefold() in by_folded]
    missing = by_folded.keys() - {value.casefold() for value in present}
    labels = _Labels("semantic type", rows, encoded.indices.to_numpy(), values)
    return labels.select([*present, *(by_folded[folded] for folded in missing)], kept)


def _restrict(columns: Columns, concepts: Bools, names: Bools, redirects: Bools) -> Columns:
    """Restrict columns to some concepts, some of their names, and some redirects, without changing the order."""
    table = columns.names.filter(pa.array(names)).combine_chunks()
    concept_rows, name_rows = _cumulative_counts(concepts).astype(np.int32), _cumulative_counts(names)
    owners = pa.array(concept_rows[table["concept"].to_numpy()])
    by_id, by_key = columns.concepts_by_id, columns.names_by_key
    return Columns(
        concepts=columns.concepts.filter(pa.array(concepts)).combine_chunks(),
        names=table.set_column(0, NAMES.field("concept"), owners),
        redirects=columns.redirects.filter(pa.array(redirects)).combine_chunks(),
        # No names of left-out concepts are kept: those of the next kept concept follow at once.
        name_offsets=name_rows[columns.name_offsets[np.append(concepts, True)]],
        concepts_by_id=concept_rows[by_id[concepts[by_id]]],
        names_by_key=name_rows[by_key[names[by_key]]].astype(np.int32),
    )


def _cumulative_counts(mask: Bools) -> npt.NDArray[np.int64]:
    """Count the true values before each place of a mask (n) and before its end: int64 (n + 1)."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(mask)])
