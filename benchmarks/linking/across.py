"""Measure what rankers learn, each time on a corpus that they did not learn from.

    python benchmarks/linking/across.py FOLDER [--encoder MODEL] [--only TEXT ...] [--json FILE]

Mentions with the same text and answer are one question; at most 2,000 questions of a set are drawn. For each
corpus, rankers learn from at most 600 questions of each set of the other corpora, but not from documents that are
in the corpus, too, and from questions without an answer. Each set counts as much in learning as the square root of
its questions. *Former* is the ranker that learned from NCBI disease, MedMentions and names; *averaged* is its mean
with the trees, as the ranker that ships (``recipes/curated_ranker.py``, which leaves no corpus out but those
without a licence). Search by spelling has no former ranker, and the trees alone as *averaged*. Accuracies are of
distinct mentions, and of all occurrences. The standard error of a gain comes from a bootstrap over concepts. Reads
training and development parts from $NYMLINK_DATA or ../shared/data, and no test part. Indexes and questions are
kept in FOLDER: the same command goes on where it was interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from benchmarks.common import report
from benchmarks.common.inputs import data_root
from benchmarks.linking.curated_sets import (
    LEARNED_FROM,
    SETS,
    TREES,
    Asked,
    asked,
    folder_of,
    learnable,
    opened,
    parser_of,
    unanswerable,
)
from nymlink.core.terminal import track
from nymlink.rank.features import NAMES
from nymlink.rank.ranker import Ranker, order_of
from nymlink.rank.trees import Trees
from nymlink.train.ranking.boosting import BoostingSettings
from nymlink.train.ranking.labelled import LabelledQuestions, learn_trees

_SEED: Final = 0
_RESAMPLED: Final = 1_000

Scorer = Callable[[npt.NDArray[np.float32]], npt.NDArray[np.float32]]
"""Function from features (Q, K, F) to scores (Q, K), minus infinity at places without a candidate."""


def index_order(described: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Score candidates by their place in the order of the index."""
    return _at_candidates(described, -described[:, :, NAMES.index("place")])


def _at_candidates(
    described: npt.NDArray[np.float32], scores: npt.NDArray[np.floating]
) -> npt.NDArray[np.float32]:
    there = ~np.isnan(described).all(axis=2)
    return np.where(there, scores, -np.inf).astype(np.float32)


def trees(learned: LabelledQuestions, settings: BoostingSettings) -> Scorer:
    """Learn trees."""
    found = learn_trees(learned, settings)
    return lambda described: _at_candidates(described, _evaluated(found, described))


