"""Metric-learning losses over the pairs of a batch: one file a loss, in a registry that entry points extend.

Each takes sets of positive and negative pairs, mined or all (:mod:`nymlink.train.losses.base`), as the equations
of Liu et al. (2021) do. Their released code gives the mined triplets to pytorch-metric-learning instead. For
multi-similarity, circle and triplet the result is the same. InfoNCE and lifted structure there weight a pair by
the number of its triplets; for NCA see :class:`~nymlink.train.losses.pairwise.Nca`. The defaults here are the
constants of that code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nymlink.core.registry import Registry

if TYPE_CHECKING:
    from nymlink.train.losses.base import Loss

LOSSES: Final[Registry[type[Loss]]] = Registry("nymlink.losses", noun="loss")
