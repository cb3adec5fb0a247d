"""Jobs on a Ray cluster. Its machines are checked first, then they work on shards.

Only shards, of some hundred bytes each, and reports go through Ray. No row of the input or the output is in Ray's
object store.
"""

from __future__ import annotations

import logging
import os
import pickle
import socket
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from nymlink.core.environment import usable_cores
from nymlink.core.errors import InputError, MissingExtraError
from nymlink.jobs.engine import TRIES, Order, R, S, Worker, WorkerEndedError, Workers

_PACKAGES: Final = ("nymlink", "ray", "numpy", "onnxruntime", "pyarrow", "tokenizers")
"""Packages whose versions may change the output."""

_WAIT: Final = 60
"""Seconds that a machine has to describe itself."""


@dataclass(frozen=True, slots=True)
class NodeState:
    """A machine's description of itself.

    Attributes:
        host: its name.
        versions: package → version; ``None`` for a missing package.
        unseen: the required paths that do not exist on the machine.
    """

    host: str
    versions: Mapping[str, str | None]
    unseen: Sequence[str] = ()


def require_alike(paths: Sequence[str]) -> None:
    """Check that every machine of the cluster has the same package versions as this machine, and has some paths.

    Raises:
        InputError: a machine has other versions, lacks a path, or does not answer.
    """
    check_nodes(_own_state(), _node_states(paths))


def check_nodes(own: NodeState, nodes: Sequence[NodeState]) -> None:
    """Compare machines with this one.

    Raises:
        InputError: a machine has another version of a package, or lacks a path.
    """
    for node in nodes:
        for package, version in own.versions.items():
            if (other := node.versions.get(package)) != version:
                has = f"has {package} {other}" if other else f"does not have {package}"
                raise InputError(
                    f"the node {node.host} {has}, this machine {version}: install the same version on every node"
                )
        if node.unseen:
            raise InputError(
                f"the node {node.host} does not see it: put it on storage that every node has at the same path",
                path=node.unseen[0],
            )


def _own_state() -> NodeState:
    return NodeState(*_probe()([], _PACKAGES))


def _node_states(paths: Sequence[str]) -> list[NodeState]:
    import ray
    from ray.exceptions import GetTimeoutError, NodeDiedError, TaskUnschedulableError, WorkerCrashedError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    probe = ray.remote(_probe())
    known = ray.nodes()  # type: ignore[no-untyped-call]
    nodes = [node for node in known if node["Alive"] and node["Resources"].get("CPU")]
    asked = [
        probe.options(
            num_cpus=0, scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        ).remote(list(paths), _PACKAGES)
        for node in nodes
    ]
    states = []
    for node, answer in zip(nodes, asked, strict=True):
        try:
            states.append(NodeState(*ray.get(answer, timeout=_WAIT)))
        except (NodeDiedError, TaskUnschedulableError, WorkerCrashedError):
            # The machine has just left the cluster. The job works without it.
            continue
        except GetTimeoutError as error:
            raise InputError(
                f"the node {node['NodeManagerHostname']} does not answer in {_WAIT} seconds: look at it with "
                "`ray status`, or take it out of the cluster"
            ) from error
    return states


def _probe() -> Callable[[Sequence[str], Sequence[str]], tuple[Any, ...]]:
    """Make the function by which a machine describes itself.

    Ray sends the code of the function to the machine. So a machine without nymlink can report that it lacks
    nymlink.
    """

    def probe(paths: Sequence[str], packages: Sequence[str]) -> tuple[Any, ...]:
        import platform
        from importlib.metadata import PackageNotFoundError, version
        from pathlib import Path

        def version_of(package: str) -> str | None:
            try:
                return version(package)
            except PackageNotFoundError:
                return None

        unseen = [path for path in paths if not Path(path).exists()]
        return platform.node(), {package: version_of(package) for package in packages}, unseen

    return probe


_STORE: Final = 100 << 20
"""Bytes of the object store of a Ray that nymlink starts. Little is enough, because reports are small."""

_REACHED: Final = 10
"""Seconds that the head of a cluster has to answer."""

_TOKEN: Final = (
    "it probably asks for a token, which Ray looks for by itself only with --address auto. Set "
    "RAY_AUTH_MODE=token here, with the head's file ~/.ray/auth_token (or its content in RAY_AUTH_TOKEN); if that "
    "is set, see that the token is the head's, and that what answers there is Ray"
)


