"""Measure int8 encoders on kinds of processors: speed, vectors, and what is linked.

    python benchmarks/encoding/processors.py FOLDER [--encoder LABEL=FOLDER ...] [--json FILE]

nymlink-mini, and other int8 files of it (``--encoder``, for example a former one), run on this processor as it is,
and as if it had fewer instructions: AVX-512 without VNNI (Intel Skylake), and AVX2 (AMD Zen 3, Intel Haswell).
ONNX Runtime chooses its routines by the processor once it is loaded; for the other kinds a copy of its library in
FOLDER passes over the choice of the newer ones, so that the routines of the older processor really run. Needs
x86-64 with VNNI, Linux, and the version of ONNX Runtime that ``_EDITS`` was made for.

Vectors of 4,000 names of DOID are compared with those of nymlink-mini on this processor. Development splits of
NCBI and BC5CDR disease, bare MEDIC, and GSC+: Acc@1/@5 by concept as shipped, with the ranker of nymlink-mini.
Accuracies are kept in FOLDER; each run measures speed anew, the best of three rounds.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from benchmarks.common import apart, report

NAMES: Final = 4000
_ROUNDS: Final = 3
TASKS: Final = ("NCBI dev, bare", "BC5CDR disease dev, bare", "GSC+ dev, HPO")

AS_IT_IS: Final = "as it is"
NO_VNNI: Final = "AVX-512 without VNNI"
AVX2: Final = "AVX2"

_VERSION: Final = "1.32.0"

# AVX-VNNI is asked for in bit 4 of a register, and so is AVX-VNNI-INT8: both jumps are always taken.
_NEITHER_VNNI: Final = (("a8107438488d05", "a810eb38488d05"), ("f6c2107443f3", "f6c210eb43f3"))
_EDITS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    AS_IT_IS: (),
    # Bit 11, AVX512-VNNI, is masked away.
    NO_VNNI: (*_NEITHER_VNNI, ("210081e700080000", "210081e700000000")),
    # The jump past all of AVX-512 is always taken.
    AVX2: (*_NEITHER_VNNI, ("41f7c200000100740e4c89c0", "41f7c200000100eb0e4c89c0")),
}
"""Bytes of ONNX Runtime's library where it chooses routines, and those that pass over the choice."""


def library(folder: Path, kind: str) -> Path | None:
    """Copy ONNX Runtime with the routines of a kind of processor; ``None`` for the processor as it is.

    Returns:
        The folder to import it from.
    """
    if not _EDITS[kind]:
        return None
    spec = find_spec("onnxruntime")
    assert spec is not None
    assert spec.origin is not None
    source = Path(spec.origin).parent
    if f'"{_VERSION}"' not in (source / "__init__.py").read_text(encoding="utf-8"):
        raise SystemExit(f"needs onnxruntime=={_VERSION}: elsewhere its choice of routines has other bytes")
    made = folder / kind.replace(" ", "-")
    if not made.exists():
        shutil.copytree(source, made / "onnxruntime")
        [path] = (made / "onnxruntime").glob("capi/onnxruntime_pybind11_state*.so")
        content = path.read_bytes()
        for before, after in _EDITS[kind]:
            if content.count(bytes.fromhex(before)) != 1:
                raise SystemExit(f"{path.name} has not once the bytes {before}: it is of another build")
            content = content.replace(bytes.fromhex(before), bytes.fromhex(after))
        path.write_bytes(content)
    return made


def encode(encoder: str, vectors: str, library: str | None) -> dict[str, Any]:
    """Encode names, write the vectors to a file, and measure the speed.

    Args:
        encoder: name or folder.
        vectors: the file.
        library: folder to import ONNX Runtime from.
    """
    _import_runtime(library)
    import numpy as np

    from benchmarks.common.inputs import data_root
    from nymlink.encode.encoder import Encoder

    loaded = Encoder.load(encoder)
    names = _names(data_root() / "vocabularies" / "doid.tsv.gz")
    loaded.encode(names[:500])
    start = time.perf_counter()
    found = loaded.encode(names)
    speed = len(names) / (time.perf_counter() - start)
    np.save(vectors, found)
    return {"names/s": round(speed)}


