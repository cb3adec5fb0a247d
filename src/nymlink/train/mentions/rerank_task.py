"""Contextual re-ranking: one step, from clusters of mentions to the gradients of both encoders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from nymlink.core.errors import NymlinkError
from nymlink.core.progress import track
from nymlink.core.store.arrays import Ints
from nymlink.encode.model.tokens import Tokens
from nymlink.encode.model.torch_model import TorchModel
from nymlink.pairs.permutation import permute, seeded_keys
from nymlink.rerank.dual_encoder import DualEncoder
from nymlink.train.engine.cached_gradient import Encoding, encode
from nymlink.train.engine.precision import Precision
from nymlink.train.engine.task import Outcome
from nymlink.train.losses.contextual import (
    SoftRadius,
    central,
    distances,
    largest,
    nearest,
    nearest_of_all,
    prototypes,
    triplet_loss,
)
from nymlink.train.mentions.rerank_examples import Examples
from nymlink.train.settings.recipes import RerankSettings

_MEASURED: Final = 512
"""Clusters by which the unit of lengths is found: those of the first batches."""

_AT_ONCE: Final = 4096
"""Concepts encoded between two signs of progress."""

_COMPARED: Final = 256
"""Mentions compared with all their candidates at a time."""


class RerankWeights(nn.Module):
    """All that is trained.

    Attributes:
        dual: both encoders.
        radius: of soft-radius neighbours; trained only where there are such.
    """

    def __init__(self, dual: DualEncoder, radius: SoftRadius, *, learned: bool) -> None:
        super().__init__()
        self.dual = dual
        self.radius = radius.requires_grad_(learned)


@dataclass(frozen=True, slots=True)
class GroupBatch:
    """B groups of mentions, M mentions altogether.

    Attributes:
        mentions: int64 (M): which of the examples.
        groups: int64 (M), ascending: which group each is of.
        anchors: int64 (B): which of the M is the anchor of each group.
        tokens: the mentions.
        place: where the batch comes from, for messages.
    """

    mentions: Ints
    groups: Ints
    anchors: Ints
    tokens: Tokens
    place: str

    def __str__(self) -> str:
        return self.place


class Reranking:
    """The task of bringing mentions in their contexts nearer to what they mean than to their other candidates.

    A group is what one comparison is made of: a mention; or one drawn from a cluster; or a whole cluster. The
    negative is the wrong candidate that is nearest to the anchor as the weights are. It is sought among those that
    were the nearest at the beginning of the epoch: with all 64 there would be four times as many to encode. These
    are the anchor's own, or those of all mentions of the batch, see ``negatives`` of the settings.

    Args:
        weights: what is trained.
        examples: what from.
        entities: the inputs of the examples' concepts.
        settings: how.
        margin: of the loss.
        radius: the length that clusters have in the mean, if the unit is to be found.
        precision: what to compute in.
        progress: whether to show progress when standard error is a terminal.

    Attributes:
        unit_length: all lengths are counted in this; found at the beginning, see ``scaling`` of the settings.
    """

    unit = "groups"
    memory_setting = "graph_tokens"

    def __init__(
        self,
        weights: RerankWeights,
        examples: Examples,
        entities: Tokens,
        settings: RerankSettings,
        *,
        margin: float,
        radius: float,
        precision: Precision,
        progress: bool = False,
    ) -> None:
        self._weights = weights
        self._examples = examples
        self._mentions = weights.dual.passage_tokens(examples.passages)
        self._entities = entities
        self._settings = settings
        self._margin = margin
        self._radius = radius
        self._precision = precision
        self._progress = progress
        self._epoch: int | None = None
        self._negatives: Ints = np.zeros((0, settings.shortlist), np.int64)
        self.unit_length = 1.0

    def __len__(self) -> int:
        return -(-self._groups // self._settings.batch_groups)

    @property
    def _groups(self) -> int:
        return len(self._examples) if self._settings.loss == "triplet" else self._examples.clusters

    def start_epoch(self, epoch: int) -> Mapping[str, float] | None:
        """Find the negatives of an epoch with the weights as they are, unless they were recalled."""
        if epoch == self._epoch:
            return None
        if epoch == 0 and self._settings.scaling == "auto":
            self.unit_length = self._mean_radius() / self._radius or 1.0
        self._negatives = self._mined()
        self._epoch = epoch
        return {"with_gold": self._examples.with_gold, "unit_length": self.unit_length}

    def memory(self) -> Mapping[str, Tensor]:
        """The negatives: those of an epoch can only be found with the weights that it began with."""
        if self._epoch is None:
            return {}
        unit = torch.tensor(self.unit_length, dtype=torch.float64)
        negatives = torch.from_numpy(self._negatives)
        return {"epoch": torch.tensor(self._epoch), "negatives": negatives, "unit_length": unit}

    def recall(self, memory: Mapping[str, Tensor]) -> None:
        if memory:
            self._epoch = int(memory["epoch"])
            self._negatives = memory["negatives"].cpu().numpy()
            self.unit_length = float(memory["unit_length"])

    def batch(self, epoch: int, number: int) -> GroupBatch:
        size, total = self._settings.batch_groups, self._groups
        start, stop = number * size, min((number + 1) * size, total)
        key = seeded_keys([f"epoch {epoch}"], seed=self._settings.seed)
        numbers = permute(np.arange(start, stop), size=total, key=key).tolist()
        draws = seeded_keys([f"epoch {epoch} group {one}" for one in numbers], seed=self._settings.seed).tolist()
        members = [self._members(one, draw) for one, draw in zip(numbers, draws, strict=True)]
        sizes = np.array(list(map(len, members)))
        mentions = np.concatenate(members)
        drawn = np.array([draw % len(own) for draw, own in zip(draws, members, strict=True)])
        return GroupBatch(
            mentions=mentions,
            groups=np.repeat(np.arange(len(members)), sizes),
            anchors=np.cumsum(sizes) - sizes + drawn,
            tokens=_chosen(self._mentions, mentions),
            place=f"epoch {epoch + 1}, groups {start + 1:,} to {stop:,} of {total:,}",
        )

    def backward(self, batch: GroupBatch) -> Outcome:
        dual, limit = self._weights.dual, self._settings.graph_tokens
        encoding = Encoding(dual.mention, batch.tokens, self._precision, graph_tokens=limit)
        vectors = _finite(encoding.vectors).requires_grad_()
        device = vectors.device
        groups = torch.from_numpy(batch.groups).to(device)
        count = len(batch.anchors)
        with torch.no_grad():
            anchors = (
                central(vectors, groups, count)
                if self._settings.anchor == "central"
                else torch.from_numpy(batch.anchors).to(device)
            )
            away = distances(vectors, vectors[anchors][groups]) / self.unit_length
            near = away <= (self._weights.radius.reach if self._soft else np.inf)
            # However small the radius has become: a prototype is of one mention at least.
            near[anchors] = True
            farthest = largest(away, groups, near, count)
            chosen = batch.mentions[anchors.cpu().numpy()]
        negatives = self._nearest(vectors.detach()[anchors], chosen, batch.mentions)
        usable = negatives >= 0
        pairs = np.stack([self._examples.positives[chosen], negatives])[:, usable]
        rows, places = np.unique(pairs, return_inverse=True)
        entities = Encoding(dual.entity, _chosen(self._entities, rows), self._precision, graph_tokens=limit)
        concepts = _finite(entities.vectors).requires_grad_()
        positive, negative = torch.from_numpy(places.reshape(pairs.shape)).to(device)
        queries = prototypes(vectors, groups, near, count)[torch.from_numpy(usable).to(device)]
        loss = triplet_loss(
            *(one / self.unit_length for one in (queries, concepts[positive], concepts[negative])),
            margin=self._margin,
        )
        scale = self._precision.scale
        gradients = torch.autograd.grad(loss * scale, [vectors, concepts])
        encoding.backward(gradients[0])
        entities.backward(gradients[1])
        figures = {"without_negative": float((~usable).sum()), "mentions": len(vectors)}
        if self._soft:
            sizes = torch.bincount(groups, minlength=count)
            (self._weights.radius.lengths.grad,) = torch.autograd.grad(
                self._weights.radius.loss(farthest, sizes) * scale, [self._weights.radius.lengths]
            )
            radius = self._weights.radius.lengths[0].item()
            figures |= {"radius": radius, "neighbours": float(near.float().mean())}
        return Outcome(loss=loss.item(), size=count, figures=figures)

    @property
    def _soft(self) -> bool:
        return self._settings.loss == "prototype-srn"

    def _nearest(self, anchors: Tensor, chosen: Ints, mentions: Ints) -> Ints:
        """The nearest wrong candidate of each anchor of a batch by the weights as they are.

        A single one for a whole epoch would be pushed away in a few steps, and teach nothing in those after them.

        Args:
            anchors: float (B, D).
            chosen: int64 (B): which of the examples they are.
            mentions: int64 (M): all of the batch.

        Returns:
            int64 (B): which of the concepts, none that the anchor means; −1 for none.
        """
        batch = self._settings.negatives == "batch"
        shortlists = self._negatives[mentions if batch else chosen]
        rows, places = np.unique(shortlists, return_inverse=True)
        concepts = self._encoded(self._weights.dual.entity, self._entities, rows.clip(0))
        if batch:
            golds = (list(self._examples.golds[one]) for one in chosen.tolist())
            meant = np.stack([np.isin(self._examples.concepts[rows], gold) for gold in golds])
            found = nearest_of_all(anchors, concepts, torch.from_numpy((rows >= 0) & ~meant).to(anchors.device))
        else:
            candidates = torch.from_numpy(places.reshape(shortlists.shape)).to(anchors.device)
            allowed = torch.from_numpy(shortlists >= 0).to(anchors.device)
            found = nearest(anchors, concepts, candidates, allowed, count=1)[:, 0]
        taken = found.cpu().numpy()
        return np.where(taken >= 0, rows[taken], -1)

    def _mined(self) -> Ints:
        """The nearest wrong candidates of each mention: int64 (M, min(shortlist, k)), −1 for none.

        Mentions and concepts are both as they are now. Compared with concepts of an earlier time, mentions would
        soon find near what is so no longer, and learn nothing. Where all candidates fit the list, none is encoded.
        """
        dual, examples = self._weights.dual, self._examples
        if examples.candidates.shape[1] <= self._settings.shortlist:
            return np.where(examples.allowed, examples.candidates, -1)
        concepts = torch.cat(
            [
                self._encoded(dual.entity, self._entities, np.arange(start, stop))
                for start, stop in track(
                    _stretches(len(self._entities), _AT_ONCE), "encoding", shown=self._progress
                )
            ]
        )
        if not torch.isfinite(concepts).all():
            raise NymlinkError("the vectors of concepts are no longer finite numbers")
        found = []
        for start, stop in track(_stretches(len(examples), _COMPARED), "mining", shown=self._progress):
            mentions = self._encoded(dual.mention, self._mentions, np.arange(start, stop))
            candidates, allowed = (
                torch.from_numpy(one[start:stop]).to(concepts.device)
                for one in (examples.candidates, examples.allowed)
            )
            count = self._settings.shortlist
            found.append(nearest(_finite(mentions), concepts, candidates, allowed, count=count).cpu().numpy())
        return np.concatenate(found)

    def _members(self, number: int, draw: int) -> Ints:
        if self._settings.loss == "triplet":
            return np.array([number])
        cluster = self._examples.cluster(number)
        return cluster[[draw % len(cluster)]] if self._settings.loss == "triplet-sampled" else cluster

    def _mean_radius(self) -> float:
        """The mean of the largest distances from the anchors of clusters, with the weights as they are.

        Clusters of one mention have none. 0 where there are no others.
        """
        examples = self._examples
        key = seeded_keys(["epoch 0"], seed=self._settings.seed)
        numbers = permute(np.arange(min(_MEASURED, examples.clusters)), size=examples.clusters, key=key).tolist()
        clusters = [own for own in map(examples.cluster, numbers) if len(own) > 1]
        if not clusters:
            return 0.0
        rows = np.concatenate(clusters)
        groups = torch.from_numpy(np.repeat(np.arange(len(clusters)), list(map(len, clusters))))
        groups = groups.to(self._precision.device)
        vectors = self._encoded(self._weights.dual.mention, self._mentions, rows)
        sizes = torch.bincount(groups)
        away = distances(vectors, vectors[sizes.cumsum(0) - sizes][groups])
        return float(largest(away, groups, torch.ones_like(groups, dtype=torch.bool), len(clusters)).mean())

    def _encoded(self, model: TorchModel, tokens: Tokens, rows: Ints) -> Tensor:
        return encode(model, _chosen(tokens, rows), self._precision, at_once=self._settings.graph_tokens)


def _finite(vectors: Tensor) -> Tensor:
    if not torch.isfinite(vectors).all():
        raise NymlinkError("the encoders' vectors are no longer finite numbers")
    return vectors


def _stretches(total: int, size: int) -> Sequence[tuple[int, int]]:
    return [(start, min(start + size, total)) for start in range(0, total, size)]


def _chosen(tokens: Tokens, rows: Ints) -> Tokens:
    """The inputs of some rows."""
    lengths = tokens.lengths[rows]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    places = np.arange(offsets[-1]) + np.repeat(tokens.offsets[rows] - offsets[:-1], lengths)
    return Tokens(tokens.ids[places], offsets, 0)
