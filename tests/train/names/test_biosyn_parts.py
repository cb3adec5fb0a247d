"""Synonym marginalisation in parts: the loss and the candidates, each against the plain way of computing it."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix
from torch import Tensor

from nymlink.core.store.arrays import Vectors
from nymlink.encode.model.torch_model import TorchModel
from nymlink.index.entries.entries import Entries
from nymlink.index.hits import NONE, Rows
from nymlink.index.sparse.features import preset
from nymlink.index.sparse.tfidf import TfIdf, invert
from nymlink.pairs.permutation import permute, seeded_keys
from nymlink.train.annotated_queries import AnnotatedQuery
from nymlink.train.engine.optimiser import Precision, adam
from nymlink.train.losses.pairwise import marginal_likelihood_loss
from nymlink.train.names.train_biosyn import (
    BioSynModel,
    CandidateLists,
    SynonymMarginalisationTask,
    append_distinct,
)
from nymlink.train.settings.encoder_trainings import BioSynSettings
from tests.encode import tiny
from tests.train.small import vocabulary

WORDS = "heart attack stroke seizure fever pain cleft lip short stature brain tumour of the".split()


def naive_loss(scores: Tensor, positives: Tensor) -> float:
    """In Python's floats, of differences to the largest score: no sum over- or underflows."""
    losses = []
    for row, right in zip(scores.tolist(), positives.tolist(), strict=True):
        own = [score for score, one in zip(row, right, strict=True) if one]
        if own:
            whole = max(row) + math.log(sum(math.exp(score - max(row)) for score in row))
            losses.append(whole - max(own) - math.log(sum(math.exp(score - max(own)) for score in own)))
    return sum(losses) / len(losses) if losses else 0.0


@pytest.mark.parametrize("scale", [0.1, 1.0, 300.0])
def test_the_loss_is_that_of_a_loop(scale: float) -> None:
    torch.manual_seed(0)
    for _ in range(20):
        scores = torch.randn(7, 5, dtype=torch.float64) * scale
        scores[torch.rand(7, 5) < 0.1] = -math.inf
        positives = (torch.rand(7, 5) < 0.3) & scores.isfinite()
        assert marginal_likelihood_loss(scores, positives).item() == pytest.approx(naive_loss(scores, positives))


def test_rows_without_a_positive_count_for_nothing() -> None:
    torch.manual_seed(0)
    scores = torch.randn(3, 4, requires_grad=True)
    positives = torch.zeros(3, 4, dtype=torch.bool)
    nothing = marginal_likelihood_loss(scores, positives)
    assert nothing.item() == 0
    assert torch.autograd.grad(nothing, scores)[0].eq(0).all()
    positives[1, 2] = True
    alone = marginal_likelihood_loss(scores, positives)
    assert alone.item() == pytest.approx(marginal_likelihood_loss(scores[1:2], positives[1:2]).item())
    gradient = torch.autograd.grad(alone, scores)[0]
    assert gradient[[0, 2]].eq(0).all()
    assert gradient[1].ne(0).all()


def test_a_positive_whose_probability_vanishes_is_learned_from() -> None:
    scores = torch.tensor([[0.0, 500.0]], requires_grad=True)
    positives = torch.tensor([[True, False]])
    loss = marginal_likelihood_loss(scores, positives)
    assert torch.softmax(scores, 1)[0, 0] == 0
    assert loss.item() == 500
    assert torch.autograd.grad(loss, scores)[0].tolist() == [[-1.0, 1.0]]


def naive_joined(sparse: Sequence[int], dense: Sequence[int], size: int) -> list[int]:
    found = [row for row in sparse if row != NONE]
    for row in dense:
        if len(found) < size and row not in found and row != NONE:
            found.append(row)
    return found + [NONE] * (size - len(found))


def test_dense_candidates_follow_the_sparse_ones_without_repeats() -> None:
    chance = np.random.default_rng(0)
    for entries in (4, 12, 100):
        sparse, dense = (_drawn(chance, entries, columns) for columns in (3, 6))
        expected = [naive_joined(*pair, 6) for pair in zip(sparse.tolist(), dense.tolist(), strict=True)]
        assert append_distinct(sparse, dense, 6).tolist() == expected


def _drawn(chance: np.random.Generator, entries: int, columns: int) -> Rows:
    """Distinct rows below ``entries`` of 50 queries, and nothing after the last where some are missing."""
    rows = np.stack([chance.permutation(max(entries, columns))[:columns] for _ in range(50)]).astype(np.int32)
    rows = np.where(rows < entries, rows, np.int32(NONE))
    drawn: Rows = np.take_along_axis(rows, np.argsort(rows == NONE, axis=1, kind="stable"), 1)
    return drawn


def dictionary(names: int) -> tuple[Entries, Rows]:
    """So many names of half as many concepts."""
    chance = np.random.default_rng(1)
    texts = [f"{' '.join(chance.choice(WORDS, 3))} {number}" for number in range(names)]
    made = vocabulary(*((f"X:{number // 2}", text, "en", "exact") for number, text in enumerate(texts)))
    return Entries.of(made), made.columns.names["concept"].to_numpy()


def encode(names: Sequence[str]) -> Vectors:
    """A vector that a name alone decides, of whatever length."""
    rows = [np.random.default_rng(sum(name.encode()) * 31 + len(name)).normal(size=8) for name in names]
    return np.array(rows, np.float32).reshape(-1, 8)


def queries(entries: Entries, owners: Rows, count: int) -> list[AnnotatedQuery]:
    texts = entries.texts.to_pylist()
    return [
        AnnotatedQuery(f"{texts[at % len(texts)]}s", ("x",), entries.concepts((at * 7) % len(texts), owners))
        for at in range(count)
    ]


