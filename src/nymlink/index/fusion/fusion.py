"""The fusion of the searches of an index: method and weights."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from nymlink.core.errors import InputError, UnknownNameError
from nymlink.core.json_objects import member
from nymlink.index.fusion.hits import Searcher
from nymlink.index.fusion.hybrid import HybridSearch, normalise_weights
from nymlink.index.fusion.reciprocal_rank import ReciprocalRankSearch

EXACT_MATCH: Final = "exact"
"""Name of the search for the entry that equals the query."""

DENSE: Final = "dense"
"""Name of dense search. Searches of other names are sparse."""

WEIGHTED: Final = "weighted"

METHODS: Final[Mapping[str, type[HybridSearch]]] = MappingProxyType(
    {WEIGHTED: HybridSearch, "reciprocal-rank": ReciprocalRankSearch}
)

_EXACT_WEIGHT: Final = 0.1
"""Enough to rank the equal name first, small enough that a score still measures similarity."""

_SPARSE_WEIGHT: Final = 0.15
"""Weight of sparse search beside dense search by nymlink-mini; chosen on training and development sets, see
docs/howto/searching.md."""


@dataclass(frozen=True, slots=True)
class Fusion:
    """A method of joining searches, and their weights.

    Attributes:
        method: one of :data:`METHODS`.
        weights: search → weight; they sum to 1.
    """

    method: str
    weights: Mapping[str, float]

    @classmethod
    def of(
        cls, parts: Collection[str], method: str = WEIGHTED, weights: Mapping[str, float] | None = None
    ) -> Fusion:
        """Make the fusion of some searches.

        Args:
            parts: the names of the searches.
            method: one of :data:`METHODS`.
            weights: search → weight, 0 for those not named. If ``None``, weights of scores as chosen on
                development sets (exact 0.1, sparse 0.15, dense 0.75), and equal weights of ranks, as published.

        Raises:
            UnknownNameError: there is no such method, or no such search.
            InputError: the weights are not numbers, below 0, or all 0.
        """
        if method not in METHODS:
            raise UnknownNameError(f"unknown fusion {method!r}; known: {', '.join(METHODS)}")
        if weights is None:
            weights = _default_weights(parts) if method == WEIGHTED else dict.fromkeys(parts, 1.0)
        unknown = weights.keys() - set(parts)
        if unknown:
            raise UnknownNameError(
                f"no search {', '.join(sorted(unknown))} in this index; it has: {', '.join(parts)}"
            )
        try:
            return cls(method, normalise_weights(parts, dict.fromkeys(parts, 0.0) | dict(weights)))
        except ValueError as error:
            raise InputError(str(error)) from error

    def join(self, parts: Mapping[str, Searcher]) -> HybridSearch:
        """Join searches to one."""
        return METHODS[self.method](parts, self.weights)

    def to_dict(self) -> dict[str, Any]:
        return {"method": self.method, "weights": dict(self.weights)}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any], parts: Collection[str]) -> Fusion:
        """Read the result of :meth:`to_dict`.

        Raises:
            ValueError: there is no such method, the weights are not of these searches, below 0 or all 0, or
                something is missing.
        """
        method, weights = member(value, "method", str), member(value, "weights", dict)
        if method not in METHODS:
            raise ValueError(f"unknown fusion {method!r}")
        return cls(method, normalise_weights(parts, weights))


def _default_weights(parts: Collection[str]) -> dict[str, float]:
    sparse = [name for name in parts if name not in (EXACT_MATCH, DENSE)]
    sparse_weight = _SPARSE_WEIGHT if DENSE in parts else 1 - _EXACT_WEIGHT
    weights = {EXACT_MATCH: _EXACT_WEIGHT} | {name: sparse_weight / len(sparse) for name in sparse}
    return weights | ({DENSE: 1 - sum(weights.values())} if DENSE in parts else {})
