"""Measure what an index gains from annotated mentions of its own kind: training part → development part.

    python benchmarks/linking/adapted.py FOLDER [--encoder MODEL] [--only TEXT ...] [--json FILE]

Each index is measured as it is, and after `nymlink adapt` with the training part. CRAFT has no such parts: the
first two thirds of its documents teach, and the last third measures. Indexes are those of `across.py` in FOLDER,
and are built if they are not there. Reads training and development parts, and no test part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.common import report
from benchmarks.common.inputs import data_root
from benchmarks.linking.curated_sets import archive, craft, folder_of, opened, parser_of, pubtator
from nymlink.core.terminal import track
from nymlink.corpus.documents import Corpus
from nymlink.evaluation.evaluation import evaluate
from nymlink.index.index import Index
from nymlink.train.adapt import adapt

Parts = Callable[[Path], tuple[Corpus, Corpus]]


def _of_archive(name: str, training: str, development: str, data: Path) -> tuple[Corpus, Corpus]:
    return archive(name, [training], data), archive(name, [development], data)


def _bc5cdr(data: Path) -> tuple[Corpus, Corpus]:
    training, development = (
        f"corpora/bc5cdr/CDR_{part}Set.PubTator.txt.gz" for part in ("Training", "Development")
    )
    return pubtator(training, data), pubtator(development, data)


def _craft(prefix: str, data: Path) -> tuple[Corpus, Corpus]:
    corpus = craft(prefix, data)
    cut = len(corpus.documents) * 2 // 3
    return replace(corpus, documents=corpus.documents[:cut]), replace(corpus, documents=corpus.documents[cut:])


_NCBI: Final = partial(
    _of_archive,
    "corpora/ncbi_disease/biosyn_form/ncbi-disease_processed_concepts.tar.gz",
    "ncbi-disease/processed_train",
    "ncbi-disease/processed_dev",
)
_ASKED: Final = partial(
    _of_archive,
    "corpora/askapatient/askapatient_10folds.tar.xz",
    "askapatient/AskAPatient.fold-0.train.txt",
    "askapatient/AskAPatient.fold-0.validation.txt",
)
TASKS: Final[Mapping[str, tuple[str, Parts, frozenset[str] | None]]] = {
    "NCBI disease": ("medic", _NCBI, None),
    "BC5CDR disease": ("medic", _bc5cdr, frozenset({"Disease"})),
    "BC5CDR chemical": ("mesh", _bc5cdr, frozenset({"Chemical"})),
    "AskAPatient, fold 0": ("askapatient", _ASKED, None),
} | {
    f"CRAFT {prefix}": (prefix.lower(), partial(_craft, prefix), None)
    for prefix in ("MONDO", "CL", "UBERON", "CHEBI", "GO", "NCBITaxon", "SO")
}


def row_of(name: str, index: Index, data: Path) -> dict[str, Any]:
    """Adapt the index of a task, and measure it before and after."""
    _, parts, types = TASKS[name]
    training, development = parts(data)
    adaptation = adapt(index, [training], types=types)
    row: dict[str, Any] = {"corpus": name, "learned from": adaptation.mentions, "names": len(adaptation.names)}
    row["steps"] = ", ".join(step.name for step in adaptation.steps if step.taken)
    for label, measured in (("before", index), ("after", adaptation.apply(index))):
        found = evaluate(measured, development, types=types, keep_unknown=False).to_dict()
        row[label] = f"{100 * found['concept_acc@1']:.1f}/{100 * found['concept_acc@5']:.1f}"
    return row


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument(
        "--only", nargs="*", default=[""], metavar="TEXT", help="tasks whose name has one of these"
    )
    arguments = parser.parse_args()
    folder = folder_of(arguments.folder, arguments.encoder)
    rows = []
    for name in track([name for name in TASKS if any(text in name for text in arguments.only)], "adapting"):
        index = opened(TASKS[name][0], arguments.encoder, folder, data_root())
        rows.append(row_of(name, index, data_root()))
        print(rows[-1], flush=True)
    for group in ("BC5CDR", "CRAFT"):
        own = [row for row in rows if group in row["corpus"]]
        if own:
            rows.append({"corpus": f"{group}, mean"} | {label: _mean(own, label) for label in ("before", "after")})
    header = list(rows[0])
    print(report.table(header, [[str(row.get(key, "")) for key in header] for row in rows]))
    about = report.about(
        data="as the row says",
        split="training part → development part; CRAFT: first two thirds of the documents → last third",
        dictionary="bare, English names",
        counting="Acc@1/@5 by concept of all mentions whose concept the vocabulary has",
        encoder=Path(arguments.encoder).name,
        seed="0",
    )
    report.save(arguments.json, {"about": about, "adapted": rows})


def _mean(rows: list[dict[str, Any]], label: str) -> str:
    firsts, fives = zip(*(map(float, row[label].split("/")) for row in rows), strict=True)
    return f"{np.mean(firsts):.1f}/{np.mean(fives):.1f}"


if __name__ == "__main__":
    main()
