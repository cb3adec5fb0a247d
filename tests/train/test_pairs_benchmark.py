from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.usefixtures("run_here")
def test_making_pairs_is_measured(tmp_path: Path, script: Callable[[str], Any]) -> None:
    pairs = script("training.pairs")
    assert "of 180, " in pairs.text(pairs.measure(tmp_path, concepts=200, english=500, other=250))
