"""The benchmark of reviews: decisions are counted as a reviewer makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.index.index import Index

MENTIONS = [
    *[Mention("gout", concept_ids=("X:1",))] * 6,
    Mention("zonked", concept_ids=("X:2",)),
    Mention("quite  zonked", concept_ids=("X:2",)),
    Mention("zink", concept_ids=("Q:9",)),
    Mention("fever", concept_ids=("X:2",)),
    Mention("gout", concept_ids=("X:3",)),
    Mention("not annotated"),
]


@pytest.fixture
def review(script: Callable[[str], Any]) -> Any:
    return script("linking.review")


def test_terms_are_distinct_and_mean_what_most_rows_say(review: Any, index: Index) -> None:
    terms = review.terms_of([Corpus("toy", (Document("1", mentions=tuple(MENTIONS)),))], index)
    assert [(term.text, term.rows, set(term.gold)) for term in terms] == [
        ("gout", 7, {"X:1"}),
        ("zonked", 1, {"X:2"}),
        ("quite zonked", 1, {"X:2"}),
        ("zink", 1, set()),
        ("fever", 1, {"X:2"}),
    ]
    assert terms[3].lesson.targets == ()


def test_decisions_are_counted_until_enough_is_right(review: Any, index: Index) -> None:
    terms = review.terms_of([Corpus("toy", (Document("1", mentions=tuple(MENTIONS)),))], index)
    first = review.link(index, None, terms)
    assert first.right.tolist() == [True, False, False, False, True]
    first.confidence[:] = [0.9, 0.3, 0.2, 0.1, 0.8]
    found = {
        way: review.review(index, terms, first, doubtful_first=doubtful, every=1 if learns else None)
        for way, (doubtful, learns) in review.WAYS.items()
    }
    assert found["top to bottom"]["decisions"] == {"terms": 4, "rows": 4}
    assert found["doubtful first"]["decisions"] == {"terms": 3, "rows": 3}
    # "zonked" teaches "quite zonked".
    learning = found["top to bottom, learning"]
    assert learning["curve"][-1]["decisions"] == 4
    assert len(learning["learning_seconds"]) == 4
    assert found["doubtful first, learning"]["decisions"]["terms"] <= 3
    assert np.isfinite(learning["learning_seconds"]).all()
