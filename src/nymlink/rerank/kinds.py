"""The kinds of re-rankers in manifests; in a file of their own, so that manifests are read without torch."""

from __future__ import annotations

from typing import Final

DUAL: Final = "reranker"
CROSS: Final = "cross-encoder"
VERSIONS: Final = {DUAL: 2, CROSS: 2}
"""Kind → version of its format."""
