"""nymlink resolves biomedical names to concepts.

Nothing is imported before it is used::

    import nymlink

    linker = nymlink.Linker.build("mondo.obo")        # any source; or Linker.load("mondo-index")
    linker.link("short stature").best.concept_id
    linker.link(["heart attack", "MI"]).to_frame()    # pandas when installed
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nymlink.core.telemetry import disable_telemetry

if TYPE_CHECKING:
    from nymlink.core.errors import (
        InputError,
        MissingExtraError,
        NymlinkError,
        OutputError,
        StoreError,
        UnknownFormatError,
        UnknownNameError,
    )
    from nymlink.corpus.model import Corpus, Document, Mention
    from nymlink.corpus.read import read_corpus
    from nymlink.encode.encoder import Encoder
    from nymlink.index.index import Index
    from nymlink.link.calibration import Calibration
    from nymlink.link.linker import Linker
    from nymlink.link.links import Links
    from nymlink.link.model import Candidate, Link
    from nymlink.rerank.reranker import Reranker
    from nymlink.train.names.sap import train_sap
    from nymlink.vocabulary.enrich.enrich import enrich
    from nymlink.vocabulary.merge.merge import merge
    from nymlink.vocabulary.model import Concept, Name
    from nymlink.vocabulary.read import read_vocabulary
    from nymlink.vocabulary.vocabulary import Vocabulary

_HOMES = {
    "nymlink.core.errors": (
        "InputError MissingExtraError NymlinkError OutputError StoreError UnknownFormatError UnknownNameError"
    ),
    "nymlink.corpus.model": "Corpus Document Mention",
    "nymlink.corpus.read": "read_corpus",
    "nymlink.encode.encoder": "Encoder",
    "nymlink.index.index": "Index",
    "nymlink.link.calibration": "Calibration",
    "nymlink.link.linker": "Linker",
    "nymlink.link.links": "Links",
    "nymlink.link.model": "Candidate Link",
    "nymlink.rerank.reranker": "Reranker",
    "nymlink.train.names.sap": "train_sap",
    "nymlink.vocabulary.enrich.enrich": "enrich",
    "nymlink.vocabulary.merge.merge": "merge",
    "nymlink.vocabulary.model": "Concept Name",
    "nymlink.vocabulary.read": "read_vocabulary",
    "nymlink.vocabulary.vocabulary": "Vocabulary",
}
"""Where each exported name is defined: module → names."""

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Calibration",
    "Candidate",
    "Concept",
    "Corpus",
    "Document",
    "Encoder",
    "Index",
    "InputError",
    "Link",
    "Linker",
    "Links",
    "Mention",
    "MissingExtraError",
    "Name",
    "NymlinkError",
    "OutputError",
    "Reranker",
    "StoreError",
    "UnknownFormatError",
    "UnknownNameError",
    "Vocabulary",
    "enrich",
    "merge",
    "read_corpus",
    "read_vocabulary",
    "train_sap",
]

disable_telemetry()


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("nymlink")
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
