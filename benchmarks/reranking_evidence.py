"""Measure what the order of re-ranked candidates is best made of: a log-linear sum, or trees over all evidence.

    python benchmarks/reranking_evidence.py [--bc5cdr RERANKER] [--ncbi RERANKER] [--candidates N] [--json FILE]

RERANKER is a folder that ``reranking.py`` or ``nymlink train rerank`` wrote, trained on the training split of that
corpus. Candidates are those of the index as it is by default: hybrid, with the ranker of nymlink-mini. All is
learned from one half of the documents of the development split and measured on the other, and the other way
round; mentions are scored by context once. Augmented dictionaries also have the names of the training mentions.
Reads $NYMLINK_DATA or ../shared/data and needs ``nymlink[train]``.

Rows "without" hide some of the evidence from the trees, in learning and in measuring.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

import log_linear
import report
from inputs import data_root
from nymlink.corpus.read import read_corpus
from nymlink.evaluation.augmented_dictionary import augment
from nymlink.evaluation.significance import mcnemar
from nymlink.index.fusion.hits import NONE
from nymlink.index.index import Index
from nymlink.rank.trees import Trees
from nymlink.rerank.candidate_pool import CONTEXT
from nymlink.rerank.evidence import NAMES, describe, ranker_log_odds, type_shares
from nymlink.rerank.reranker import Reranker
from nymlink.train.ranking.boosting import BoostingSettings, boost
from nymlink.train.ranking.labelled_mentions import LabelledMentions, label_candidates
from nymlink.vocabulary.read import read_vocabulary
from reranking import SETS

INDEX: Final = "ranker alone"
ALONE: Final = "context alone"
SUM: Final = "log-linear"
LOG_LINEAR: Final = "log-linear, with document"
TREES: Final = "trees"

HIDDEN: Final[Mapping[str, tuple[str, ...]]] = {
    TREES: (),
    "trees without context": (CONTEXT, "ahead_context", "share_context"),
    "trees without the document": ("document", "ahead_document"),
    "trees without types": ("type", "behind_type"),
    "trees without the ranker": ("ranked", "ahead_ranked"),
}
"""Rows → evidence that they lack."""

ORDERS: Final = (INDEX, ALONE, SUM, LOG_LINEAR, *HIDDEN)
RECALL: Final = "a right candidate is there"


def scores_of_trees(data: LabelledMentions, learned_from: np.ndarray[Any, Any], hidden: Collection[str]) -> Any:
    """Learn trees from some lines, and score the candidates of all: float64 (M, k)."""
    taught = learned_from & data.has_context & (data.owner != NONE)
    described = describe(data.pool, type_shares(data.pool.chosen(taught), data.right[taught]))
    described[:, :, [NAMES.index(name) for name in hidden]] = np.nan
    valid = data.pool.valid
    start = np.zeros(valid.shape) if "ranked" in hidden else ranker_log_odds(data.pool)
    counts = valid[taught].sum(axis=1)
    trees: Trees = boost(
        described[taught][valid[taught]],
        np.cumsum(counts) - counts,
        data.right[taught][valid[taught]],
        np.ones(len(counts)),
        BoostingSettings(),
        start=start[taught][valid[taught]],
        progress=True,
    )
    scores = np.full(valid.shape, -np.inf)
    scores[valid] = start[valid] + trees.evaluate(described[valid])
    return scores


def crossed(data: LabelledMentions, scores: Callable[[Any], Any]) -> Any:
    """Find the mentions that are right where each half of the documents is scored by what the other taught."""
    halves = [data.documents % 2 == half for half in (0, 1)]
    total = np.zeros(data.pool.concepts.shape)
    for half, other in zip(halves, reversed(halves), strict=True):
        total[half] = scores(other)[half]
    return data.correct(total)


def right(data: LabelledMentions) -> dict[str, Any]:
    """Find the mentions that are right in each order: bool (N)."""
    context = np.where(data.pool.valid, np.nan_to_num(data.pool.known[CONTEXT]), -np.inf)
    return {
        INDEX: data.correct(np.zeros(context.shape)),
        ALONE: data.correct(context),
        SUM: crossed(data, lambda other: log_linear.scores(data, other, document=False)),
        LOG_LINEAR: crossed(data, lambda other: log_linear.scores(data, other, document=True)),
        **{
            name: crossed(data, lambda other, hidden=hidden: scores_of_trees(data, other, hidden))
            for name, hidden in HIDDEN.items()
        },
    }


def rows(sets: Mapping[str, LabelledMentions]) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Measure each order on each set: Acc@1, and against the ranker alone and the log-linear sum."""
    accuracies = [{"order": name} for name in (*ORDERS, RECALL)]
    tests = [{"order": name} for name in ORDERS if name != INDEX]
    for title, data in sets.items():
        found = right(data)
        for row in accuracies:
            share = data.recall if row["order"] == RECALL else found[row["order"]].mean()
            row[f"{title} ({len(data.complete):,})"] = f"{100 * share:.1f}"
        for row in tests:
            against = [INDEX] if row["order"] == LOG_LINEAR else [INDEX, LOG_LINEAR]
            row[title] = "; ".join(_test(found[other], found[row["order"]]) for other in against)
    return accuracies, tests


def _test(first: Any, second: Any) -> str:
    """Say how many are right only in the second order / only in the first, with McNemar's p."""
    test = mcnemar(first, second)
    return f"{test.only_second}/{test.only_first}, p = {test.p_value:.2g}"


def scored(name: str, folder: Path, *, augmented: bool, candidates: int) -> LabelledMentions:
    """Link the development split of a set, and score its candidates by context."""
    chosen, data = SETS[name], data_root()
    vocabulary = read_vocabulary(data / chosen.dictionary)
    if augmented:
        vocabulary = augment(vocabulary, [read_corpus(data / chosen.training)])
    reranker = Reranker.load(folder, vocabulary, refit=True)
    reranker.candidates = candidates
    index = Index.build(vocabulary, progress=True)
    return label_candidates(index, reranker, read_corpus(data / chosen.measured), progress=True)


def main() -> None:
    """Score, learn and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bc5cdr", type=Path, help="re-ranker trained on BC5CDR; measured if given")
    parser.add_argument("--ncbi", type=Path, help="re-ranker trained on NCBI disease; measured if given")
    parser.add_argument("--candidates", type=int, default=20, help="of each mention; 20 if not given")
    parser.add_argument("--json", type=Path, help="file to write")
    arguments = parser.parse_args()
    sets = {
        f"{name}, {'augmented' if augmented else 'bare'}": scored(
            name, folder, augmented=augmented, candidates=arguments.candidates
        )
        for name, folder in (("BC5CDR", arguments.bc5cdr), ("NCBI", arguments.ncbi))
        if folder is not None
        for augmented in (False, True)
    }
    accuracies, tests = rows(sets)
    for table in (accuracies, tests):
        print(report.table(list(table[0]), [list(row.values()) for row in table]), end="\n\n")
    about = report.about(
        data="BC5CDR, diseases and chemicals; NCBI disease",
        split="dev, learned from one half of its documents and measured on the other, and the other way round",
        dictionary="MeSH (BC5CDR), MEDIC 2012 (NCBI)",
        counting="Acc@1 by concept, queries as published",
        encoder="nymlink-mini",
        seed=0,
    )
    report.save(arguments.json, {"about": about, "accuracies": accuracies, "tests": tests})


if __name__ == "__main__":
    main()
