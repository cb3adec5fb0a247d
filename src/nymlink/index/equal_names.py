"""Order the concepts that have a query for a name by how their names are written."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from nymlink.index.entries.entries import Entries
from nymlink.index.fusion.hits import NONE
from nymlink.index.walk import Matches
from nymlink.text.normalisation.compact import compact
from nymlink.text.normalisation.normalise import normalise
from nymlink.text.writing import ALIKE, writing_likeness
from nymlink.vocabulary.vocabulary import Vocabulary

_CAPITALS: Final = 0.8
"""Least likeness of names that differ in capitals alone: which of their letters is then by chance."""

_LESS: Final = 0.99
"""Share of its score that a concept keeps whose name is equal but for capitals or signs, where that of another is
written just as the mention: enough to say that they are no tie."""


class _EqualName(NamedTuple):
    """A name that equals a query.

    Attributes:
        concept: row of its concept.
        name: its row.
        alike: whether it is written as the mention is.
    """

    concept: int
    name: int
    alike: bool


def order_equal_names(
    matches: Matches, place: int, vocabulary: Vocabulary, entries: Entries, query: str, surface: str | None
) -> None:
    """Put the concepts that have a query for a name in order, in place: the most alike in writing first.

    Of a concept the name is kept that is written most as the mention is. Where the mention equals no name, all
    concepts with a name of its compact form are added ("IL1RA", between "IL-1RA" and "IL1-RA").

    Args:
        matches: of all queries.
        place: of this query among them.
        vocabulary: of the concepts.
        entries: of the index.
        query: the prepared text.
        surface: the mention, as it was written; ``None`` where that is not known: the concepts that were found
            stay in order.
    """
    equal = _equal_names(vocabulary, entries, query, surface)
    concepts = matches.concepts[place]
    if concepts[0] not in {each.concept for each in equal}:
        return
    first = {each.concept: each for each in reversed(equal)}
    ordered = list(dict.fromkeys(each.concept for each in equal))
    if surface is None:
        found = [concept for concept in concepts.tolist() if concept in first]
        ordered = [*found, *(concept for concept in ordered if concept not in found)]
    ordered = ordered[: len(concepts)]
    rest = np.flatnonzero(~np.isin(concepts, list(first)))[: len(concepts) - len(ordered)]
    count = len(ordered)
    # All equal names have the scores of the first.
    for values in (matches.scores[place], *(scores[place] for scores in matches.parts.values())):
        _replace(values, np.full(count, values[0]), values[rest], empty=0)
    names = matches.names[place]
    _replace(names, [first[concept].name for concept in ordered], names[rest], empty=NONE)
    _replace(concepts, ordered, concepts[rest], empty=NONE)
    if surface is not None and first[ordered[0]].alike:
        next_score = matches.scores[place, count] if count < len(concepts) else 0
        for rank, concept in enumerate(ordered):
            if not first[concept].alike:
                matches.scores[place, rank] = max(matches.scores[place, rank] * _LESS, next_score)


def _replace(values: npt.NDArray[Any], first: npt.ArrayLike, rest: npt.NDArray[Any], *, empty: int) -> None:
    """Replace values by others and, where these are fewer, an empty one."""
    new = np.concatenate([first, rest])
    values[: len(new)], values[len(new) :] = new, empty


def _equal_names(vocabulary: Vocabulary, entries: Entries, query: str, surface: str | None) -> list[_EqualName]:
    """Find the names that equal a query, the most alike in writing first, then the surest."""
    row = entries.find(query)
    if row is None:
        return []
    wanted = query
    rows: tuple[int, ...] = (row,)
    if surface is not None:
        wanted = normalise(surface)
        if wanted != query and compact(wanted) == compact(query):
            rows = entries.compact.find(query)
    names = [name for each in rows for name in entries.names_of(each).tolist()]
    if len(names) == 1:
        return []
    keyed = []
    for place, name in enumerate(names):
        text = vocabulary.name(name).text
        likeness = 1.0 if surface is None else writing_likeness(surface, text)
        level = likeness if likeness > ALIKE or likeness < _CAPITALS else _CAPITALS
        # An entry has names in another order of words, too.
        keyed.append(((normalise(text) not in (query, wanted), -level, place), name, likeness > ALIKE))
    owners = vocabulary.columns.names["concept"]
    return [_EqualName(owners[name].as_py(), name, alike) for _, name, alike in sorted(keyed)]
