"""Measure what a cross-encoder for names adds to the trees of a ranker, and what it costs.

    python benchmarks/ranking/name_cross_encoder.py FOLDER OWN [--enriched VOCAB] [--layers N …] [--json FILE]

A transformer reads a mention together with the names of a candidate, without context. It learns from what the
shipped ranker may learn from (``recipes/ranker.py``), and its score becomes a feature of the trees. So that trees
do not learn from scores of what was learned by heart, two are trained, each on half of the texts, and score the
other half; the development sets are scored by the mean of both. Read are the first five candidates of mentions
that the shipped ranker is not sure of.

FOLDER is that of ``recipes/ranker.py``; what is made here is kept in the folder OWN, and is not made again. No
test set is read.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import numpy as np
import torch

from benchmarks.common import report
from benchmarks.common.inputs import data_root
from benchmarks.ranking.name_pairs import Pair, Part, halves_of
from benchmarks.ranking.name_questions import development, training
from benchmarks.ranking.name_reader import Examples, NameReader, train
from benchmarks.ranking.name_reader_cost import REPEATS, TIMED, costed
from benchmarks.ranking.ranking import NOT_IN_MEAN, ranks_by, shipped, tasks
from nymlink.core.store.arrays import Ints
from nymlink.core.store.atomic import atomic_file
from nymlink.encode.model.embedded import MINI
from nymlink.evaluation.significance import mcnemar
from nymlink.index.fusion.hits import Scores
from nymlink.rank.trees import Trees
from nymlink.train.ranking.labelled import LabelledQuestions, learn_trees
from recipes.asked import kept
from recipes.ranker import SEEDS, SETTINGS

SIZES: Final = (6, 3)
"""Layers of the cross-encoders whose speed is measured, whether they are trained or not."""

CORES: Final = 2

TREES: Final = "trees of these questions"
_BELOW: Final = 1000
"""What was read is before what was not, where a cross-encoder orders alone."""


def main() -> None:
    """Train, measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("own", type=Path)
    parser.add_argument("--enriched", help="MEDIC with borrowed names, of `nymlink vocab enrich`")
    parser.add_argument(
        "--layers",
        type=int,
        nargs="*",
        default=SIZES,
        help="train those of so many layers (6 3); of none: train none",
    )
    parser.add_argument("--epochs", type=int, default=2, help="of a training (2)")
    parser.add_argument("--json", type=Path, help="file to write")
    arguments = parser.parse_args()
    own: Path = arguments.own
    own.mkdir(exist_ok=True)
    data, ranker = data_root(), shipped()
    pairs: dict[Pair, int] = {}
    learned = [Part.of(asked, weight, ranker, pairs) for asked, weight in training(arguments.folder, own, data)]
    of_training = len(pairs)
    sets = {
        name: Part.of(kept(own / f"development {name}.npz", partial(development, task, data)), 1.0, ranker, pairs)
        for name, task in tasks(arguments.enriched).items()
    }
    print(f"{of_training:,} pairs to learn from, {len(pairs):,} in all", flush=True)
    with ProcessPoolExecutor(CORES, mp_context=get_context("spawn")) as pool:
        scores = {
            layers: crossed(own, list(pairs), learned, sets, layers, arguments.epochs, pool)
            for layers in arguments.layers
        }
        added = measured(learned, sets, scores, pool)
    costs = costed(own, tasks(None)[TIMED], sets[TIMED], list(pairs), SIZES)
    about = report.about(
        data="as the first column says; neither trees nor cross-encoders learned from them",
        split="dev (AskAPatient: validation)",
        dictionary="as the first column says",
        seed=SETTINGS.seed,
        encoder=MINI,
        parts={
            "added": {
                "counting": (
                    f"Acc@1/@5 by concept; trees are the mean of {SEEDS} seeds, in the last row also the Acc@1 of "
                    "single ones; in brackets McNemar's p at the first concept against the trees without"
                )
            },
            "cost": {
                "data": f"distinct mentions of {TIMED}, in turn linked and read",
                "counting": f"the quickest of {REPEATS}",
            },
        },
    )
    report.save(arguments.json, {"about": about, "added": added, "cost": costs})
    for rows in (added, costs):
        header = list(rows[-1])
        print(report.table(header, [[row.get(name, "") for name in header] for row in rows]))


