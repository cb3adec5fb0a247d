"""Measure the processor time of a mention by stage, and draw flame graphs.

    python benchmarks/linking/stages.py [--encoder NAME ...] [--flames FOLDER] [--json FILE]

Mentions are the distinct prepared queries of NCBI and BC5CDR (training, development), grouped by what they equal:
a name (*verbatim*); a name in another form or other words (*rewritten*); a name after a guess (*misspelt*); none
(*other*). Each is linked to MEDIC with one candidate, on one core, all of a group together. TF-IDF of scikit-learn
(characters, argpartition) finds the nearest names of the same mentions in the same run. With ``--flames``, each
group leaves a flame graph for https://www.speedscope.app. Needs ``nymlink[bench]``.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from benchmarks.common import apart, inputs, report

STAGES: Final = {
    "prepare": ("linking.pipeline", "Pipeline.queries"),
    "look up": ("linking.pipeline", "find_verbatim"),
    "encode": ("index.dense.query_encoder", "QueryEncoder.encode"),
    "dense search": ("index.dense.dense_search", "DenseSearch.search"),
    "dense scores": ("index.dense.dense_search", "DenseSearch.score"),
    "sparse search": ("index.sparse.sparse_search", "SparseSearch._search"),
    "sparse scores": ("index.sparse.sparse_search", "SparseSearch._score"),
    "features": ("rank.ranker", "features_of"),
    "trees": ("rank.ranker", "Ranker.scores"),
    "evidence": ("linking.pipeline", "confidence_features"),
    "candidates": ("linking.pipeline", "candidates_of"),
    "doubts": ("linking.pipeline", "doubts_about"),
}
"""Stage → module and function. Each has its own time, without that of stages inside."""

GROUPS: Final = ("verbatim", "rewritten", "misspelt", "other")
TFIDF: Final = "scikit-learn, TF-IDF"

_ROUNDS: Final = 3


class Watch:
    """Adds up the processor time of stages, on all threads.

    Attributes:
        seconds: stage → seconds of its own.
    """

    def __init__(self) -> None:
        self.seconds = defaultdict[str, float](float)
        self._running = threading.local()
        for stage, (module, function) in STAGES.items():
            owner: Any = import_module(f"nymlink.{module}")
            *path, name = function.split(".")
            for each in path:
                owner = getattr(owner, each)
            setattr(owner, name, self._watched(stage, getattr(owner, name)))

    def _watched(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            # Seconds of the stages inside each running one.
            inside: list[float] = self._running.__dict__.setdefault("inside", [])
            inside.append(0.0)
            start = time.thread_time()
            try:
                return function(*arguments, **options)
            finally:
                spent = time.thread_time() - start
                self.seconds[stage] += spent - inside.pop()
                if inside:
                    inside[-1] += spent

        return call


def link_groups(index: str, queries: str, flames: str | None) -> dict[str, Any]:
    """Measure milliseconds of processor time of a mention, for each group and stage, and of a single link."""
    from nymlink.linking.linker import Linker

    linker = Linker.load(index)
    groups = _groups(linker, inputs.read_queries(queries))
    watch = Watch()
    measured: dict[str, Any] = {}
    for group, mentions in groups.items():
        linker.link(mentions[:100])
        rounds = []
        for _ in range(_ROUNDS):
            # The latest search is remembered.
            linker.link("heart")
            watch.seconds.clear()
            start = time.process_time()
            linker.link(mentions)
            whole = time.process_time() - start
            rounds.append({"whole": whole, **watch.seconds})
        best = min(rounds, key=lambda one: one["whole"])
        single = []
        for mention in mentions[:200]:
            start = time.perf_counter()
            linker.link(mention)
            single.append(1000 * (time.perf_counter() - start))
        measured[group] = {
            "mentions": len(mentions),
            "ms": {stage: 1000 * seconds / len(mentions) for stage, seconds in best.items()},
            "single_ms": statistics.median(single),
            "single_p99_ms": statistics.quantiles(single, n=100, method="inclusive")[98],
        }
        if flames is not None:
            _draw(lambda mentions=mentions: linker.link(mentions), Path(flames) / f"{group}.speedscope.json")
    return {"groups": measured}


def _groups(linker: Any, mentions: Sequence[str]) -> dict[str, list[str]]:
    from nymlink.corpus.documents import Mention

    entries, groups = linker.index.entries, {group: list[str]() for group in GROUPS}
    for mention in mentions:
        [[query]] = linker.pipeline.queries_of([Mention(mention)])
        equal = entries.find(query.text) is not None
        group = (
            "misspelt" if query.fallback and equal else "rewritten" if query.text != query.prepared else "verbatim"
        )
        groups[group if equal else "other"].append(mention)
    return groups


def _draw(run: Callable[[], Any], path: Path) -> None:
    from pyinstrument import Profiler
    from pyinstrument.renderers import SpeedscopeRenderer

    profiler = Profiler(interval=0.0005)
    with profiler:
        run()
    path.write_text(profiler.output(SpeedscopeRenderer()), encoding="utf-8")


def tfidf(index: str, queries: str) -> dict[str, Any]:
    """Measure milliseconds of processor time of a mention with scikit-learn: the 20 nearest names."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    from nymlink.index.index import Index

    names = Index.load(index).entries.texts.to_pylist()
    mentions = inputs.read_queries(queries, 1000)
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(1, 2), dtype=np.float32)
    matrix = vectorizer.fit_transform(names).T.tocsc()
    start = time.process_time()
    for first in range(0, len(mentions), 100):
        scores = (vectorizer.transform(mentions[first : first + 100]) @ matrix).toarray()
        np.argpartition(-scores, 20, axis=1)
    return {"ms": 1000 * (time.process_time() - start) / len(mentions)}


