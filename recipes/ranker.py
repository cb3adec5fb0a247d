"""Teach the ranker that comes with nymlink-mini to put candidates in order.

    python recipes/ranker.py FOLDER [--data DATA] [--encoder NAME]

It learns from what may be used for a model that is shipped:

- the training mentions of NCBI disease (public domain), linked to the diseases of MeSH and OMIM, with and without
  the names of MONDO, and with one name a concept;
- the training mentions of MedMentions that MONDO has (CC0), linked to MONDO, with all names and with one;
- what other open vocabularies call the concepts of MeSH, MONDO and HPO: names, no mentions;
- names that these lack.

Indexes and labelled questions are kept in FOLDER: the same command goes on where it was interrupted. The merged
vocabulary is made as in docs/evidence/merging.md, and lies in FOLDER/merged. Writes the ranker beside the folder
of the encoder; afterwards ``recipes/calibration.py`` fits its confidences.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.confidence.across import foreign_names
from nymlink.core.store.atomic import atomic_file
from nymlink.corpus.documents import Corpus
from nymlink.corpus.read import read_corpus
from nymlink.corpus.readers.common import CorpusOptions
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.folder import MINI, ranker_file
from nymlink.index.index import Index
from nymlink.rank.ranker import Ranker
from nymlink.rank.trees import Trees
from nymlink.train.ranking.boosting import BoostingSettings
from nymlink.train.ranking.labelled import (
    LabelledQuestions,
    annotated_questions,
    learn_trees,
    unanswerable_questions,
)
from nymlink.train.ranking.left_out import names_elsewhere
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.vocabulary import Vocabulary
from recipes.diseases import unpacked
from recipes.ranker_vocabularies import diseases, with_one_name

SETTINGS: Final = BoostingSettings(trees=200, depth=5, ridge=5.0)

ELSEWHERE: Final = {"mesh": 8000, "mondo": 6000, "hpo": 6000, "mondo-one": 4000, "hpo-one": 2000}
"""Questions for what other vocabularies call the concepts of an index."""

ANNOTATED: Final = {
    ("ncbi", "diseases"): 0.6,
    ("ncbi", "diseases-borrowed"): 0.6,
    ("ncbi", "diseases-one"): 0.5,
    ("mondo", "mondo"): 1.0,
    ("mondo", "mondo-one"): 0.5,
}
"""Corpus and index: weight of each mention. Together those of one corpus weigh less than twice as much as once."""

NAMES_WEIGHT: Final = 0.3

SEEDS: Final = 3
"""Sums of trees that are averaged: one of them alone differs from another by a point or two on a corpus."""


def main() -> None:
    """Learn and write the ranker."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="indexes and questions; FOLDER/merged is the merged vocabulary")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="corpora/ and vocabularies/")
    parser.add_argument("--encoder", default=MINI, help="name of the installed encoder")
    arguments = parser.parse_args()
    made = Made(arguments.folder, arguments.data, arguments.encoder)
    merged = Vocabulary.load(arguments.folder / "merged")
    corpora = {"ncbi": ncbi(arguments.data), "mondo": mondo(arguments.data)}
    parts = [
        made.questions(f"{corpus}@{name}", lambda c=corpus, n=name: annotated_questions(made.index(n), corpora[c]))
        .weighted(weight)
        for (corpus, name), weight in ANNOTATED.items()
    ]  # fmt: skip
    for name, count in ELSEWHERE.items():
        labelled = made.questions(
            f"elsewhere@{name}", lambda n=name, c=count: names_elsewhere(made.index(n), merged, c)
        )
        parts.append(labelled.weighted(NAMES_WEIGHT))
    lacking = made.questions(
        "lacking@diseases",
        lambda: unanswerable_questions(
            made.index("diseases"), foreign_names(made.index("diseases"), arguments.data)
        ),
    )
    parts.append(lacking.weighted(NAMES_WEIGHT))
    questions = LabelledQuestions.joined(parts)
    trees = Trees.mean(
        [learn_trees(questions, replace(SETTINGS, seed=seed), progress=True) for seed in range(SEEDS)]
    )
    learned_from = (
        f"{len(questions.weights):,} questions: training mentions of NCBI disease and MedMentions, and names of "
        "open vocabularies"
    )
    content = {
        "fingerprint": Encoder.load(arguments.encoder).fingerprint,
        "ranker": Ranker(trees, learned_from).to_dict(),
    }
    with atomic_file(ranker_file(arguments.encoder)) as partial:
        partial.write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{learned_from} → {ranker_file(arguments.encoder)}")


class Made:
    """Indexes and questions that are made once, and kept."""

    def __init__(self, folder: Path, data: Path, encoder: str) -> None:
        self.folder, self.data, self.encoder = folder, data, encoder
        folder.mkdir(exist_ok=True)

    def index(self, name: str) -> Index:
        """Open an index, or build it first."""
        directory = self.folder / name
        if not directory.exists():
            Index.build(
                self._vocabulary(name), encoder=self.encoder, languages=("en",), directory=directory, progress=True
            )
        return Index.load(directory)

    def questions(self, name: str, make: Callable[[], LabelledQuestions]) -> LabelledQuestions:
        """Read labelled questions, or make them first."""
        path = self.folder / f"{name}.npz"
        if not path.exists():
            labelled = make()
            print(f"{name}: {len(labelled.weights):,} questions", flush=True)
            with atomic_file(path) as partial, partial.open("wb") as file:
                np.savez(file, described=labelled.described, right=labelled.right)
        with np.load(path) as arrays:
            return LabelledQuestions(arrays["described"], arrays["right"], np.ones(len(arrays["right"])))

    def _vocabulary(self, name: str) -> Vocabulary:
        base, _, kind = name.partition("-")
        if base == "diseases":
            vocabulary = diseases(self.data, borrowed=kind == "borrowed")
        else:
            vocabulary = read_vocabulary(self.data / "vocabularies" / f"{base}.tsv.gz")
        return with_one_name(vocabulary) if kind == "one" else vocabulary


def ncbi(data: Path) -> Corpus:
    """Read the training mentions of NCBI disease."""
    with tempfile.TemporaryDirectory() as folder:
        return read_corpus(unpacked(data, Path(folder))[0])


def mondo(data: Path) -> Corpus:
    """Read the training mentions of MedMentions that MONDO has."""
    options = CorpusOptions(columns={"mention": "mention", "concept_id": "mondo_id"})
    return read_corpus(data / "corpora" / "medmentions_mondo" / "mondo_train.csv", options=options)


if __name__ == "__main__":
    main()
