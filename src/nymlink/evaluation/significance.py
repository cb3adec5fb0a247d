"""Compare runs: bootstrap intervals and McNemar's exact test."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.core.json_files import member
from nymlink.evaluation.outcomes import Ranks, as_array

_DRAWS: Final = 2**17
"""Number of draws of a bootstrap that are made at once. Their arrays stay in the processor's cache."""


def bootstrap_interval(
    correct: npt.NDArray[np.bool_],
    groups: Sequence[str],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[float, float]:
    """Compute the percentile bootstrap interval of an accuracy (Efron & Tibshirani 1993, chapter 13).

    Whole groups are drawn, because mentions of one document are not independent. If all mentions are in one group,
    single mentions are drawn.

    Args:
        correct: bool (n): whether each mention is right.
        groups: the group of each mention, for example the id of its document.
        level: the share of the distribution that is inside the interval.
        resamples: the number of samples drawn.
        seed: the seed of the random draws.

    Returns:
        The bounds of the interval; NaN if there are no mentions.
    """
    if not len(correct):
        return float("nan"), float("nan")
    _, group = np.unique(np.asarray(groups), return_inverse=True)
    if group.max() == 0:
        group = np.arange(len(correct))
    sizes = np.bincount(group).astype(np.float64)
    hits = np.bincount(group, correct).astype(np.float64)
    generator = np.random.default_rng(seed)
    at_once = max(1, _DRAWS // len(sizes))
    shares = np.empty(resamples)
    for start in range(0, resamples, at_once):
        block = shares[start : start + at_once]
        drawn = generator.integers(len(sizes), size=(len(block), len(sizes)))
        block[:] = hits[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(shares, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class McNemar:
    """The result of McNemar's exact test of two runs over the same mentions.

    Attributes:
        only_first: number of mentions that only the first run has right.
        only_second: number of mentions that only the second run has right.
        p_value: if both runs were equally good, the two-sided probability that these two numbers differ at least
            so much.
    """

    only_first: int
    only_second: int
    p_value: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def mcnemar(first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_]) -> McNemar:
    """Compare two runs over the same mentions with McNemar's test (1947) in its exact, binomial form.

    Args:
        first: bool (n): whether the first run has each mention right.
        second: bool (n): whether the second run has each mention right.
    """
    if first.shape != second.shape:
        raise ValueError(f"two runs over different mentions: {first.shape} and {second.shape}")
    only_first, only_second = int(np.sum(first & ~second)), int(np.sum(~first & second))
    if only_first + only_second == 0:
        return McNemar(0, 0, 1.0)
    return McNemar(only_first, only_second, _binomial_test(only_first, only_first + only_second))


def _binomial_test(successes: int, trials: int) -> float:
    """Compute the two-sided probability that a fair coin gives a split at least so uneven.

    All steps but the last compute with whole numbers.
    """
    ways, tail = 1, 0
    for number in range(min(successes, trials - successes) + 1):
        tail += ways
        ways = ways * (trials - number) // (number + 1)
    return min(1.0, float(Fraction(2 * tail, 1 << trials)))


def is_gain(gains: npt.NDArray[np.float64]) -> bool:
    """Whether a mean gain is larger than twice its standard error. Such a gain is hardly due to chance."""
    return bool(gains.mean() > 2 * gains.std() / np.sqrt(len(gains)))


_NO_RUN: Final = "not an evaluation written by nymlink evaluate --json"


def read_run(path: Path) -> dict[str, Any]:
    """Read an evaluation that `nymlink evaluate --json` wrote.

    Raises:
        InputError: the file cannot be opened or holds something else.
    """
    try:
        run: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be opened: {error.strerror or error}", path=path) from error
    except (ValueError, RecursionError) as error:
        raise InputError(_NO_RUN, path=path) from error
    # Check the file by comparing it with itself, which works only for an evaluation.
    compare(run, run, path=path)
    return run


def compare(
    first: Mapping[str, Any], second: Mapping[str, Any], *, path: Path | None = None
) -> dict[str, McNemar]:
    """Compare the accuracies at 1 of two runs over the same mentions with McNemar's exact test.

    Args:
        first: the :meth:`~nymlink.evaluation.evaluation.Evaluation.to_dict` of one run.
        second: the :meth:`~nymlink.evaluation.evaluation.Evaluation.to_dict` of the other run.
        path: the file of the second run, for messages.

    Raises:
        InputError: ``first`` or ``second`` is not an evaluation, or they have scored different mentions.
    """
    try:
        mentions = [member(run, "mentions", dict) for run in (first, second)]
        fingerprints = {member(run, "fingerprint", str) for run in mentions}
        ranks = {name: [_ranks(run, name) for run in mentions] for name in ("name", "concept")}
        if any(left.shape != right.shape for left, right in ranks.values()) and len(fingerprints) == 1:
            raise ValueError("the same mentions, but not as many")
    except (ValueError, OverflowError) as error:
        raise InputError(_NO_RUN, path=path) from error
    if len(fingerprints) > 1:
        raise InputError("the two runs scored different mentions: evaluate both on the same corpus", path=path)
    return {
        "acc@1": mcnemar(*(values < 1 for values in ranks["name"])),
        "concept_acc@1": mcnemar(*(values < 1 for values in ranks["concept"])),
    }


def _ranks(mentions: Mapping[str, Any], name: str) -> Ranks:
    ranks = member(mentions, f"{name}_ranks", list)
    if not all(rank is None or isinstance(rank, int | float) for rank in ranks):
        raise ValueError(f"{name}_ranks are no numbers")
    return as_array(ranks)
