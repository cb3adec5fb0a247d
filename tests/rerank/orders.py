"""Orders of candidates made by hand."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from nymlink.rank.trees import Trees
from nymlink.rerank.evidence import NAMES, LearnedOrder, TypeShares

Rules = Mapping[str, tuple[float, float, float]]
"""Feature → threshold, value up to it and where it is missing, value above it."""


def order(rules: Rules, types: TypeShares | None = None) -> LearnedOrder:
    """A tree of one level a rule."""
    return LearnedOrder(
        Trees(
            np.array([[NAMES.index(name)] for name in rules], np.int64).reshape(-1, 1),
            np.array([[threshold] for threshold, _, _ in rules.values()], np.float32).reshape(-1, 1),
            np.array([[below, above] for _, below, above in rules.values()], np.float32).reshape(-1, 2),
        ),
        types or {},
        "made by hand",
    )


BY_INDEX = order({"place": (0.5, 1, 0)})
BY_CONTEXT = order({"ahead_context": (0, 0, 1)})
"""The candidate that the context speaks for comes first."""
