"""A vocabulary for tests of dense search, and what to ask of it."""

from __future__ import annotations

import numpy as np

from nymlink.index.index import Index
from tests.index.small import many_names, vocabulary

NAMES = many_names(320)
VOCABULARY = vocabulary({f"X:{number}": NAMES[4 * number : 4 * number + 4] for number in range(80)})
QUERIES = [*NAMES[::40], *(name[1:] for name in NAMES[::40]), "", "\0"]


def assert_same(one: Index, other: Index) -> None:
    first, second = one.match(QUERIES, 5), other.match(QUERIES, 5)
    assert np.array_equal(first.concepts, second.concepts)
    np.testing.assert_allclose(first.scores, second.scores, atol=1e-6)
    assert first.parts.keys() == second.parts.keys()
