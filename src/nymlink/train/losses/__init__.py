"""Losses over the pairs of a batch, one in a file, in a registry that entry points extend.

They look at sets of positive and negative pairs, mined or all (:mod:`nymlink.train.losses.mining`), as Liu et al.
(2021) write them. Their released code hands the mined triplets to pytorch-metric-learning instead. That is the
same to multi-similarity, circle and triplet. InfoNCE and lifted structure there weight a pair by its number of
triplets; on NCA, see :class:`~nymlink.train.losses.nca.Nca`. The constants of that code are the defaults here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nymlink.core.registry import Registry

if TYPE_CHECKING:
    from nymlink.train.losses.base import Loss

LOSSES: Final[Registry[type[Loss]]] = Registry("nymlink.losses", noun="loss")
