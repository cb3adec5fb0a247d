"""Run a job in a process of its own: the task, input, output, index, workers and rows of a shard."""

from __future__ import annotations

import json
import sys


def run(task: str, path: str, output: str, index: str, workers: str, shard_rows: str) -> None:
    """Run a job and print its report as JSON."""
    from nymlink.bulk.job import run_job
    from nymlink.bulk.tasks import AnnotateTask, EncodeTask, LinkTask

    made = {
        "link": lambda: LinkTask(index=index),
        "annotate": lambda: AnnotateTask(index=index),
        "encode": EncodeTask,
    }
    done = run_job(
        [path],
        output,
        made[task](),
        address="local",
        workers=int(workers),
        shard_rows=int(shard_rows),
        restart=True,
    )
    print(json.dumps(done.to_dict()))


if __name__ == "__main__":
    run(*sys.argv[1:])
