"""Models by name: a hub on this machine, with one model."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.large

COMMIT = "0" * 39 + "1"
SCRIPT = """
import sys
from nymlink.encode.encoder import Encoder
from nymlink.core.errors import NymlinkError
try:
    print(Encoder.load(*sys.argv[1:2], backend=(sys.argv[2:] or [None])[0]).encode(["heart attack"]).shape)
except NymlinkError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def hub(exported: Path) -> Iterator[tuple[str, list[str]]]:
    with serving(exported) as served:
        yield served


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """A hub with a folder as its model: its address, and the files fetched from it."""
    fetched: list[str] = []
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    about = {"id": "tiny/bert", "sha": COMMIT, "siblings": [{"rfilename": name} for name in files]}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = unquote(urlsplit(self.path).path)
            if path.startswith("/api/models/tiny/bert/tree/"):
                entries = [
                    {"type": "file", "path": n, "size": (folder / n).stat().st_size, "oid": "0"} for n in files
                ]
                return self.answer(json.dumps(entries).encode())
            if path.startswith("/api/models/tiny/bert"):
                return self.answer(json.dumps(about).encode())
            name = path.removeprefix(f"/tiny/bert/resolve/{COMMIT}/")
            if name in files:
                if self.command == "GET":
                    fetched.append(name)
                return self.answer((folder / name).read_bytes())
            return self.answer(b'{"error": "Repository not found"}', status=404)

        do_HEAD = do_GET  # noqa: N815

        def answer(self, body: bytes, *, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("ETag", f'"{hashlib.sha1(body).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
            if status == 404:
                self.send_header("X-Error-Code", "RepoNotFound")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", fetched
    finally:
        server.shutdown()


def load(address: str, home: Path, *arguments: str, **more: str) -> str:
    environment = {**os.environ, "HF_ENDPOINT": address, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1", **more}
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, *arguments]
    found = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


def test_a_model_is_fetched_once(hub: tuple[str, list[str]], tmp_path: Path) -> None:
    address, fetched = hub
    assert load(address, tmp_path, "tiny/bert") == "(1, 32)"
    assert {"config.json", "tokenizer.json", "onnx/model.onnx", "1_Pooling/config.json"} <= set(fetched)
    fetched.clear()
    assert load(address, tmp_path, "tiny/bert") == "(1, 32)"
    assert fetched == []
    assert load("http://127.0.0.1:9", tmp_path, "tiny/bert", HF_HUB_OFFLINE="1") == "(1, 32)"
    assert load("http://127.0.0.1:9", tmp_path, "tiny/bert") == "(1, 32)"


def test_only_files_of_the_back_end_are_fetched(hub: tuple[str, list[str]], tmp_path: Path) -> None:
    address, fetched = hub
    fetched.clear()
    assert "the model has no weights" in load(address, tmp_path, "tiny/bert", "torch")
    assert "config.json" in fetched
    assert "onnx/model.onnx" not in fetched


def test_a_graph_is_fetched_with_the_numbers_beside_it(exported: Path, tmp_path: Path) -> None:
    import onnx

    folder = shutil.copytree(exported, tmp_path / "model")
    graph = folder / "onnx" / "model.onnx"
    shutil.copy(graph, graph.with_name("model_fp16.onnx"))
    onnx.save(onnx.load(graph), graph, save_as_external_data=True, location="model.onnx_data")
    with serving(folder) as (address, fetched):
        assert load(address, tmp_path / "home", "tiny/bert") == "(1, 32)"
        graphs = {name for name in fetched if name.startswith("onnx/")}
        assert graphs == {"onnx/model.onnx", "onnx/model.onnx_data"}
        # Of a fetch that was broken off, the rest is fetched.
        (numbers,) = (tmp_path / "home").rglob("model.onnx_data")
        numbers.unlink()
        assert load(address, tmp_path / "home", "tiny/bert") == "(1, 32)"


def test_a_network_that_fails_is_said(hub: tuple[str, list[str]], tmp_path: Path) -> None:
    # What the hub here says to a proxy's request is no.
    said = load("https://hub.invalid", tmp_path, "tiny/bert", HTTPS_PROXY=hub[0], NO_PROXY="", no_proxy="")
    assert "fetching a model of that name from the hub failed (501" in said
    assert "check network, proxy and disk" in said


def test_unknown_names_and_no_network_are_told_apart(hub: tuple[str, list[str]], tmp_path: Path) -> None:
    assert "no such model could be fetched from the hub" in load(hub[0], tmp_path, "tiny/unknown")
    assert "the hub cannot be reached" in load("http://127.0.0.1:9", tmp_path, "tiny/bert")
    assert load(hub[0], tmp_path, "no/such/folder") == "no/such/folder: no such folder"