def examples(learned: Sequence[Part], pairs: Sequence[Pair]) -> Examples:
    """Collect what is read of training questions; equal ones become one, of the root of their weight."""
    weights: dict[tuple[tuple[int, ...], tuple[bool, ...]], float] = {}
    for part in learned:
        rights = np.take_along_axis(part.asked.right[part.read[:, 0]], np.maximum(part.read[:, 1:], 0), 1)
        counts = part.counts[part.read[:, 0]]
        for numbers, right, count in zip(part.numbers.tolist(), rights.tolist(), counts.tolist(), strict=True):
            there = [each for each in zip(numbers, right, strict=True) if each[0] >= 0]
            key = (tuple(number for number, _ in there), tuple(good for _, good in there))
            weights[key] = weights.get(key, 0.0) + count
    return Examples(
        [[pairs[number] for number in numbers] for numbers, _ in weights],
        [np.array(right) for _, right in weights],
        np.sqrt(np.array(list(weights.values()))),
    )


def crossed(
    own: Path,
    pairs: Sequence[Pair],
    learned: Sequence[Part],
    sets: Mapping[str, Part],
    layers: int,
    epochs: int,
    pool: ProcessPoolExecutor,
) -> tuple[Scores, Scores]:
    """Train two readers, on half of the texts each, and read.

    Returns:
        Scores of all pairs for the training questions, by the reader that did not learn from their text, and for
        the development questions, the mean of both; NaN where a pair was not read.
    """
    taught = examples(learned, pairs)
    halves = halves_of(pairs)
    of_example = halves_of([question[0] for question in taught.pairs])
    to_learn, to_rank = (
        np.unique(np.concatenate([part.at[2] for part in parts])) for parts in (learned, list(sets.values()))
    )
    jobs = [
        pool.submit(
            reading,
            own / f"{layers} layers, {epochs} epochs, half {half}.npz",
            layers,
            epochs,
            taught.chosen(np.flatnonzero(of_example == half)),
            np.union1d(to_learn[halves[to_learn] != half], to_rank),
            pairs,
        )
        for half in (0, 1)
    ]
    both = np.full((2, len(pairs)), np.nan, np.float32)
    for half, job in enumerate(jobs):
        wanted, scores = job.result()
        both[half, wanted] = scores
    return both[1 - halves, np.arange(len(pairs))], both.mean(axis=0)


def reading(
    result: Path, layers: int, epochs: int, taught: Examples, wanted: Ints, pairs: Sequence[Pair]
) -> tuple[Ints, Scores]:
    """Train a reader and score pairs, on one core; the scores are kept."""
    torch.set_num_threads(1)
    if not result.exists():
        torch.manual_seed(SETTINGS.seed)
        reader = NameReader(MINI, layers)
        start = time.process_time()
        train(reader, taught, epochs=epochs, seed=SETTINGS.seed)
        print(f"{result.stem}: {len(taught.pairs):,} questions in {time.process_time() - start:.0f} s", flush=True)
        scores = reader.read([pairs[number] for number in wanted.tolist()])
        with atomic_file(result) as partial_file, partial_file.open("wb") as file:
            np.savez(file, wanted=wanted, scores=scores)
    with np.load(result) as arrays:
        if not np.array_equal(arrays["wanted"], wanted):
            sys.exit(f"{result} was made of other questions: remove it")
        return wanted, arrays["scores"]


