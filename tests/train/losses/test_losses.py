"""Every loss against its loop in :mod:`tests.train.naive` and against pytorch-metric-learning, with gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
import torch
from pytorch_metric_learning import distances as pml_distances
from pytorch_metric_learning import losses as pml
from pytorch_metric_learning import reducers
from pytorch_metric_learning.miners import TripletMarginMiner
from torch import Tensor

from nymlink.train.losses import LOSSES
from nymlink.train.losses.base import Loss, distances, mine, similarities
from nymlink.train.losses.pairwise import Circle, Cosine, InfoNce, LiftedStructure, MultiSimilarity, Nca, Triplet
from tests.train import naive

ALL = [MultiSimilarity(), Cosine(), Triplet(), Nca(), LiftedStructure(), InfoNce(), Circle()]

WITH_OTHER_SETTINGS: list[tuple[Loss, Callable[..., Tensor], dict[str, Any]]] = [
    (MultiSimilarity(), naive.multi_similarity, {}),
    (MultiSimilarity(alpha=3, beta=40, epsilon=1), naive.multi_similarity, {"alpha": 3, "beta": 40, "epsilon": 1}),
    (MultiSimilarity(alpha_on="negatives"), naive.multi_similarity, {"alpha": 60, "beta": 1}),
    (Cosine(), naive.cosine, {}),
    (Cosine(margin=0.3), naive.cosine, {"margin": 0.3}),
    (Triplet(), naive.triplet, {}),
    (Triplet(margin=0.3), naive.triplet, {"margin": 0.3}),
    (Nca(), naive.nca, {}),
    (Nca(scale=30), naive.nca, {"scale": 30}),
    (LiftedStructure(), naive.lifted_structure, {}),
    (LiftedStructure(margin=0.5), naive.lifted_structure, {"margin": 0.5}),
    (InfoNce(), naive.infonce, {}),
    (InfoNce(temperature=0.5), naive.infonce, {"temperature": 0.5}),
    (Circle(), naive.circle, {}),
    (Circle(m=0.25, gamma=256), naive.circle, {"m": 0.25, "gamma": 256}),
]


def name(value: object) -> str:
    return repr(value) if isinstance(value, Loss) else ""


def batch(seed: int = 0, size: int = 24, concepts: int = 9) -> tuple[Tensor, Tensor]:
    """Names that lie about their concepts, some of which have one name; float64 (B, 6) and labels (B,)."""
    random = torch.Generator().manual_seed(seed)
    labels = torch.cat([torch.randint(concepts, (size - 2,), generator=random), torch.tensor([97, 98])])
    centres = torch.randn(99, 6, generator=random, dtype=torch.float64)
    noise = torch.randn(size, 6, generator=random, dtype=torch.float64)
    return (centres[labels] + noise / 2).requires_grad_(), labels


def mined(embeddings: Tensor, labels: Tensor, margin: float | None) -> tuple[Tensor, Tensor]:
    apart = distances(similarities(embeddings, embeddings))
    return mine(apart, labels, labels, torch.arange(len(labels)), margin)


def assert_same_with_gradient(found: Tensor, expected: Tensor, by: Tensor, tolerance: float = 1e-9) -> None:
    torch.testing.assert_close(found, expected.to(found.dtype), atol=tolerance, rtol=tolerance)
    gradients = (torch.autograd.grad(loss, by, retain_graph=True)[0] for loss in (found, expected))
    torch.testing.assert_close(*gradients, atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize("margin", [None, 0.2])
@pytest.mark.parametrize(("loss", "twin", "settings"), WITH_OTHER_SETTINGS, ids=name)
def test_is_what_the_loop_gives(
    loss: Loss, twin: Callable[..., Tensor], settings: dict[str, float], margin: float | None
) -> None:
    embeddings, labels = batch()
    pairs = mined(embeddings, labels, margin)
    found = similarities(embeddings, embeddings)
    assert_same_with_gradient(loss(found, *pairs), twin(found, *pairs, **settings), embeddings)
    assert loss(found, *pairs) > 0


# pytorch-metric-learning repeats a mined pair as often as triplets have it, which counts in a mean over pairs.
# Ours are sets: it is given the pairs of our masks, once each.
@pytest.mark.parametrize("margin", [None, 0.2])
@pytest.mark.parametrize(
    ("loss", "oracle"),
    [
        # The mean over all anchors on either side, zeros included.
        (MultiSimilarity(), pml.MultiSimilarityLoss(alpha=1, beta=60, base=0.5)),
        (MultiSimilarity(alpha_on="negatives"), pml.MultiSimilarityLoss(alpha=60, beta=1, base=0.5)),
        # Its mean over anchors leaves out zeros, which here are those without a positive or a negative.
        (Circle(), pml.CircleLoss(m=0.4, gamma=80)),
        (Circle(m=0.25, gamma=256), pml.CircleLoss(m=0.25, gamma=256)),
        # Its mean over triplets leaves out zeros too: those that are not violated.
        (Triplet(), pml.TripletMarginLoss(margin=0.05)),
        # The means over positive pairs on either side.
        (InfoNce(), pml.NTXentLoss(temperature=0.07)),
        (InfoNce(temperature=0.5), pml.NTXentLoss(temperature=0.5)),
        (LiftedStructure(), pml.LiftedStructureLoss(neg_margin=1, pos_margin=0)),
        (LiftedStructure(margin=0.5), pml.LiftedStructureLoss(neg_margin=0.5, pos_margin=0)),
    ],
    ids=name,
)
def test_agrees_with_pytorch_metric_learning(loss: Loss, oracle: Any, margin: float | None) -> None:
    embeddings, labels = batch(seed=1)
    positives, negatives = mined(embeddings, labels, margin)
    pairs = (*positives.nonzero(as_tuple=True), *negatives.nonzero(as_tuple=True))
    found = loss(similarities(embeddings, embeddings), positives, negatives)
    # Its distances come from cdist, whose gradient is good to nine digits or so.
    assert_same_with_gradient(found, oracle(embeddings, labels, pairs), embeddings, 1e-7)


@pytest.mark.parametrize(
    ("loss", "oracle"),
    [
        (MultiSimilarity(), pml.MultiSimilarityLoss(alpha=1, beta=60, base=0.5)),
        (Circle(), pml.CircleLoss()),
        (Triplet(), pml.TripletMarginLoss()),
    ],
    ids=name,
)
def test_is_what_the_published_training_computes(loss: Loss, oracle: Any) -> None:
    """The released code hands the miner's triplets to the loss; for these losses, sets of pairs give the same."""
    embeddings, labels = batch(seed=2)
    triplets = TripletMarginMiner(margin=0.2, type_of_triplets="all")(embeddings, labels)
    found = loss(similarities(embeddings, embeddings), *mined(embeddings, labels, 0.2))
    assert_same_with_gradient(found, oracle(embeddings, labels, triplets), embeddings, 1e-7)


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_nca_agrees_without_mining(scale: float) -> None:
    """With mining, theirs chooses among all rows and weights anchors; ours chooses among the mined pairs."""
    embeddings, labels = batch(seed=3)
    found = Nca(scale=scale)(similarities(embeddings, embeddings), *mined(embeddings, labels, None))
    assert_same_with_gradient(found, pml.NCALoss(softmax_scale=scale)(embeddings, labels), embeddings, 1e-7)


