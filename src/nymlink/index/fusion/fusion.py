"""How the searches of an index are joined: by which method, with which weights."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from nymlink.core.errors import InputError, UnknownNameError
from nymlink.core.json_objects import member
from nymlink.index.fusion.hits import Searcher
from nymlink.index.fusion.hybrid import HybridSearch, shares
from nymlink.index.fusion.reciprocal_rank import ReciprocalRankSearch

EXACT: Final = "exact"
DENSE: Final = "dense"
"""The names of these parts; all others are sparse."""

WEIGHTED: Final = "weighted"

METHODS: Final[Mapping[str, type[HybridSearch]]] = MappingProxyType(
    {WEIGHTED: HybridSearch, "reciprocal-rank": ReciprocalRankSearch}
)

_EXACT_WEIGHT: Final = 0.1
"""Enough to put the equal name before any other, small enough that a score says how alike two names are."""

_SPARSE_WEIGHT: Final = 0.15
"""Of sparse search beside dense search by nymlink-mini; chosen on training and development sets, see
docs/searching.md."""


@dataclass(frozen=True, slots=True)
class Fusion:
    """A method and the weights it is used with.

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
        """The fusion of some searches.

        Args:
            parts: the searches.
            method: how they are joined.
            weights: search → weight, 0 for those not named. If ``None``, scores count by what did well on
                development sets (exact 0.1, sparse 0.15, dense 0.75), and ranks all alike, as published.

        Raises:
            UnknownNameError: there is no such method, or no such search.
            InputError: the weights do not allow a mean.
        """
        if method not in METHODS:
            raise UnknownNameError(f"unknown fusion {method!r}; known: {', '.join(METHODS)}")
        if weights is None:
            weights = _usual(parts) if method == WEIGHTED else dict.fromkeys(parts, 1.0)
        unknown = weights.keys() - set(parts)
        if unknown:
            raise UnknownNameError(
                f"no search {', '.join(sorted(unknown))} in this index; it has: {', '.join(parts)}"
            )
        try:
            return cls(method, shares(parts, dict.fromkeys(parts, 0.0) | dict(weights)))
        except ValueError as error:
            raise InputError(str(error)) from error

    def join(self, parts: Mapping[str, Searcher]) -> HybridSearch:
        """The search that joins these."""
        return METHODS[self.method](parts, self.weights)

    def to_dict(self) -> dict[str, Any]:
        return {"method": self.method, "weights": dict(self.weights)}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any], parts: Collection[str]) -> Fusion:
        """What :meth:`to_dict` gave.

        Raises:
            ValueError: there is no such method, or the weights are not for these searches or allow no mean, or
                something is missing.
        """
        method, weights = member(value, "method", str), member(value, "weights", dict)
        if method not in METHODS:
            raise ValueError(f"unknown fusion {method!r}")
        return cls(method, shares(parts, weights))


def _usual(parts: Collection[str]) -> dict[str, float]:
    sparse = [name for name in parts if name not in (EXACT, DENSE)]
    of_sparse = _SPARSE_WEIGHT if DENSE in parts else 1 - _EXACT_WEIGHT
    weights = {EXACT: _EXACT_WEIGHT} | {name: of_sparse / len(sparse) for name in sparse}
    return weights | ({DENSE: 1 - sum(weights.values())} if DENSE in parts else {})