@pytest.mark.parametrize("graph_tokens", [8192, 40])
def test_gradients_are_those_of_each_query_and_candidate_by_itself(tmp_path: Path, graph_tokens: int) -> None:
    entries, owners = dictionary(12)
    asked = queries(entries, owners, 5)
    settings = BioSynSettings(
        **{"corpora": ("c",), "vocab": "v", "base": "b", "output": "o"},
        **{"candidates": 6, "sparse_candidates": 3, "batch_queries": 4, "graph_tokens": graph_tokens},
    )
    precision = Precision("float32", torch.device("cpu"))
    scorer = BioSynModel(TorchModel.load(tiny.folder(tmp_path / "base")), precision.device)
    torch.nn.init.constant_(scorer.sparse_weight, 0.7)
    lists = CandidateLists(asked, entries, owners, size=6, sparse=3)
    task = SynonymMarginalisationTask(scorer, asked, lists, settings, precision)
    task.start_epoch(0)
    assert len(task) == 2
    seen = []
    for number in range(2):
        outcome = task.backward(task.batch(0, number))
        found = _taken(scorer)
        rows = permute(np.arange(4 * number, min(4 * number + 4, 5)), size=5, key=seeded_keys(["epoch 0"], seed=0))
        seen += rows.tolist()
        losses = []
        for row in rows.tolist():
            places = [place for place in range(6) if lists.rows[row, place] != NONE]
            query = _vector(scorer, asked[row].query)
            scores = torch.stack(
                [
                    query @ _vector(scorer, entries.text(int(lists.rows[row, place])))
                    + scorer.sparse_weight[0] * float(lists.sparse_scores[row, place])
                    for place in places
                ]
            )
            right = torch.from_numpy(lists.positives[row, places])
            if right.any():
                losses.append(-scores.double().softmax(0)[right].sum().log())
        loss = torch.stack(losses).mean()
        loss.backward()
        assert outcome.loss == pytest.approx(loss.item(), rel=1e-5)
        assert outcome.figures["without_positive"] == len(rows) - len(losses)
        for ours, theirs in zip(found, _taken(scorer), strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-5)
    assert sorted(seen) == [0, 1, 2, 3, 4]


def _vector(scorer: BioSynModel, name: str) -> Tensor:
    ids = scorer.encoder.tokenizer.encode(name).ids
    vector: Tensor = scorer.encoder(torch.tensor([ids]))[0]
    return vector


def _taken(scorer: BioSynModel) -> list[Tensor]:
    """The gradients, which are then gone."""
    found = [torch.zeros(1) if one.grad is None else one.grad.clone() for one in scorer.parameters()]
    scorer.zero_grad()
    return found


@pytest.mark.parametrize("names", [30, 6])
def test_candidates_are_those_of_whole_matrices(names: int) -> None:
    entries, owners = dictionary(names)
    asked = queries(entries, owners, 25)
    lists = CandidateLists(asked, entries, owners, size=8, sparse=4)
    assert (lists.rows == NONE).all()
    lists.refresh(encode)
    texts = entries.texts.to_pylist()
    settings = preset("biosyn")["sparse"]
    fitted = TfIdf.fit(invert(texts, settings), settings)
    said = [one.query for one in asked]
    said_vectors, vectors = (
        csr_matrix((found.values, found.places, found.starts), shape=(len(found), found.width))
        for found in (fitted.transform(said), fitted.transform(texts))
    )
    cosines = (said_vectors @ vectors.T).toarray()
    products = encode(said) @ encode(texts).T
    for query, one in enumerate(asked):
        best = [np.argsort(-scores[query], kind="stable").tolist() for scores in (cosines, products)]
        rows = naive_joined(best[0][:4], best[1], 8)
        assert lists.rows[query].tolist() == rows
        there = [row for row in rows if row != NONE]
        assert lists.sparse_scores[query, : len(there)] == pytest.approx(cosines[query, there], abs=1e-6)
        right = [bool(entries.concepts(row, owners) & one.concepts) for row in there]
        assert lists.positives[query].tolist() == right + [False] * (8 - len(right))
    assert lists.recall == np.mean([any(row) for row in lists.positives.tolist()])


def test_a_search_can_be_the_only_one() -> None:
    entries, owners = dictionary(30)
    asked = queries(entries, owners, 5)
    for sparse in (0, 8):
        lists = CandidateLists(asked, entries, owners, size=8, sparse=sparse)
        lists.refresh(encode)
        assert (lists.rows != NONE).all()


@pytest.mark.large
def test_memory_does_not_grow_with_queries_times_names() -> None:
    entries, owners = dictionary(40_000)
    asked = queries(entries, owners, 700)
    known = np.random.default_rng(0).normal(size=(1 << 16, 8)).astype(np.float32)
    lists = CandidateLists(asked, entries, owners, size=20, sparse=10)
    tracemalloc.start()
    lists.refresh(lambda names: known[[crc32(name.encode()) % len(known) for name in names]])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The scores of all queries with all names are 112 million bytes; a block of them is 17 million.
    assert peak < 60e6


def test_the_weight_of_sparse_scores_does_not_decay_and_has_a_rate_of_its_own() -> None:
    encoder, weight = (torch.nn.Parameter(torch.ones(1)) for _ in range(2))
    optimiser = adam([encoder], weight, learning_rate=0.1, weight_decay=0.01, extra_learning_rate=0.3)
    encoder.grad, weight.grad = torch.zeros(1), torch.zeros(1)
    optimiser.step()
    assert encoder.item() == pytest.approx(0.9)  # Adam's step is the rate, however small the gradient
    assert weight.item() == 1
    weight.grad = torch.ones(1)
    optimiser.step()
    assert weight.item() < 0.9
