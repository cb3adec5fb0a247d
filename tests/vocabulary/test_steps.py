"""Steps between concepts in a hierarchy, beside a walk over all its links."""

from __future__ import annotations

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.hierarchy import steps_between
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

COUNT = 7
LINKS = st.sets(st.tuples(st.integers(0, COUNT - 1), st.integers(0, COUNT)), max_size=12)
"""Pairs of a child and a parent. The last parent is no concept of the vocabulary; cycles are allowed."""


def walked(links: set[tuple[int, int]], start: int, end: int) -> float:
    """Walk up from both concepts, a step at a time, until the ways meet."""

    def up(concept: int) -> dict[int, int]:
        found = {concept: 0}
        for steps in (1, 2, 3):
            for child, parent in links:
                if found.get(child) == steps - 1:
                    found.setdefault(parent, steps)
        return found

    ours, theirs = up(start), up(end)
    return min((ours[each] + theirs[each] for each in ours.keys() & theirs.keys()), default=inf)


@given(LINKS, st.integers(0, COUNT - 1), st.sets(st.integers(0, COUNT - 1), max_size=3), st.integers(0, 3))
def test_steps_are_those_of_a_walk(links: set[tuple[int, int]], start: int, ends: set[int], most: int) -> None:
    builder = TableBuilder()
    for concept in range(COUNT):
        builder.concept(f"X:{concept}", parents=[f"X:{parent}" for child, parent in links if child == concept])
        builder.name(f"X:{concept}", f"name {concept}", lang="en", kind="preferred")
    vocabulary = Vocabulary.of((Source("links", "made"), builder.build()))
    expected = min((walked(links, start, end) for end in ends), default=inf)
    assert steps_between(vocabulary, start, ends, most=most) == (expected if expected <= most else inf)
