"""Contextual re-ranking: a cross-encoder learns from annotated documents which candidate a mention means.

Wu et al., "Scalable Zero-shot Entity Linking with Dense Entity Retrieval" (EMNLP 2020), section 4.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from nymlink.core.problems import Problems
from nymlink.encode.model.torch_model import attention_on
from nymlink.rerank.cross_encoder import CrossEncoder, CrossSettings
from nymlink.rerank.cross_scorer import CrossScorer
from nymlink.train.engine.loop import trained
from nymlink.train.engine.optimiser import adamw
from nymlink.train.engine.precision import Precision
from nymlink.train.mentions.cross_encoder_task import CrossRanking
from nymlink.train.mentions.reranker_training import ContextLearner, ContextMaterial, scoring, train_in_context
from nymlink.train.settings.recipes import CrossEncoderSettings


def train_cross_encoder(
    settings: CrossEncoderSettings,
    *,
    restart: bool = False,
    progress: bool = False,
    problems: Problems | None = None,
) -> Mapping[str, Any]:
    """Train, or go on with a training that was stopped; see :mod:`~nymlink.train.mentions.reranker_training`.

    A folder of kind ``cross-encoder`` is written. The result also says ``with_gold``, the share of the mentions
    learned from that have what they mean among their candidates.
    """
    return train_in_context(
        "cross-encoder", settings, _begin, _learner, restart=restart, progress=progress, problems=problems
    )


def _begin(settings: CrossEncoderSettings, device: torch.device) -> CrossEncoder:
    made = CrossSettings(max_length=settings.max_length, first=settings.candidates)
    return CrossEncoder.begin(settings.base, made, attention=attention_on(device.type))


def _learner(
    cross: CrossEncoder, found: ContextMaterial, settings: CrossEncoderSettings, precision: Precision
) -> ContextLearner:
    return ContextLearner(
        CrossRanking(cross, found.examples, found.vocabulary, settings, precision),
        cross,
        adamw(trained(cross), learning_rate=settings.learning_rate, weight_decay=settings.weight_decay),
        scoring(CrossScorer, cross, precision),
        lambda: {"with_gold": found.examples.with_gold},
    )
