"""The training of the cross-encoder in parts, each against the plain way of computing it."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.index.index import Index
from nymlink.rerank.cross_encoder import CrossEncoder, CrossEncoderConfig
from nymlink.rerank.inputs import entities
from nymlink.train.engine.optimiser import Precision
from nymlink.train.mentions.cross_encoder_task import CrossBatch, CrossEncoderTask, listwise_loss
from nymlink.train.mentions.reranker_examples import Examples, mentions_in_context
from nymlink.train.settings.reranker_trainings import CrossEncoderSettings
from tests.encode import tiny
from tests.train.small import vocabulary

NAMES = "heart attack", "heart attack x", "attack", "seizure", "short attack", "short stature", "attack of origin"
TEXT = "A heart attack came with a seizure. Then a short attack passed; another attack and a stature were seen."
SAID = [("heart attack", "X:0"), ("seizure", "X:3"), ("short attack", "X:4"), ("another attack", "X:2")]


@pytest.mark.parametrize("seed", range(5))
def test_the_loss_is_that_of_a_loop(seed: int) -> None:
    torch.manual_seed(seed)
    counts = torch.randint(2, 9, (7,)).tolist()
    scores = (torch.randn(sum(counts), dtype=torch.float64) * 5).requires_grad_()
    expected, start = 0.0, 0
    for count in counts:
        own = scores.tolist()[start : start + count]
        expected -= math.log(math.exp(own[0]) / sum(map(math.exp, own)))
        start += count
    loss = listwise_loss(scores, counts)
    assert loss.item() == pytest.approx(expected)
    (gradient,) = torch.autograd.grad(loss, scores)
    start = 0
    for count in counts:
        own = scores.tolist()[start : start + count]
        shares = [math.exp(one) / sum(map(math.exp, own)) for one in own]
        assert gradient[start : start + count].tolist() == pytest.approx([shares[0] - 1, *shares[1:]])
        start += count


def test_scores_far_apart_do_no_harm() -> None:
    scores = torch.tensor([-1e4, 1e4, 0.0, 3.0], requires_grad=True)
    loss = listwise_loss(scores, [2, 2])
    (gradient,) = torch.autograd.grad(loss, scores)
    assert loss.item() == pytest.approx(2e4 + math.log1p(math.exp(3.0)))
    assert gradient.isfinite().all()


@pytest.fixture(scope="module")
def index() -> Index:
    return Index.build(
        vocabulary(*((f"X:{at}", name, "en", "exact") for at, name in enumerate(NAMES))), encoder=None
    )


def examples(index: Index, *, k: int, said: list[tuple[str, str]] = SAID) -> Examples:
    places = [(TEXT.index(text), text, ids) for text, ids in said]
    mentions = tuple(Mention(text, at, at + len(text), concept_ids=(ids,)) for at, text, ids in places)
    return Examples.of(index, mentions_in_context(index, [Corpus("toy", (Document("1", TEXT, mentions),))]), k=k)


def task_of(
    folder: Path, index: Index, *, said: list[tuple[str, str]] = SAID, **changes: Any
) -> tuple[CrossEncoderTask, CrossEncoder, Examples]:
    fixed: dict[str, Any] = {"corpora": ("c",), "index": "i", "base": "b", "output": "o", "max_length": 64}
    settings = CrossEncoderSettings(**fixed | {"candidates": 7, "negatives": 3, "batch_mentions": 3} | changes)
    torch.manual_seed(0)
    cross = CrossEncoder.from_encoder(tiny.folder(folder / "base"), CrossEncoderConfig(max_length=64))
    found = examples(index, k=settings.candidates, said=said)
    task = CrossEncoderTask(cross, found, index.vocabulary, settings, Precision("float32", torch.device("cpu")))
    return task, cross, found


def read(batch: CrossBatch) -> list[list[int]]:
    """The token ids of all pairs of a batch."""
    rows = []
    for piece in batch.pieces:
        offsets = piece.tokens.offsets.tolist()
        rows += [piece.tokens.ids[a:b].tolist() for a, b in pairwise(offsets)]
    return rows


def pair(cross: CrossEncoder, index: Index, found: Examples, mention: int, concept: int) -> list[int]:
    inputs = cross.inputs
    (entity,) = entities(index.vocabulary, [int(found.concepts[concept])])
    ids = zip(inputs.passage_ids([found.passages[mention]]), inputs.entity_ids([entity]), strict=True)
    made: list[int] = inputs.joint(ids).ids.tolist()
    return made


def test_wrong_concepts_are_the_first_of_the_index_and_drawn_ones(tmp_path: Path, index: Index) -> None:
    task, cross, found = task_of(tmp_path, index, batch_mentions=4)
    assert len(task) == 1
    known = {
        tuple(pair(cross, index, found, mention, concept)): (mention, concept)
        for mention in range(4)
        for concept in range(len(found.concepts))
    }
    drawn: dict[int, set[int]] = {}
    for epoch in range(40):
        batch = task.batch(epoch, 0)
        pairs = [known[tuple(row)] for row in read(batch)]
        for count in (count for piece in batch.pieces for count in piece.counts):
            own, pairs = pairs[:count], pairs[count:]
            ((mention,), (right, *chosen)) = {one for one, _ in own}, [concept for _, concept in own]
            wrong = found.candidates[mention][found.allowed[mention]].tolist()
            assert right == found.positives[mention]
            assert len(set(chosen)) == len(chosen) == min(3, len(wrong))
            assert chosen[:2] == wrong[:2]
            drawn.setdefault(mention, set()).update(chosen[2:])
    assert drawn == {
        mention: set(found.candidates[mention][found.allowed[mention]].tolist()[2:])
        for mention in range(4)
        if found.allowed[mention].any()
    }
    assert read(task.batch(7, 0)) == read(task.batch(7, 0)) != read(task.batch(8, 0))


@pytest.mark.parametrize("graph_tokens", [100, 8192])
def test_gradients_are_those_of_each_pair_by_itself(tmp_path: Path, index: Index, graph_tokens: int) -> None:
    task, cross, _ = task_of(tmp_path, index, graph_tokens=graph_tokens)
    batch = task.batch(0, 0)
    mentions = sum(len(piece.counts) for piece in batch.pieces)
    assert len(batch.pieces) == (1 if graph_tokens == 8192 else mentions)
    outcome = task.backward(batch)
    ours = taken(cross)
    losses, right, rows = [], 0, read(batch)
    for count in [count for piece in batch.pieces for count in piece.counts]:
        scores = torch.stack([cross.model(torch.tensor([row]))[0, 0] for row in rows[:count]])
        losses.append(-(scores[0].exp() / scores.exp().sum()).log())
        right += bool(scores.argmax() == 0)
        rows = rows[count:]
    loss = torch.stack(losses).mean()
    loss.backward()
    assert outcome.loss == pytest.approx(loss.item(), rel=1e-4)
    assert (outcome.size, outcome.figures["without_negative"]) == (3, 3 - len(losses))
    assert outcome.figures["right"] == pytest.approx(right / len(losses))
    for one, other in zip(ours, taken(cross), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


def taken(cross: CrossEncoder) -> list[Tensor]:
    """The gradients, which are then gone."""
    found = [torch.zeros_like(one) if one.grad is None else one.grad.clone() for one in cross.parameters()]
    cross.zero_grad()
    return found


def test_mentions_without_a_wrong_candidate_are_counted_and_left_out(tmp_path: Path) -> None:
    lone = Index.build(vocabulary(("X:0", "heart attack", "en", "exact")), encoder=None)
    said = [("heart attack", "X:0"), ("another attack", "X:0")]
    task, cross, _ = task_of(tmp_path, lone, said=said, candidates=2)
    batch = task.batch(0, 0)
    assert str(batch) == "epoch 1, mentions 1 to 2 of 2"
    outcome = task.backward(batch)
    assert (outcome.loss, outcome.size) == (0.0, 2)
    assert outcome.figures == {"without_negative": 2, "right": 0.0}
    assert all(one.grad is None for one in cross.parameters())


def test_what_is_not_among_the_candidates_is_learned_all_the_same(tmp_path: Path, index: Index) -> None:
    task, cross, found = task_of(tmp_path, index, said=[("seizure", "X:2")], candidates=2)
    assert found.with_gold == 0
    batch = task.batch(0, 0)
    assert read(batch)[0] == pair(cross, index, found, 0, int(found.positives[0]))
    assert task.backward(batch).loss > 0
