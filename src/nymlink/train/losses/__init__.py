"""Registry of metric-learning losses over the pairs of a batch. Entry points can add losses.

A loss takes positive and negative pairs, as in the equations of Liu et al. (2021): all pairs, or mined pairs
(:mod:`nymlink.train.losses.base`). The code of Liu et al. gives mined triplets to pytorch-metric-learning instead.
For the multi-similarity, circle and triplet losses, the results are the same. For InfoNCE and lifted structure,
their code weights a pair by the number of its triplets. :class:`~nymlink.train.losses.pairwise.Nca` describes the
difference for NCA. The default settings are the constants of their code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nymlink.core.registry import Registry

if TYPE_CHECKING:
    from nymlink.train.losses.base import Loss

LOSSES: Final[Registry[type[Loss]]] = Registry("nymlink.losses", noun="loss")
