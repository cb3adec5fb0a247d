"""The recipe ``sap``, self-alignment pretraining: train an encoder on the synonyms of a vocabulary.

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
from nymlink.train.names.pair_training import PairData, train_on_pairs
from nymlink.train.settings.encoder_recipes import SapSettings
from nymlink.vocabulary.read import open_vocabulary


def train_sap(
    settings: SapSettings, *, restart: bool = False, progress: bool = False, problems: Problems | None = None
) -> Mapping[str, Any]:
    """Train an encoder, or resume its training.

    See :func:`~nymlink.train.names.pair_training.train_on_pairs`.
    """
    return train_on_pairs(
        "sap", settings, partial(_data, settings), restart=restart, progress=progress, problems=problems
    )


def _data(settings: SapSettings, scratch: Path, problems: Problems) -> PairData:
    if settings.pairs is not None:
        file = Path(settings.pairs)
        table = PairTable.convert(file, scratch / "pairs.arrow", seed=settings.seed, problems=problems)
        return PairData(table, {"pairs": {"sha256": sha256(file), "count": len(table)}})
    vocabulary = open_vocabulary(Path(settings.vocab or ""), problems=problems)
    pairs = Pairs.of(
        vocabulary,
        cap=settings.cap,
        seed=settings.seed,
        languages=settings.languages or None,
        kinds=settings.kinds or None,
        across_languages=settings.across_languages,
    )
    return PairData(VocabularyPairs(pairs), {"vocabulary": vocabulary.describe(), "pairs": {"count": len(pairs)}})
