"""Measure what the order of re-ranked candidates is best made of: a log-linear sum, or trees over all evidence.

    python benchmarks/reranking/reranking_evidence.py FOLDER [--bc5cdr RERANKER] [--ncbi RERANKER] [--candidates N]
        [--first N] [--json FILE]

RERANKER is a folder that ``reranking.py`` or ``nymlink train rerank`` wrote, trained on the training split of that
corpus. Candidates are those of the index as it is by default: hybrid, with the ranker of nymlink-mini. All is
learned from one half of the documents of the development split and measured on the other, and the other way
round; mentions are scored by context once. Augmented dictionaries also have the names of the training mentions.
Scored mentions are kept in FOLDER, and not scored again. Reads $NYMLINK_DATA or ../shared/data and needs
``nymlink[train]``.

Rows "without" hide some of the evidence from the trees, in learning and in measuring.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.common import report
from benchmarks.common.inputs import data_root
from benchmarks.reranking import log_linear
from benchmarks.reranking.reranking import SETS
from nymlink.core.store.arrays import Bools
from nymlink.core.store.atomic import atomic_file
from nymlink.corpus.read import read_corpus
from nymlink.evaluation.evaluation import augment
from nymlink.evaluation.significance import mcnemar
from nymlink.index.hits import NONE
from nymlink.index.index import Index
from nymlink.rank.trees import Trees
from nymlink.rerank.evidence import KNOWN, NAMES, describe, ranker_log_odds, type_shares
from nymlink.rerank.reranker import Reranker
from nymlink.rerank.scorer import CONTEXT, CandidatePool
from nymlink.train.ranking.boosting import BoostingSettings, boost
from nymlink.train.ranking.fit_reranking import LabelledLines, label_candidates
from nymlink.vocabulary.read import read_vocabulary

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

LABELS: Final = ("right", "has_context", "owner", "documents", "complete")
"""Arrays of labelled mentions."""

ORDERS: Final = (INDEX, ALONE, SUM, LOG_LINEAR, *HIDDEN)
RECALL: Final = "a right candidate is there"


def scores_of_trees(data: LabelledLines, learned_from: Bools, *, hidden: Collection[str]) -> Any:
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


def crossed(data: LabelledLines, scores: Callable[[Any], Any]) -> Any:
    """Find the mentions that are right where each half of the documents is scored by what the other taught."""
    halves = [data.documents % 2 == half for half in (0, 1)]
    total = np.zeros(data.pool.concepts.shape)
    for half, other in zip(halves, reversed(halves), strict=True):
        total[half] = scores(other)[half]
    return data.correct(total)


def right(data: LabelledLines) -> dict[str, Any]:
    """Find the mentions that are right in each order: bool (N)."""
    context = np.where(data.pool.valid, np.nan_to_num(data.pool.known[CONTEXT]), -np.inf)
    return {
        INDEX: data.correct(np.zeros(context.shape)),
        ALONE: data.correct(context),
        SUM: crossed(data, lambda other: log_linear.scores(data, other, document=False)),
        LOG_LINEAR: crossed(data, lambda other: log_linear.scores(data, other, document=True)),
        **{name: crossed(data, partial(scores_of_trees, data, hidden=hidden)) for name, hidden in HIDDEN.items()},
    }


def rows(sets: Mapping[str, LabelledLines]) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
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


def kept(path: Path, make: Callable[[], LabelledLines]) -> LabelledLines:
    """Read scored mentions from a file, or make and write them first."""
    if not path.exists():
        data = make()
        pool = data.pool
        with atomic_file(path) as written, written.open("wb") as file:
            arrays: dict[str, Any] = {
                "concepts": pool.concepts,
                "groups": pool.groups,
                "mention_types": np.array(pool.mention_types),
                "concept_types": np.array(json.dumps(list(pool.concept_types.items()))),
                **{f"known_{name}": values for name, values in pool.known.items()},
                **{name: getattr(data, name) for name in LABELS},
            }
            np.savez(file, **arrays)
    with np.load(path) as read:
        known = {name: read[f"known_{name}"] for name in KNOWN}
        types = {row: tuple(own) for row, own in json.loads(str(read["concept_types"]))}
        mention_types = tuple(read["mention_types"].tolist())
        pool = CandidatePool(read["concepts"], known, read["groups"], mention_types, types)
        return LabelledLines(pool=pool, **{name: read[name] for name in LABELS})


def scored(name: str, folder: Path, *, augmented: bool, candidates: int, first: int | None) -> LabelledLines:
    """Link the first documents of the development split, or all, and score their candidates by context."""
    chosen, data = SETS[name], data_root()
    vocabulary = read_vocabulary(data / chosen.dictionary)
    if augmented:
        vocabulary = augment(vocabulary, [read_corpus(data / chosen.training)])
    reranker = Reranker.load(folder, vocabulary, refit=True)
    reranker.candidates = candidates
    index = Index.build(vocabulary, progress=True)
    corpus = read_corpus(data / chosen.measured)
    return label_candidates(index, reranker, replace(corpus, documents=corpus.documents[:first]), progress=True)


def main() -> None:
    """Score, learn and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of scored mentions")
    parser.add_argument("--bc5cdr", type=Path, help="re-ranker trained on BC5CDR; measured if given")
    parser.add_argument("--ncbi", type=Path, help="re-ranker trained on NCBI disease; measured if given")
    parser.add_argument("--candidates", type=int, default=20, help="of each mention; 20 if not given")
    parser.add_argument("--first", type=int, help="only so many documents of each split; all if not given")
    parser.add_argument("--json", type=Path, help="file to write")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    sets = {}
    for name, folder in (("BC5CDR", arguments.bc5cdr), ("NCBI", arguments.ncbi)):
        for kind in ("bare", "augmented") if folder is not None else ():
            sets[f"{name}, {kind}"] = kept(
                arguments.folder / f"{name}-{kind}-{arguments.candidates}-{arguments.first or 'all'}.npz",
                partial(
                    scored,
                    name,
                    folder,
                    augmented=kind == "augmented",
                    candidates=arguments.candidates,
                    first=arguments.first,
                ),
            )
    accuracies, tests = rows(sets)
    for table in (accuracies, tests):
        print(report.table(list(table[0]), [list(row.values()) for row in table]), end="\n\n")
    part = "" if arguments.first is None else f", the first {arguments.first} documents"
    about = report.about(
        data="BC5CDR, diseases and chemicals; NCBI disease",
        split=f"dev{part}: learned from one half of them, measured on the other, and the other way round",
        dictionary="MeSH (BC5CDR), MEDIC 2012 (NCBI), bare or augmented with the names of the training mentions",
        counting="Acc@1 by concept, queries as published",
        encoder="nymlink-mini",
        seed=0,
    )
    report.save(arguments.json, {"about": about, "accuracies": accuracies, "tests": tests})


if __name__ == "__main__":
    main()
