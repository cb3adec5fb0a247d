"""Types and properties of concepts, for OpenRefine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

import numpy as np
import pyarrow.compute as pc

from nymlink.core.errors import UnknownNameError
from nymlink.core.store.arrays import Bools
from nymlink.text.normalise import normalise
from nymlink.vocabulary.hierarchy import InvertedLists, descendants
from nymlink.vocabulary.merge.identifiers import canonical
from nymlink.vocabulary.vocabulary import Vocabulary

_BRANCHES: Final = 60
"""Most branches that count as types; each has a bit of an integer."""

_ENOUGH: Final = 10
_LEVELS: Final = 3
"""Branches come from the top levels of the hierarchy, until there are enough branches or levels."""

_DEFAULT: Final = 20
"""Types proposed for a whole column."""


class Type(NamedTuple):
    """A semantic type, or a concept with its descendants."""

    id: str
    name: str

    def to_dict(self) -> dict[str, str]:
        return {"id": self.id, "name": self.name}


class Types:
    """The types of a vocabulary's concepts: semantic types, and branches of the hierarchy.

    A query may also name any concept as the type of its descendants.

    Attributes:
        all: semantic types, then the largest top branches, the most frequent first.
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
        """The types proposed for a whole column."""
        return self.all[:_DEFAULT]

    def of(self, row: int) -> list[Type]:
        """List the types of the concept at a row."""
        names = self._vocabulary.columns.concepts["semantic_types"][row].as_py()
        bits = int(self._memberships[row])
        branches = [branch for bit, branch in enumerate(self._branches) if bits >> bit & 1]
        return [*(Type(name, name) for name in names), *branches]

    def named(self, type_id: str) -> Type | None:
        """Find a type by its id; ``None`` for an unknown id."""
        if type_id in self._semantic_types:
            return Type(type_id, type_id)
        return self._type_of_concept(type_id) if type_id in self._vocabulary else None

    def _members(self, type_id: str) -> Bools | None:
        """Find the concepts of a type: bool (C); ``None`` for an unknown type."""
        if type_id in self._semantic_types:
            lists = self._vocabulary.columns.concepts["semantic_types"].combine_chunks()
            with_type = pc.equal(pc.list_flatten(lists), type_id).to_numpy(False)
            members = np.zeros(len(self._vocabulary), np.bool_)
            members[pc.list_parent_indices(lists).to_numpy()[with_type]] = True
            return members
        current = self._vocabulary.resolve(type_id)
        try:
            return descendants(self._vocabulary, current) if current else None
        except UnknownNameError:
            return None

    def _type_of_concept(self, concept_id: str) -> Type:
        row = self._vocabulary.row(concept_id)
        return Type(concept_id, concept_id if row is None else self._vocabulary.preferred_name(row))

    def _top_branches(self) -> list[str]:
        """List the concepts with children at the top of the hierarchy."""
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


_FOUND: Final = 50
"""Most concepts found by a value; a value of more concepts is no evidence."""


class Value(NamedTuple):
    """A value of a property: a text, or the name and the id of a concept."""

    text: str
    concept_id: str | None = None


@dataclass(frozen=True, slots=True)
class Property:
    """A property of concepts.

    Attributes:
        id: id of the property.
        name: name, for people.
        description: description, for people.
        values: returns the values of the concept at a row.
        equals: tells whether a value of a query is among some values.
        find: returns the rows of the concepts with a value; nothing for uninformative properties.
        of_concepts: whether the values are concepts.
    """

    id: str
    name: str
    description: str
    values: Callable[[int], Iterable[Value]]
    equals: Callable[[str, Sequence[Value]], bool]
    find: Callable[[str], Sequence[int]] = lambda _: ()
    of_concepts: bool = False