def text(result: dict[str, Any]) -> str:
    """Format the result as tables: one of speed, and of each encoder one of stages."""
    base = result[TFIDF]["ms"]
    speed, parts = [[TFIDF, "all", "", f"{base:.2f}", "1.0×", "", ""]], []
    for encoder, groups in result["encoders"].items():
        count = sum(one["mentions"] for one in groups.values())
        mean = sum(one["ms"]["whole"] * one["mentions"] for one in groups.values()) / count
        speed.append([encoder, "all", f"{count:,}", f"{mean:.2f}", f"{base / mean:.1f}×", "", ""])
        for group, one in groups.items():
            whole = one["ms"]["whole"]
            singles = (f"{one['single_ms']:.1f}", f"{one['single_p99_ms']:.1f}")
            speed.append(
                [encoder, group, f"{one['mentions']:,}", f"{whole:.2f}", f"{base / whole:.1f}×", *singles]
            )
        rows = [[stage, *(f"{one['ms'].get(stage, 0):.3f}" for one in groups.values())] for stage in STAGES]
        rest = [one["ms"]["whole"] - sum(one["ms"].get(stage, 0) for stage in STAGES) for one in groups.values()]
        parts.append(
            report.table((f"{encoder}, ms", *groups), [*rows, ["rest", *(f"{each:.3f}" for each in rest)]])
        )
    header = ("linker", "mentions", "count", "ms of a core", "times TF-IDF", "alone, ms", "alone, p99")
    return "\n\n".join([report.table(header, speed), *parts])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--encoder", nargs="+", default=["nymlink-mini"], help="names or folders; none: no encoder"
    )
    parser.add_argument("--flames", type=Path, help="folder for flame graphs")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    data = inputs.data_root()
    result: dict[str, Any] = {"encoders": {}}
    with tempfile.TemporaryDirectory() as folder:
        queries = str(Path(folder) / "queries.json")
        apart.run("common.inputs:write_queries", data=str(data), output=queries, seed=0)
        for encoder in arguments.encoder:
            place, label = Path(folder) / Path(encoder).name, Path(encoder).name
            place.mkdir()
            apart.run("common.inputs:build_vocabulary", source=str(data / inputs.MEDIC), directory=str(place))
            name = None if encoder == "none" else encoder
            apart.run("common.inputs:build_index", directory=str(place), name="index", encoder=name)
            index = str(place / "index")
            flames = None if arguments.flames is None else arguments.flames / label
            if flames is not None:
                flames.mkdir(parents=True, exist_ok=True)
            result["encoders"][label] = apart.run(
                "linking.stages:link_groups", index=index, queries=queries, flames=flames and str(flames)
            )["groups"]
        result[TFIDF] = apart.run("linking.stages:tfidf", index=index, queries=queries)
    print(text(result))
    report.publish(
        arguments.json,
        text(result),
        ["speed", *(f"stages of {encoder}" for encoder in result["encoders"])],
        data="prepared queries of NCBI disease and BC5CDR disease",
        split="train and dev",
        dictionary="MEDIC 2012, bare",
        encoder=", ".join(result["encoders"]),
        seed=0,
        figures=result,
    )


if __name__ == "__main__":
    main()
