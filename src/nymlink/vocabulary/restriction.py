"""Restrictions to a part of a vocabulary: by branch, semantic type, source and id, and what is excluded."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError, UnknownNameError
from nymlink.core.store.arrays import Bools
from nymlink.vocabulary.hierarchy import descendants, flatten_lists
from nymlink.vocabulary.vocabulary import Vocabulary

Values = str | Collection[str]
"""One value of a condition, or several."""

_PROPOSED: Final = 3
"""Most ids that a message proposes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restriction:
    """Conditions on concepts and names. A name must meet all conditions; empty conditions are ignored.

    Ids may be written in any way that :meth:`~nymlink.vocabulary.vocabulary.Vocabulary.resolve` knows; former ids
    stand for their replacements.

    Attributes:
        branch: ids of concepts; the concepts below them are included.
        types: semantic types, in any case.
        sources: sources of names.
        ids: ids of concepts.
        exclude: ids of concepts, excluded with all concepts below them; or names, of which no concept is found.
    """

    branch: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any((self.branch, self.types, self.sources, self.ids, self.exclude))

    @classmethod
    def of(cls, *, types: Values = (), branch: Values = (), ids: Values = (), exclude: Values = ()) -> Self:
        """Make a restriction of single values or collections of values."""
        given = {"types": types, "branch": branch, "ids": ids, "exclude": exclude}
        return cls(**{name: (own,) if isinstance(own, str) else tuple(own) for name, own in given.items()})

    def names(self, vocabulary: Vocabulary) -> Bools:
        """Whether each name of a vocabulary meets all conditions.

        Returns:
            bool (N).

        Raises:
            InputError: an id, a type, a source or an excluded name does not occur, or no name meets all
                conditions.
        """
        columns = vocabulary.columns
        names: Bools = self.concepts(vocabulary)[columns.names["concept"].to_numpy()]
        if self.sources:
            names &= _has_label(columns.names["source"].cast(pa.string()), self.sources, "source")
        names[[row for text in self._excluded_names(vocabulary) for row in vocabulary.name_rows(text)]] = False
        if not names.any():
            raise InputError("nothing is left to look for: no concept meets all conditions")
        return names

    def concepts(self, vocabulary: Vocabulary) -> Bools:
        """Whether each concept meets the conditions other than sources and excluded names: bool (C).

        Raises:
            InputError: an id or a type does not occur.
        """
        concepts = np.ones(len(vocabulary), bool)
        if self.branch:
            concepts &= _below(vocabulary, self.branch, "branch")
        if self.types:
            owners, types = flatten_lists(vocabulary.columns.concepts["semantic_types"])
            of_type = np.zeros(len(vocabulary), bool)
            folded = tuple(value.casefold() for value in self.types)
            of_type[owners[_has_label(pc.utf8_lower(types), folded, "semantic type")]] = True
            concepts &= of_type
        if self.ids:
            listed = np.zeros(len(vocabulary), bool)
            rows = (vocabulary.row(each) for wanted in self.ids for each in _current(vocabulary, wanted))
            listed[[row for row in rows if row is not None]] = True
            concepts &= listed
        named = set(self._excluded_names(vocabulary))
        if gone := [each for each in self.exclude if each not in named]:
            concepts &= ~_below(vocabulary, gone, "excluded id")
        return concepts

    def _excluded_names(self, vocabulary: Vocabulary) -> Iterator[str]:
        """Yield the excluded values that are names, not ids."""
        for value in self.exclude:
            if not vocabulary.resolve(value) and len(vocabulary.name_rows(value)):
                yield value


EVERYTHING: Final = Restriction()
"""No restriction."""


def _below(vocabulary: Vocabulary, roots: Collection[str], noun: str) -> Bools:
    """Find concepts and all below them: bool (C); a root may be a parent outside the vocabulary."""
    current = {each for root in roots for each in vocabulary.resolve(root) or (root,)}
    try:
        return descendants(vocabulary, sorted(current))
    except UnknownNameError:
        for root in current:
            try:
                descendants(vocabulary, [root])
            except UnknownNameError:
                raise _unknown(vocabulary, root, noun) from None
        raise


def _current(vocabulary: Vocabulary, wanted: str) -> tuple[str, ...]:
    if not (current := vocabulary.resolve(wanted)):
        raise _unknown(vocabulary, wanted, "id")
    return current


def _unknown(vocabulary: Vocabulary, value: str, noun: str) -> InputError:
    """Make the error for an unknown id, with the concepts that may be meant."""
    named = dict.fromkeys(name.concept_id for name in vocabulary.find(value))
    near = dict.fromkeys(chain(named, similar_ids(vocabulary, value)))
    rows = ((each, vocabulary.row(each)) for each in islice(near, _PROPOSED))
    proposed = [f"{each} ({vocabulary.preferred_name(row)})" for each, row in rows if row is not None]
    hint = f"; did you mean {' or '.join(proposed)}?" if proposed else ""
    return InputError(f"the {noun} {value!r} is no concept of the index{hint}")


def similar_ids(vocabulary: Vocabulary, value: str) -> Iterator[str]:
    """Yield the ids of concepts from which a mistyped id differs by one character, or by two that are swapped."""
    return (other for other in _slips(value) if other != value and other in vocabulary)


def _slips(text: str) -> Iterator[str]:
    """Yield the texts that differ from an id by one character, or by two that changed places."""
    text = text.strip()[:40]
    digits = "0123456789"
    for place, character in enumerate(text):
        if character.isdigit():
            yield from (text[:place] + other + text[place + 1 :] for other in digits if other != character)
        yield text[:place] + text[place + 1 :]
        yield text[:place] + "0" + text[place:]
        if place + 1 < len(text):
            yield text[:place] + text[place + 1] + character + text[place + 2 :]


def _has_label(column: pa.Array | pa.ChunkedArray, wanted: Collection[str], noun: str) -> Bools:
    """Whether each value is wanted.

    Raises:
        InputError: a wanted value does not occur.
    """
    present = set(pc.unique(column).to_pylist())
    if missing := sorted(set(wanted) - present):
        known = ", ".join(sorted(filter(None, present))[:20])
        raise InputError(f"no {noun} {missing[0]!r} in the vocabulary; there are: {known}")
    selected: Bools = pc.is_in(column, pa.array(sorted(wanted), pa.string())).to_numpy(zero_copy_only=False)
    return selected
