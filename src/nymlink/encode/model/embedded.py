"""The encoder that comes with nymlink."""

from __future__ import annotations

from pathlib import Path
from typing import Final

MINI: Final = "nymlink-mini"
"""Name of the default encoder: all-MiniLM-L6-v2, self-aligned on open vocabularies, in int8."""

FOLDER: Final = Path(__file__).parents[2] / "models" / MINI
"""Its folder, an entry of ``nymlink.encoders``."""
