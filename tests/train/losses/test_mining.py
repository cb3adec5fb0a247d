"""Mining against a loop over all triplets and against pytorch-metric-learning."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pytorch_metric_learning.miners import TripletMarginMiner
from torch import Tensor

from nymlink.core.errors import NymlinkError
from nymlink.train.losses.base import distances, mine, similarities
from tests.train import naive

# Few values of few dimensions, so that equal vectors and equal distances come up often.
VECTORS = st.lists(st.tuples(*[st.integers(-2, 2)] * 3).filter(any), min_size=1, max_size=9)


def vectors(size: int, seed: int) -> Tensor:
    return torch.randn(size, 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def labels_of(size: int, concepts: int, seed: int) -> Tensor:
    return torch.randint(concepts, (size,), generator=torch.Generator().manual_seed(seed))


def mine_all(apart: Tensor, labels: Tensor, margin: float | None) -> tuple[Tensor, Tensor]:
    return mine(apart, labels, labels, torch.arange(len(labels)), margin)


@given(rows=VECTORS, data=st.data(), margin=st.sampled_from([-0.5, 0.0, 0.05, 0.2, 1.0]))
def test_a_pair_is_kept_just_when_a_triplet_has_it(
    rows: list[tuple[int, ...]], data: st.DataObject, margin: float
) -> None:
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    embeddings = torch.tensor(rows, dtype=torch.float64)
    apart = distances(similarities(embeddings, embeddings))
    positives, negatives = mine_all(apart, torch.tensor(labels), margin)
    assert (naive.pairs(positives), naive.pairs(negatives)) == naive.mined(apart, labels, margin)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("margin", [0.05, 0.2, 0.3])
def test_agrees_with_pytorch_metric_learning(seed: int, margin: float) -> None:
    labels = labels_of(60, 25, seed)
    embeddings = vectors(25, seed)[labels] + vectors(60, seed + 1) / 3  # names lie about their concepts
    positives, negatives = mine_all(distances(similarities(embeddings, embeddings)), labels, margin)
    anchors, ps, ns = TripletMarginMiner(margin=margin, type_of_triplets="all")(embeddings, labels)
    assert naive.pairs(positives) == set(zip(anchors.tolist(), ps.tolist(), strict=True))
    assert naive.pairs(negatives) == set(zip(anchors.tolist(), ns.tolist(), strict=True))
    assert 0 < positives.sum() < (labels[:, None] == labels).sum() - len(labels), "the test should test something"


def test_without_mining_all_pairs_are_kept() -> None:
    labels = torch.tensor([0, 0, 1, 2, 0])
    positives, negatives = mine_all(torch.zeros(5, 5), labels, None)
    assert naive.pairs(positives) == {(0, 1), (0, 4), (1, 0), (1, 4), (4, 0), (4, 1)}
    assert naive.pairs(negatives) == {(a, n) for a in range(5) for n in range(5) if labels[a] != labels[n]}


@pytest.mark.parametrize("margin", [None, 0.2])
def test_anchors_can_be_any_rows_of_the_pool(margin: float | None) -> None:
    embeddings, labels = vectors(40, 7), labels_of(40, 12, 7)
    whole = mine_all(distances(similarities(embeddings, embeddings)), labels, margin)
    for rows in (torch.arange(20, 30), torch.tensor([39, 0, 17])):
        apart = distances(similarities(embeddings[rows], embeddings))
        for part, full in zip(mine(apart, labels[rows], labels, rows, margin), whole, strict=True):
            assert torch.equal(part, full[rows])


def test_the_same_pair_twice_in_a_batch() -> None:
    """Its copies are positives at distance zero, and their negatives are found as if it were there once."""
    names = vectors(4, 3)
    embeddings, labels = torch.cat([names, names[:2]]), torch.tensor([5, 5, 6, 6, 5, 5])
    apart = distances(similarities(embeddings, embeddings))
    assert apart[0, 4] == 0
    for margin in (0.2, 10.0):
        positives, negatives = mine_all(apart, labels, margin)
        assert (naive.pairs(positives), naive.pairs(negatives)) == naive.mined(apart, labels.tolist(), margin)
        assert not positives.diagonal().any()
    assert positives[0].tolist() == [False, True, False, False, True, True]


@pytest.mark.parametrize("labels", [[1, 1, 1], [1, 2, 3], [1]])
def test_without_positives_or_negatives_nothing_is_mined(labels: list[int]) -> None:
    apart = torch.rand(len(labels), len(labels))
    for mask in mine_all(apart, torch.tensor(labels), 0.2):
        assert not mask.any()


def test_a_name_of_two_concepts_is_the_hardest_negative() -> None:
    embeddings = torch.eye(3)[[0, 1, 0]]
    positives, negatives = mine_all(distances(similarities(embeddings, embeddings)), torch.tensor([0, 0, 1]), 0.0)
    assert naive.pairs(positives) == {(0, 1), (1, 0)}
    assert naive.pairs(negatives) == {(0, 2), (1, 2)}


def test_diverged_weights_are_an_error() -> None:
    with pytest.raises(NymlinkError, match=r"no longer finite numbers$"):
        mine_all(torch.tensor([[0.0, torch.nan], [torch.nan, 0.0]]), torch.tensor([0, 1]), 0.2)


def test_mining_has_no_gradient() -> None:
    embeddings = vectors(6, 1).requires_grad_()
    for mask in mine_all(distances(similarities(embeddings, embeddings)), torch.tensor([0, 0, 1, 1, 2, 2]), 0.2):
        assert mask.dtype == torch.bool
        assert not mask.requires_grad
