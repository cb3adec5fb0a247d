"""The recipe ``finetune``: self-alignment of annotated mentions with the names of their gold concepts.

Liu et al., "Self-Alignment Pretraining for Biomedical Entity Representations" (NAACL 2021), section 3.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from nymlink.core.problems import Problems
from nymlink.corpus.read import read_corpus
from nymlink.train.annotated_queries import describe_corpus
from nymlink.train.names.mention_pairs import MentionPairs
from nymlink.train.names.pair_training import PairData, train_on_pairs
from nymlink.train.settings.encoder_recipes import FinetuneSettings
from nymlink.vocabulary.read import open_vocabulary


def train_finetune(
    settings: FinetuneSettings, *, restart: bool = False, progress: bool = False, problems: Problems | None = None
) -> Mapping[str, Any]:
    """Train an encoder, or resume its training.

    See :func:`~nymlink.train.names.pair_training.train_on_pairs`.
    """
    return train_on_pairs(
        "finetune", settings, partial(_data, settings), restart=restart, progress=progress, problems=problems
    )


def _data(settings: FinetuneSettings, _: Path, problems: Problems) -> PairData:
    vocabulary = open_vocabulary(Path(settings.vocab), problems=problems)
    paths = [Path(path) for path in settings.corpora]
    corpora = [read_corpus(path, problems=problems) for path in paths]
    pairs = MentionPairs(vocabulary, corpora, types=settings.types, seed=settings.seed)
    return PairData(
        pairs,
        {
            "vocabulary": vocabulary.describe(),
            "corpora": [describe_corpus(path) for path in paths],
            "pairs": {"count": len(pairs)},
        },
    )
