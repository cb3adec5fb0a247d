"""Run the steps of the Dockerfile without Docker: in a virtual environment and a folder that are thrown away.

    python deploy/try_dockerfile.py [--pin]

What it copies, installs and runs is read from the Dockerfile; its folders are put below a temporary one, and the
server, run as it says but for the port, must be healthy, link, and end well. Installs packages: some minutes.
With --pin the newest versions that nymlink allows are installed, and written to constraints.txt if all went well.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
CONSTRAINTS: Final = ROOT / "deploy" / "constraints.txt"
_FOLDERS: Final = re.compile(r"(?<![\w.])/(?=source|var/cache|projects)")


def instructions() -> list[tuple[str, str]]:
    """Read the instructions of the Dockerfile: names and what they are given."""
    text = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    lines = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ").splitlines()
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in lines if line.strip())]


def run_steps(folder: Path, *, pin: bool) -> list[str]:
    """Run all steps below a folder; return the command of the server, with its environment set."""
    os.environ["PATH"] = f"{folder / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    command: list[str] = []
    for name, rest in instructions():
        moved = _FOLDERS.sub(f"{folder}/", rest)
        if name == "FROM":
            venv.create(folder / "venv", with_pip=True)
        elif name == "ENV":
            os.environ.update(pair.split("=", 1) for pair in shlex.split(moved))
        elif name == "COPY":
            *sources, target = moved.split()
            for source in sources:
                copy(ROOT / source, Path(target))
            if pin:
                Path(target, CONSTRAINTS.name).write_text("", encoding="utf-8")
        elif name == "RUN":
            print(f"$ {moved}", flush=True)
            subprocess.run(["sh", "-ec", moved], check=True, cwd=folder)
        elif name == "CMD":
            command = json.loads(moved)
    return command


def copy(source: Path, target: Path) -> None:
    """Copy as COPY does: the contents of a folder, or a file into a folder."""
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def answers(command: list[str]) -> bool:
    """Whether the server starts, says that it is well, links, and ends when it is told to."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([*command, "--port", str(port)])
    try:
        started = time.monotonic()
        while not healthy(port):
            if server.poll() is not None or time.monotonic() - started > 60:
                return False
            time.sleep(0.2)
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/link",
            b'{"mentions": ["siezures"]}',
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            [link] = json.load(answer)["links"]
        print(
            f"healthy after {time.monotonic() - started:.1f} s; siezures is {link['candidates'][0]['concept_id']}"
        )
    finally:
        server.terminate()
        ended = server.wait(60)
    return ended == 0


def healthy(port: int) -> bool:
    """Whether the server answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def pinned() -> str:
    """List the versions that are installed."""
    asked = ["python", "-m", "pip", "--disable-pip-version-check", "freeze", "--exclude", "nymlink"]
    return subprocess.run(asked, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def main() -> None:
    """Run the steps and the server."""
    pin = "--pin" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        command = run_steps(Path(folder), pin=pin)
        if not answers(command):
            sys.exit("the server does not answer as it should")
        if pin:
            CONSTRAINTS.write_text(pinned(), encoding="utf-8")


if __name__ == "__main__":
    main()