def measured(
    learned: Sequence[Part],
    sets: Mapping[str, Part],
    scores: Mapping[int, tuple[Scores, Scores]],
    pool: ProcessPoolExecutor,
) -> list[dict[str, str]]:
    """Learn trees with and without what was read, and compare the orders of the development sets."""
    variants: list[int | None] = [None, *scores] if scores else []
    jobs = {
        (variant, seed): pool.submit(
            learn_trees,
            LabelledQuestions.joined(
                [part.labelled(None if variant is None else scores[variant][0]) for part in learned]
            ),
            replace(SETTINGS, seed=seed),
        )
        for variant in variants
        for seed in range(SEEDS)
    }
    ranks: dict[str, dict[str, Ints]] = {"order of the index": {}, "shipped ranker": {}}
    for name, part in sets.items():
        there = ~np.isnan(part.asked.described).all(axis=2)
        by_place = np.where(there, -np.arange(there.shape[1]), -np.inf)
        ranks["order of the index"][name] = _ranks(part, by_place)
        ranks["shipped ranker"][name] = _ranks(part, shipped().scores(part.asked.described))
    spreads = {}
    for variant in variants:
        trees = [jobs[variant, seed].result() for seed in range(SEEDS)]
        read = None if variant is None else scores[variant][1]
        label = TREES if variant is None else f"and {variant} layers"
        of_mean, *of_single = [
            {name: _ranks(part, _by_trees(each, part, read)) for name, part in sets.items()}
            for each in [Trees.mean(trees), *trees]
        ]
        ranks[label] = of_mean
        single = [_mean(own, 1) for own in of_single]
        spreads[label] = f"{min(single):.1f}–{max(single):.1f}"
        if read is not None:
            ranks[f"{variant} layers alone"] = {
                name: _ranks(part, _by_reader(part, part.logits(read))) for name, part in sets.items()
            }
    nothing = np.zeros(max(part.numbers.max() for part in sets.values()) + 1, np.float32)
    ranks["shipped ranker, what is read in perfect order"] = {
        name: _ranks(part, _by_reader(part, part.logits(nothing) + part.asked.right))
        for name, part in sets.items()
    }
    return _rows(ranks, sets, spreads)


def _by_trees(trees: Trees, part: Part, read: Scores | None) -> Scores:
    """Score the candidates of the distinct questions by trees."""
    described = part.labelled(read).described
    there = ~np.isnan(part.asked.described).all(axis=2)
    scores = np.full(there.shape, -np.inf, np.float32)
    scores[there] = trees.evaluate(described[there])
    return scores


def _by_reader(part: Part, logits: Scores) -> Scores:
    """Score what was read by that alone, and what was not by the shipped ranker, below."""
    return np.where(np.isnan(logits), shipped().scores(part.asked.described) - np.float32(_BELOW), logits)


def _ranks(part: Part, scores: Scores) -> Ints:
    """Rank the right concept of each mention."""
    distinct = part.asked.distinct
    return ranks_by(scores[distinct], part.asked.right[distinct], part.asked.mentions)


def _mean(ranks: Mapping[str, Ints], k: int) -> float:
    """Average Acc@k in percent over the development sets that decide."""
    return float(np.mean([100 * (own < k).mean() for name, own in ranks.items() if name != NOT_IN_MEAN]))


def _rows(
    ranks: Mapping[str, Mapping[str, Ints]], sets: Mapping[str, Part], spreads: Mapping[str, str]
) -> list[dict[str, str]]:
    """Make a row for each development set, and one of their mean."""
    rows = []
    for name in sets:
        row = {"data, dictionary": name}
        for label, own in ranks.items():
            row[label] = f"{100 * (own[name] < 1).mean():.1f}/{100 * (own[name] < 5).mean():.1f}"
            if label.startswith("and"):
                row[label] += f" ({mcnemar(ranks[TREES][name] < 1, own[name] < 1).p_value:.2g})"
        rows.append(row)
    mean = {label: f"{_mean(own, 1):.1f}/{_mean(own, 5):.1f}" for label, own in ranks.items()}
    seeds = {label: f"{mean[label]}, seeds {spread}" for label, spread in spreads.items()}
    return [*rows, {"data, dictionary": f"mean without {NOT_IN_MEAN}", **mean, **seeds}]


if __name__ == "__main__":
    main()
