"""The task of the dual encoder: batches of clusters of mentions, and the gradients of both encoders.

Le & Nguyen, "A metric learning-based method for biomedical entity linking" (Frontiers in Research Metrics and
Analytics 2023), section 3.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from nymlink.core.errors import NymlinkError
from nymlink.core.store.arrays import Ints
from nymlink.core.terminal import track
from nymlink.encode.model.token_batches import Tokens
from nymlink.encode.model.torch_model import TorchModel
from nymlink.pairs.permutation import permute, seeded_keys
from nymlink.rerank.dual_encoder import DualEncoder
from nymlink.train.engine.gradient_cache import EncodedBatch, encode
from nymlink.train.engine.optimiser import Precision
from nymlink.train.engine.task import BatchResult
from nymlink.train.losses.prototype_triplet import (
    SoftRadius,
    central_members,
    group_maxima,
    nearest_candidates,
    nearest_concept,
    prototypes,
    row_distances,
    triplet_loss,
)
from nymlink.train.mentions.reranker_examples import Examples
from nymlink.train.settings.reranker_trainings import RerankSettings

_MEASURED: Final = 512
"""Number of clusters from which the unit of lengths is computed. They are those of the first batches."""

_CONCEPTS: Final = 4096
"""Concepts encoded between two updates of the progress bar."""

_COMPARED: Final = 256
"""Mentions compared with their candidates at a time."""


class DualEncoderWeights(nn.Module):
    """All trained weights: both encoders and the radius of neighbours.

    Only the loss ``prototype-srn`` learns the radius.
    """

    def __init__(self, dual: DualEncoder, radius: SoftRadius, *, learned: bool) -> None:
        super().__init__()
        self.dual = dual
        self.radius = radius.requires_grad_(learned)


@dataclass(frozen=True, slots=True)
class GroupBatch:
    """B groups of mentions, M mentions altogether.

    Attributes:
        mentions: int64 (M): numbers of the mentions among the examples.
        groups: int64 (M), ascending: group of each mention.
        anchors: int64 (B): anchor of each group, as a position among the M.
        tokens: inputs of the mentions.
        place: epoch and numbers of the groups, shown in messages.
    """

    mentions: Ints
    groups: Ints
    anchors: Ints
    tokens: Tokens
    place: str

    def __str__(self) -> str:
        return self.place


class DualEncoderTask:
    """Brings mentions in context nearer to their gold concept than to wrong candidates; a ``StatefulTask``.

    A group is a mention, a random mention of a cluster, or a whole cluster (setting ``loss``). The negative of a
    group is the wrong candidate that is nearest to its anchor by the current weights ("online hardest negative",
    section 3.2.2). It is chosen from the candidates that were nearest at the start of the epoch (setting
    ``shortlist``), because all 64 candidates would cost four times as much. The candidates belong to the anchor,
    or to any mention of the batch (setting ``negatives``).

    Args:
        weights: the weights to train.
        examples: mentions with candidates.
        entities: inputs of the examples' concepts.
        settings: the settings.
        precision: the precision to compute in.
        progress: show progress if standard error is a terminal.

    Attributes:
        unit_length: unit that all lengths are divided by. It is computed before the first epoch if ``scaling`` is
            ``"auto"``; otherwise it is 1.
    """

    unit = "groups"
    memory_setting = "graph_tokens"

    def __init__(
        self,
        weights: DualEncoderWeights,
        examples: Examples,
        entities: Tokens,
        settings: RerankSettings,
        *,
        precision: Precision,
        progress: bool = False,
    ) -> None:
        self._weights = weights
        self._examples = examples
        self._mentions = weights.dual.passage_tokens(examples.passages)
        self._entities = entities
        self._settings = settings
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
        """Search wrong candidates with the current weights, unless a checkpoint has restored the candidates."""
        if epoch == self._epoch:
            return None
        if epoch == 0 and self._settings.scaling == "auto":
            self.unit_length = self._mean_radius() / self._settings.radius or 1.0
        self._negatives = self._nearest_wrong_candidates()
        self._epoch = epoch
        return {"with_gold": self._examples.with_gold, "unit_length": self.unit_length}

    def epoch_state(self) -> Mapping[str, Tensor]:
        """Return the wrong candidates. They depend on the weights at the start of the epoch."""
        if self._epoch is None:
            return {}
        unit = torch.tensor(self.unit_length, dtype=torch.float64)
        negatives = torch.from_numpy(self._negatives)
        return {"epoch": torch.tensor(self._epoch), "negatives": negatives, "unit_length": unit}

    def restore_epoch_state(self, state: Mapping[str, Tensor]) -> None:
        if state:
            self._epoch = int(state["epoch"])
            self._negatives = state["negatives"].cpu().numpy()
            self.unit_length = float(state["unit_length"])

    def batch(self, epoch: int, number: int) -> GroupBatch:
        size, total = self._settings.batch_groups, self._groups
        start, stop = number * size, min((number + 1) * size, total)
        key = seeded_keys([f"epoch {epoch}"], seed=self._settings.seed)
        numbers = permute(np.arange(start, stop), size=total, key=key).tolist()
        seed = self._settings.seed
        draws = seeded_keys([f"epoch {epoch} group {number}" for number in numbers], seed=seed).tolist()
        members = [self._members(number, draw) for number, draw in zip(numbers, draws, strict=True)]
        sizes = np.array(list(map(len, members)))
        mentions = np.concatenate(members)
        anchors = np.array([draw % size for draw, size in zip(draws, sizes.tolist(), strict=True)])
        return GroupBatch(
            mentions=mentions,
            groups=np.repeat(np.arange(len(members)), sizes),
            anchors=np.cumsum(sizes) - sizes + anchors,
            tokens=_select(self._mentions, mentions),
            place=f"epoch {epoch + 1}, groups {start + 1:,} to {stop:,} of {total:,}",
        )

    def backward(self, batch: GroupBatch) -> BatchResult:
        dual, limit = self._weights.dual, self._settings.graph_tokens
        encoding = EncodedBatch(dual.mention, batch.tokens, self._precision, graph_tokens=limit)
        vectors = _finite(encoding.vectors).requires_grad_()
        device = vectors.device
        groups = torch.from_numpy(batch.groups).to(device)
        count = len(batch.anchors)
        with torch.no_grad():
            anchors = (
                central_members(vectors, groups, count)
                if self._settings.anchor == "central"
                else torch.from_numpy(batch.anchors).to(device)
            )
            distances = row_distances(vectors, vectors[anchors][groups]) / self.unit_length
            neighbours = distances <= (self._weights.radius.threshold if self._soft else np.inf)
            # A prototype has at least its anchor, even if the radius becomes very small.
            neighbours[anchors] = True
            farthest = group_maxima(distances, groups, neighbours, count)
            anchor_mentions = batch.mentions[anchors.cpu().numpy()]
        negatives = self._hardest_negatives(vectors.detach()[anchors], anchor_mentions, batch.mentions)
        usable = negatives >= 0
        pairs = np.stack([self._examples.positives[anchor_mentions], negatives])[:, usable]
        rows, places = np.unique(pairs, return_inverse=True)
        entities = EncodedBatch(dual.entity, _select(self._entities, rows), self._precision, graph_tokens=limit)
        concepts = _finite(entities.vectors).requires_grad_()
        positive, negative = torch.from_numpy(places.reshape(pairs.shape)).to(device)
        queries = prototypes(vectors, groups, neighbours, count)[torch.from_numpy(usable).to(device)]
        loss = triplet_loss(
            *(rows / self.unit_length for rows in (queries, concepts[positive], concepts[negative])),
            margin=self._settings.margin,
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
            figures |= {"radius": radius, "neighbours": float(neighbours.float().mean())}
        return BatchResult(loss=loss.item(), size=count, figures=figures)

    @property
    def _soft(self) -> bool:
        return self._settings.loss == "prototype-srn"

    def _hardest_negatives(self, anchors: Tensor, numbers: Ints, mentions: Ints) -> Ints:
        """Find the wrong candidate nearest to each anchor of a batch, by the current weights.

        Each step chooses again, because a few steps push a candidate away.

        Args:
            anchors: float (B, D): vectors of the anchors.
            numbers: int64 (B): numbers of the anchors among the examples.
            mentions: int64 (M): numbers of all mentions of the batch.

        Returns:
            int64 (B): positions among the examples' concepts; −1 if there is no wrong candidate.
        """
        batch = self._settings.negatives == "batch"
        shortlists = self._negatives[mentions if batch else numbers]
        rows, places = np.unique(shortlists, return_inverse=True)
        concepts = self._encode(self._weights.dual.entity, self._entities, rows.clip(0))
        if batch:
            golds = (list(self._examples.golds[number]) for number in numbers.tolist())
            is_gold = np.stack([np.isin(self._examples.concepts[rows], gold) for gold in golds])
            allowed = torch.from_numpy((rows >= 0) & ~is_gold).to(anchors.device)
            nearest = nearest_concept(anchors, concepts, allowed)
        else:
            candidates = torch.from_numpy(places.reshape(shortlists.shape)).to(anchors.device)
            allowed = torch.from_numpy(shortlists >= 0).to(anchors.device)
            nearest = nearest_candidates(anchors, concepts, candidates, allowed, count=1)[:, 0]
        positions = nearest.cpu().numpy()
        return np.where(positions >= 0, rows[positions], -1)

    def _nearest_wrong_candidates(self) -> Ints:
        """Find each mention's nearest wrong candidates by the current weights: int64 (M, min(shortlist, k)).

        −1 stands for a missing candidate. If the shortlist has room for all candidates, nothing is encoded.
        """
        dual, examples = self._weights.dual, self._examples
        if examples.candidates.shape[1] <= self._settings.shortlist:
            return np.where(examples.allowed, examples.candidates, -1)
        concepts = torch.cat(
            [
                self._encode(dual.entity, self._entities, np.arange(start, stop))
                for start, stop in track(_ranges(len(self._entities), _CONCEPTS), "encoding", shown=self._progress)
            ]
        )
        if not torch.isfinite(concepts).all():
            raise NymlinkError("the vectors of concepts are no longer finite numbers")
        shortlists = []
        for start, stop in track(_ranges(len(examples), _COMPARED), "mining", shown=self._progress):
            mentions = self._encode(dual.mention, self._mentions, np.arange(start, stop))
            candidates, allowed = (
                torch.from_numpy(array[start:stop]).to(concepts.device)
                for array in (examples.candidates, examples.allowed)
            )
            count = self._settings.shortlist
            nearest = nearest_candidates(_finite(mentions), concepts, candidates, allowed, count=count)
            shortlists.append(nearest.cpu().numpy())
        return np.concatenate(shortlists)

    def _members(self, number: int, draw: int) -> Ints:
        """Choose the mentions of a group: a mention, one of a cluster, or a whole cluster (setting ``loss``)."""
        if self._settings.loss == "triplet":
            return np.array([number])
        cluster = self._examples.cluster(number)
        return cluster[[draw % len(cluster)]] if self._settings.loss == "triplet-sampled" else cluster

    def _mean_radius(self) -> float:
        """Compute the mean, over clusters, of the largest distance of a mention from the cluster's first mention.

        Clusters of one mention do not count. The result is 0 if there are no others.
        """
        examples = self._examples
        key = seeded_keys(["epoch 0"], seed=self._settings.seed)
        numbers = permute(np.arange(min(_MEASURED, examples.clusters)), size=examples.clusters, key=key).tolist()
        clusters = [cluster for cluster in map(examples.cluster, numbers) if len(cluster) > 1]
        if not clusters:
            return 0.0
        rows = np.concatenate(clusters)
        groups = torch.from_numpy(np.repeat(np.arange(len(clusters)), list(map(len, clusters))))
        groups = groups.to(self._precision.device)
        vectors = self._encode(self._weights.dual.mention, self._mentions, rows)
        sizes = torch.bincount(groups)
        distances = row_distances(vectors, vectors[sizes.cumsum(0) - sizes][groups])
        everyone = torch.ones_like(groups, dtype=torch.bool)
        return float(group_maxima(distances, groups, everyone, len(clusters)).mean())

    def _encode(self, model: TorchModel, tokens: Tokens, rows: Ints) -> Tensor:
        return encode(model, _select(tokens, rows), self._precision, at_once=self._settings.graph_tokens)


def _finite(vectors: Tensor) -> Tensor:
    if not torch.isfinite(vectors).all():
        raise NymlinkError("the encoders' vectors are no longer finite numbers")
    return vectors


def _ranges(total: int, size: int) -> Sequence[tuple[int, int]]:
    """Cut the range from 0 to ``total`` into pieces, and return the (start, stop) of each piece."""
    return [(start, min(start + size, total)) for start in range(0, total, size)]


def _select(tokens: Tokens, rows: Ints) -> Tokens:
    lengths = tokens.lengths[rows]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    places = np.arange(offsets[-1]) + np.repeat(tokens.offsets[rows] - offsets[:-1], lengths)
    return Tokens(tokens.ids[places], offsets, 0)
