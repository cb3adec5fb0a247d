"""Train on two machines that share no loopback: two network namespaces, joined by a pair of virtual cables.

Each trial runs the same training with a ``torchrun`` in each namespace, and a second one whose second machine is
killed after some steps. It counts as

- alike: both ended with status 0, and the encoder is the same, to the byte, as of two processes on one machine;
- noticed: the machine that was left ended within a minute, with status 1 and a message that says what to do;
- resumed: the same command on both went on from the last checkpoint, to the same encoder.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import psutil

from nymlink.core.store.digests import file_digest

_ADDRESSES: Final = ("10.213.7.1", "10.213.7.2")
_PORT: Final = 29731
_MINUTE: Final = 60.0
_LONGEST: Final = 240.0
OUTCOMES: Final = ("alike", "noticed", "resumed")


@contextmanager
def two_machines() -> Iterator[tuple[str, str]]:
    """Make two network namespaces that reach each other until the block ends; yield their names.

    Raises:
        OSError: that cannot be done here.
    """
    names = tuple(f"nymlink-{os.getpid()}-{number}" for number in (1, 2))
    ends = tuple(f"nym{os.getpid() % 100_000}v{number}" for number in (1, 2))
    made = []
    try:
        for name in names:
            _ip("netns", "add", name)
            made.append(name)
        _ip("link", "add", ends[0], "netns", names[0], "type", "veth", "peer", "name", ends[1], "netns", names[1])
        for name, end, address in zip(names, ends, _ADDRESSES, strict=True):
            _ip("-n", name, "address", "add", f"{address}/24", "dev", end)
            _ip("-n", name, "link", "set", end, "name", "cable0")
            _ip("-n", name, "link", "set", "cable0", "up")
            _ip("-n", name, "link", "set", "lo", "up")
        yield names
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "delete", name], check=False)


def _ip(*arguments: str) -> None:
    try:
        done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise OSError("there is no command ip: install iproute2") from error
    if done.returncode:
        raise OSError(done.stderr.strip() or f"ip {' '.join(arguments)} failed")


def _start(place: Path, output: Path, names: tuple[str, ...], *, port: int) -> list[subprocess.Popen[str]]:
    """Start the same command on both machines; without names as two processes on this one."""
    train = ["train", "sap", "--vocab", str(place / "vocab"), "--base", str(place / "base"), "-o", str(output)]
    recipe = output.with_suffix(".toml")
    recipe.write_text("checkpoint_minutes = 0\n", encoding="utf-8")
    train += ["--batch-pairs", "16", "--epochs", "2", "--device", "cpu", "--recipe", str(recipe)]
    started = []
    for rank, name in enumerate(names or ("",)):
        run = [sys.executable, "-m", "torch.distributed.run"]
        if name:
            run += ["--nnodes", "2", "--node-rank", str(rank), "--local-addr", _ADDRESSES[rank]]
            run += ["--master-addr", _ADDRESSES[0], "--master-port", str(port)]
        else:
            run += ["--nproc-per-node", "2", "--master-port", str(port)]
        run += ["--no-python", sys.executable, "-m", "nymlink", *train]
        inside = ["ip", "netns", "exec", name] if name else []
        environment = {**os.environ, "GLOO_SOCKET_IFNAME": "cable0" if name else "lo", "OMP_NUM_THREADS": "1"}
        started.append(
            subprocess.Popen(
                [*inside, *run], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
        )
    return started


def _finish(started: list[subprocess.Popen[str]]) -> list[tuple[int, str]]:
    said = [process.communicate(timeout=_LONGEST)[1] for process in started]
    return [(process.returncode, text) for process, text in zip(started, said, strict=True)]


def _weights(output: Path) -> str:
    return file_digest(output / "model.safetensors")


def _lose(process: subprocess.Popen[str]) -> None:
    """Kill a machine with everything on it, its torchrun included."""
    lost = psutil.Process(process.pid)
    for each in (*reversed(lost.children(recursive=True)), lost):
        os.kill(each.pid, signal.SIGKILL)


def trial(place: Path, folder: Path, names: tuple[str, str], port: int, sound: str) -> tuple[list[str], list[str]]:
    """Train, lose a machine, and go on; return what went well, and what did not."""
    well, badly = [], []
    ended = _finish(_start(place, folder / "whole", names, port=port))
    if [status for status, _ in ended] == [0, 0] and _weights(folder / "whole") == sound:
        well.append("alike")
    else:
        badly.append(f"not alike: {ended}")
    first, second = _start(place, folder / "parts", names, port=port + 1)
    while first.poll() is None and not list((folder / "parts").glob("checkpoints/step-00000000[2-9]")):
        time.sleep(0.02)
    _lose(second)
    killed = time.monotonic()
    (status, said), _ = _finish([first, second])
    took = time.monotonic() - killed
    if status == 1 and took < _MINUTE and "give the same command on every machine again" in said:
        well.append("noticed")
    else:
        badly.append(f"not noticed in {took:.0f} s: exit {status}: {said[-600:]}")
    ended = _finish(_start(place, folder / "parts", names, port=port + 2))
    if [status for status, _ in ended] == [0, 0] and _weights(folder / "parts") == sound:
        well.append("resumed")
    else:
        badly.append(f"not resumed: {[(status, said[-600:]) for status, said in ended]}")
    return [*well, f"{took:.1f}"], badly


def measure(count: int, *, only: str = "") -> dict[str, Any]:  # noqa: ARG001 (as of the others)
    """Train on two machines so many times."""
    from tests.train.runs import workplace

    with tempfile.TemporaryDirectory() as name:
        place, counts, failures, seconds = Path(name) / "place", dict.fromkeys(OUTCOMES, 0), [], []
        place.mkdir()
        workplace(place)
        try:
            with two_machines() as names:
                [(status, said)] = _finish(_start(place, Path(name) / "sound", (), port=_PORT))
                if status:
                    raise SystemExit(f"two processes on one machine fail: {said}")
                for number in range(count):
                    folder = Path(name) / str(number)
                    folder.mkdir()
                    port = _PORT + 10 * number + 1
                    found, badly = trial(place, folder, names, port, _weights(Path(name) / "sound"))
                    *well, took = found
                    seconds.append(float(took))
                    for outcome in well:
                        counts[outcome] += 1
                    failures += [{"trial": number, "said": said} for said in badly]
        except OSError as error:
            return {"skipped": f"no network namespaces here ({error})", "rows": [], "failures": []}
    row = {"on": "two network namespaces", "trials": count, **counts, "s until noticed": max(seconds)}
    return {"rows": [row], "failures": failures}
