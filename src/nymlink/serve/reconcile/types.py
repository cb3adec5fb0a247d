"""The types of concepts: semantic types, and the branches of the hierarchy that they are in."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import pyarrow.compute as pc

from nymlink.core.errors import UnknownNameError
from nymlink.core.store.arrays import Bools
from nymlink.vocabulary.hierarchy import descendants
from nymlink.vocabulary.inverted_lists import InvertedLists
from nymlink.vocabulary.vocabulary import Vocabulary

_BRANCHES: Final = 60
"""Branches that are types of each concept in them, the largest: one bit of an integer for each."""

_ENOUGH: Final = 10
_LEVELS: Final = 3
"""Levels of the hierarchy, from the top, are branches until there are so many of one or the other."""

_DEFAULT: Final = 20
"""Types that are proposed for a whole column."""


class Type(NamedTuple):
    """A semantic type, or a concept with all that is below it."""

    id: str
    name: str

    def to_dict(self) -> dict[str, str]:
        return {"id": self.id, "name": self.name}


class Types:
    """The types of the concepts of a vocabulary: its semantic types, and branches of its hierarchy.

    Any concept with children is a type, too, where a query names it: those below it are of this type.

    Args:
        vocabulary: a vocabulary of C concepts.
        children: of its concepts.

    Attributes:
        all: semantic types, then the largest of the top branches, each the most frequent first.
    """

    def __init__(self, vocabulary: Vocabulary, children: InvertedLists) -> None:
        self._vocabulary = vocabulary
        self._children = children
        branches = [(branch, descendants(vocabulary, [branch])) for branch in self._top_branches()]
        branches.sort(key=lambda branch: -int(branch[1].sum()))
        self._branches = [self._type_of_concept(branch) for branch, _ in branches[:_BRANCHES]]
        self._memberships = np.zeros(len(vocabulary), np.uint64)
        for bit, (_, members) in enumerate(branches[:_BRANCHES]):
            self._memberships[members] |= np.uint64(1 << bit)
        semantic_types = list(vocabulary.semantic_types())
        self.all = [*(Type(name, name) for name in semantic_types), *self._branches]
        self._semantic_types = frozenset(semantic_types)
        self.members: Callable[[str], Bools | None] = lru_cache(maxsize=64)(self._members)

    @property
    def default(self) -> list[Type]:
        """The types that are proposed for a whole column."""
        return self.all[:_DEFAULT]

    def of(self, row: int) -> list[Type]:
        """List the types of the concept at a row."""
        names = self._vocabulary.columns.concepts["semantic_types"][row].as_py()
        bits = int(self._memberships[row])
        branches = [branch for bit, branch in enumerate(self._branches) if bits >> bit & 1]
        return [*(Type(name, name) for name in names), *branches]

    def named(self, type_id: str) -> Type | None:
        """Find a type by its id; ``None`` where there is none."""
        if type_id in self._semantic_types:
            return Type(type_id, type_id)
        return self._type_of_concept(type_id) if type_id in self._vocabulary else None

    def _members(self, type_id: str) -> Bools | None:
        """Find the concepts of a type: bool (C); ``None`` where there is no such type."""
        if type_id in self._semantic_types:
            lists = self._vocabulary.columns.concepts["semantic_types"].combine_chunks()
            with_type = pc.equal(pc.list_flatten(lists), type_id).to_numpy(False)
            members = np.zeros(len(self._vocabulary), np.bool_)
            members[pc.list_parent_indices(lists).to_numpy()[with_type]] = True
            return members
        try:
            return descendants(self._vocabulary, [type_id])
        except UnknownNameError:
            return None

    def _type_of_concept(self, concept_id: str) -> Type:
        row = self._vocabulary.row(concept_id)
        return Type(concept_id, concept_id if row is None else self._vocabulary.preferred_name(row))

    def _top_branches(self) -> list[str]:
        """List the concepts at the top of the hierarchy that have children."""
        columns = self._vocabulary.columns.concepts
        top = pc.and_(pc.equal(pc.list_value_length(columns["parents"]), 0), pc.invert(columns["obsolete"]))
        level = [id_ for id_ in columns["id"].filter(top).to_pylist() if self._children.owners(id_)]
        branches = dict.fromkeys(level)
        for _ in range(_LEVELS - 1):
            if len(branches) >= _ENOUGH:
                break
            below = [self._vocabulary.concept_id(row) for id_ in level for row in self._children.owners(id_)]
            level = [id_ for id_ in dict.fromkeys(below) if id_ not in branches and self._children.owners(id_)]
            branches.update(dict.fromkeys(level))
        return list(branches)