def link(encoder: str, cache: str, library: str | None) -> dict[str, Any]:
    """Link the mentions of all tasks: Acc@1/@5 of each.

    Args:
        encoder: name or folder.
        cache: folder of vectors that this file of the encoder made on this kind of processor.
        library: folder to import ONNX Runtime from.
    """
    _import_runtime(library)
    from benchmarks.common.inputs import data_root
    from benchmarks.common.tasks import DEVELOPMENT, load
    from nymlink.encode.cached_vectors import EmbeddingCache
    from nymlink.encode.encoder import Encoder
    from nymlink.encode.model.folder import MINI, installed_ranker
    from nymlink.evaluation.evaluation import evaluate
    from nymlink.index.index import Index

    loaded = Encoder.load(encoder)
    ranker = installed_ranker(MINI, Encoder.load(MINI).fingerprint)
    found = {}
    for task in (task for task in DEVELOPMENT if task.name in TASKS):
        vocabulary, [corpus] = load(task, data_root())
        kept = EmbeddingCache(Path(cache))
        index = Index.build(vocabulary, encoder=loaded, languages=task.languages, cache=kept, progress=True)
        of = evaluate(index.with_ranker(ranker), corpus).figures
        found[task.name] = "/".join(f"{100 * of[f'concept_acc@{k}']:.1f}" for k in (1, 5))
    return found


def _import_runtime(library: str | None) -> None:
    if library is not None:
        sys.path.insert(0, library)
    import onnxruntime

    assert library is None or onnxruntime.__file__.startswith(library)


def _names(path: Path) -> list[str]:
    import numpy as np

    from nymlink.vocabulary.read import open_vocabulary

    distinct = sorted(set(open_vocabulary(path).columns.names["text"].to_pylist()))
    return [distinct[row] for row in np.random.default_rng(0).permutation(len(distinct))[:NAMES].tolist()]


def rows(folder: Path, encoders: Mapping[str, str]) -> list[dict[str, Any]]:
    """Measure each encoder on each kind of processor, in processes of its own."""
    import numpy as np

    runs = {}
    for label, encoder in encoders.items():
        for kind in _EDITS:
            made = library(folder, kind)
            runs[label, kind] = {"encoder": encoder, "library": None if made is None else str(made)}
    speeds: dict[tuple[str, str], list[int]] = {which: [] for which in runs}
    for _ in range(_ROUNDS):
        for which, arguments in runs.items():
            own = _own(folder, which)
            one = apart.run("encoding.processors:encode", vectors=str(own / "vectors.npy"), **arguments)
            speeds[which].append(one["names/s"])
    found = []
    reference = np.load(_own(folder, next(iter(runs))) / "vectors.npy")
    for which, arguments in runs.items():
        own = _own(folder, which)
        vectors = np.load(own / "vectors.npy")
        done = own / "linked.json"
        if not done.exists():
            linked = apart.run("encoding.processors:link", cache=str(own / "cache"), **arguments)
            done.write_text(json.dumps(linked), encoding="utf-8")
        linked = json.loads(done.read_text(encoding="utf-8"))
        found.append(
            {
                "int8 file": which[0],
                "processor": which[1],
                "largest difference": f"{np.abs(vectors - reference).max():.1g}",
                "mean cosine": f"{np.sum(vectors * reference, axis=1).mean():.4f}",
                "names/s": max(speeds[which]),
                **{task: linked[task] for task in TASKS},
            }
        )
    return found


def _own(folder: Path, which: tuple[str, str]) -> Path:
    """Make the folder of an encoder on a kind of processor."""
    own = folder / ", ".join(which).replace(" ", "-")
    own.mkdir(parents=True, exist_ok=True)
    return own


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where copies, vectors and figures are kept")
    parser.add_argument("--encoder", nargs="*", default=[], metavar="LABEL=FOLDER", help="other int8 files")
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    arguments = parser.parse_args()
    others = dict(one.split("=", 1) for one in arguments.encoder)
    measured = rows(arguments.folder.resolve(), {"nymlink-mini": "nymlink-mini", **others})
    print(report.table(list(measured[0]), [list(map(str, one.values())) for one in measured]))
    about = report.about(
        data="vectors and speed: 4,000 names of DOID; mentions as the column says",
        split="dev",
        dictionary="MEDIC 2012, bare; HPO",
        counting="Acc@1/@5 by concept",
        seed=0,
    )
    report.save(arguments.json, {"about": about, "processors": measured})


if __name__ == "__main__":
    main()
