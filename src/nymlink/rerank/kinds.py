"""What the manifests of re-rankers say they are; here, so that they can be read without torch."""

from __future__ import annotations

from typing import Final

DUAL: Final = "reranker"
CROSS: Final = "cross-encoder"
VERSIONS: Final = {DUAL: 2, CROSS: 2}
"""The version of the format of each."""
