"""The losses of contextual re-ranking, the radius and the negatives, each against the plain way of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

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

CPU = torch.device("cpu")
Vector = list[float]


def apart(first: Sequence[float], second: Sequence[float]) -> float:
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(first, second, strict=True)))


def mean(rows: Sequence[Vector]) -> Vector:
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


def drawn(mentions: int = 23, groups: int = 6, width: int = 4) -> tuple[Tensor, Tensor, list[list[int]]]:
    """Vectors, the group of each (none is empty), and the members of each group."""
    vectors = torch.randn(mentions, width, dtype=torch.float64)
    order = torch.cat([torch.arange(groups), torch.randint(groups, (mentions - groups,))]).sort().values
    return vectors, order, [[at for at in range(mentions) if order[at] == group] for group in range(groups)]


@pytest.mark.parametrize("seed", range(5))
def test_the_loss_is_that_of_a_loop(seed: int) -> None:
    torch.manual_seed(seed)
    vectors, groups, members = drawn()
    chosen = torch.rand(len(vectors)) < 0.6
    chosen[[own[0] for own in members]] = True
    positives, negatives = torch.randn(2, len(members), 4, dtype=torch.float64)
    means = prototypes(vectors, groups, chosen, len(members))
    found = triplet_loss(means, positives, negatives, margin=0.7)
    losses = []
    for group, own in enumerate(members):
        centre = mean([vectors[at].tolist() for at in own if chosen[at]])
        assert means[group].tolist() == pytest.approx(centre)
        away = apart(centre, positives[group].tolist()) - apart(centre, negatives[group].tolist())
        losses.append(max(0.0, away + 0.7))
    assert found.item() == pytest.approx(sum(losses) / len(losses))


def test_the_loss_of_nothing_is_0_and_equal_points_do_no_harm() -> None:
    empty = torch.zeros(0, 4, requires_grad=True)
    nothing = triplet_loss(empty, empty, empty, margin=1.0)
    assert nothing.item() == 0
    assert torch.autograd.grad(nothing, empty)[0].shape == (0, 4)
    same = torch.ones(2, 4, requires_grad=True)
    loss = triplet_loss(same, same.detach(), same.detach() + 1, margin=5.0)
    assert torch.autograd.grad(loss, same)[0].isfinite().all()


@pytest.mark.parametrize("seed", range(5))
def test_the_central_mention_is_that_of_a_loop(seed: int) -> None:
    torch.manual_seed(seed)
    vectors, groups, members = drawn()
    expected = []
    for own in members:
        centre = mean([vectors[at].tolist() for at in own])
        expected.append(min(own, key=lambda at: apart(vectors[at].tolist(), centre)))
    assert central_members(vectors, groups, len(members)).tolist() == expected


@pytest.mark.parametrize("seed", range(5))
def test_neighbours_and_the_radius_are_those_of_algorithm_1(seed: int) -> None:
    torch.manual_seed(seed)
    vectors, groups, members = drawn(mentions=14, groups=8)
    assert any(len(own) == 1 for own in members)
    anchors = [own[-1] for own in members]
    for factor, singletons in ((0.0, True), (1.5, False)):
        soft = SoftRadius(radius=1.5, tolerance=1.0, spread=factor, singletons=singletons, device=CPU)
        away = row_distances(vectors, vectors[anchors][groups])
        near = away <= soft.threshold
        farthest = group_maxima(away, groups, near, len(members))
        sizes = torch.bincount(groups)
        losses = []
        for group, own in enumerate(members):
            included, longest = [], 0.0
            for at in own:
                distance = apart(vectors[anchors[group]].tolist(), vectors[at].tolist())
                if distance <= 1.5 + 1.0:
                    included.append(at)
                    longest = max(longest, distance)
            assert [at for at in own if near[at]] == included
            assert farthest[group].item() == pytest.approx(longest)
            if len(own) > 1 or singletons:
                spread = 1 / factor if factor else 0.0
                learned = (spread - abs(1.5 - longest)) ** 2 if factor else 0.0
                losses.append((1.5 - longest) ** 2 + learned)
        loss = soft.loss(farthest, sizes)
        assert loss.item() == pytest.approx(sum(losses) / len(losses), rel=1e-5)
        (gradient,) = torch.autograd.grad(loss, soft.lengths)
        counted = farthest[sizes > (0 if singletons else 1)].tolist()
        assert gradient[0].item() == pytest.approx(2 * (1.5 - sum(counted) / len(counted)), rel=1e-4)
        assert (gradient[1] != 0) == bool(factor)


def test_how_far_neighbours_are_follows_the_spread_that_is_learned() -> None:
    # Clusters are 1 and 5 wide: the radius comes to 3, and largest distances are 2 from it.
    farthest, sizes = torch.tensor([1.0, 5.0]), torch.tensor([2, 2])
    for factor, learned in ((0.0, 3 + 1.0), (1.5, 3 + 1.5 * 2)):
        soft = SoftRadius(radius=10.0, tolerance=1.0, spread=factor, singletons=True, device=CPU)
        assert soft.threshold == pytest.approx(10 + 1)
        optimiser = torch.optim.SGD(soft.parameters(), lr=0.1)
        for _ in range(100):
            optimiser.zero_grad()
            soft.loss(farthest, sizes).backward()
            optimiser.step()
        assert soft.threshold == pytest.approx(learned, abs=1e-3)


def test_the_radius_of_nothing_but_singletons_rests_or_falls() -> None:
    for singletons, expected in ((False, 0.0), (True, 121.0)):
        soft = SoftRadius(radius=11.0, tolerance=1.0, spread=0.0, singletons=singletons, device=CPU)
        assert soft.loss(torch.zeros(3), torch.ones(3, dtype=torch.int64)).item() == expected


@pytest.mark.parametrize("count", [1, 3, 9])
def test_negatives_are_the_nearest_candidates_that_are_not_meant(count: int) -> None:
    torch.manual_seed(0)
    anchors, concepts = torch.randn(9, 4), torch.randn(12, 4)
    candidates, allowed = torch.randint(12, (9, 5)), torch.rand(9, 5) < 0.6
    allowed[3] = False
    for row, found in enumerate(nearest_candidates(anchors, concepts, candidates, allowed, count=count).tolist()):
        able = [int(one) for one, may in zip(candidates[row], allowed[row], strict=True) if may]
        expected = sorted(able, key=lambda at: apart(anchors[row].tolist(), concepts[at].tolist()))
        assert found == (expected + [-1] * 5)[: min(count, 5)]


class Largest(TorchDispatchMode):
    """How many numbers the largest tensor has that is made within."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        self.numbers = max(self.numbers, made.numel() if isinstance(made, Tensor) else 0)
        return made


@pytest.mark.parametrize("seed", range(5))
def test_of_all_concepts_the_nearest_that_is_not_meant_is_found_without_all_differences(seed: int) -> None:
    torch.manual_seed(seed)
    anchors, concepts = torch.randn(9, 40), torch.randn(30, 40)
    concepts[7] = concepts[3]
    concepts[3:8] += 1e-4 * torch.randn(5, 40) + 100
    anchors[:3] += 100
    allowed = torch.rand(9, 30) < 0.6
    allowed[3] = False
    with Largest() as made:
        found = nearest_concept(anchors, concepts, allowed).tolist()
    assert made.numbers < 9 * 30 * 40 / 4
    everything = torch.arange(30).expand(9, 30)
    assert found == nearest_candidates(anchors, concepts, everything, allowed, count=1)[:, 0].tolist()
    for row, one in enumerate(found):
        able = [at for at in range(30) if allowed[row, at]]
        away = {at: apart(anchors[row].tolist(), concepts[at].tolist()) for at in able}
        assert (away[one] == pytest.approx(min(away.values()), rel=1e-6)) if able else one == -1
