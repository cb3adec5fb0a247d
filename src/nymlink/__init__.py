"""nymlink resolves biomedical names to concepts.

Nothing is imported before it is used::

    import nymlink

    nymlink.link("deaf")                                  # the embedded default, loaded once
    nymlink.annotate("Short and broad thumbs, no seizures.")  # finds and links what a text mentions
    linker = nymlink.Linker.build("mondo.obo")            # any source; or Linker.load("mondo-index")
    linker.link(["heart attack", "MI"]).to_pandas()       # pandas when installed
    nymlink.evaluate(linker, nymlink.read_corpus("CDR_DevelopmentSet.PubTator.txt"), types=["Disease"])
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nymlink.core.environment import disable_telemetry

if TYPE_CHECKING:
    from nymlink.annotation.annotator import Annotator, annotate
    from nymlink.annotation.annotator_settings import AnnotatorSettings
    from nymlink.core.errors import (
        InputError,
        MissingExtraError,
        NymlinkError,
        OutputError,
        StoreError,
        UnknownFormatError,
        UnknownNameError,
    )
    from nymlink.corpus.documents import Corpus, Document, Mention
    from nymlink.corpus.read import read_corpus
    from nymlink.encode.encoder import Encoder
    from nymlink.evaluation.evaluation import Evaluation, evaluate
    from nymlink.index.index import Index
    from nymlink.linking.calibration import Calibration
    from nymlink.linking.default import link
    from nymlink.linking.link import Candidate, Link
    from nymlink.linking.linker import Linker
    from nymlink.linking.links import LINK_SCHEMA, Links
    from nymlink.linking.matching.match import match
    from nymlink.rerank.reranker import Reranker
    from nymlink.train.adapt import adapt
    from nymlink.train.mentions.train_rerankers import train_cross_encoder, train_rerank
    from nymlink.train.names.pair_trainings import train_finetune, train_sap, train_translation
    from nymlink.train.names.train_biosyn import train_biosyn
    from nymlink.train.settings.encoder_trainings import (
        BioSynSettings,
        FinetuneSettings,
        SapSettings,
        TranslationSettings,
    )
    from nymlink.train.settings.reranker_trainings import CrossEncoderSettings, RerankSettings
    from nymlink.vocabulary.concepts import Concept, Name
    from nymlink.vocabulary.enrich import enrich
    from nymlink.vocabulary.merge.merge import merge
    from nymlink.vocabulary.read import read_vocabulary
    from nymlink.vocabulary.vocabulary import Vocabulary

_HOMES = {
    "nymlink.annotation.annotator": "Annotator annotate",
    "nymlink.annotation.annotator_settings": "AnnotatorSettings",
    "nymlink.core.errors": (
        "InputError MissingExtraError NymlinkError OutputError StoreError UnknownFormatError UnknownNameError"
    ),
    "nymlink.corpus.documents": "Corpus Document Mention",
    "nymlink.corpus.read": "read_corpus",
    "nymlink.encode.encoder": "Encoder",
    "nymlink.evaluation.evaluation": "Evaluation evaluate",
    "nymlink.index.index": "Index",
    "nymlink.linking.calibration": "Calibration",
    "nymlink.linking.default": "link",
    "nymlink.linking.linker": "Linker",
    "nymlink.linking.links": "LINK_SCHEMA Links",
    "nymlink.linking.link": "Candidate Link",
    "nymlink.linking.matching.match": "match",
    "nymlink.rerank.reranker": "Reranker",
    "nymlink.train.adapt": "adapt",
    "nymlink.train.mentions.train_rerankers": "train_cross_encoder train_rerank",
    "nymlink.train.names.pair_trainings": "train_finetune train_sap train_translation",
    "nymlink.train.names.train_biosyn": "train_biosyn",
    "nymlink.train.settings.encoder_trainings": "BioSynSettings FinetuneSettings SapSettings TranslationSettings",
    "nymlink.train.settings.reranker_trainings": "CrossEncoderSettings RerankSettings",
    "nymlink.vocabulary.enrich": "enrich",
    "nymlink.vocabulary.merge.merge": "merge",
    "nymlink.vocabulary.concepts": "Concept Name",
    "nymlink.vocabulary.read": "read_vocabulary",
    "nymlink.vocabulary.vocabulary": "Vocabulary",
}
"""Where each exported name is defined: module → names."""

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "LINK_SCHEMA",
    "Annotator",
    "AnnotatorSettings",
    "BioSynSettings",
    "Calibration",
    "Candidate",
    "Concept",
    "Corpus",
    "CrossEncoderSettings",
    "Document",
    "Encoder",
    "Evaluation",
    "FinetuneSettings",
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
    "RerankSettings",
    "Reranker",
    "SapSettings",
    "StoreError",
    "TranslationSettings",
    "UnknownFormatError",
    "UnknownNameError",
    "Vocabulary",
    "adapt",
    "annotate",
    "enrich",
    "evaluate",
    "link",
    "match",
    "merge",
    "read_corpus",
    "read_vocabulary",
    "train_biosyn",
    "train_cross_encoder",
    "train_finetune",
    "train_rerank",
    "train_sap",
    "train_translation",
]

disable_telemetry()


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("nymlink")
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(_HOME_OF[name]), name)
    except ModuleNotFoundError as error:
        from nymlink.core.errors import MissingExtraError

        # Of what is offered here only trainings import packages that the core does without.
        if (error.name or "nymlink").startswith("nymlink"):
            raise
        missing = MissingExtraError("train", purpose=f"nymlink.{name}")

        # Only a call fails: `from nymlink import *`, `help(nymlink)` and completion get each name.
        def training(*_: Any, **__: Any) -> Any:
            raise missing

        training.__name__ = training.__qualname__ = name
        training.__doc__ = f"Not installed: {missing}"
        return training


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__")), "__version__"})
