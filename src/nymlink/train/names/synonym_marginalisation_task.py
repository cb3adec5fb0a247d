"""The task of synonym marginalisation: batches of queries with candidates, and the gradients of their loss.

Sung et al., "Biomedical Entity Representations with Synonym Marginalization" (ACL 2020), section 3.
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
from nymlink.encode.model.tokens.token_batches import Tokens, tokenise
from nymlink.encode.model.torch_model import TorchModel
from nymlink.index.fusion.hits import NONE
from nymlink.pairs.permutation import permute, seeded_keys
from nymlink.train.annotated_queries import AnnotatedQuery
from nymlink.train.engine.gradient_cache import EncodedBatch, encode_names
from nymlink.train.engine.precision import Precision
from nymlink.train.engine.task import BatchResult
from nymlink.train.losses.marginal_likelihood import marginal_likelihood_loss
from nymlink.train.names.candidate_lists import CandidateLists
from nymlink.train.settings.encoder_recipes import BioSynSettings

_MEASURED: Final = 1000
"""Queries whose mean squared vector length is the scale of dense scores."""


class BioSynModel(nn.Module):
    """An encoder with the weight of sparse scores: score = dense + ``sparse_weight`` · sparse.

    Attributes:
        encoder: the encoder; inner products of its vectors are the dense scores.
        sparse_weight: (1): the learned weight, initially 0.
    """

    def __init__(self, encoder: TorchModel, device: torch.device) -> None:
        super().__init__()
        self.encoder = encoder
        self.sparse_weight = nn.Parameter(torch.zeros(1, device=device))


@dataclass(frozen=True, slots=True)
class CandidateBatch:
    """B queries with k candidates each; each distinct name is encoded once.

    Attributes:
        queries: int64 (B): the number of each query's name.
        candidates: int64 (B, k): the number of each candidate's name; any number where there is no candidate.
        present: bool (B, k): whether there is a candidate.
        positives: bool (B, k): whether the candidate is a name of a gold concept of the query.
        sparse: float32 (B, k): the sparse score of the candidate.
        tokens: the distinct names.
        place: where the batch's queries come from, for messages.
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


class SynonymMarginalisationTask:
    """Learns to score names of a query's gold concepts above other similar names; a ``StatefulTask``.

    Args:
        model: the model to train.
        queries: the queries with their gold concepts.
        lists: their candidates.
        settings: the settings.
        precision: the precision to compute in.
    """

    unit = "queries"
    memory_setting = "graph_tokens"

    def __init__(
        self,
        model: BioSynModel,
        queries: Sequence[AnnotatedQuery],
        lists: CandidateLists,
        settings: BioSynSettings,
        precision: Precision,
    ) -> None:
        self._model = model
        self._queries = queries
        self._lists = lists
        self._settings = settings
        self._precision = precision
        self._epoch: int | None = None
        self._encoded = self._cut = 0

    def __len__(self) -> int:
        return -(-len(self._queries) // self._settings.batch_queries)

    def start_epoch(self, epoch: int) -> Mapping[str, float] | None:
        """Search dense candidates with the current weights, unless those of this epoch were restored."""
        if epoch == self._epoch:
            return None
        self._lists.refresh(self._encode)
        self._epoch = epoch
        return {"with_positive": self._lists.recall, "sparse_weight": self._model.sparse_weight.item()}

    def epoch_state(self) -> Mapping[str, Tensor]:
        """Return the candidates: they depend on the weights at the start of the epoch."""
        if self._epoch is None:
            return {}
        return {"epoch": torch.tensor(self._epoch), "candidates": torch.from_numpy(self._lists.rows)}

    def restore_epoch_state(self, state: Mapping[str, Tensor]) -> None:
        if state:
            self._epoch = int(state["epoch"])
            self._lists.set_rows(state["candidates"].numpy())

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
            tokens=tokenise(self._model.encoder.tokenizer, list(distinct)),
            place=f"epoch {epoch + 1}, queries {start + 1:,} to {stop:,} of {total:,}",
        )

    def backward(self, batch: CandidateBatch) -> BatchResult:
        weight = self._model.sparse_weight
        encoding = EncodedBatch(
            self._model.encoder, batch.tokens, self._precision, graph_tokens=self._settings.graph_tokens
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
        return BatchResult(
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
        """Return the learned weight, and the equivalent fusion weights of an index.

        Dense scores of an index are cosines; here they are inner products, as published: cosines times the squared
        length of the vectors.
        """
        weight = self._model.sparse_weight.item()
        vectors = self._encode([annotated.query for annotated in self._queries[:_MEASURED]])
        scale = float(np.square(vectors).sum(1).mean())
        sparse = max(weight, 0.0)
        fusion = {"dense": scale / (scale + sparse), "sparse": sparse / (scale + sparse)}
        return {"sparse_weight": weight, "dense_scale": scale, "fusion": fusion}

    def _encode(self, names: Sequence[str]) -> Vectors:
        limit = self._settings.graph_tokens
        vectors: Vectors = encode_names(self._model.encoder, names, self._precision, at_once=limit).cpu().numpy()
        return vectors
