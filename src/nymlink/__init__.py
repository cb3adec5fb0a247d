"""nymlink resolves biomedical names to concepts.

The six names most users need; each is imported when first used, so that importing nymlink costs nothing::

    from nymlink import Linker
    Linker.load("hpo-index").link("short stature").best.concept_id
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nymlink.core.telemetry import disable_telemetry

if TYPE_CHECKING:
    from nymlink.corpus.model import Document, Mention
    from nymlink.encode.encoder import Encoder
    from nymlink.index.index import Index
    from nymlink.link.linker import Linker
    from nymlink.vocabulary.vocabulary import Vocabulary

__all__ = ["Document", "Encoder", "Index", "Linker", "Mention", "Vocabulary"]

_HOMES = {
    "Document": "nymlink.corpus.model",
    "Encoder": "nymlink.encode.encoder",
    "Index": "nymlink.index.index",
    "Linker": "nymlink.link.linker",
    "Mention": "nymlink.corpus.model",
    "Vocabulary": "nymlink.vocabulary.vocabulary",
}

disable_telemetry()


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
