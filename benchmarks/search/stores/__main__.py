"""Compare the stores in which the vectors of an index are searched: building, disk, recall, latency.

    python benchmarks/search/stores [--queries 400] [--k 20] [--seconds 8] [--folder FOLDER] [--large N …]
        [--only-large] [--only TEXT …] [--json FILE]

Vectors: the names of MEDIC, encoded with nymlink-mini (the user's cache of vectors is used), and with --large N a
number of generated ones, each a vector of MEDIC moved a little: by lengths drawn such that the neighbours of a
name are as unequally far as real ones, since no search could tell equally far ones apart. Reads the corpora from
$NYMLINK_DATA or ../shared/data; needs ``nymlink[faiss,postgres,milvus]``, pgserver and milvus-lite. PostgreSQL is
started for the run, with its default settings; building sets its memory. Every line is measured in a process of
its own: built, which says its peak memory with the pages of the vectors that it read, then one client that asks
one query after the other, then 32 threads that do, each phase for at most --seconds.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from benchmarks.common import apart, inputs, report
from benchmarks.search.stores.lines import LARGEST, LINES, measure, text


@contextmanager
def postgres() -> Iterator[str]:
    """Start PostgreSQL in a new folder, and yield its URL."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pgserver

        with tempfile.TemporaryDirectory(prefix="nymlink-pg-", ignore_cleanup_errors=True) as folder:
            server = pgserver.get_server(folder)
            try:
                yield server.get_uri()
            finally:
                server.cleanup()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=400, help="number of queries")
    parser.add_argument("--k", type=int, default=20, help="names wanted for each")
    parser.add_argument("--seconds", type=float, default=8, help="most seconds of a phase")
    parser.add_argument(
        "--folder",
        type=Path,
        help="folder that keeps vectors and figures: the same command goes on where it was interrupted",
    )
    parser.add_argument("--large", type=int, nargs="*", default=[], metavar="N", help="N generated vectors, too")
    parser.add_argument(
        "--only", nargs="*", default=[""], metavar="TEXT", help="stores whose label has one of these"
    )
    parser.add_argument("--only-large", action="store_true", help="leave out the vectors of MEDIC")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    data = inputs.data_root()
    if arguments.folder is not None:
        arguments.folder.mkdir(parents=True, exist_ok=True)
    settings = {"count": arguments.queries, "k": arguments.k, "seconds": arguments.seconds}
    counts, found = {}, {}
    wanted = [label for label, *_ in LINES if any(part in label for part in arguments.only)]
    with tempfile.TemporaryDirectory() if arguments.folder is None else nullcontext(arguments.folder) as room:
        queries = str(Path(room) / "queries.json")
        apart.run("common.inputs:write_queries", data=str(data), output=queries, seed=0)
        source = str(data / inputs.MEDIC)
        encoded = apart.run("search.stores.vectors:encode", source=source, queries=queries, folder=str(room))
        counts["names"], folder = encoded["count"], encoded["folder"]
        with postgres() as url:
            if not arguments.only_large:
                found["names"] = measure(folder, "names", url, wanted, **settings)
            for count in arguments.large:
                file = f"generated-{count}"
                made = apart.run("search.stores.vectors:generate", folder=folder, file=file, count=count)
                counts[file] = made["count"]
                labels = [label for label, most in LARGEST.items() if count <= most and label in wanted]
                found[file] = measure(folder, file, url, labels, **settings)
    print(text(counts, found, arguments.k))
    report.publish(
        arguments.json,
        text(counts, found, arguments.k),
        list(found),
        data="prepared queries of NCBI disease and BC5CDR disease",
        split="train and dev",
        dictionary="MEDIC 2012, bare, each name as it stands"
        + "".join(f"; {count:,} generated from it" for count in arguments.large),
        encoder="nymlink-mini",
        note="PostgreSQL 16 with pgvector 0.6.2, default settings but for the memory of building, and the clients "
        "on the same two cores",
        seed=0,
        figures=found,
    )


if __name__ == "__main__":
    main()
