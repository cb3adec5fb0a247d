"""Check the machines of a Ray cluster before a job begins: their versions, and that they see its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from nymlink.core.errors import InputError

_PACKAGES: Final = ("nymlink", "ray", "numpy", "onnxruntime", "pyarrow", "tokenizers")
"""Packages by whose versions the output may differ."""

_WAIT: Final = 60
"""Seconds in which a machine must say what it has."""


@dataclass(frozen=True, slots=True)
class NodeState:
    """What a machine of a cluster says of itself.

    Attributes:
        host: its name.
        versions: package → version; ``None`` for one that it does not have.
        unseen: the paths that it was asked for and does not see.
    """

    host: str
    versions: Mapping[str, str | None]
    unseen: Sequence[str] = ()


def require_alike(paths: Sequence[str]) -> None:
    """Check that every machine of the cluster has the versions of this one, and sees some paths.

    Raises:
        InputError: one does not, or does not answer.
    """
    check_nodes(_own_state(), _node_states(paths))


def check_nodes(own: NodeState, nodes: Sequence[NodeState]) -> None:
    """Compare machines with this one.

    Raises:
        InputError: one has another version of a package, or does not see a path.
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
            # It has just left the cluster, which works without it.
            continue
        except GetTimeoutError as error:
            raise InputError(
                f"the node {node['NodeManagerHostname']} does not answer in {_WAIT} seconds: look at it with "
                "`ray status`, or take it out of the cluster"
            ) from error
    return states


def _probe() -> Callable[[Sequence[str], Sequence[str]], tuple[Any, ...]]:
    """Make the function that a machine describes itself with.

    It is made here, and not imported there, so that a machine without nymlink can say that it has none.
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
