"""Registry of metric-learning losses over the pairs of a batch; entry points extend it.

A loss takes positive and negative pairs, all or mined (:mod:`nymlink.train.losses.base`), as in the equations of
Liu et al. (2021). Their code gives mined triplets to pytorch-metric-learning, with the same result for
multi-similarity, circle and triplet; its InfoNCE and lifted structure weight a pair by the number of its triplets.
For NCA see :class:`~nymlink.train.losses.pairwise.Nca`. The defaults are the constants of that code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nymlink.core.registry import Registry

if TYPE_CHECKING:
    from nymlink.train.losses.base import Loss

LOSSES: Final[Registry[type[Loss]]] = Registry("nymlink.losses", noun="loss")
