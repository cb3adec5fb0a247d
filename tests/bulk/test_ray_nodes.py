"""Checks of a cluster before a job begins, and clusters that are not there."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from nymlink.bulk.job import run_job
from nymlink.core.errors import InputError, MissingExtraError
from nymlink.jobs.ray_engine import NodeState, RayEngine, check_nodes
from tests.bulk import files
from tests.bulk.toy import Reversing

OWN = NodeState("head", {"nymlink": "1.0", "ray": "2.60.0"})


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (
            NodeState("b", {"nymlink": "0.9", "ray": "2.60.0"}),
            "the node b has nymlink 0.9, this machine 1.0: install",
        ),
        (NodeState("b", {"nymlink": None, "ray": "2.60.0"}), "the node b does not have nymlink, this machine 1.0"),
        (NodeState("b", {"nymlink": "1.0", "ray": "2.59.0"}), "has ray 2.59.0, this machine 2.60.0"),
        (
            NodeState("b", OWN.versions, ["/data/index"]),
            "/data/index: the node b does not see it: put it on storage",
        ),
    ],
)
def test_nodes_that_differ_are_refused(node: NodeState, message: str) -> None:
    check_nodes(OWN, [OWN, NodeState("a", OWN.versions)])
    with pytest.raises(InputError, match=message):
        check_nodes(OWN, [OWN, node])


def test_a_cluster_that_is_not_there_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    # Where Ray notes which cluster a machine is of.
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    (tmp_path / "texts.jsonl").write_bytes(files.jsonl([("1", "text")]))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Not "auto", which would find the clusters of other tests.
    address = f"127.0.0.1:{port}"
    with pytest.raises(InputError, match=f"there is no Ray cluster at {address}.*: start one"):
        run_job([tmp_path / "texts.jsonl"], tmp_path / "out", Reversing(), address=address)


def test_a_cluster_that_refuses_may_ask_for_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")

    def refused(*_: object, **__: object) -> None:
        # What Ray says of a token that is missing, half a minute later.
        raise ConnectionError("Failed to connect to Ray cluster at 192.0.2.2:6379")

    monkeypatch.setattr(ray, "init", refused)
    (tmp_path / "texts.jsonl").write_bytes(files.jsonl([("1", "text")]))
    with socket.create_server(("127.0.0.1", 0)) as head:
        address = f"127.0.0.1:{head.getsockname()[1]}"
        with pytest.raises(InputError, match=f"{address} refuses this machine: .*Set RAY_AUTH_MODE=token"):
            run_job([tmp_path / "texts.jsonl"], tmp_path / "out", Reversing(), address=address)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray.data", None)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'nymlink\[ray\]'"):
        RayEngine(workers=None, address="local", gpus=0)


@pytest.mark.parametrize("arguments", [{"workers": -1, "gpus": 0}, {"workers": 1, "gpus": -0.5}])
def test_numbers_that_make_no_sense_are_refused(arguments: dict[str, int]) -> None:
    pytest.importorskip("ray")
    with pytest.raises(InputError):
        RayEngine(address="local", **arguments)
