"""What contextual re-ranking learns from, and its gradients, each against the plain way of computing it."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.index.index import Index
from nymlink.linking.pipeline import Pipeline
from nymlink.rank.retrieval import Question
from nymlink.rerank.dual_encoder import DualEncoder, DualEncoderConfig
from nymlink.rerank.inputs import entities
from nymlink.rerank.passages import passages
from nymlink.train.engine.optimiser import Precision
from nymlink.train.losses.prototype_triplet import (
    SoftRadius,
)
from nymlink.train.mentions.dual_encoder_task import DualEncoderTask, DualEncoderWeights
from nymlink.train.mentions.reranker_examples import Examples, mentions_in_context
from nymlink.train.settings.reranker_trainings import RerankSettings
from tests.encode import tiny
from tests.train.losses.test_prototype_triplet import apart
from tests.train.small import vocabulary

CPU = torch.device("cpu")
Vector = list[float]


NAMES = "heart attack", "heart attack x", "attack", "seizure", "short seizure", "short stature", "infarction"
TEXT = (
    "A heart attack (HA) came with a seizure. The HA and the short attack passed. Nothing came of it. "
    "Another heart attack and the infarction, as of short stature, were seen."
)


@pytest.fixture(scope="module")
def index() -> Index:
    return Index.build(
        vocabulary(*((f"X:{at}", name, "en", "exact") for at, name in enumerate(NAMES))), encoder=None
    )


def corpus() -> Corpus:
    """Two clusters of several mentions and some of one, in two documents; and what is left out."""
    said = [("heart attack", 0, "X:0"), ("HA", 30, "X:0"), ("heart attack", 80, "X:0"), ("seizure", 0, "X:3")]
    said += [("short attack", 0, "X:2"), ("infarction", 0, "X:6"), ("short stature", 0, "X:9")]
    said += [("heart attack and the infarction", 0, "X:0|X:6"), ("Nothing", 0, "")]
    mentions = []
    for text, after, ids in said:
        start = TEXT.index(text, after)
        mentions.append(Mention(text, start, start + len(text), concept_ids=tuple(ids.split("|")) if ids else ()))
    mentions.append(Mention("seizure", concept_ids=("X:3",)))
    return Corpus("toy", (Document("1", TEXT, tuple(mentions)), Document("2", TEXT, tuple(mentions[:5]))))


def test_examples_are_mentions_with_one_meaning_and_a_context(index: Index) -> None:
    given = list(mentions_in_context(index, [corpus()]))
    found = Examples.of(index, given, k=3)
    assert (len(found), found.clusters, found.left_out) == (
        11,
        7,
        {"unknown id": 1, "composite": 1, "no context": 1},
    )
    assert [found.cluster(number).tolist() for number in range(7)] == [
        *([0, 1, 2], [4], [3], [5]),
        *([6, 7, 8], [10], [9]),
    ]
    used = [one for one in given if one.passage is not None and len(one.concept_ids) == 1 and one.gold]
    assert [one.passage for one in used] == list(found.passages)
    assert found.passages[1].mention == "heart attack"
    retrieved = 0
    for row, one in enumerate(used):
        matches = Pipeline(index).match([Question(one.parts[0])], 3).matches
        expected = [int(concept) for concept in matches.concepts[0] if concept != -1]
        candidates = found.concepts[found.candidates[row]].tolist()
        assert candidates[: len(expected)] == expected
        wrong = [concept not in one.gold for concept in expected]
        assert found.allowed[row].tolist() == wrong + [False] * (3 - len(expected))
        assert {int(found.concepts[found.positives[row]])} == set(one.gold)
        assert found.golds[row] == one.gold
        retrieved += not all(wrong)
    assert found.with_gold == pytest.approx(retrieved / 11)
    with pytest.raises(InputError, match=r"no mention has both a context and a gold id .*'unknown id': 1"):
        Examples.of(index, [one for one in given if not one.gold], k=3)


def test_mentions_of_a_type_alone_can_be_taken(index: Index) -> None:
    assert not list(mentions_in_context(index, [corpus()], types=["Disease"]))


def test_contexts_have_text_for_as_many_tokens_as_will_be_read(index: Index) -> None:
    found = [one.passage for one in mentions_in_context(index, [corpus()], max_length=2) if one.passage]
    assert max(len(side) for one in found for side in (one.left, one.right)) == 16


def settings(**changes: Any) -> RerankSettings:
    given: dict[str, Any] = {"corpora": ("c",), "index": "i", "base": "b", "output": "o", "candidates": 4}
    given |= {"batch_groups": 4, "max_length": 64, "margin": 3.0, "radius": 2.0, "scaling": "none"}
    return RerankSettings(**given | changes)


def task_of(
    folder: Path, index: Index, given: RerankSettings, **changes: Any
) -> tuple[DualEncoderTask, DualEncoderWeights, Examples]:
    torch.manual_seed(0)
    dual = DualEncoder.from_encoder(tiny.folder(folder / "base"), DualEncoderConfig(max_length=64))
    examples = replace(Examples.of(index, mentions_in_context(index, [corpus()]), k=given.candidates), **changes)
    soft = SoftRadius(radius=given.radius, tolerance=1.0, spread=0.0, singletons=True, device=CPU)
    weights = DualEncoderWeights(dual, soft, learned=given.loss == "prototype-srn")
    tokens = dual.entity_tokens(list(entities(index.vocabulary, examples.concepts.tolist())))
    precision = Precision("float32", CPU)
    task = DualEncoderTask(
        weights,
        examples,
        tokens,
        given,
        precision=precision,
    )
    return task, weights, examples


@pytest.mark.parametrize(
    ("loss", "anchor", "graph_tokens", "shortlist", "negatives"),
    [
        ("triplet", "random", 8192, 2, "own"),
        ("triplet", "random", 8192, 2, "batch"),
        ("triplet-sampled", "random", 8192, 2, "own"),
        ("triplet-sampled", "random", 8192, 16, "own"),
        ("prototype", "central", 60, 2, "own"),
        ("prototype", "central", 60, 16, "batch"),
        ("prototype-srn", "random", 60, 2, "own"),
        ("prototype-srn", "central", 8192, 2, "batch"),
    ],
)
def test_gradients_are_those_of_each_mention_and_concept_by_itself(
    tmp_path: Path, index: Index, loss: str, anchor: str, graph_tokens: int, shortlist: int, negatives: str
) -> None:
    given = settings(loss=loss, anchor=anchor, graph_tokens=graph_tokens, shortlist=shortlist, negatives=negatives)
    task, weights, examples = task_of(tmp_path, index, given)
    task.start_epoch(0)
    with torch.no_grad():
        known = [_concept(weights, index, examples, one) for one in range(len(examples.concepts))]
        asked = [_mention(weights, examples, one) for one in range(len(examples))]
        # As after some steps: what is nearest now is not what was nearest at the beginning of the epoch.
        for value in weights.dual.parameters():
            value += torch.randn_like(value) / 3
        now = [_concept(weights, index, examples, one) for one in range(len(examples.concepts))]
    assert len(task) == (3 if loss == "triplet" else 2)

    def shortlisted(mention: int) -> list[int]:
        """Its wrong candidates that were the nearest at the beginning of the epoch, the nearest first."""
        candidates = zip(examples.candidates[mention], examples.allowed[mention], strict=True)
        wrong = dict.fromkeys(int(concept) for concept, may in candidates if may)
        return sorted(wrong, key=lambda one: (known[one] - asked[mention]).norm().item())[:shortlist]

    seen: list[int] = []
    changed = strange = masked = 0
    for number in range(len(task)):
        batch = task.batch(0, number)
        outcome = task.backward(batch)
        found = _taken(weights)
        losses, farthest = [], []
        for group in range(len(batch.anchors)):
            places = np.flatnonzero(batch.groups == group).tolist()
            mentions = batch.mentions[places].tolist()
            seen += mentions
            own = examples.cluster(next(g for g in range(7) if mentions[0] in examples.cluster(g))).tolist()
            assert mentions == own if loss.startswith("prototype") else len(mentions) == 1
            vectors = [_mention(weights, examples, one) for one in mentions]
            middle = torch.stack(vectors).mean(0)
            at = places.index(int(batch.anchors[group]))
            if anchor == "central":
                at = min(range(len(vectors)), key=lambda one: (vectors[one] - middle).norm().item())
            centre = vectors[at]
            if loss == "prototype-srn":
                near = [one for one in vectors if (one - centre).norm().item() <= 3.0]
                farthest.append(max((one - centre).norm().item() for one in near))
                middle = torch.stack(near).mean(0)
            wrong = shortlisted(mentions[at])
            sought = batch.mentions.tolist() if negatives == "batch" else [mentions[at]]
            pool = {concept for one in sought for concept in shortlisted(one)}
            meant = {one for one in pool if int(examples.concepts[one]) in examples.golds[mentions[at]]}
            if not pool - meant:
                continue
            negative = min(pool - meant, key=lambda one: (now[one] - centre).norm().item())
            changed += wrong[:1] != [negative]
            strange += negative not in wrong
            masked += bool(meant)
            positive = _concept(weights, index, examples, int(examples.positives[mentions[0]]))
            gap = (middle - positive).norm() - (middle - _concept(weights, index, examples, negative)).norm()
            losses.append((gap + 3.0).relu())
        assert outcome.size == len(batch.anchors)
        assert outcome.figures["without_negative"] == len(batch.anchors) - len(losses)
        total = torch.stack(losses).mean()
        assert outcome.loss == pytest.approx(total.item(), rel=1e-4)
        if loss == "prototype-srn":
            total = total + (weights.radius.lengths[0] - torch.tensor(farthest)).square().mean()
        total.backward()
        for ours, theirs in zip(found, _taken(weights), strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4)
    assert changed
    assert bool(strange) == bool(masked) == (negatives == "batch")
    if loss != "triplet-sampled":
        assert sorted(seen) == list(range(11))


def _mention(weights: DualEncoderWeights, examples: Examples, number: int) -> Tensor:
    ids = weights.dual.passage_tokens([examples.passages[number]]).ids.astype(np.int64)
    vector: Tensor = weights.dual.mention(torch.from_numpy(ids)[None])[0]
    return vector


def _concept(weights: DualEncoderWeights, index: Index, examples: Examples, number: int) -> Tensor:
    said = list(entities(index.vocabulary, [int(examples.concepts[number])]))
    ids = weights.dual.entity_tokens(said).ids.astype(np.int64)
    vector: Tensor = weights.dual.entity(torch.from_numpy(ids)[None])[0]
    return vector


def _taken(weights: DualEncoderWeights) -> list[Tensor]:
    """The gradients, which are then gone."""
    found = [torch.zeros_like(one) if one.grad is None else one.grad.clone() for one in weights.parameters()]
    weights.zero_grad()
    return found


def test_lengths_are_counted_in_a_unit_in_which_clusters_are_as_wide_as_the_radius(
    tmp_path: Path, index: Index
) -> None:
    task, weights, examples = task_of(tmp_path, index, settings(scaling="auto", radius=2.0, loss="prototype"))
    figures = task.start_epoch(0)
    assert figures is not None
    widths = []
    for own in (examples.cluster(number) for number in range(7)):
        vectors = [_mention(weights, examples, int(one)).tolist() for one in own]
        widths += [max(apart(vectors[0], one) for one in vectors)] if len(own) > 1 else []
    assert len(widths) == 2
    assert figures["unit_length"] == pytest.approx(sum(widths) / 2 / 2.0, rel=1e-4)
    scaled = task.backward(task.batch(0, 0)).loss
    plain, *_ = task_of(tmp_path, index, settings(margin=3.0 * task.unit_length, loss="prototype"))
    plain.start_epoch(0)
    assert plain.backward(plain.batch(0, 0)).loss == pytest.approx(scaled * task.unit_length, rel=1e-4)


def test_without_clusters_of_several_the_unit_is_1(tmp_path: Path, index: Index) -> None:
    task, *_ = task_of(tmp_path, index, settings(scaling="auto"))
    (first, *_), passage = corpus().documents, passages(corpus().documents[0])
    assert passage[0] is not None
    alone = Corpus("one", (Document("1", first.text, first.mentions[3:6]),))
    examples = Examples.of(index, mentions_in_context(index, [alone]), k=4)
    lone = DualEncoderTask(
        task._weights,
        examples,
        task._weights.dual.entity_tokens(list(entities(index.vocabulary, examples.concepts.tolist()))),
        settings(scaling="auto"),
        precision=Precision("float32", CPU),
    )
    figures = lone.start_epoch(0)
    assert figures is not None
    assert figures["unit_length"] == 1
    assert lone.start_epoch(0) is None


def test_what_all_mentions_of_a_batch_are_compared_with_is_not_repeated_for_each(
    tmp_path: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    def repeated(*_: Any, **__: Any) -> None:
        raise AssertionError("a vector for each pair")

    # All candidates fit the shortlist: none is sought at the beginning of the epoch.
    task, *_ = task_of(tmp_path, index, settings(negatives="batch", shortlist=16))
    task.start_epoch(0)
    monkeypatch.setattr("nymlink.train.mentions.dual_encoder_task.nearest_candidates", repeated)
    assert task.backward(task.batch(0, 0)).loss > 0


@pytest.mark.parametrize("negatives", ["own", "batch"])
def test_a_batch_in_which_no_mention_has_a_negative_teaches_nothing(
    tmp_path: Path, index: Index, negatives: str
) -> None:
    given = settings(loss="prototype", negatives=negatives)
    task, _, examples = task_of(tmp_path, index, given)
    first = task.batch(0, 0).mentions
    allowed = examples.allowed.copy()
    allowed[first] = False
    # As of an id that was split into all concepts that there are.
    everything = frozenset(range(len(NAMES)))
    golds = tuple(everything if number in first else gold for number, gold in enumerate(examples.golds))
    changes = {"allowed": allowed} if negatives == "own" else {"golds": golds}
    task, weights, _ = task_of(tmp_path, index, given, **changes)
    task.start_epoch(0)
    nothing = task.backward(task.batch(0, 0))
    assert (nothing.loss, nothing.figures["without_negative"]) == (0, nothing.size)
    assert not any(one.any() for one in _taken(weights))
    assert task.backward(task.batch(0, 1)).loss > 0
    assert any(one.any() for one in _taken(weights))


@pytest.mark.parametrize(("negatives", "without"), [("own", 4), ("batch", 0)])
def test_the_wrong_candidates_of_one_mention_are_enough_for_a_batch(
    tmp_path: Path, index: Index, negatives: str, without: int
) -> None:
    given = settings(loss="prototype", negatives=negatives)
    task, _, examples = task_of(tmp_path, index, given)
    number = next(number for number in range(2) if len(task.batch(0, number).mentions) > 4)
    batch = task.batch(0, number)
    (one, *_) = np.delete(batch.mentions, batch.anchors)
    allowed = np.zeros_like(examples.allowed)
    allowed[one] = examples.allowed[one]
    assert allowed.sum() > 1
    task, *_ = task_of(tmp_path, index, given, allowed=allowed)
    task.start_epoch(0)
    assert task.backward(task.batch(0, number)).figures["without_negative"] == without


def test_an_anchor_is_its_own_neighbour_however_small_the_radius(tmp_path: Path, index: Index) -> None:
    task, weights, _ = task_of(tmp_path, index, settings(epochs=1))
    task.start_epoch(0)
    with torch.no_grad():
        weights.radius.lengths.fill_(-9.0)
    outcome = task.backward(task.batch(0, 0))
    assert math.isfinite(outcome.loss)
    assert outcome.figures["neighbours"] == pytest.approx(4 / outcome.figures["mentions"])
