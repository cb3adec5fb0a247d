"""Jobs on a cluster of two nodes, on this machine: workers and nodes that are killed, nodes that differ."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nymlink.bulk.job import run_job
from nymlink.core.errors import InputError, NymlinkError
from tests.bulk import files
from tests.bulk.toy import Reversing

pytestmark = pytest.mark.large

STORE = 80 << 20
TEXTS = [(str(number), f"text {number}") for number in range(60)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A cluster of two nodes with a core each."""
    # Imported here: what Ray imports takes seconds, in each process that collects tests.
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 1, "object_store_memory": STORE, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    cluster.add_node(num_cpus=1, object_store_memory=STORE)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def meanwhile(output: Path, *, parts: int, act: Callable[[], object]) -> threading.Thread:
    """Do something, in a thread, once a job has written so many parts."""

    def wait() -> None:
        while len(list((output / "parts").glob("part-*.parquet"))) < parts:
            time.sleep(0.02)
        act()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def test_workers_and_nodes_are_killed_and_the_output_is_the_same(cluster: Any, tmp_path: Path) -> None:
    texts, pids, output = tmp_path / "texts.jsonl", tmp_path / "pids", tmp_path / "out"
    texts.write_bytes(files.jsonl([*TEXTS[:40], ("x", "boom"), *TEXTS[40:]]))
    pids.mkdir()
    run_job([texts], tmp_path / "whole", Reversing(), workers=0, shard_rows=3)

    def kill_worker() -> None:
        # Not this process, which has opened the task too.
        numbers = {int(path.name) for path in pids.iterdir()} - {os.getpid()}
        os.kill(min(numbers), signal.SIGKILL)

    node = next(iter(cluster.worker_nodes))
    kills = [
        meanwhile(output, parts=3, act=kill_worker),
        meanwhile(output, parts=8, act=lambda: cluster.remove_node(node, allow_graceful=False)),
    ]
    task = Reversing(seconds=0.3, pids=str(pids))
    report = run_job([texts], output, task, address=cluster.address, shard_rows=3)
    for kill in kills:
        kill.join(60)
        assert not kill.is_alive()
    # The driver has a process of its own, as had the killed worker and who did its shards. On a busy machine the
    # others may be done before it is started again.
    threads = {int(path.name): path.read_text(encoding="utf-8") for path in pids.iterdir()}
    assert len(threads) >= 3
    assert {told for pid, told in threads.items() if pid != os.getpid()} == {"1"}
    assert files.content(output) == files.content(tmp_path / "whole")
    assert (report.counts.rows, report.counts.rejected) == (61, 1)


def test_a_row_that_ends_its_worker_is_not_begun_for_ever(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nymlink.jobs.ray_engine.TRIES", 2)
    texts = tmp_path / "texts.jsonl"
    texts.write_bytes(files.jsonl([*TEXTS[:5], ("x", "die"), *TEXTS[5:10]]))
    with pytest.raises(NymlinkError, match=r"the worker of shard 2 \(.*texts.jsonl, row 5\) ended early 2 times"):
        run_job([texts], tmp_path / "out", Reversing(), address=cluster.address, shard_rows=2)
    assert len(list((tmp_path / "out" / "parts").glob("*.parquet"))) == 5


def test_nodes_with_other_versions_or_without_the_files_are_named(cluster: Any, tmp_path: Path) -> None:
    texts, info = tmp_path / "texts.jsonl", tmp_path / "site" / "nymlink-99.0.dist-info"
    texts.write_bytes(files.jsonl(TEXTS))
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: nymlink\nVersion: 99.0\n", encoding="utf-8")
    other = cluster.add_node(num_cpus=1, object_store_memory=STORE, env_vars={"PYTHONPATH": str(info.parent)})
    with pytest.raises(InputError, match=r"has nymlink 99.0, this machine .*: install the same version"):
        run_job([texts], tmp_path / "out", Reversing(), address=cluster.address)
    cluster.remove_node(other)
    with pytest.raises(InputError, match=r"/nowhere: the node .* does not see it"):
        run_job([texts], tmp_path / "out", Reversing(needed="/nowhere"), address=cluster.address)
    assert list((tmp_path / "out" / "parts").iterdir()) == []
