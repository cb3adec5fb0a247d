"""Self-alignment pretraining: an encoder learns that the synonyms of a vocabulary mean the same.

Liu et al., "Self-Alignment Pretraining for Biomedical Entity Representations" (NAACL 2021).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from nymlink.core.files import sha256
from nymlink.core.problems import Problems
from nymlink.pairs.pair_table import PairTable
from nymlink.pairs.pairs import Pairs
from nymlink.pairs.sequence import VocabularyPairs
from nymlink.train.names.recipe import Data, align
from nymlink.train.settings.recipes import SapSettings
from nymlink.vocabulary.read import open_vocabulary
from nymlink.vocabulary.vocabulary import Vocabulary


def train_sap(
    settings: SapSettings, *, restart: bool = False, progress: bool = False, problems: Problems | None = None
) -> Mapping[str, Any]:
    """Train, or go on with a training that was stopped; see :func:`~nymlink.train.names.recipe.align`."""
    return align("sap", settings, partial(_data, settings), restart=restart, progress=progress, problems=problems)


def _data(settings: SapSettings, scratch: Path, problems: Problems) -> Data:
    if settings.pairs is not None:
        file = Path(settings.pairs)
        table = PairTable.convert(file, scratch / "pairs.arrow", seed=settings.seed, problems=problems)
        return Data(table, {"pairs": {"sha256": sha256(file), "count": len(table)}})
    vocabulary = open_vocabulary(Path(settings.vocab or ""), problems=problems)
    pairs = Pairs.of(
        vocabulary,
        cap=settings.cap,
        seed=settings.seed,
        languages=settings.languages or None,
        kinds=settings.kinds or None,
    )
    return Data(VocabularyPairs(pairs), {"vocabulary": describe(vocabulary), "pairs": {"count": len(pairs)}})


def describe(vocabulary: Vocabulary) -> dict[str, Any]:
    """What a vocabulary was made of, as JSON values."""
    return {
        "sources": [source.to_dict() for source in vocabulary.sources],
        "settings": vocabulary.settings,
        "concepts": len(vocabulary),
        "names": vocabulary.name_count,
    }
