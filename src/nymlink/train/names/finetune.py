"""Fine-tuning on a task: an encoder learns from annotated mentions what they mean.

Liu et al., "Self-Alignment Pretraining for Biomedical Entity Representations" (NAACL 2021), section 3.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from nymlink.core.problems import Problems
from nymlink.corpus.read import read_corpus
from nymlink.train.mentions.annotated import describe_corpus
from nymlink.train.names.mention_pairs import MentionPairs
from nymlink.train.names.recipe import Data, align
from nymlink.train.names.sap import describe
from nymlink.train.settings.recipes import FinetuneSettings
from nymlink.vocabulary.read import open_vocabulary


def train_finetune(
    settings: FinetuneSettings, *, restart: bool = False, progress: bool = False, problems: Problems | None = None
) -> Mapping[str, Any]:
    """Train, or go on with a training that was stopped; see :func:`~nymlink.train.names.recipe.align`."""
    return align(
        "finetune", settings, partial(_data, settings), restart=restart, progress=progress, problems=problems
    )


def _data(settings: FinetuneSettings, _: Path, problems: Problems) -> Data:
    vocabulary = open_vocabulary(Path(settings.vocab), problems=problems)
    paths = [Path(path) for path in settings.corpora]
    corpora = [read_corpus(path, problems=problems) for path in paths]
    pairs = MentionPairs(vocabulary, corpora, types=settings.types, seed=settings.seed)
    return Data(
        pairs,
        {
            "vocabulary": describe(vocabulary),
            "corpora": [describe_corpus(path) for path in paths],
            "pairs": {"count": len(pairs)},
        },
    )
