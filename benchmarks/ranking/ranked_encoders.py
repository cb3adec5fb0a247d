"""Compare encoders in the place where they are used: in the hybrid, before a ranker that was learned for each.

    python benchmarks/ranking/ranked_encoders.py FOLDER OWN LABEL=ENCODER … [--untrained] [--enriched VOCAB]
        [--json FILE]

For each encoder the indexes of ``recipes/ranker.py`` are built, the questions of the shipped ranker asked (of
names a third), trees learned from them, three seeds, and the development sets ordered. nymlink-mini is always
among them, with --untrained all-MiniLM-L6-v2 as it is, too, in int8 like nymlink-mini.

FOLDER is that of ``recipes/ranker.py`` for nymlink-mini; what is made here is kept in OWN, and is not made again:
a folder for each encoder, called after its fingerprint. No test set is read.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.common import report
from benchmarks.common.inputs import base, data_root
from benchmarks.ranking.name_questions import development, training
from benchmarks.ranking.ranking import NOT_IN_MEAN, ranks_by, tasks
from nymlink.core.store.arrays import Ints
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.folder import MINI
from nymlink.encode.onnx_export import export
from nymlink.evaluation.significance import mcnemar
from nymlink.rank.trees import Trees
from nymlink.train.ranking.labelled import LabelledQuestions, learn_trees
from nymlink.vocabulary.read import read_vocabulary
from recipes.asked import Asked, kept
from recipes.ranker import SEEDS, SETTINGS

UNTRAINED: Final = "all-MiniLM-L6-v2"
BY_INDEX: Final = "order of the index"
BY_TREES: Final = "trees of its own"


def main() -> None:
    """Ask, learn, order, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("own", type=Path)
    parser.add_argument("encoder", nargs="*", metavar="LABEL=ENCODER")
    parser.add_argument("--untrained", action="store_true", help=f"{UNTRAINED} as it is, too")
    parser.add_argument("--enriched", help="MEDIC with borrowed names, of `nymlink vocab enrich`")
    parser.add_argument("--json", type=Path, help="file to write")
    arguments = parser.parse_args()
    own: Path = arguments.own
    own.mkdir(parents=True, exist_ok=True)
    encoders = {MINI: MINI} | dict(each.split("=", 1) for each in arguments.encoder)
    if arguments.untrained:
        encoders[UNTRAINED] = untrained(own)
    found = {
        f"{label}, {way}": ranks
        for label, encoder in encoders.items()
        for way, ranks in ordered(
            arguments.folder, own / Encoder.load(encoder).fingerprint[:12], encoder, arguments.enriched
        ).items()
    }
    rows = _rows(found)
    about = report.about(
        data="as the first column says; no ranker learned from them",
        split="dev (AskAPatient: validation)",
        dictionary="as the first column says",
        seed=SETTINGS.seed,
        counting=(
            f"Acc@1/@5 by concept; trees are the mean of {SEEDS} seeds; in brackets McNemar's p at the first "
            f"concept against {MINI} with trees of its own"
        ),
        encoder=", ".join(encoders),
    )
    report.save(arguments.json, {"about": about, "encoders": rows})
    print(report.table(list(rows[0]), [list(row.values()) for row in rows]))


def untrained(own: Path) -> str:
    """Export the untrained base in int8, unless it is there."""
    output = own / UNTRAINED
    if not output.exists():
        export(
            base(),
            output,
            precision="int8",
            vocabulary=read_vocabulary(data_root() / "vocabularies" / "doid.tsv.gz"),
        )
    return str(output)


def ordered(folder: Path, own: Path, encoder: str, enriched: str | None) -> dict[str, dict[str, Ints]]:
    """Rank the right concept of each mention of the development sets, in the order of the index and of trees."""
    data = data_root()
    own.mkdir(exist_ok=True)
    learned = training(folder, own, data, encoder)
    sets = {
        name: kept(own / f"development {name}.npz", partial(development, task, data, encoder))
        for name, task in tasks(enriched).items()
    }
    questions = LabelledQuestions.joined([_labelled(asked, weight) for asked, weight in learned])
    trees = Trees.mean([learn_trees(questions, replace(SETTINGS, seed=seed)) for seed in range(SEEDS)])
    return {
        BY_INDEX: {name: _ranks(asked, None) for name, asked in sets.items()},
        BY_TREES: {name: _ranks(asked, trees) for name, asked in sets.items()},
    }


def _labelled(asked: Asked, weight: float) -> LabelledQuestions:
    counts = weight * np.bincount(asked.distinct, minlength=len(asked.texts))
    return LabelledQuestions(asked.described, asked.right, counts)


def _ranks(asked: Asked, trees: Trees | None) -> Ints:
    there = ~np.isnan(asked.described).all(axis=2)
    scores = np.full(there.shape, -np.inf, np.float32)
    if trees is None:
        scores[there] = np.broadcast_to(-np.arange(there.shape[1]), there.shape)[there]
    else:
        scores[there] = trees.evaluate(asked.described[there])
    return ranks_by(scores[asked.distinct], asked.right[asked.distinct], asked.mentions)


def _rows(found: Mapping[str, Mapping[str, Ints]]) -> list[dict[str, str]]:
    """Make a row for each development set, and one of their mean."""
    compared = found[f"{MINI}, {BY_TREES}"]
    rows = []
    for name, theirs in compared.items():
        row = {"data, dictionary": name}
        for label, ranks in found.items():
            own = ranks[name]
            row[label] = f"{100 * (own < 1).mean():.1f}/{100 * (own < 5).mean():.1f}"
            if label.endswith(BY_TREES) and own is not theirs:
                row[label] += f" ({mcnemar(theirs < 1, own < 1).p_value:.2g})"
        rows.append(row)
    mean = {
        label: "/".join(
            f"{np.mean([100 * (own < k).mean() for name, own in ranks.items() if name != NOT_IN_MEAN]):.1f}"
            for k in (1, 5)
        )
        for label, ranks in found.items()
    }
    return [*rows, {"data, dictionary": f"mean without {NOT_IN_MEAN}", **mean}]


if __name__ == "__main__":
    main()
