"""The properties of concepts that a reconciliation service has: their values, and concepts by a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from nymlink.text.normalisation.normalise import normalise
from nymlink.vocabulary.inverted_lists import InvertedLists
from nymlink.vocabulary.merge.identifiers import canonical
from nymlink.vocabulary.vocabulary import Vocabulary

_FOUND: Final = 50
"""Concepts that a value leads to at most: one that more have tells little."""


class Value(NamedTuple):
    """A value of a property.

    Attributes:
        text: the value, or the name of the concept that it is.
        concept_id: of that concept; ``None`` for any other value.
    """

    text: str
    concept_id: str | None = None


@dataclass(frozen=True, slots=True)
class Property:
    """A property of concepts.

    Attributes:
        id: of the property.
        name: for people.
        description: for people.
        values: the values of the concept at a row.
        equals: whether a value, as a query gives it, is one of some values.
        find: rows of the concepts that have a value; nothing where that says little.
        of_concepts: whether its values are concepts.
    """

    id: str
    name: str
    description: str
    values: Callable[[int], Iterable[Value]]
    equals: Callable[[str, Sequence[Value]], bool]
    find: Callable[[str], Sequence[int]] = lambda _: ()
    of_concepts: bool = False


class Properties:
    """The properties of the concepts of a vocabulary, by id.

    Args:
        vocabulary: of the concepts.
        children: of its concepts.
    """

    def __init__(self, vocabulary: Vocabulary, children: InvertedLists) -> None:
        self._vocabulary = vocabulary
        self._children = children
        properties = (
            Property(
                "parents",
                "Parents",
                "Concepts directly above",
                self._parents,
                _is_concept,
                self._find_children,
                True,
            ),
            Property(
                "children", "Children", "Concepts directly below", self._below, _is_concept, of_concepts=True
            ),
            Property(
                "xrefs", "Cross-references", "Ids in other vocabularies", self._xrefs, _is_id, self._find_by_xref
            ),
            Property("synonyms", "Synonyms", "All names", self._synonyms, _is_name, self._find_by_name),
            Property("language", "Languages", "Languages that it has names in", self._languages, _is_language),
            Property("definition", "Definition", "What it means", self._definition, _is_in),
        )
        self._by_id = {each.id: each for each in properties}

    def __iter__(self) -> Iterator[Property]:
        return iter(self._by_id.values())

    def get(self, property_id: str) -> Property | None:
        """Find a property by its id; ``None`` where there is none."""
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

    def _find_children(self, value: str) -> Sequence[int]:
        parents = (
            [value] if value in self._vocabulary else [name.concept_id for name in self._vocabulary.find(value)]
        )
        return [row for parent in dict.fromkeys(parents) for row in self._children.owners(parent)][:_FOUND]

    def _find_by_xref(self, value: str) -> Sequence[int]:
        return self._by_xref.owners(value)[:_FOUND]

    def _find_by_name(self, value: str) -> Sequence[int]:
        rows = (self._vocabulary.row(name.concept_id) for name in self._vocabulary.find(value))
        return [row for row in dict.fromkeys(rows) if row is not None][:_FOUND]


def _key(xref: str) -> str:
    return ":".join(canonical(xref.strip())).casefold()


def _is_concept(wanted: str, values: Sequence[Value]) -> bool:
    name = normalise(wanted)
    return any(wanted == value.concept_id or name == normalise(value.text) for value in values)


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
