"""The recipe ``translation``: self-alignment of words with their translations, after that of synonyms.

Liu et al., "Learning Domain-Specialised Representations for Cross-Lingual Biomedical Entity Linking" (ACL 2021),
section 2.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from nymlink.core.problems import Problems
from nymlink.pairs.translations.column_languages import parse_languages
from nymlink.pairs.translations.read_translations import read_translations
from nymlink.pairs.translations.translation_pairs import TranslationPairs
from nymlink.train.names.pair_training import PairData, train_on_pairs
from nymlink.train.settings.encoder_recipes import TranslationSettings


def train_translation(
    settings: TranslationSettings,
    *,
    restart: bool = False,
    progress: bool = False,
    problems: Problems | None = None,
) -> Mapping[str, Any]:
    """Train an encoder, or resume its training.

    See :func:`~nymlink.train.names.pair_training.train_on_pairs`, and
    :class:`~nymlink.pairs.translations.translation_pairs.TranslationPairs` for what is learned from a pair.
    """
    return train_on_pairs(
        "translation", settings, partial(_data, settings), restart=restart, progress=progress, problems=problems
    )


def _data(settings: TranslationSettings, _: Path, problems: Problems) -> PairData:
    languages = None if settings.languages is None else parse_languages(settings.languages)
    files = [
        read_translations(Path(path), languages=languages, problems=problems) for path in settings.translations
    ]
    pairs = TranslationPairs(files, seed=settings.seed)
    provenance = {"translations": [file.describe() for file in files], "pairs": {"count": len(pairs)}}
    return PairData(pairs, provenance)
