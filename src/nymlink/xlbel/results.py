"""Read the results of an evaluation across languages, and arrange them by stage and language."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from nymlink.core.errors import InputError
from nymlink.core.json_files import member
from nymlink.xlbel.evaluate import CONCEPT, NAME, LanguageResult

Shares = Mapping[str, Mapping[str, float]]
"""A share for each stage and language: stage → language → share."""

_NO_RESULTS: Final = "these are no results by language: name a file that nymlink xlbel evaluate -o wrote"


def read_results(path: Path) -> list[LanguageResult]:
    """Read the results that `nymlink xlbel evaluate -o` wrote.

    Raises:
        InputError: the file cannot be opened, holds something else, or no results.
    """
    try:
        results = [_result(value) for value in member(json.loads(path.read_text("utf-8")), "results", list)]
    except OSError as error:
        raise InputError(f"cannot be opened: {error.strerror or error}", path=path) from error
    except (ValueError, RecursionError) as error:
        raise InputError(_NO_RESULTS, path=path) from error
    if not results:
        raise InputError("there are no results in it: run nymlink xlbel evaluate again", path=path)
    return results


def _result(value: Any) -> LanguageResult:
    context = member(value, "context", bool)
    # Re-ranked candidates are concepts, without the names that matched.
    names = [f"{reading}@{k}" for reading in ((CONCEPT,) if context else (NAME, CONCEPT)) for k in (1, 5)]
    covered_figures = member(value, "covered_figures", dict)
    result = LanguageResult(
        stage=member(value, "stage", str),
        language=member(value, "language", str),
        own_names=member(value, "own_names", bool),
        context=context,
        n=_count(value, "n"),
        covered=_count(value, "covered"),
        gold_concepts=_count(value, "gold_concepts"),
        covered_concepts=_count(value, "covered_concepts"),
        figures={name: _share(value, name) for name in names},
        covered_figures={name: _share(covered_figures, name) for name in names},
        report=value,
    )
    if not 0 < result.n >= result.covered or any(map(np.isnan, result.figures.values())):
        raise ValueError(f"the figures of {result.label} in {result.language} are not those of an evaluation")
    return result


def _count(value: Mapping[str, Any], name: str) -> int:
    count = member(value, name, int)
    if count < 0:
        raise ValueError(f"{name!r} is {count}")
    return count


def _share(value: Mapping[str, Any], name: str) -> float:
    share = value.get(name)
    if share is None:
        return float("nan")
    if not isinstance(share, int | float) or not 0 <= share <= 1:
        raise ValueError(f"{name!r} is {share!r}, no share")
    return float(share)


def accuracies(results: Iterable[LanguageResult], reading: str) -> Shares:
    """Arrange the Acc@1 of all mentions by stage and language.

    Args:
        results: the results.
        reading: how results count, by name or by concept; from :func:`~nymlink.xlbel.evaluate.reading_of`.
    """
    return _arranged((result, result.figures[f"{reading}@1"]) for result in results)


def coverage(results: Iterable[LanguageResult]) -> Shares:
    """Arrange the shares of mentions whose concept the dictionary has, by stage and language."""
    return _arranged((result, result.covered / result.n) for result in results)


def _arranged(shares: Iterable[tuple[LanguageResult, float]]) -> Shares:
    rows: dict[str, dict[str, float]] = {}
    for result, share in shares:
        rows.setdefault(result.label, {})[result.language] = share
    return rows
