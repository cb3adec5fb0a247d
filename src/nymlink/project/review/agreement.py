"""Measure how far two reviewers agree: Cohen's kappa over the terms that both decided."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from nymlink.project.project import Project


def agreements(project: Project) -> list[dict[str, Any]]:
    """Measure the agreement of each two reviewers who decided the same terms.

    Returns:
        For each pair ``reviewers``, the number of ``terms`` that both decided, of those on which they ``agree``,
        and ``kappa``, ``None`` where it is not defined: all have the same decision.
    """
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT current.term, current.reviewer, decision.essence FROM current "
            "JOIN decision ON decision.id = current.decision WHERE decision.verdict != 'open'"
        ).fetchall()
    decided: dict[str, dict[int, str]] = defaultdict(dict)
    for term, reviewer, essence in rows:
        decided[reviewer][term] = essence
    pairs = []
    for first, second in combinations(sorted(decided), 2):
        both = sorted(decided[first].keys() & decided[second].keys())
        if both:
            labels = [(decided[first][term], decided[second][term]) for term in both]
            agreeing = sum(one == other for one, other in labels)
            pairs.append(
                {
                    "reviewers": [first, second],
                    "terms": len(both),
                    "agree": agreeing,
                    "kappa": cohens_kappa(labels),
                }
            )
    return pairs


def cohens_kappa(labels: Sequence[tuple[str, str]]) -> float | None:
    """Compute Cohen's kappa: agreement beyond what chance gives, 1 for complete, 0 for that of chance.

    Args:
        labels: of each term what one and what the other reviewer decided.

    Returns:
        Kappa; ``None`` where it is not defined, as chance alone would agree on all.
    """
    total = len(labels)
    agreed = sum(one == other for one, other in labels) / total
    first, second = Counter(one for one, _ in labels), Counter(other for _, other in labels)
    by_chance = sum(first[label] * second[label] for label in first) / total**2
    return None if by_chance == 1 else (agreed - by_chance) / (1 - by_chance)
