"""Measure what a ranker gains by what it learned from, beside the order of the index.

    python benchmarks/ranking/ranking.py FOLDER [--enriched VOCAB] [--json FILE]

FOLDER holds the questions that ``recipes/ranker.py`` has made there; what is made here is kept in it, too. Acc@1
and Acc@5 by concept on development sets: mentions whose gold concept the dictionary lacks count as wrong, and a
composite mention is as right as its worst part. No test set is read.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.common import report
from benchmarks.common.inputs import data_root
from benchmarks.common.tasks import DEVELOPMENT, MEDIC, Task, askapatient, bc5cdr, load, ncbi
from nymlink.core.store.arrays import Bools, Ints
from nymlink.core.store.atomic import atomic_file
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.folder import MINI, installed_ranker
from nymlink.evaluation.outcomes import GoldResolver
from nymlink.evaluation.significance import mcnemar
from nymlink.index.hits import Scores
from nymlink.index.index import Index
from nymlink.linking.pipeline import Pipeline
from nymlink.rank.ranker import Ranker
from nymlink.train.ranking.labelled import LabelledQuestions, annotated_questions, learn_trees
from nymlink.train.ranking.left_out import left_out_questions
from recipes.ranker import ANNOTATED, ELSEWHERE, NAMES_WEIGHT, SETTINGS

NOT_IN_MEAN: Final = "NCBI dev, augmented"
"""Development set that has no part in a mean: the names of its training mentions are in the dictionary."""

SHIPPED: Final = "both, mean of three seeds"

NAMES_LEFT_OUT: Final = ("mesh", "mondo", "hpo")
"""Indexes of which names are left out or changed, 4,000 questions each."""


def tasks(enriched: str | None) -> dict[str, Task]:
    """List the development sets, by name; of AskAPatient the first fold."""
    found = [*DEVELOPMENT, replace(askapatient("validation"), parts=askapatient("validation").parts[:1])]
    if enriched is not None:
        found += [ncbi("dev", "enriched", enriched), bc5cdr("enriched", enriched)]
    return {task.name.replace(", 10 folds", ", fold 0"): task for task in found}


class Kept:
    """Labelled questions that are made once, and kept in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def questions(
        self, name: str, make: Callable[[], tuple[LabelledQuestions, Ints]]
    ) -> tuple[LabelledQuestions, Ints]:
        """Read questions and the mention of each, or make them first."""
        path = self.folder / f"{name.replace('/', ' ')}.npz"
        if not path.exists():
            labelled, mentions = make()
            with atomic_file(path) as partial, partial.open("wb") as file:
                np.savez(file, described=labelled.described, right=labelled.right, mentions=mentions)
        with np.load(path) as arrays:
            mentions = arrays["mentions"] if "mentions" in arrays else np.arange(len(arrays["right"]))
            return LabelledQuestions(arrays["described"], arrays["right"], np.ones(len(arrays["right"]))), mentions


def development(task: Task, data: Path) -> tuple[LabelledQuestions, Ints]:
    """Ask for the gold mentions of a task."""
    vocabulary, (corpus, *_) = load(task, data)
    index = Index.build(vocabulary, encoder=MINI, languages=task.languages)
    resolver, asked = GoldResolver(vocabulary), []
    number, pipeline = 0, Pipeline(index, composites="gold")
    for document in corpus.documents:
        prepared = pipeline.queries(document)
        for mention, parts in zip(document.mentions, prepared, strict=True):
            if mention.concept_ids:
                asked += [(part.question, resolver.rows(mention.concept_ids), number) for part in parts]
                number += 1
    questions, answers, mentions = zip(*asked, strict=True)
    return LabelledQuestions.of(index, questions, answers), np.array(mentions)


def ranks(labelled: LabelledQuestions, mentions: Ints, ranker: Ranker | None) -> Ints:
    """Compute the rank of the right concept of each mention, that of its worst part; 99 where it was not found."""
    there = ~np.isnan(labelled.described).all(axis=2)
    places = np.arange(there.shape[1])
    scores = np.where(there, -places, -np.inf) if ranker is None else ranker.scores(labelled.described)
    return ranks_by(scores, labelled.right, mentions)


