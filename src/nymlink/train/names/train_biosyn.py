"""Training by synonym marginalisation (BioSyn): candidates, batches, and the task.

Sung et al., "Biomedical Entity Representations with Synonym Marginalization" (ACL 2020), section 3. Their code
keeps the scores of all queries with all names in memory. This module never holds an array of that size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from nymlink.core.errors import InputError, NymlinkError
from nymlink.core.problems import Problems
from nymlink.core.store.arrays import Bools, Ints, Vectors
from nymlink.core.terminal import track
from nymlink.corpus.read import read_corpus
from nymlink.encode.model.token_batches import Tokens, tokenise
from nymlink.encode.model.torch_model import TorchModel
from nymlink.index.dense.exact import nearest
from nymlink.index.entries.entries import Entries
from nymlink.index.hits import NONE, Hits, Rows, Scores, best
from nymlink.index.sparse.features import preset
from nymlink.index.sparse.sparse_search import SparseSearch
from nymlink.pairs.permutation import permute, seeded_keys
from nymlink.train.annotated_queries import AnnotatedQuery, annotated_queries, describe_corpus, no_concept_error
from nymlink.train.engine.distributed import Processes, process_count
from nymlink.train.engine.gradient_cache import EncodedBatch, encode_names
from nymlink.train.engine.loop import trainable_parameters
from nymlink.train.engine.optimiser import Precision, adam
from nymlink.train.engine.task import BatchResult
from nymlink.train.losses.pairwise import marginal_likelihood_loss
from nymlink.train.names.encoder_training import Encode, TrainingData, TrainingSetup, train_encoder
from nymlink.train.settings.encoder_trainings import BioSynSettings
from nymlink.vocabulary.read import open_vocabulary

_NAMES: Final = 1 << 14
"""Number of names encoded at a time, which bounds the memory of their vectors."""


class CandidateLists:
    """Q queries with up to k candidates each, from sparse search and from dense search.

    The sparse candidates stay the same. :meth:`refresh` replaces the dense candidates.

    Args:
        queries: queries with gold concepts.
        entries: names of the dictionary.
        owners: int32: concept row of each name of the vocabulary.
        size: k, the number of candidates.
        sparse: number of candidates from sparse search.
        progress: show progress if standard error is a terminal.

    Attributes:
        rows: int32 (Q, k): rows of entries. :data:`~nymlink.index.hits.NONE` fills the places after the last.
        sparse_scores: float32 (Q, k): TF-IDF cosine of each candidate.
        positives: bool (Q, k): candidates that name a gold concept of the query.
    """

    def __init__(
        self,
        queries: Sequence[AnnotatedQuery],
        entries: Entries,
        owners: npt.NDArray[np.int32],
        *,
        size: int,
        sparse: int,
        progress: bool = False,
    ) -> None:
        self._queries = queries
        self._texts = [annotated.query for annotated in queries]
        self._entries = entries
        self._owners = owners
        self._size = size
        self._progress = progress
        self._search = SparseSearch.build(entries, preset("biosyn")["sparse"], progress=progress)
        self._sparse = (
            self._search.search(self._texts, sparse).rows if sparse else np.zeros((len(queries), 0), np.int32)
        )
        self.set_rows(np.full((len(queries), size), NONE, np.int32))

    def refresh(self, encode: Encode) -> None:
        """Search dense candidates by inner products of vectors, and put them after the sparse candidates."""
        texts = self._entries.texts
        queries = encode(self._texts)
        dense = Hits(np.zeros((len(queries), 0), np.int32), np.zeros((len(queries), 0), np.float32))
        for start in track(range(0, len(texts), _NAMES), "searching candidates", shown=self._progress):
            hits = nearest(queries, encode(texts[start : start + _NAMES].to_pylist()), self._size)
            rows = np.where(hits.rows == NONE, NONE, hits.rows + np.int32(start))
            dense = best(np.hstack([dense.rows, rows]), np.hstack([dense.scores, hits.scores]), self._size)
        self.set_rows(append_distinct(self._sparse, dense.rows, self._size))

    def set_rows(self, rows: Rows) -> None:
        """Set the candidates (see :attr:`rows`); compute their sparse scores and the positives."""
        self.rows = rows
        self.sparse_scores: Scores = self._search.score(self._texts, rows)
        self.positives = np.zeros(rows.shape, bool)
        for query, place in np.argwhere(rows != NONE).tolist():
            concepts = self._entries.concepts(int(rows[query, place]), self._owners)
            self.positives[query, place] = not concepts.isdisjoint(self._queries[query].concepts)

    @property
    def recall(self) -> float:
        """Share of the queries with a positive candidate. The encoder learns nothing from the other queries."""
        return float(self.positives.any(1).mean())

    def names(self, rows: Rows) -> list[str]:
        """Look up the texts of entries."""
        texts: list[str] = self._entries.texts.take(rows).to_pylist()
        return texts


def append_distinct(sparse: Rows, dense: Rows, size: int) -> Rows:
    """Append dense candidates that are new to the sparse candidates, until a query has ``size`` candidates.

    Args:
        sparse: int32 (Q, s): distinct rows from sparse search. :data:`~nymlink.index.hits.NONE` fills the places
            after the last.
        dense: int32 (Q, size): distinct rows from dense search, filled likewise.
        size: number of candidates of a query.

    Returns:
        int32 (Q, size): distinct rows, filled likewise.
    """
    rows = np.hstack([sparse, dense])
    absent = rows == NONE
    absent[:, sparse.shape[1] :] |= (dense[:, :, None] == sparse[:, None, :]).any(2)
    # A stable sort keeps the order of the candidates.
    order = np.argsort(absent, axis=1, kind="stable")[:, :size]
    chosen: Rows = np.where(
        np.take_along_axis(absent, order, 1), np.int32(NONE), np.take_along_axis(rows, order, 1)
    )
    return chosen


_MEASURED: Final = 1000
"""Number of queries that measure the scale of dense scores, which is the mean squared length of vectors."""


class BioSynModel(nn.Module):
    """An encoder, and the learned weight in score = inner product + ``sparse_weight`` · sparse score.

    The weight starts at 0.
    """

    def __init__(self, encoder: TorchModel, device: torch.device) -> None:
        super().__init__()
        self.encoder = encoder
        self.sparse_weight = nn.Parameter(torch.zeros(1, device=device))


@dataclass(frozen=True, slots=True)
class CandidateBatch:
    """B queries with k candidates each; each distinct name is encoded once.

    Attributes:
        queries: int64 (B): number of each query's name.
        candidates: int64 (B, k): number of each candidate's name; any number for a missing candidate.
        present: bool (B, k): false for a missing candidate.
        positives: bool (B, k): candidates that name a gold concept of the query.
        sparse: float32 (B, k): sparse scores of the candidates.
        tokens: the distinct names.
        place: epoch and numbers of the queries, shown in messages.
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
    """Learns to score the names of a query's gold concepts above similar names; a ``StatefulTask``."""

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
        """Search dense candidates with the current weights, unless a checkpoint has restored the candidates."""
        if epoch == self._epoch:
            return None
        self._lists.refresh(self._encode)
        self._epoch = epoch
        return {"with_positive": self._lists.recall, "sparse_weight": self._model.sparse_weight.item()}

    def epoch_state(self) -> Mapping[str, Tensor]:
        """Return the candidates. They depend on the weights at the start of the epoch."""
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
            figures={"without_positive": float((~positives.any(1)).sum()), "sparse_weight": weight.item()},
        )

    def names_cut(self) -> tuple[int, int]:
        return self._cut, self._encoded

    def result(self) -> Mapping[str, Any]:
        """Return the learned weight, and the fusion weights with which an index gives the same order.

        An index scores by cosines. This model scores by inner products, which are cosines times the squared length
        of the vectors.
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


def train_biosyn(
    settings: BioSynSettings, *, restart: bool = False, progress: bool = False, problems: Problems | None = None
) -> Mapping[str, Any]:
    """Train an encoder and the weight of sparse scores, or resume their training.

    Arguments, result and errors are those of :func:`~nymlink.train.names.encoder_training.train_encoder`. The
    result also has ``sparse_weight``, the learned weight, and ``fusion``, the weights of dense and sparse search
    with which an index gives the same order.

    Raises:
        InputError: ``torchrun`` started several processes.

    Example:
        >>> from nymlink import BioSynSettings, train_biosyn
        >>> settings = BioSynSettings(
        ...     corpora=("train.PubTator.txt",), vocab="diseases.obo", base="base", output="biosyn", max_steps=2
        ... )
        >>> train_biosyn(settings)["steps"]
        2
    """
    if process_count() > 1:
        raise InputError("the training biosyn runs in one process only: start it without torchrun")
    open_data = partial(_open_data, settings, progress)
    return train_encoder("biosyn", settings, open_data, restart=restart, progress=progress, problems=problems)


def _open_data(
    settings: BioSynSettings, progress: bool, _: Path, problems: Problems
) -> TrainingData[CandidateBatch]:
    vocabulary = open_vocabulary(Path(settings.vocab), problems=problems)
    paths = [Path(path) for path in settings.corpora]
    corpora = [read_corpus(path, problems=problems) for path in paths]
    annotated = list(annotated_queries(vocabulary, corpora, types=settings.types))
    # As in the published training, a mention with several ids counts as composite, even if it cannot be split.
    queries = [query for query in annotated if len(query.concept_ids) == 1]
    if not queries:
        raise no_concept_error(settings.types)
    entries = Entries.of(vocabulary)

    def setup(model: TorchModel, precision: Precision, _: Processes) -> TrainingSetup[CandidateBatch]:
        lists = CandidateLists(
            queries,
            entries,
            vocabulary.columns.names["concept"].to_numpy(),
            size=settings.candidates,
            sparse=settings.sparse_candidates,
            progress=progress,
        )
        biosyn = BioSynModel(model, precision.device)
        task = SynonymMarginalisationTask(biosyn, queries, lists, settings, precision)
        optimiser = adam(
            trainable_parameters(model),
            biosyn.sparse_weight,
            learning_rate=settings.learning_rate,
            weight_decay=settings.weight_decay,
            extra_learning_rate=settings.sparse_learning_rate,
        )
        return TrainingSetup(task, biosyn, optimiser, task.result)

    provenance = {
        "vocabulary": vocabulary.describe(),
        "corpora": [describe_corpus(path) for path in paths],
        "queries": {
            "count": len(queries),
            "with_several_ids": len(annotated) - len(queries),
            "entries": len(entries),
        },
    }
    return TrainingData(provenance, setup)
