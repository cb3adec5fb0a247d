from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from nymlink.index.fusion import ExactSearch, ReciprocalRankSearch
from nymlink.index.sparse.features import PRESETS
from nymlink.index.sparse.sparse_search import SparseSearch
from tests.index.small import entries, many_names

ENTRIES = entries(many_names(300))
QUERIES = ["", *ENTRIES.texts.to_pylist()[::40], *(text[1:] for text in ENTRIES.texts.to_pylist()[::50])]


def test_scores_are_those_of_the_formula() -> None:
    parts = {
        "exact": ExactSearch(ENTRIES),
        "sparse": SparseSearch.build(ENTRIES, PRESETS["nymlink"]["sparse"]),
        "biosyn": SparseSearch.build(ENTRIES, PRESETS["biosyn"]["sparse"]),
    }
    weights = {"exact": 1.0, "sparse": 2.0, "biosyn": 1.0}
    found = ReciprocalRankSearch(parts, weights).search(QUERIES, 5)
    for query, rows, scores in zip(QUERIES, found.hits.rows, found.hits.scores, strict=True):
        expected: dict[int, float] = defaultdict(float)
        for name, part in parts.items():
            for rank, row in enumerate(part.search([query], 5).rows[0], start=1):
                if row >= 0:
                    expected[int(row)] += weights[name] / 4 * 61 / (60 + rank)
        ordered = sorted(expected.items(), key=lambda pair: (-round(pair[1], 6), pair[0]))[:5]
        assert [row for row in rows.tolist() if row >= 0] == [row for row, _ in ordered]
        np.testing.assert_allclose(scores[: len(ordered)], [score for _, score in ordered], rtol=1e-5)


def test_what_is_first_everywhere_has_score_one() -> None:
    parts = {"exact": ExactSearch(ENTRIES)}
    found = ReciprocalRankSearch(parts, {"exact": 3.0}).search([ENTRIES.text(7)], 2)
    assert found.hits.scores.tolist() == [[1.0, 0.0]]
    assert found.parts["exact"].tolist() == [[1.0, 0.0]]


def test_weights_must_fit_the_parts() -> None:
    with pytest.raises(ValueError, match="weights are for"):
        ReciprocalRankSearch({"exact": ExactSearch(ENTRIES)}, {"other": 1.0})
