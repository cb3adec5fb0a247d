"""Synonym marginalisation: one step, from queries with candidates to the gradients of the weights.

Sung et al., "Biomedical Entity Representations with Synonym Marginalization" (ACL 2020).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from nymlink.core.errors import NymlinkError
from nymlink.core.store.arrays import Bools, Ints, Vectors
from nymlink.encode.model.tokens import Tokens, tokenise
from nymlink.encode.model.torch_model import TorchModel
from nymlink.index.fusion.hits import NONE
from nymlink.pairs.permutation import permute, seeded_keys
from nymlink.train.engine.cached_gradient import Encoding, encode_names
from nymlink.train.engine.precision import Precision
from nymlink.train.engine.task import Outcome
from nymlink.train.losses.marginal_likelihood import marginal_likelihood_loss
from nymlink.train.mentions.annotated import Annotated
from nymlink.train.names.dictionary_names import CandidateLists
from nymlink.train.settings.recipes import BioSynSettings

_MEASURED: Final = 1000
"""Queries whose vectors say how large dense scores are."""


class Scorer(nn.Module):
    """An encoder, and the weight of sparse scores beside its own.

    Attributes:
        encoder: makes vectors, whose inner products are the dense scores.
        sparse_weight: (1): begins at 0.
    """

    def __init__(self, encoder: TorchModel, device: torch.device) -> None:
        super().__init__()
        self.encoder = encoder
        self.sparse_weight = nn.Parameter(torch.zeros(1, device=device))


@dataclass(frozen=True, slots=True)
class CandidateBatch:
    """B queries with k candidates each. A name that is there more than once is encoded once.

    Attributes:
        queries: int64 (B): which of the names a query is.
        candidates: int64 (B, k): which of the names each candidate is; any where there is none.
        present: bool (B, k): whether there is one.
        positives: bool (B, k): whether it is a name of what the query means.
        sparse: float32 (B, k): its sparse score.
        tokens: the names.
        place: where the batch comes from, for messages.
    """

    queries: Ints
    candidates: Ints
    present: Bools
    positives: Bools
    sparse: npt.NDArray[np.float32]
    tokens: Tokens
    place: str

    def __str__(self) -> str:
        return self.place


class Marginalisation:
    """The task of telling the names of what a query means from other names that are like it.

    Args:
        scorer: what is trained.
        queries: with what they mean.
        lists: their candidates.
        settings: how many at a time.
        precision: what to compute in.
    """

    unit = "queries"
    memory_setting = "graph_tokens"

    def __init__(
        self,
        scorer: Scorer,
        queries: Sequence[Annotated],
        lists: CandidateLists,
        settings: BioSynSettings,
        precision: Precision,
    ) -> None:
        self._scorer = scorer
        self._queries = queries
        self._lists = lists
        self._settings = settings
        self._precision = precision
        self._epoch: int | None = None
        self._encoded = self._cut = 0

    def __len__(self) -> int:
        return -(-len(self._queries) // self._settings.batch_queries)

    def start_epoch(self, epoch: int) -> Mapping[str, float] | None:
        """Search dense candidates with the weights as they are, unless those of this epoch were recalled."""
        if epoch == self._epoch:
            return None
        self._lists.refresh(self._encode)
        self._epoch = epoch
        return {"with_positive": self._lists.retrieved, "sparse_weight": self._scorer.sparse_weight.item()}

    def memory(self) -> Mapping[str, Tensor]:
        """The candidates: those of an epoch can only be found with the weights that it began with."""
        if self._epoch is None:
            return {}
        return {"epoch": torch.tensor(self._epoch), "candidates": torch.from_numpy(self._lists.rows)}

    def recall(self, memory: Mapping[str, Tensor]) -> None:
        if memory:
            self._epoch = int(memory["epoch"])
            self._lists.set_rows(memory["candidates"].numpy())

    def batch(self, epoch: int, number: int) -> CandidateBatch:
        size, total = self._settings.batch_queries, len(self._queries)
        start, stop = number * size, min((number + 1) * size, total)
        key = seeded_keys([f"epoch {epoch}"], seed=self._settings.seed)
        numbers = permute(np.arange(start, stop), size=total, key=key)
        rows = self._lists.rows[numbers]
        present = rows != NONE
        distinct: dict[str, int] = {}
        queries = [distinct.setdefault(self._queries[at].query, len(distinct)) for at in numbers.tolist()]
        candidates = np.zeros(rows.shape, np.int64)
        names = self._lists.names(rows[present])
        candidates[present] = [distinct.setdefault(name, len(distinct)) for name in names]
        return CandidateBatch(
            queries=np.array(queries),
            candidates=candidates,
            present=present,
            positives=self._lists.positives[numbers],
            sparse=self._lists.sparse_scores[numbers],
            tokens=tokenise(self._scorer.encoder.tokenizer, list(distinct)),
            place=f"epoch {epoch + 1}, queries {start + 1:,} to {stop:,} of {total:,}",
        )

    def backward(self, batch: CandidateBatch) -> Outcome:
        weight = self._scorer.sparse_weight
        encoding = Encoding(
            self._scorer.encoder, batch.tokens, self._precision, graph_tokens=self._settings.graph_tokens
        )
        vectors = encoding.vectors.requires_grad_()
        if not torch.isfinite(vectors).all():
            raise NymlinkError("the encoder's vectors are no longer finite numbers")
        device = vectors.device
        queries, candidates, present, positives, sparse = (
            torch.from_numpy(array).to(device)
            for array in (batch.queries, batch.candidates, batch.present, batch.positives, batch.sparse)
        )
        dense = torch.einsum("bd,bkd->bk", vectors[queries], vectors[candidates])
        loss = marginal_likelihood_loss((dense + weight * sparse).masked_fill(~present, -math.inf), positives)
        gradient, weight.grad = torch.autograd.grad(loss * self._precision.scale, [vectors, weight])
        encoding.backward(gradient)
        self._encoded += len(batch.tokens)
        self._cut += batch.tokens.truncated
        return Outcome(
            loss=loss.item(),
            size=len(queries),
            figures={
                "without_positive": float((~positives.any(1)).sum()),
                "sparse_weight": weight.item(),
            },
        )

    def names_cut(self) -> tuple[int, int]:
        return self._cut, self._encoded

    def result(self) -> Mapping[str, Any]:
        """The weight of sparse scores, and the weights that it comes to where both searches give cosines.

        Dense scores are inner products here, as published: larger than cosines by the square of a vector's length.
        """
        weight = self._scorer.sparse_weight.item()
        vectors = self._encode([one.query for one in self._queries[:_MEASURED]])
        scale = float(np.square(vectors).sum(1).mean())
        sparse = max(weight, 0.0)
        fusion = {"dense": scale / (scale + sparse), "sparse": sparse / (scale + sparse)}
        return {"sparse_weight": weight, "dense_scale": scale, "fusion": fusion}

    def _encode(self, names: Sequence[str]) -> Vectors:
        limit = self._settings.graph_tokens
        vectors: Vectors = encode_names(self._scorer.encoder, names, self._precision, at_once=limit).cpu().numpy()
        return vectors
