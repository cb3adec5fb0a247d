"""Trainings on pairs: synonyms, translations, annotated mentions.

Liu et al., "Self-Alignment Pretraining for Biomedical Entity Representations" (NAACL 2021), section 3.2 for
mentions; Liu et al., "Learning Domain-Specialised Representations for Cross-Lingual Biomedical Entity Linking"
(ACL 2021), section 2.2 for translations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from nymlink.core.errors import InputError
from nymlink.core.files import sha256
from nymlink.core.problems import Problems
from nymlink.corpus.documents import Corpus
from nymlink.corpus.read import read_corpus
from nymlink.pairs.pair_files import PairTable
from nymlink.pairs.pairs import NamedPairs, Pairs, VocabularyPairs
from nymlink.pairs.permutation import permute, seeded_keys
from nymlink.pairs.translations import TranslationPairs, parse_languages, read_translations
from nymlink.text.normalise import normalise
from nymlink.train.annotated_queries import annotated_queries, describe_corpus, no_concept_error
from nymlink.train.names.self_alignment import PairData, train_on_pairs
from nymlink.train.settings.encoder_trainings import FinetuneSettings, SapSettings, TranslationSettings
from nymlink.vocabulary.concepts import SYNONYM_KINDS
from nymlink.vocabulary.read import open_vocabulary
from nymlink.vocabulary.vocabulary import Vocabulary


def train_sap(
    settings: SapSettings, *, restart: bool = False, progress: bool = False, problems: Problems | None = None
) -> Mapping[str, Any]:
    """Train an encoder, or resume its training.

    See :func:`~nymlink.train.names.self_alignment.train_on_pairs`.

    Example:
        >>> from nymlink import SapSettings, train_sap
        >>> settings = SapSettings(vocab="diseases.obo", base="base", output="encoder", max_steps=1)
        >>> train_sap(settings)["steps"]
        1
    """
    return train_on_pairs(
        "sap", settings, partial(_synonyms, settings), restart=restart, progress=progress, problems=problems
    )


def _synonyms(settings: SapSettings, scratch: Path, problems: Problems) -> PairData:
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


def train_translation(
    settings: TranslationSettings,
    *,
    restart: bool = False,
    progress: bool = False,
    problems: Problems | None = None,
) -> Mapping[str, Any]:
    """Train an encoder on translations with :func:`~nymlink.train.names.self_alignment.train_on_pairs`.

    Example:
        >>> from nymlink import TranslationSettings, train_translation
        >>> settings = TranslationSettings(
        ...     translations=("en-de.tsv",), base="base", output="translated", max_steps=2
        ... )
        >>> train_translation(settings)["steps"]
        2
    """
    return train_on_pairs(
        "translation",
        settings,
        partial(_translations, settings),
        restart=restart,
        progress=progress,
        problems=problems,
    )


def _translations(settings: TranslationSettings, _: Path, problems: Problems) -> PairData:
    languages = None if settings.languages is None else parse_languages(settings.languages)
    files = [
        read_translations(Path(path), languages=languages, problems=problems) for path in settings.translations
    ]
    pairs = TranslationPairs(files, seed=settings.seed)
    provenance = {"translations": [file.describe() for file in files], "pairs": {"count": len(pairs)}}
    return PairData(pairs, provenance)


class MentionPairs:
    """Mentions paired with all names of their gold concepts, as a :class:`~nymlink.pairs.pairs.PairSequence`.

    Mentions and names are prepared as for a search. A mention makes no pair with a name that equals it.
    :func:`~nymlink.train.annotated_queries.annotated_queries` describes repeated and composite mentions.

    Args:
        vocabulary: vocabulary of the names.
        corpora: corpora of the mentions.
        types: mentions of these types only; all if empty.
        seed: seed of the order of pairs.

    Raises:
        InputError: no mention has a gold id of the vocabulary, or no gold concept has a name that differs from its
            mention.
    """

    def __init__(
        self, vocabulary: Vocabulary, corpora: Iterable[Corpus], *, types: Collection[str] = (), seed: int = 0
    ) -> None:
        @cache
        def names(row: int) -> tuple[str, ...]:
            synonyms = vocabulary.names(vocabulary.concept_id(row), kinds=SYNONYM_KINDS)
            return tuple(dict.fromkeys(normalise(name.text) for name in synonyms))

        gold = dict.fromkeys(
            (annotated.query, row)
            for annotated in annotated_queries(vocabulary, corpora, types=types)
            for row in sorted(annotated.concepts)
        )
        self._mentions = [
            (query, row, others)
            for query, row in gold
            if (others := [name for name in names(row) if name != query])
        ]
        if not gold:
            raise no_concept_error(types)
        if not self._mentions:
            raise InputError(
                "no gold concept has another name than its mentions: there are no pairs to train on; use a "
                "vocabulary with more synonyms"
            )
        counts = [len(others) for _, _, others in self._mentions]
        self._offsets = np.concatenate([[0], np.cumsum(counts)])
        self._seed = seed

    def __len__(self) -> int:
        return int(self._offsets[-1])

    def slice(self, start: int, stop: int, *, epoch: int) -> NamedPairs:
        key = seeded_keys([f"epoch {epoch}"], seed=self._seed)
        numbers = permute(np.arange(start, stop), size=len(self), key=key)
        owners = np.searchsorted(self._offsets, numbers, side="right") - 1
        mentions = [self._mentions[owner] for owner in owners.tolist()]
        names = [
            others[place]
            for (_, _, others), place in zip(mentions, (numbers - self._offsets[owners]).tolist(), strict=True)
        ]
        return NamedPairs(np.array([row for _, row, _ in mentions]), [query for query, _, _ in mentions], names)


def train_finetune(
    settings: FinetuneSettings, *, restart: bool = False, progress: bool = False, problems: Problems | None = None
) -> Mapping[str, Any]:
    """Train an encoder, or resume its training.

    See :func:`~nymlink.train.names.self_alignment.train_on_pairs`.

    Example:
        >>> from nymlink import FinetuneSettings, train_finetune
        >>> settings = FinetuneSettings(
        ...     corpora=("train.PubTator.txt",), vocab="diseases.obo", base="base", output="tuned", max_steps=2
        ... )
        >>> train_finetune(settings)["steps"]
        2
    """
    return train_on_pairs(
        "finetune", settings, partial(_mentions, settings), restart=restart, progress=progress, problems=problems
    )


def _mentions(settings: FinetuneSettings, _: Path, problems: Problems) -> PairData:
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
