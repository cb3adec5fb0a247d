"""The engine on Ray: a pool of actors on one machine or many. Ray only schedules; workers read and write shards.

Shards go through Ray Data as they are, some hundred bytes each, and reports come back: no row of the input or the
output is in Ray's object store.
"""

from __future__ import annotations

import logging
import os
import pickle
import socket
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any, Final

import numpy as np

from nymlink.bulk.engines.ray_nodes import require_alike
from nymlink.bulk.report import ShardReport
from nymlink.bulk.rows.row import Shard, Source
from nymlink.bulk.tasks.task import Work
from nymlink.bulk.worker import Worker, WorkOrder
from nymlink.core.computing.threads import usable_cores
from nymlink.core.errors import InputError, MissingExtraError

_STORE: Final = 100 << 20
"""Bytes of the object store of a Ray of our own: reports are small."""

_REACHED: Final = 10
"""Seconds in which the head of a cluster must answer."""

_TOKEN: Final = (
    "it probably asks for a token, which Ray looks for by itself only with --address auto. Set "
    "RAY_AUTH_MODE=token here, with the head's file ~/.ray/auth_token (or its content in RAY_AUTH_TOKEN); if that "
    "is set, see that the token is the head's, and that what answers there is Ray"
)


class RayEngine:
    """Gives shards to actors of Ray.

    Args:
        workers: how many actors; ``None`` for one a core, or one for each share of a GPU.
        address: of a cluster; ``None`` for a Ray of its own.
        gpus: the share of a GPU that each actor has.

    Raises:
        MissingExtraError: Ray is not installed.
        InputError: an argument makes no sense.
    """

    def __init__(self, *, workers: int | None, address: str | None, gpus: float) -> None:
        if workers is not None and workers < 1:
            raise InputError(f"there must be one worker or more, not {workers}")
        if gpus < 0:
            raise InputError(f"a worker cannot have {gpus} GPUs")
        try:
            import ray.data  # noqa: F401
        except ModuleNotFoundError as error:
            raise MissingExtraError("ray", purpose="a bulk job with workers (--workers 0 does without)") from error
        self._workers = workers
        self._address = address
        self._gpus = gpus

    @contextmanager
    def started(self, order: WorkOrder, work: Work, sources: Sequence[Source]) -> Iterator[_Actors]:
        """Start Ray or connect to a cluster, and check that its machines can do the job.

        Raises:
            InputError: there is no such cluster, or a machine has other versions or does not see what it needs.
        """
        import ray

        # A notebook or a test may have Ray running.
        own = not ray.is_initialized()
        if own:
            _start(self._address, self._workers or usable_cores())
        try:
            require_alike([*order.task.folders, *(source.path for source in sources), order.folder])
            # Ray prints what it says of workers that died on standard output, which is for the report.
            with redirect_stdout(sys.stderr):
                yield _Actors(order, self._count(), self._gpus)
        finally:
            if own:
                ray.shutdown()

    def _count(self) -> int:
        import ray

        resources = ray.cluster_resources()  # type: ignore[no-untyped-call]
        there = int(resources.get("GPU", 0) / self._gpus) if self._gpus else int(resources.get("CPU", 0))
        if there < 1:
            raise InputError(f"the cluster has no {'GPU' if self._gpus else 'core'} for a worker")
        return min(self._workers or there, there)


class _Actors:
    def __init__(self, order: WorkOrder, count: int, gpus: float) -> None:
        self._order = order
        self._count = count
        self._gpus = gpus

    def do(self, shards: Sequence[Shard]) -> Iterator[ShardReport]:
        """Do shards; those of an actor that dies are left out, and begun again by the caller."""
        import ray.data

        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        context.max_errored_blocks = -1
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)
        count = min(self._count, len(shards))
        # A block for each shard: a free actor takes the next one.
        pickled = [{"shard": pickle.dumps(each)} for each in shards]
        dataset = ray.data.from_items(pickled, override_num_blocks=len(shards))
        with warnings.catch_warnings(action="ignore"):
            # Options of actors can only be given in a way that a later Ray will not take.
            reports = dataset.map_batches(
                RayWorker,
                fn_constructor_args=(self._order,),
                batch_size=1,
                # One at a time: with an actor that dies nothing else is lost, and a shard takes seconds anyway.
                compute=ray.data.ActorPoolStrategy(
                    min_size=1, max_size=count, initial_size=count, max_tasks_in_flight_per_actor=1
                ),
                num_cpus=1,
                num_gpus=self._gpus,
                # An actor that dies is started again, but what it was at is not given to it again and again.
                max_restarts=-1,
                max_task_retries=0,
            )
        try:
            for row in reports.iter_rows():
                yield pickle.loads(row["report"])
        except ray.exceptions.RayError as error:
            reason = next(filter(str.strip, reversed(str(error).splitlines())), type(error).__name__)
            raise InputError(
                f"the workers cannot work ({reason.strip()}): see that every node has the same nymlink, with what "
                "it needs"
            ) from error


class RayWorker:
    """A worker as an actor of Ray Data: batches of one pickled shard in, of one pickled report out."""

    def __init__(self, order: WorkOrder) -> None:
        self._worker = Worker(order)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        reports = [pickle.dumps(self._worker.do(pickle.loads(shard))) for shard in batch["shard"]]
        return {"report": np.array(reports, dtype=object)}


def _start(address: str | None, cores: int) -> None:
    """Start Ray, or connect to a cluster.

    Raises:
        InputError: there is no such cluster, or it has another version of Ray or Python.
    """
    import ray

    # What its own processes log on standard error is for developers of Ray; errors are raised.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL, "configure_logging": True}
    if address is None:
        with _silent():
            # "local", because an environment variable may name a cluster.
            ray.init("local", num_cpus=cores, include_dashboard=False, object_store_memory=_STORE, **quiet)
        return
    _require_reachable(address)
    try:
        with _silent():
            ray.init(address, **quiet)
    except (ConnectionError, RuntimeError, ValueError) as error:
        text = str(error)
        if "ersion mismatch" in text:
            raise InputError(
                f"the Ray cluster at {address} has another version of Ray or Python than this machine: install "
                f"the same on every node ({' '.join(text.split())[:300]})"
            ) from error
        if address == "auto":
            what = "this machine is of no Ray cluster"
        elif type(error) is ConnectionError and ":" in address:
            # Something answers there. Ray says of neither that a token is asked for nor that it is another.
            raise InputError(f"the Ray cluster at {address} refuses this machine: {_TOKEN}") from error
        else:
            what = f"there is no Ray cluster at {address}"
        raise InputError(
            f"{what} ({text.partition('. ')[0][:200]}): start one (ray start --head), or leave --address out for "
            "this machine alone"
        ) from error


@contextmanager
def _silent() -> Iterator[None]:
    """Let what libraries write to standard error past Python go nowhere, until the block ends."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _require_reachable(address: str) -> None:
    """Check that something answers at an address with a port: Ray itself tries for a minute and longer.

    Raises:
        InputError: nothing does.
    """
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdecimal():
        return
    try:
        with socket.create_connection((host, int(port)), timeout=_REACHED):
            pass
    except OSError as error:
        raise InputError(
            f"there is no Ray cluster at {address} ({error.strerror or error}): start one (ray start --head), or "
            "leave --address out for this machine alone"
        ) from error