class Properties:
    """The properties of a vocabulary's concepts, by id."""

    def __init__(self, vocabulary: Vocabulary, children: InvertedLists) -> None:
        self._vocabulary = vocabulary
        self._children = children
        properties = (
            Property(
                "parents", "Parents", "Parent concepts", self._parents, self._is_concept, self._find_children, True
            ),
            Property("children", "Children", "Child concepts", self._below, self._is_concept, of_concepts=True),
            Property("xrefs", "Cross-references", "External ids", self._xrefs, _is_id, self._find_by_xref),
            Property("synonyms", "Synonyms", "All names", self._synonyms, _is_name, self._find_by_name),
            Property("language", "Languages", "Languages of the names", self._languages, _is_language),
            Property("definition", "Definition", "Meaning of the concept", self._definition, _is_in),
        )
        self._by_id = {each.id: each for each in properties}

    def __iter__(self) -> Iterator[Property]:
        return iter(self._by_id.values())

    def get(self, property_id: str) -> Property | None:
        """Find a property by its id; ``None`` for an unknown id."""
        return self._by_id.get(property_id)

    @cached_property
    def _by_xref(self) -> InvertedLists:
        return InvertedLists(self._vocabulary, "xrefs", key=_key)

    def _concept(self, concept_id: str) -> Value:
        row = self._vocabulary.row(concept_id)
        return Value(concept_id if row is None else self._vocabulary.preferred_name(row), concept_id)

    def _parents(self, row: int) -> Iterable[Value]:
        return map(self._concept, self._vocabulary.concept(row).parents)

    def _below(self, row: int) -> Iterable[Value]:
        rows = self._children.owners(self._vocabulary.concept_id(row))
        return [
            Value(self._vocabulary.preferred_name(child), self._vocabulary.concept_id(child)) for child in rows
        ]

    def _xrefs(self, row: int) -> Iterable[Value]:
        return map(Value, self._vocabulary.concept(row).xrefs)

    def _synonyms(self, row: int) -> Iterable[Value]:
        names = self._vocabulary.names(self._vocabulary.concept_id(row))
        return map(Value, dict.fromkeys(name.text for name in names))

    def _languages(self, row: int) -> Iterable[Value]:
        names = self._vocabulary.names(self._vocabulary.concept_id(row))
        return map(Value, dict.fromkeys(name.lang for name in names))

    def _definition(self, row: int) -> Iterable[Value]:
        definition = self._vocabulary.concept(row).definition
        return [] if definition is None else [Value(definition)]

    def _is_concept(self, wanted: str, values: Sequence[Value]) -> bool:
        ids, name = (wanted, *self._vocabulary.resolve(wanted)), normalise(wanted)
        return any(value.concept_id in ids or name == normalise(value.text) for value in values)

    def _find_children(self, value: str) -> Sequence[int]:
        parents = self._vocabulary.resolve(value) or [name.concept_id for name in self._vocabulary.find(value)]
        return [row for parent in dict.fromkeys(parents) for row in self._children.owners(parent)][:_FOUND]

    def _find_by_xref(self, value: str) -> Sequence[int]:
        return self._by_xref.owners(value)[:_FOUND]

    def _find_by_name(self, value: str) -> Sequence[int]:
        rows = (self._vocabulary.row(name.concept_id) for name in self._vocabulary.find(value))
        return [row for row in dict.fromkeys(rows) if row is not None][:_FOUND]


def _key(xref: str) -> str:
    return ":".join(canonical(xref.strip())).casefold()


def _is_id(wanted: str, values: Sequence[Value]) -> bool:
    return _key(wanted) in {_key(value.text) for value in values}


def _is_name(wanted: str, values: Sequence[Value]) -> bool:
    return normalise(wanted) in {normalise(value.text) for value in values}


def _is_language(wanted: str, values: Sequence[Value]) -> bool:
    code = wanted.strip().casefold()
    return any(code == value.text.casefold() or value.text.casefold().startswith(f"{code}-") for value in values)


def _is_in(wanted: str, values: Sequence[Value]) -> bool:
    words = f" {normalise(wanted)} "
    return any(words in f" {normalise(value.text)} " for value in values)
