"""The recipe ``cross-encoder``: train a cross-encoder to re-rank candidates, on annotated documents.

Wu et al., "Scalable Zero-shot Entity Linking with Dense Entity Retrieval" (EMNLP 2020), section 4.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from nymlink.core.problems import Problems
from nymlink.encode.model.torch_model import attention_on
from nymlink.rerank.cross.cross_encoder import CrossEncoder, CrossEncoderConfig
from nymlink.rerank.cross.cross_scorer import CrossScorer
from nymlink.train.engine.loop import trainable_parameters
from nymlink.train.engine.optimiser import adamw
from nymlink.train.engine.precision import Precision
from nymlink.train.mentions.cross_encoder_task import CrossEncoderTask
from nymlink.train.mentions.reranker_training import RerankerData, RerankerSetup, held_out_scores, train_reranker
from nymlink.train.settings.reranker_recipes import CrossEncoderSettings


def train_cross_encoder(
    settings: CrossEncoderSettings,
    *,
    restart: bool = False,
    progress: bool = False,
    problems: Problems | None = None,
) -> Mapping[str, Any]:
    """Train a cross-encoder, or resume; see :func:`~nymlink.train.mentions.reranker_training.train_reranker`.

    It writes a folder of kind ``cross-encoder``. The result also has ``with_gold``, the share of the training
    mentions with a gold concept among their candidates.
    """
    return train_reranker(
        "cross-encoder", settings, _initial_model, _setup, restart=restart, progress=progress, problems=problems
    )


def _initial_model(settings: CrossEncoderSettings, device: torch.device) -> CrossEncoder:
    config = CrossEncoderConfig(max_length=settings.max_length, first=settings.candidates)
    return CrossEncoder.from_encoder(settings.base, config, attention=attention_on(device.type))


def _setup(
    cross: CrossEncoder, data: RerankerData, settings: CrossEncoderSettings, precision: Precision
) -> RerankerSetup:
    return RerankerSetup(
        CrossEncoderTask(cross, data.examples, data.vocabulary, settings, precision),
        cross,
        adamw(
            trainable_parameters(cross), learning_rate=settings.learning_rate, weight_decay=settings.weight_decay
        ),
        held_out_scores(CrossScorer, cross, precision),
        lambda: {"with_gold": data.examples.with_gold},
    )