def _evaluated(found: Trees, described: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return found.evaluate(described.reshape(-1, described.shape[2])).reshape(described.shape[:2])


def linear(learned: LabelledQuestions, ridge: float = 10.0) -> Scorer:
    """Learn a linear score with the loss of the trees: the baseline of rankers."""
    there = ~np.isnan(learned.described).all(axis=2)
    values = learned.described[there].astype(np.float64)
    # Without an encoder, nothing has the features of dense search.
    values[:, np.isnan(values).all(axis=0)] = 0
    mean, spread = np.nanmean(values, axis=0), np.nanstd(values, axis=0) + 1e-6
    scaled = np.nan_to_num((learned.described - mean) / spread).clip(-5, 5)
    right, weights = learned.right & there, learned.weights
    answerable = right.any(axis=1)

    def loss(flat: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        scores = np.where(there, scaled @ flat[:-1] + flat[-1], -np.inf)
        largest = np.maximum(scores.max(axis=1, keepdims=True), 0)
        raised = np.exp(scores - largest)
        nothing = np.exp(-largest[:, 0])
        total = raised.sum(axis=1) + nothing
        wanted = np.where(answerable, (raised * right).sum(axis=1), nothing)
        share = raised / total[:, None]
        target = np.where(right, raised, 0) / np.maximum(wanted, 1e-300)[:, None] * answerable[:, None]
        slope = (share - target) * weights[:, None]
        gradient = np.append(np.einsum("qk,qkf->f", slope, scaled), slope.sum())
        gradient[:-1] += ridge * flat[:-1]
        value = -(weights * np.log(np.maximum(wanted / total, 1e-300))).sum()
        return float(value + ridge / 2 * (flat[:-1] ** 2).sum()), gradient

    found = minimize(loss, np.zeros(len(NAMES) + 1), jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    return lambda described: _at_candidates(
        described, np.nan_to_num((described - mean) / spread).clip(-5, 5) @ found[:-1] + found[-1]
    )


def guided(learned: LabelledQuestions, settings: BoostingSettings) -> Scorer:
    """Learn trees that correct the linear score, and stay near it where they have seen little."""
    base = linear(learned)
    start = np.nan_to_num(base(learned.described), neginf=0)
    found = learn_trees(learned, settings, start=start)
    return lambda described: base(described) + _evaluated(found, described)


RANKERS: Final[Mapping[str, Callable[[LabelledQuestions], Scorer]]] = {
    "trees": partial(trees, settings=TREES),
    "linear": linear,
    "linear and trees": partial(guided, settings=BoostingSettings(trees=100, depth=3, ridge=30.0)),
}


def accuracies(part: Asked, scores: npt.NDArray[np.float32]) -> dict[int, npt.NDArray[np.bool_]]:
    """Say for each question whether a right candidate is the first, and among the first five."""
    ordered = np.take_along_axis(part.right, order_of(part.described, scores), 1)
    return {k: ordered[:, :k].any(axis=1) for k in (1, 5)}


def gain(
    concepts: npt.NDArray[np.int64], after: npt.NDArray[np.bool_], before: npt.NDArray[np.bool_]
) -> tuple[float, float]:
    """Compare accuracies on distinct mentions: the gain in points, and its standard error over concepts."""
    _, group = np.unique(concepts, return_inverse=True)
    differences = np.bincount(group, after.astype(float) - before)
    sizes = np.bincount(group)
    rng = np.random.default_rng(_SEED)
    drawn = rng.integers(len(sizes), size=(_RESAMPLED, len(sizes)))
    means = differences[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    return 100 * float(after.mean() - before.mean()), 100 * float(means.std())


def averaged(one: Scorer, other: Scorer) -> Scorer:
    """Score candidates with the mean of two scorers."""
    return lambda described: (one(described) + other(described)) * np.float32(0.5)


def former(ranker: Ranker | None) -> Scorer:
    """Score as the ranker did before it was averaged with trees that learned from these sets."""
    if ranker is None or ranker.learned_from == LEARNED_FROM:
        return index_order
    if LEARNED_FROM not in ranker.learned_from:
        return ranker.scores
    own = ranker.trees
    half = Trees(own.features[: -TREES.trees], own.thresholds[: -TREES.trees], 2 * own.values[: -TREES.trees])
    return replace(ranker, trees=half).scores


def compare(
    sets: Mapping[str, Asked],
    corpus_of: Mapping[str, str],
    without_answers: Mapping[str, LabelledQuestions],
    before: Scorer,
) -> list[dict[str, Any]]:
    """Measure every ranker on every corpus, learned from the others.

    Args:
        sets: name of a set → its questions.
        corpus_of: name of a set → name of its corpus.
        without_answers: name of a set → its questions without a right candidate.
        before: the former ranker.

    Returns:
        A row for each set, and their mean: Acc@1/@5 of distinct mentions, with the gain at the first candidate;
        and Acc@1 of all occurrences.
    """
    found: dict[str, dict[str, dict[int, npt.NDArray[np.bool_]]]] = {name: {} for name in sets}
    for corpus in track(dict.fromkeys(corpus_of.values()), "leaving out"):
        own = [name for name in sets if corpus_of[name] == corpus]
        others = [name for name in sets if name not in own]
        hidden = frozenset[str]().union(*(each for name in own for each in sets[name].documents))
        learned = LabelledQuestions.joined(
            [learnable((sets[name], hidden) for name in others), *(without_answers[name] for name in others)]
        )
        scorers = {"index": index_order, "former": before} | {
            label: learn(learned) for label, learn in RANKERS.items()
        }
        scorers["averaged"] = scorers["trees"] if before is index_order else averaged(before, scorers["trees"])
        for name in own:
            found[name] = {
                label: accuracies(sets[name], scorer(sets[name].described)) for label, scorer in scorers.items()
            }
    labels = ("index", "former", *RANKERS, "averaged")
    rows = []
    gains: dict[str, list[tuple[float, float]]] = {label: [] for label in labels}
    for name, part in sets.items():
        row: dict[str, Any] = {"corpus → vocabulary": name, "mentions": len(part.times)}
        for label in labels:
            after = found[name][label]
            row[label] = "/".join(f"{100 * after[k].mean():.1f}" for k in (1, 5))
            if label != "index":
                first, error = gain(part.concepts, after[1], found[name]["index"][1])
                row[label] += f", {first:+.1f} ± {error:.1f}"
                gains[label].append((first, error))
        for label in labels:
            every = np.average(found[name][label][1], weights=part.times)
            row[f"{label}, occurrences"] = f"{100 * every:.1f}"
        rows.append(row)
    mean: dict[str, Any] = {"corpus → vocabulary": "mean", "mentions": sum(row["mentions"] for row in rows)}
    for label in labels:
        at = [np.mean([100 * found[name][label][k].mean() for name in sets]) for k in (1, 5)]
        mean[label] = "/".join(f"{each:.2f}" for each in at)
        if gains[label]:
            firsts, errors = map(np.array, zip(*gains[label], strict=True))
            mean[label] += f", {firsts.mean():+.2f} ± {np.sqrt((errors**2).sum()) / len(errors):.2f}"
    for label in labels:
        mean[f"{label}, occurrences"] = f"{np.mean([float(row[f'{label}, occurrences']) for row in rows]):.1f}"
    return [*rows, mean]


def tables_of(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Divide the result into tables: rankers by corpus, the mean of each ranker, and all occurrences."""
    first, mean = next(iter(rows[0])), rows[-1]
    shown = (first, "mentions", "index", "averaged")
    labels = [key for key in mean if f"{key}, occurrences" in mean]
    return {
        "across": [{key: row[key] for key in shown} for row in rows],
        "rankers": [{"ranker": label, "mean": mean[label]} for label in labels],
        "occurrences": [{key: row[key] for key in row if key == first or "occurrences" in key} for row in rows],
    }


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--only", nargs="*", default=[""], metavar="TEXT", help="sets whose name has one of these")
    arguments = parser.parse_args()
    folder = folder_of(arguments.folder, arguments.encoder)
    chosen = [each for each in SETS if any(text in each.name for text in arguments.only)]
    sets = {each.name: asked(each, arguments.encoder, folder, data_root()) for each in track(chosen, "asking")}
    nothing = {
        each.name: unanswerable(each, arguments.encoder, folder, data_root()) for each in track(chosen, "asking")
    }
    ranker = Ranker.of(opened(chosen[0].vocabulary, arguments.encoder, folder, data_root()))
    rows = compare(sets, {each.name: each.corpus for each in chosen}, nothing, former(ranker))
    header = list(rows[0])
    print(report.table(header, [[str(row[key]) for key in header] for row in rows]))
    about = report.about(
        data="as the row says; rankers learned from the other corpora",
        split="training and development parts",
        dictionary="bare, English names",
        counting="Acc@1/@5 by concept of distinct mentions, and the gain at the first over the order of the index",
        encoder=Path(arguments.encoder).name,
        seed="0",
    )
    about["parts"] = {"occurrences": {"counting": "Acc@1 by concept of all occurrences"}}
    report.save(arguments.json, {"about": about, **tables_of(rows)})


if __name__ == "__main__":
    main()
