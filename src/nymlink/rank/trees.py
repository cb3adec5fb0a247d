"""Symmetric regression trees, evaluated with NumPy.

In a symmetric tree, all nodes of a level compare the same feature with the same threshold (Dorogush et al.,
"CatBoost: gradient boosting with categorical features support", 2018). So a tree of depth D is D comparisons and
2^D values, and is evaluated without branches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from nymlink.core.json_files import member

_AT_ONCE: Final = 128
"""Number of candidates evaluated at a time. Their answers to all trees stay in the CPU cache."""

_BEYOND: Final = np.float32(1e30)
"""Threshold that is above all values of features."""

DEEPEST: Final = 8
"""Largest depth of a tree, with which the number of a leaf fits into one byte."""

Numbers = npt.NDArray[np.float32]
"""(N, F) float32: F features of N candidates, NaN if a feature is missing."""


class _Questions(NamedTuple):
    """The distinct questions that trees ask, whether a feature is larger than a threshold.

    Attributes:
        features: int64 (U): the feature of each question.
        thresholds: float32 (U, 1): its threshold.
        of_levels: int64 (D, T): the question of each level of each tree.
        first_leaves: int64 (T, 1): the place of the first value of each tree among all values.
    """

    features: npt.NDArray[np.int64]
    thresholds: Numbers
    of_levels: npt.NDArray[np.int64]
    first_leaves: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Trees:
    """T trees of depth D. The result is the sum of their values.

    Attributes:
        features: int64 (T, D): the feature that each level compares.
        thresholds: float32 (T, D): the threshold of each level. The answer is whether the feature is larger; for a
            missing feature it is no.
        values: float32 (T, 2^D): the value of each leaf. Bit d of the number of a leaf is the answer at level d.

    Raises:
        ValueError: the arrays do not fit each other, or a value is not finite.
    """

    features: npt.NDArray[np.int64]
    thresholds: Numbers
    values: Numbers

    def __post_init__(self) -> None:
        if self.features.ndim != 2 or self.features.shape != self.thresholds.shape:
            raise ValueError(f"features {self.features.shape} and thresholds {self.thresholds.shape} differ")
        count, depth = self.features.shape
        if depth > DEEPEST:
            raise ValueError(f"trees of depth {depth} are deeper than {DEEPEST}")
        if self.values.shape != (count, 1 << depth):
            raise ValueError(f"{count} trees of depth {depth} do not have values {self.values.shape}")
        if not (np.isfinite(self.thresholds).all() and np.isfinite(self.values).all()):
            raise ValueError("thresholds and values of trees must be finite numbers")
        if self.features.min(initial=0) < 0:
            raise ValueError("features of trees are numbered from 0")

    def evaluate(self, numbers: Numbers) -> Numbers:
        """Add up the values of all trees.

        Args:
            numbers: float32 (N, F): features of N candidates.

        Returns:
            float32 (N): the sum for each candidate.
        """
        total = np.zeros(len(numbers))
        if not self.features.size:
            constant: Numbers = (total + self.values.sum(dtype=np.float64)).astype(np.float32)
            return constant
        asked = self._questions
        for start in range(0, len(numbers), _AT_ONCE):
            columns = np.ascontiguousarray(numbers[start : start + _AT_ONCE].T)
            # (U, n): trees ask many questions several times.
            answers = (columns.take(asked.features, axis=0) > asked.thresholds).view(np.uint8)
            # (T, n): the leaf of each candidate in each tree, from the last level to the first.
            leaves = answers.take(asked.of_levels[-1], axis=0)
            for questions in asked.of_levels[-2::-1]:
                leaves += leaves
                leaves |= answers.take(questions, axis=0)
            values = self.values.take(asked.first_leaves + leaves)
            total[start : start + _AT_ONCE] = values.sum(axis=0, dtype=np.float64)
        return total.astype(np.float32)

    @cached_property
    def _questions(self) -> _Questions:
        # One whole number for each pair of a feature and the bits of a threshold.
        pairs = self.features << 32 | np.ascontiguousarray(self.thresholds).view(np.uint32)
        distinct, places = np.unique(pairs, return_inverse=True)
        return _Questions(
            distinct >> 32,
            distinct.astype(np.uint32).view(np.float32)[:, None],
            np.ascontiguousarray(places.reshape(pairs.shape).T),
            np.arange(0, self.values.size, self.values.shape[1])[:, None],
        )

    @classmethod
    def joined(cls, parts: Sequence[Trees]) -> Trees:
        """Make the trees whose result is the sum of the results of several. Shallow trees get more levels."""
        depth = max(part.features.shape[1] for part in parts)
        deep = [part._deepened(depth) for part in parts]
        return cls(
            np.concatenate([part.features for part in deep]),
            np.concatenate([part.thresholds for part in deep]),
            np.concatenate([part.values for part in deep]),
        )

    @classmethod
    def mean(cls, parts: Sequence[Trees]) -> Trees:
        """Make the trees whose result is the mean of the results of several."""
        share = np.float32(1 / len(parts))
        return cls.joined([replace(part, values=part.values * share) for part in parts])

    def _deepened(self, depth: int) -> Trees:
        """Add levels that do not change the result."""
        added = depth - self.features.shape[1]
        return Trees(
            np.pad(self.features, ((0, 0), (0, added))),
            np.pad(self.thresholds, ((0, 0), (0, added)), constant_values=_BEYOND),
            np.tile(self.values, (1, 1 << added)),
        )

    def contributions(self, numbers: Numbers, feature_count: int) -> Numbers:
        """Divide the result of the trees among the features.

        The expected value of a tree is the mean of its leaves. Each comparison leaves fewer leaves, and so changes
        the expected value. The compared feature gets the change (Saabas, "Interpreting random forests", 2014).

        Args:
            numbers: float32 (N, F).
            feature_count: F.

        Returns:
            float32 (N, F + 1): the part of each feature. The last column is a constant part, the same for all
            candidates. Each row sums to the result of :meth:`evaluate`.
        """
        columns = np.ascontiguousarray(numbers.T)
        moved = np.zeros((len(numbers), feature_count + 1), np.float32)
        for features, thresholds, values in zip(self.features.tolist(), self.thresholds, self.values, strict=True):
            leaves = _leaves(columns, features, thresholds)
            expected = np.full(len(numbers), values.mean(), np.float32)
            moved[:, -1] += expected
            for level, feature in enumerate(features):
                # Leaves with the same answers up to this level have the same lower bits.
                alike = values.reshape(-1, 1 << (level + 1)).mean(axis=0)
                reached = alike[leaves & ((1 << (level + 1)) - 1)]
                moved[:, feature] += reached - expected
                expected = reached
        return moved

    def to_dict(self) -> dict[str, Any]:
        return {
            "features": self.features.tolist(),
            "thresholds": [[float(f"{value:.7g}") for value in row] for row in self.thresholds.tolist()],
            "values": [[float(f"{value:.5g}") for value in row] for row in self.values.tolist()],
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Trees:
        """Read the result of :meth:`to_dict`.

        Raises:
            ValueError: the value is damaged.
        """
        try:
            return cls(
                np.array(member(value, "features", list), np.int64),
                np.array(member(value, "thresholds", list), np.float32),
                np.array(member(value, "values", list), np.float32),
            )
        except (TypeError, OverflowError) as error:
            raise ValueError(f"the trees are damaged ({error})") from error


def _leaves(columns: Numbers, features: list[int], thresholds: Numbers) -> npt.NDArray[np.uint8]:
    """Find the leaf of each candidate in one tree: uint8 (N)."""
    leaves = np.zeros(columns.shape[1], np.uint8)
    for level, (feature, threshold) in enumerate(zip(features, thresholds, strict=True)):
        leaves |= (columns[feature] > threshold).view(np.uint8) << np.uint8(level)
    return leaves