@pytest.mark.parametrize("margin", [None, 0.2])
def test_cosine_agrees(margin: float | None) -> None:
    """Theirs adds the sums of positives and negatives; ours is the mean, as in PyTorch's own loss."""
    embeddings, labels = batch(seed=4)
    positives, negatives = mined(embeddings, labels, margin)
    found = Cosine(margin=0.1)(similarities(embeddings, embeddings), positives, negatives)
    first, second = (positives | negatives).nonzero(as_tuple=True)
    signs = torch.where(positives[first, second], 1, -1)
    own = torch.nn.CosineEmbeddingLoss(margin=0.1)(embeddings[first], embeddings[second], signs)
    assert_same_with_gradient(found, own, embeddings)
    contrastive = pml.ContrastiveLoss(
        pos_margin=1, neg_margin=0.1, distance=pml_distances.CosineSimilarity(), reducer=reducers.SumReducer()
    )
    pairs = (*positives.nonzero(as_tuple=True), *negatives.nonzero(as_tuple=True))
    assert_same_with_gradient(found, contrastive(embeddings, labels, pairs) / len(first), embeddings)


@pytest.mark.parametrize("loss", [loss for loss in ALL if not isinstance(loss, LiftedStructure)], ids=name)
def test_pieces_of_a_batch_add_up(loss: Loss) -> None:
    embeddings, labels = batch(seed=5)
    whole = loss(similarities(embeddings, embeddings), *mined(embeddings, labels, 0.2))
    total, count = torch.zeros((), dtype=torch.float64), torch.zeros(())
    for rows in torch.arange(len(labels)).split(7):
        piece = similarities(embeddings[rows], embeddings)
        terms = loss.sum_and_count(piece, *mine(distances(piece), labels[rows], labels, rows, 0.2))
        total, count = total + terms[0], count + terms[1]
    assert_same_with_gradient(total / count, whole, embeddings)


