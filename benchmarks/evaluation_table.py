"""Accuracy of every sparse setting on the real corpora, bare and augmented dictionary, as one Markdown table.

    python benchmarks/evaluation_table.py [--test] [--settings nymlink biosyn le-nguyen none]

Prepared queries and dictionaries of NCBI disease and BC5CDR disease (BioSyn's form), and MedMentions mentions
mapped to MONDO, from $NYMLINK_DATA or ../shared/data. Development splits by default; ``--test`` shows the test
splits instead, for a last run: nothing is to be chosen by them.
"""

from __future__ import annotations

import argparse
import tarfile
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from inputs import data_root
from nymlink.corpus.model import Corpus
from nymlink.corpus.options import CorpusOptions
from nymlink.corpus.read import read_corpus
from nymlink.evaluate.evaluation import Evaluation, evaluate
from nymlink.index.index import Index
from nymlink.index.presets import PRESETS
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.vocabulary import Vocabulary
from report import table

NCBI: Final = "corpora/ncbi_disease/biosyn_form/ncbi-disease_processed_concepts.tar.gz"
BC5CDR: Final = "corpora/bc5cdr/bc5cdr-disease_processed_train_dev.tar.gz"


@dataclass(frozen=True)
class Task:
    """A dictionary, the corpora to link to it (an archive and the folder in it, or a file), and its columns."""

    name: str
    dictionary: str
    corpus: str
    folder: str | None = None
    columns: dict[str, str] = field(default_factory=dict)


def _ncbi(split: str, dictionary: str, kind: str) -> Task:
    path = f"corpora/ncbi_disease/biosyn_form/ncbi-disease_{dictionary}_dictionary.txt.gz"
    return Task(f"NCBI {split}, {kind}", path, NCBI, f"ncbi-disease/processed_{split}")


def _bc5cdr(dictionary: str, kind: str) -> Task:
    path = f"corpora/bc5cdr/bc5cdr-disease_{dictionary}_dictionary.txt.gz"
    return Task(f"BC5CDR disease dev, {kind}", path, BC5CDR, "bc5cdr-disease/processed_dev")


def _mondo(split: str) -> Task:
    columns = {"mention": "mention", "concept_id": "mondo_id"}
    corpus = f"corpora/medmentions_mondo/mondo_{split}.csv"
    return Task(f"MedMentions→MONDO {split}", "vocabularies/mondo.tsv.gz", corpus, columns=columns)


DEVELOPMENT: Final = (
    _ncbi("dev", "train", "bare"),
    _ncbi("dev", "dev", "augmented"),
    _bc5cdr("train", "bare"),
    _bc5cdr("dev", "augmented"),
    _mondo("dev"),
)
TEST: Final = (_ncbi("test", "train", "bare"), _ncbi("test", "test", "augmented"), _mondo("test"))


def load(task: Task, data: Path) -> tuple[Vocabulary, Corpus]:
    """Read the dictionary and the corpus of a task."""
    vocabulary = read_vocabulary(data / task.dictionary)
    with tempfile.TemporaryDirectory() as folder:
        path = data / task.corpus
        if task.folder is not None:
            with tarfile.open(path) as archive:
                archive.extractall(folder, filter="data")
            path = Path(folder) / task.folder
        return vocabulary, read_corpus(path, options=CorpusOptions(columns=task.columns))


def run(task: Task, settings: list[str], data: Path) -> dict[str, Evaluation]:
    """Evaluate one task under each setting."""
    vocabulary, corpus = load(task, data)
    return {setting: evaluate(Index.build(vocabulary, sparse=setting), corpus) for setting in settings}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--test", action="store_true", help="the test splits, for a last run")
    parser.add_argument("--settings", nargs="+", choices=list(PRESETS), default=list(PRESETS))
    arguments = parser.parse_args()
    figures_shown = ("Acc@1/@5 by name", "95 % of @1", "strict", "by concept", "recall@64")
    header = ("data, dictionary", "n", "setting", *figures_shown)
    rows = []
    for task in TEST if arguments.test else DEVELOPMENT:
        for setting, evaluation in run(task, arguments.settings, data_root()).items():
            figures = {name: f"{100 * value:.1f}" for name, value in evaluation.figures.items()}
            low, high = evaluation.intervals["acc@1"]
            rows.append(
                (
                    task.name,
                    f"{evaluation.counts.scored:,}",
                    f"`{setting}`",
                    f"{figures['acc@1']}/{figures['acc@5']}",
                    f"{100 * low:.1f}–{100 * high:.1f}",
                    f"{figures['strict_acc@1']}/{figures['strict_acc@5']}",
                    f"{figures['concept_acc@1']}/{figures['concept_acc@5']}",
                    figures["recall@64"],
                )
            )
    print(table(header, rows))


if __name__ == "__main__":
    main()
