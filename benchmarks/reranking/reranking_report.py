"""Make the tables of the benchmark of re-ranking: see ``reranking.py``."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from benchmarks.common import report

Mention = Mapping[str, Any]
Runs = Mapping[str, Mapping[int, Mapping[str, Any]]]
"""Setting → seed → results; all of the same mentions, in one order."""

GROUPS: Final[Mapping[str, Callable[[Mention], bool]]] = {
    "all": lambda _: True,
    "ambiguous": lambda one: bool(one["ambiguous"]),
    "seen": lambda one: bool(one["seen"]),
    "unseen": lambda one: not one["seen"],
}
RETRIEVAL: Final = "retrieval alone"
TOGETHER: Final = ", with index and document"
AGAINST: Final = "more right/more wrong than retrieval"
SPEEDS: Final = {
    "s an epoch": "epoch_seconds",
    "entities, s": "entity_seconds",
    "mentions/s": "mentions_per_second",
}


def summary(runs: Runs) -> dict[str, Any]:
    """Summarise the results of all settings over one retrieval, as JSON values.

    Under ``acc@1`` and ``speed`` there is a value for each seed, under ``mcnemar`` a test for each.
    """
    every = [run for seeds in runs.values() for run in seeds.values()]
    mentions = every[0]["mentions"]
    retrieved = [[one["before"] for one in run["mentions"]] for run in every]
    if any(ranks != retrieved[0] for ranks in retrieved):
        raise SystemExit("the settings were measured on different candidates: start again in another folder")
    return {
        "mentions": {group: sum(map(belongs, mentions)) for group, belongs in GROUPS.items()},
        "retrieval": {
            "acc@1": _shares(mentions, _retrieved),
            "recall": _shares(mentions, lambda one: one["before"] is not None),
        },
        "settings": {
            loss: {
                "acc@1": [_shares(run["mentions"], _right) for run in seeds.values()],
                "combined": [_shares(run["mentions"], _combined_right) for run in seeds.values()],
                "fits": [run["fits"] for run in seeds.values()],
                "speed": {key: [run[key] for run in seeds.values()] for key in SPEEDS.values()},
            }
            for loss, seeds in runs.items()
        },
        "mcnemar": [
            *(
                {
                    "settings": [one, other],
                    "seeds": {
                        seed: _test(*(map(_right, runs[loss][seed]["mentions"]) for loss in (one, other)))
                        for seed in runs[one]
                    },
                }
                for one, other in combinations(runs, 2)
            ),
            *(
                {
                    "settings": [RETRIEVAL, f"{loss}{TOGETHER}"],
                    "seeds": {
                        seed: _test(*(map(right, run["mentions"]) for right in (_retrieved, _combined_right)))
                        for seed, run in seeds.items()
                    },
                }
                for loss, seeds in runs.items()
            ),
        ],
    }


def disagreements(runs: Runs, count: int) -> list[dict[str, Any]]:
    """Draw mentions for which the first and the last setting, with the first seed, find different concepts."""
    one, other = (list(runs)[place] for place in (0, -1))
    pairs = [next(iter(runs[loss].values()))["mentions"] for loss in (one, other)]
    found = [
        {
            **{key: first[key] for key in ("document", "start", "end", "gold")},
            "said": {one: first["first_after"], other: second["first_after"]},
        }
        for first, second in zip(*pairs, strict=True)
        if first["first_after"] != second["first_after"]
    ]
    drawn = random.Random(0).sample(range(len(found)), min(count, len(found)))
    return [found[place] for place in sorted(drawn)]


def text(result: Mapping[str, Any]) -> str:
    """Format the figures as tables: for each retrieval one of shares and speeds, and one of tests."""
    tables = []
    for title, one in result.items():
        found = rows(one)
        header = [f"{title}: Acc@1", *list(found[0])[1:]]
        tables.append(report.table(header, [list(row.values()) for row in found]))
        tables.append(_tests(title, one["mcnemar"]))
        if one.get("examples"):
            tables.append(_examples(title, one["examples"]))
    return "\n\n".join(tables)


def rows(one: Mapping[str, Any]) -> list[dict[str, str]]:
    """Arrange the figures of a retrieval as rows of a table: Acc@1 by group of mentions, and speeds."""
    groups = {group: f"{group} ({one['mentions'][group]:,})" for group in GROUPS}

    def row(label: str, shares: Sequence[Mapping[str, float | None]], **more: str) -> dict[str, str]:
        cells = {title: _percent([each[group] for each in shares]) for group, title in groups.items()}
        return {"setting": label, **cells, **{column: more.get(column, "") for column in (AGAINST, *SPEEDS)}}

    tests = {tuple(test["settings"]): test["seeds"].values() for test in one["mcnemar"]}
    made = [
        row(RETRIEVAL, [one["retrieval"]["acc@1"]]),
        row("gold among the candidates", [one["retrieval"]["recall"]]),
    ]
    for loss, found in one["settings"].items():
        made.append(row(loss, found["acc@1"], **{key: _mean(found["speed"][of]) for key, of in SPEEDS.items()}))
        both = f"{loss}{TOGETHER}"
        against = "; ".join(f"{each['only_second']}/{each['only_first']}" for each in tests[RETRIEVAL, both])
        made.append(row(both, found["combined"], **{AGAINST: against}))
    return made


def _tests(title: str, tests: Sequence[Mapping[str, Any]]) -> str:
    header = (f"{title}: only the first right / only the second", *(f"seed {seed}" for seed in tests[0]["seeds"]))
    return report.table(
        header,
        [
            [
                ", ".join(one["settings"]),
                *(
                    f"{test['only_first']}/{test['only_second']}, p = {test['p_value']:.2g}"
                    for test in one["seeds"].values()
                ),
            ]
            for one in tests
        ],
    )


def _examples(title: str, examples: Sequence[Mapping[str, Any]]) -> str:
    rows = [[one["mention"], one["gold"], *one["said"].values()] for one in examples]
    return report.table(
        (title, "gold", *examples[0]["said"]), [[cell.replace("|", "\\|") for cell in row] for row in rows]
    )


def _right(mention: Mention) -> bool:
    return bool(mention["after"] == 0)


def _retrieved(mention: Mention) -> bool:
    return bool(mention["before"] == 0)


def _combined_right(mention: Mention) -> bool:
    return bool(mention["combined"] == 0)


def _shares(mentions: Sequence[Mention], right: Callable[[Mention], bool]) -> dict[str, float | None]:
    """Compute the share of each group that is right; ``None`` for an empty group."""
    found = {group: [right(one) for one in mentions if belongs(one)] for group, belongs in GROUPS.items()}
    return {group: statistics.mean(own) if own else None for group, own in found.items()}


def _test(first: Iterable[bool], second: Iterable[bool]) -> dict[str, Any]:
    import numpy as np

    from nymlink.evaluation.significance import mcnemar

    return mcnemar(np.array(list(first), bool), np.array(list(second), bool)).to_dict()


def _percent(shares: Sequence[float | None]) -> str:
    """Format the mean of all seeds, with their standard deviation where there are several."""
    values = [100 * share for share in shares if share is not None]
    if not values:
        return ""
    spread = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.1f}{spread}"


def _mean(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{statistics.mean(known):,.0f}" if known else ""