def test_lifted_structure_refuses_a_piece() -> None:
    some = torch.zeros(2, 3)
    with pytest.raises(ValueError, match="not those of 2 anchors to 3 rows"):
        LiftedStructure()(some, some > 1, some > 1)


@pytest.mark.parametrize("loss", ALL, ids=name)
@pytest.mark.parametrize(("has_positives", "has_negatives"), [(False, False), (True, False), (False, True)])
def test_anchors_without_pairs_do_no_harm(loss: Loss, has_positives: bool, has_negatives: bool) -> None:
    found = torch.full((4, 4), 0.3, requires_grad=True)
    labels = torch.tensor([0, 0, 1, 1])
    positives, negatives = mine(torch.zeros(4, 4), labels, labels, torch.arange(4), None)
    value = loss(found, positives & has_positives, negatives & has_negatives)
    (gradient,) = torch.autograd.grad(value, found)
    assert torch.isfinite(value)
    assert torch.isfinite(gradient).all()
    one_sided = isinstance(loss, MultiSimilarity | Cosine)
    assert (value > 0) == (one_sided and (has_positives or has_negatives))
    assert bool(gradient.any()) == bool(value > 0)


@pytest.mark.parametrize("loss", [loss for loss, _, _ in WITH_OTHER_SETTINGS], ids=name)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize(("of_positives", "of_negatives"), [(1, -1), (-1, 1), (1, 1), (-1, -1), (0, 0)])
def test_extreme_similarities(loss: Loss, dtype: torch.dtype, of_positives: int, of_negatives: int) -> None:
    labels = torch.tensor([0, 0, 0, 1, 1, 2])
    positives, negatives = mine(torch.zeros(6, 6), labels, labels, torch.arange(6), None)
    found = torch.where(positives, of_positives, of_negatives).to(dtype).requires_grad_()
    value = loss(found, positives, negatives)
    (gradient,) = torch.autograd.grad(value, found)
    assert value.dtype == torch.float32
    assert torch.isfinite(value)
    assert value >= 0
    assert torch.isfinite(gradient).all()
    if (of_positives, of_negatives) == (-1, 1):
        assert value > 0.4


@pytest.mark.parametrize("loss", ALL, ids=name)
def test_half_precision_is_computed_in_single(loss: Loss) -> None:
    embeddings, labels = batch()
    pairs = mined(embeddings, labels, 0.2)
    half = similarities(embeddings, embeddings).to(torch.bfloat16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(loss(half, *pairs), loss(half.float(), *pairs))


@pytest.mark.parametrize("loss", ALL, ids=name)
def test_shapes_are_checked(loss: Loss) -> None:
    pairs = torch.zeros(3, 3, dtype=torch.bool)
    with pytest.raises(ValueError, match=r"must have one shape \(A, M\), not \[\(3, 3\), \(3, 4\)\]"):
        loss(torch.zeros(3, 4), pairs, pairs)


def test_settings() -> None:
    names = {
        "multi-similarity": {"alpha": 1, "beta": 60, "epsilon": 0.5, "alpha_on": "positives"},
        "cosine": {"margin": 0},
        "triplet": {"margin": 0.05},
        "nca": {"scale": 1},
        "lifted-structure": {"margin": 1},
        "infonce": {"temperature": 0.07},
        "circle": {"m": 0.4, "gamma": 80},
    }
    assert set(LOSSES.names()) == set(names)
    for known, settings in names.items():
        assert LOSSES.get(known)().to_dict() == settings
    with pytest.raises(FrozenInstanceError):
        Triplet().margin = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (MultiSimilarity, {"alpha": 0}, "alpha must be above 0, not 0"),
        (MultiSimilarity, {"alpha_on": "both"}, "alpha_on must be positives or negatives, not 'both'"),
        (Cosine, {"margin": 1}, "margin must be at least -1 and below 1, not 1"),
        (Triplet, {"margin": -0.1}, "margin must be above 0"),
        (Nca, {"scale": 0}, "scale must be above 0"),
        (LiftedStructure, {"margin": 0}, "margin must be above 0"),
        (InfoNce, {"temperature": 0}, "temperature must be above 0"),
        (Circle, {"gamma": float("nan")}, "gamma must be a finite number, not nan"),
        (MultiSimilarity, {"epsilon": "abc"}, "epsilon must be a finite number, not 'abc'"),
        (MultiSimilarity, {"epsilon": float("inf")}, "epsilon must be a finite number, not inf"),
        (Cosine, {"margin": False}, "margin must be a finite number, not False"),
    ],
)
def test_impossible_settings_are_refused(kind: type[Loss], settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kind(**settings)
