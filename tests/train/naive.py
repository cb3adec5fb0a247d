"""Mining and losses again, one pair after the other, to hold the real ones against."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

Pair = tuple[int, int]


def pairs(mask: Tensor) -> set[Pair]:
    return {(row, column) for row, column in mask.nonzero().tolist()}


def all_triplets(labels: Sequence[int]) -> list[tuple[int, int, int]]:
    rows = range(len(labels))
    return [
        (a, p, n)
        for a in rows
        for p in rows
        for n in rows
        if a != p and labels[a] == labels[p] and labels[a] != labels[n]
    ]


def mined(distances: Tensor, labels: Sequence[int], margin: float) -> tuple[set[Pair], set[Pair]]:
    """Positive and negative pairs of the triplets whose negative is not farther away by more than the margin."""
    kept = [(a, p, n) for a, p, n in all_triplets(labels) if distances[a, n] - distances[a, p] <= margin]
    return {(a, p) for a, p, _ in kept}, {(a, n) for a, _, n in kept}


def columns(mask: Tensor, row: int) -> list[int]:
    return [column for column in range(mask.shape[1]) if mask[row, column]]


def mean(terms: list[Tensor], like: Tensor) -> Tensor:
    return torch.stack(terms).mean() if terms else like.sum() * 0


def distance(similarity: Tensor) -> Tensor:
    return (2 - 2 * similarity).sqrt()


def multi_similarity(
    s: Tensor, positives: Tensor, negatives: Tensor, alpha: float = 1, beta: float = 60, epsilon: float = 0.5
) -> Tensor:
    """α is of the positives."""
    total = s.sum() * 0
    for a in range(len(s)):
        pull = sum((torch.exp(-alpha * (s[a, p] - epsilon)) for p in columns(positives, a)), torch.zeros(()))
        push = sum((torch.exp(beta * (s[a, n] - epsilon)) for n in columns(negatives, a)), torch.zeros(()))
        total = total + torch.log1p(pull) / alpha + torch.log1p(push) / beta
    return total / len(s)


def cosine(s: Tensor, positives: Tensor, negatives: Tensor, margin: float = 0) -> Tensor:
    terms = [1 - s[pair] for pair in sorted(pairs(positives))]
    terms += [torch.relu(s[pair] - margin) for pair in sorted(pairs(negatives))]
    return mean(terms, s)


def triplet(s: Tensor, positives: Tensor, negatives: Tensor, margin: float = 0.05) -> Tensor:
    terms = []
    for a in range(len(s)):
        for p in columns(positives, a):
            for n in columns(negatives, a):
                violation = distance(s[a, p]) - distance(s[a, n]) + margin
                if violation > 0:
                    terms.append(violation)
    return mean(terms, s)


def nca(s: Tensor, positives: Tensor, negatives: Tensor, scale: float = 1) -> Tensor:
    terms = []
    for a in range(len(s)):
        weight = {m: torch.exp(-scale * distance(s[a, m]) ** 2) for m in range(s.shape[1])}
        right = [weight[p] for p in columns(positives, a)]
        wrong = [weight[n] for n in columns(negatives, a)]
        if right:
            terms.append(-torch.log(sum(right) / sum(right + wrong)))
    return mean(terms, s)


def lifted_structure(s: Tensor, positives: Tensor, negatives: Tensor, margin: float = 1) -> Tensor:
    terms = []
    for i, j in sorted(pairs(positives)):
        crowd = [torch.exp(margin - distance(s[k, n])) for k in (i, j) for n in columns(negatives, k)]
        violation = torch.log(sum(crowd)) + distance(s[i, j]) if crowd else s[i, j] * 0
        terms.append(torch.relu(violation) ** 2 / 2)
    return mean(terms, s)


def infonce(s: Tensor, positives: Tensor, negatives: Tensor, temperature: float = 0.07) -> Tensor:
    terms = []
    for a, p in sorted(pairs(positives)):
        right = torch.exp(s[a, p] / temperature)
        wrong = [torch.exp(s[a, n] / temperature) for n in columns(negatives, a)]
        terms.append(-torch.log(right / sum(wrong, right)))
    return mean(terms, s)


def circle(s: Tensor, positives: Tensor, negatives: Tensor, m: float = 0.4, gamma: float = 80) -> Tensor:
    terms = []
    for a in range(len(s)):
        pull, push = [], []
        for p in columns(positives, a):
            weight = max(0.0, 1 + m - s[a, p].item())
            pull.append(torch.exp(-gamma * weight * (s[a, p] - (1 - m))))
        for n in columns(negatives, a):
            weight = max(0.0, s[a, n].item() + m)
            push.append(torch.exp(gamma * weight * (s[a, n] - m)))
        if pull and push:
            terms.append(torch.log1p(sum(push) * sum(pull)))
    return mean(terms, s)
