"""What the command line says when the system fails it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no /proc/self/mem here")
def test_input_that_cannot_be_read_is_not_called_output(tmp_path: Path) -> None:
    build = "vocab", "build", "/proc/self/mem", "-o", str(tmp_path / "out")
    done = subprocess.run(
        [sys.executable, "-m", "nymlink", *build], capture_output=True, check=False, encoding="utf-8"
    )
    assert done.returncode == 2
    assert done.stderr == "Error: cannot read the input or write the output: Input/output error\n"