def ranks_by(scores: Scores, right: Bools, mentions: Ints) -> Ints:
    """Compute the ranks of :func:`ranks` in the order of scores (Q, K)."""
    order = np.argsort(-scores, axis=1, kind="stable")
    right = np.take_along_axis(right, order, 1)
    own = np.where(right.any(axis=1), right.argmax(axis=1), 99)
    worst = np.zeros(mentions.max() + 1, np.int64)
    np.maximum.at(worst, mentions, own)
    return worst


def main() -> None:
    """Learn rankers and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--enriched", help="MEDIC with borrowed names, of `nymlink vocab enrich`")
    parser.add_argument("--json", type=Path, help="file to write")
    arguments = parser.parse_args()
    kept, data = Kept(arguments.folder), data_root()
    sets = {
        name: kept.questions(f"development {name}", lambda task=task: development(task, data))
        for name, task in tasks(arguments.enriched).items()
    }
    rankers = learned(kept, data)
    before = {name: ranks(*questions, None) for name, questions in sets.items()}
    rows = []
    for label, ranker in rankers.items():
        row = {"learned from": label}
        for name, questions in sets.items():
            own = ranks(*questions, ranker)
            row[name] = f"{100 * (own < 1).mean():.1f}/{100 * (own < 5).mean():.1f}"
            if label == SHIPPED:
                row[name] += f" ({mcnemar(before[name] < 1, own < 1).p_value:.2g})"
        rows.append(row)
        print(row, flush=True)
    about = report.about(
        data="as the column says; the ranker learned from none of them",
        split="dev (AskAPatient: validation)",
        dictionary="as the column says",
        seed=SETTINGS.seed,
        counting="Acc@1/@5 by concept; in brackets McNemar's p at the first concept against the index's own order",
        encoder=MINI,
    )
    report.save(arguments.json, {"about": about, "learned_from": [_turned(rows, name) for name in sets]})


def _turned(rows: list[dict[str, str]], name: str) -> dict[str, str]:
    """Make the row of a development set, with a column for each ranker."""
    return {"data, dictionary": name, **{row["learned from"]: row[name] for row in rows}}


def learned(kept: Kept, data: Path) -> Mapping[str, Ranker | None]:
    """Learn a ranker from each kind of questions, and from all of them."""

    def of(name: str) -> LabelledQuestions:
        return kept.questions(name, _missing)[0]

    mentions = [of(f"{corpus}@{name}").weighted(weight) for (corpus, name), weight in ANNOTATED.items()]
    elsewhere = [of(f"elsewhere@{name}").weighted(NAMES_WEIGHT) for name in ELSEWHERE]
    lacking = [of("lacking@diseases").weighted(NAMES_WEIGHT)]
    left_out = [
        kept.questions(
            f"left out@{name}", lambda n=name: _alone(left_out_questions(Index.load(kept.folder / n), 4000))
        )[0].weighted(NAMES_WEIGHT)
        for name in NAMES_LEFT_OUT
    ]
    train = replace(bc5cdr("bare", MEDIC), parts=("bc5cdr-disease/processed_train",))
    bc5 = kept.questions("bc5cdr@medic", lambda: _alone(_annotated(train, data)))[0]

    def ranker(*parts: LabelledQuestions) -> Ranker:
        return Ranker(learn_trees(LabelledQuestions.joined(parts), SETTINGS, progress=True), "")

    return {
        "order of the index": None,
        "names left out": ranker(*left_out),
        "names elsewhere": ranker(*elsewhere, *lacking),
        "mentions": ranker(*mentions, *lacking),
        "both": ranker(*mentions, *elsewhere, *lacking),
        SHIPPED: shipped(),
        "both and BC5CDR's training mentions": ranker(*mentions, *elsewhere, *lacking, bc5),
    }


def shipped() -> Ranker:
    """Read the ranker that comes with nymlink-mini."""
    found = installed_ranker(MINI, Encoder.load(MINI).fingerprint)
    if found is None:
        sys.exit(f"no ranker comes with {MINI}")
    return Ranker.from_dict(found)


def _annotated(task: Task, data: Path) -> LabelledQuestions:
    vocabulary, (corpus, *_) = load(task, data)
    return annotated_questions(Index.build(vocabulary, encoder=MINI), corpus)


def _alone(labelled: LabelledQuestions) -> tuple[LabelledQuestions, Ints]:
    return labelled, np.arange(len(labelled.right))


def _missing() -> tuple[LabelledQuestions, Ints]:
    sys.exit("run recipes/ranker.py with this folder first")


if __name__ == "__main__":
    main()
