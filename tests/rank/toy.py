"""Rankers made by hand, and a small index for them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from nymlink.index.index import Index
from nymlink.rank.features import NAMES
from nymlink.rank.ranker import Ranker
from nymlink.rank.trees import Trees
from tests.index.small import vocabulary

VOCABULARY = vocabulary(
    {
        "D:1": ["breast cancer", "carcinoma of the breast", ("BC", "abbreviation")],
        "D:2": ["ovarian cancer", "ovary cancer type 2"],
        "D:3": ["myocardial infarction", "heart attack", ("MI", "abbreviation")],
        "D:4": ["mitral insufficiency", ("MI", "related")],
        "D:5": ["breast cancer type 2"],
        "D:6": ["familial breast cancer", "hereditary cancer of the breast"],
    }
)


@cache
def built_index() -> Index:
    return Index.build(VOCABULARY, encoder=None).with_ranker(None)


def ranker(rules: Mapping[str, tuple[float, float, float]]) -> Ranker:
    """A tree of one level a rule: feature → threshold, value up to it and where it is missing, value above it."""
    return Ranker(
        Trees(
            np.array([[NAMES.index(name)] for name in rules], np.int64).reshape(-1, 1),
            np.array([[threshold] for threshold, _, _ in rules.values()], np.float32).reshape(-1, 1),
            np.array([[below, above] for _, below, above in rules.values()], np.float32).reshape(-1, 2),
        ),
        "made by hand",
    )


def ranked(index: Index, rules: Mapping[str, tuple[float, float, float]]) -> Index:
    """An index with such a ranker."""
    return index.with_ranker(ranker(rules).to_dict())


def damaged(**changes: Any) -> dict[str, Any]:
    """The values of a ranker, some of them replaced."""
    return ranker({"score": (0.5, 0, 1)}).to_dict() | changes


LAST_FIRST = {"score": (0.99, 2, -1), "sparse": (0.5, 1, 0)}
"""Rules against candidates that are like the question."""
