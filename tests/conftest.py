"""What all tests share: one thread, real data, a cache of their own, and the scripts of the benchmarks."""

from __future__ import annotations

import functools
import gc
import hashlib
import importlib
import json
import multiprocessing
import os
import shutil
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

if TYPE_CHECKING:
    from nymlink.encode.model.torch_model import TorchModel

# Before torch, NumPy and faiss are imported. Tests run in as many processes as there are cores, on tiny models:
# threads would spend three times as much processor time waiting for each other. Sums are in one order, too.
os.environ["OMP_NUM_THREADS"] = "1"

# Without it jsonschema does not check IRIs, which no schema has here; with it, it parses grammars for seconds.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

# How long an example takes says more about what else the machine does. Each run takes other examples.
hypothesis.settings.register_profile("nymlink", deadline=None, max_examples=30)
hypothesis.settings.load_profile("nymlink")

_NO_DATA = "real data not found"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage while tests are imported, and look at nothing again that was: it stays until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests were skipped because the real data is absent."""
    skipped = [report for report in terminalreporter.getreports("skipped") if _NO_DATA in str(report.longrepr)]
    terminalreporter.write_line(f"{len(skipped)} tests skipped for want of real data (NYMLINK_DATA)")


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of real corpora and vocabularies, or skip the test where it is absent."""
    root = Path(os.environ.get("NYMLINK_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not root.is_dir():
        pytest.skip(f"{_NO_DATA}: set NYMLINK_DATA to its folder")
    return root


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Indexes and vectors go to a cache that is not the user's, and is empty at first."""
    os.environ["NYMLINK_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session", autouse=True)
def forget_encoders() -> Iterator[Callable[[], None]]:
    """Read the encoders that come with nymlink once a process; the value forgets them.

    Hundreds of tests load one.
    """
    from nymlink.encode import encoder, onnx_backend
    from nymlink.encode.model.folder import FOLDER

    own = {FOLDER.parent, Path(__file__).parents[1] / "models"}
    kept: list[Any] = []

    def forget() -> None:
        for each in kept:
            each.cache_clear()

    def once(load: Callable[..., Any]) -> Callable[..., Any]:
        cached = functools.cache(load)
        kept.append(cached)
        return lambda path, *more, **options: (cached if own & {*path.parents} else load)(path, *more, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(onnx_backend, "open_session", once(onnx_backend.open_session))
        patch.setattr(encoder, "load_tokenizer", once(encoder.load_tokenizer))
        yield forget


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    """Return a folder that all processes of a run of tests share, and no other run."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if hasattr(pytestconfig, "workerinput") else own


@pytest.fixture(scope="session")
def export_once(shared: Path) -> Iterator[Callable[..., Any]]:
    """Exports a model; from its first use on, the graph of one that was exported before is copied.

    Tracing a graph takes seconds.
    """
    from nymlink.encode import onnx_graph
    from nymlink.encode.onnx_export import export

    write_graph = onnx_graph.write_graph

    def write_once(model: TorchModel, path: Path) -> None:
        digest = hashlib.sha256(f"{model.transformer.config.model_type} {model.settings.pooling}".encode())
        for name, value in model.state_dict().items():
            digest.update(f"{name} {tuple(value.shape)}".encode() + value.numpy().tobytes())
        graph = shared / f"{digest.hexdigest()}.onnx"
        path.parent.mkdir(exist_ok=True)
        if not graph.exists():
            write_graph(model, path)
            # Another process may read it at any time.
            part = graph.with_suffix(f".{os.getpid()}")
            shutil.copyfile(path, part)
            part.replace(graph)
        shutil.copyfile(graph, path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(onnx_graph, "write_graph", write_once)
        yield export


@pytest.fixture
def quick_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork workers from a process that has imported what they need: a new one takes a second to."""
    context = multiprocessing.get_context
    multiprocessing.set_forkserver_preload(["nymlink.bulk.job", "nymlink.linking.linker", "tests.bulk.test_job"])
    monkeypatch.setattr(
        multiprocessing, "get_context", lambda name=None: context("forkserver" if name == "spawn" else name)
    )


@pytest.fixture
def script() -> Callable[[str], ModuleType]:
    """Imports a script of ``benchmarks/``: tests see that these run, on toys, where no figure means anything."""
    return lambda name: importlib.import_module(f"benchmarks.{name}")


@pytest.fixture
def run_here(script: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Lets benchmarks measure in this process, not in others, which take longer to start than toys to be measured.

    Returns:
        The functions that were called, in order.
    """
    called: list[str] = []

    def run(function: str, **arguments: Any) -> dict[str, Any]:
        # Under this Python, however long it takes.
        for name in ("interpreter", "patience"):
            arguments.pop(name, None)
        called.append(function)
        module, _, name = function.partition(":")
        found = getattr(script(module), name)(**json.loads(json.dumps(arguments)))
        return {**found, "peak_mb": 90.0}

    monkeypatch.setattr(script("common.apart"), "run", run)
    return called
