"""nymlink-xl-mini, an encoder of biomedical names in many languages: files, no code."""

from __future__ import annotations

from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent / "nymlink-xl-mini"
"""The model folder, an entry of ``nymlink.encoders``."""
