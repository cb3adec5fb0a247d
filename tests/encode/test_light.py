"""The core encodes without torch, and says what is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def run(script: str, *arguments: object) -> str:
    found = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)], capture_output=True, encoding="utf-8", check=False
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_an_exported_encoder_needs_no_torch(exported: Path, tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from nymlink.encode.encoder import Encoder\n"
        "from nymlink.encode.cached_vectors import EmbeddingCache\n"
        "encoder = Encoder.load(sys.argv[1])\n"
        "encoder.encode(['heart attack', 'x'], cache=EmbeddingCache(sys.argv[2]))\n"
        "print(sorted({'torch', 'transformers', 'onnx'} & set(sys.modules)))\n"
    )
    assert run(script, exported, tmp_path) == "[]\n"


def test_importing_and_looking_up_back_ends_loads_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "import nymlink.encode.encoder\n"
        "from nymlink.encode.backend import BACKENDS\n"
        "assert len(dict(BACKENDS)) >= 2\n"
        "print(sorted({'torch', 'transformers', 'onnx', 'onnxruntime', 'huggingface_hub'} & set(sys.modules)))\n"
    )
    assert run(script) == "[]\n"


def test_without_the_extra_the_message_says_what_to_install(saved: Path, tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "sys.modules['torch'] = None\n"
        "from pathlib import Path\n"
        "from nymlink.encode.encoder import Encoder\n"
        "from nymlink.encode.onnx_export import export\n"
        "from nymlink.core.errors import MissingExtraError\n"
        "for act in (lambda: Encoder.load(sys.argv[1]), lambda: export(sys.argv[1], Path(sys.argv[2]))):\n"
        "    try:\n"
        "        act()\n"
        "    except MissingExtraError as error:\n"
        "        print(error)\n"
    )
    said = run(script, saved, tmp_path / "out").splitlines()
    assert said == [
        "running a model that is not exported to ONNX needs an optional dependency: pip install 'nymlink[train]'",
        "exporting an encoder to ONNX needs an optional dependency: pip install 'nymlink[train]'",
    ]