class RayEngine:
    """Gives shards to actors of Ray.

    Args:
        workers: number of actors; ``None`` for one for each core, or with GPUs one for each share of a GPU.
        address: address of a cluster; ``"local"`` to start Ray on this machine.
        gpus: the share of a GPU that each actor gets.

    Raises:
        MissingExtraError: Ray is not installed.
        InputError: an argument makes no sense.
    """

    waits_for = "Ray starts, and its machines are checked"

    def __init__(self, *, workers: int | None, address: str, gpus: float) -> None:
        if workers is not None and workers < 1:
            raise InputError(f"there must be one worker or more, not {workers}")
        if gpus < 0:
            raise InputError(f"a worker cannot have {gpus} GPUs")
        try:
            import ray.data  # noqa: F401
        except ModuleNotFoundError as error:
            raise MissingExtraError("ray", purpose="a bulk job with --address") from error
        self._workers = workers
        self._address = address
        self._gpus = gpus

    @contextmanager
    def started(self, order: Order[S, R], own: Worker[S, R], needs: Sequence[str] = ()) -> Iterator[Workers[S, R]]:
        """Start Ray or connect to a cluster, and check that the machines can do the job.

        Raises:
            InputError: there is no such cluster, or a machine has other versions or lacks a path that the job
                needs.
        """
        import ray

        # Ray may be running already, in a notebook or a test.
        is_own = not ray.is_initialized()
        if is_own:
            _start(self._address, self._workers or usable_cores())
        try:
            require_alike(needs)
            # Ray writes about dead workers to standard output, which is for the report of the job.
            with redirect_stdout(sys.stderr):
                yield _Actors(order, self._count(), self._gpus)
        finally:
            if is_own:
                ray.shutdown()

    def _count(self) -> int:
        import ray

        resources = ray.cluster_resources()  # type: ignore[no-untyped-call]
        there = int(resources.get("GPU", 0) / self._gpus) if self._gpus else int(resources.get("CPU", 0))
        if there < 1:
            raise InputError(f"the cluster has no {'GPU' if self._gpus else 'core'} for a worker")
        return min(self._workers or there, there)


class _Actors(Workers[S, R]):
    def __init__(self, order: Order[S, R], count: int, gpus: float) -> None:
        self._order = order
        self._count = count
        self._gpus = gpus

    def do(self, shards: Iterable[S]) -> Iterator[R]:
        """Do shards, and yield each report when its shard is done, in any order."""
        left = list(shards)
        for _ in range(TRIES):
            reported = set()
            for report in self._once(left):
                reported.add(report.shard)
                yield report
            left = [shard for shard in left if shard.number not in reported]
            if not left:
                return
        raise WorkerEndedError(left[0].number, TRIES)

    def _once(self, shards: Sequence[S]) -> Iterator[R]:
        """Do shards, and yield their reports. Shards whose actors die have no report."""
        import ray.data

        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        context.max_errored_blocks = -1
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)
        count = min(self._count, len(shards))
        # Each shard is a block, so that a free actor takes the next shard.
        pickled = [{"shard": pickle.dumps(each)} for each in shards]
        dataset = ray.data.from_items(pickled, override_num_blocks=len(shards))
        with warnings.catch_warnings(action="ignore"):
            # Ray warns that later releases will not accept these options of actors. This release has no other way
            # to give them.
            reports = dataset.map_batches(
                RayWorker,
                fn_constructor_args=(self._order,),
                batch_size=1,
                # Give each actor one shard at a time. If an actor dies, only one shard is lost, and a shard takes
                # seconds anyway.
                compute=ray.data.ActorPoolStrategy(
                    min_size=1, max_size=count, initial_size=count, max_tasks_in_flight_per_actor=1
                ),
                num_cpus=1,
                num_gpus=self._gpus,
                # Start a dead actor again, but do not give it the same shard for ever.
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
    """A worker as an actor of Ray Data.

    It takes a batch of one pickled shard, and returns a batch of one pickled report.
    """

    def __init__(self, order: Order[Any, Any]) -> None:
        self._worker = order.open()

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        reports = [pickle.dumps(self._worker.do(pickle.loads(shard))) for shard in batch["shard"]]
        return {"report": np.array(reports, dtype=object)}


def _start(address: str, cores: int) -> None:
    """Start Ray, or connect to a cluster."""
    import ray

    # Hide the logs of Ray's own processes on standard error, which are for Ray's developers. Errors are raised.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL, "configure_logging": True}
    if address == "local":
        with _silent():
            ray.init(address, num_cpus=cores, include_dashboard=False, object_store_memory=_STORE, **quiet)
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
            # Something answers there, but Ray does not say whether a token is missing or another program answers.
            raise InputError(f"the Ray cluster at {address} refuses this machine: {_TOKEN}") from error
        else:
            what = f"there is no Ray cluster at {address}"
        raise InputError(
            f"{what} ({text.partition('. ')[0][:200]}): start one (ray start --head), or leave --address out for "
            "this machine alone"
        ) from error


@contextmanager
def _silent() -> Iterator[None]:
    """Discard all output to standard error until the block ends, also output that does not go through Python."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _require_reachable(address: str) -> None:
    """Check that something answers at an address with a port. Ray itself would try for a minute or longer."""
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
