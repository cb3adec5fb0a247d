"""Train re-rankers: a dual encoder (two encoders), or a cross-encoder, which reads mention and concept together.

Dual encoder: Le & Nguyen, "A metric learning-based method for biomedical entity linking" (Frontiers in Research
Metrics and Analytics 2023).

Cross-encoder: Wu et al., "Scalable Zero-shot Entity Linking with Dense Entity Retrieval" (EMNLP 2020), section
4.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch

from nymlink.core.problems import Problems
from nymlink.encode.model.torch_model import attention_on
from nymlink.rerank.cross_encoder import CrossEncoder, CrossEncoderConfig, CrossScorer
from nymlink.rerank.dual_encoder import DualEncoder, DualEncoderConfig, DualScorer
from nymlink.rerank.inputs import entities
from nymlink.train.engine.loop import trainable_parameters
from nymlink.train.engine.optimiser import Precision, adam, adamw
from nymlink.train.losses.prototype_triplet import SoftRadius
from nymlink.train.mentions.cross_encoder_task import CrossEncoderTask
from nymlink.train.mentions.dual_encoder_task import DualEncoderTask, DualEncoderWeights
from nymlink.train.mentions.reranker_training import RerankerData, RerankerSetup, held_out_scores, train_reranker
from nymlink.train.settings.reranker_trainings import CrossEncoderSettings, RerankSettings


def train_rerank(
    settings: RerankSettings, *, restart: bool = False, progress: bool = False, problems: Problems | None = None
) -> Mapping[str, Any]:
    """Train a dual encoder, or resume; see :func:`~nymlink.train.mentions.reranker_training.train_reranker`.

    The result also has ``unit_length``, the unit of lengths. With the loss ``prototype-srn`` it has the learned
    ``radius`` too.

    Example:
        >>> from nymlink import Linker, RerankSettings, train_rerank
        >>> Linker.build("diseases.obo", encoder=None).index.save("diseases-index")
        >>> settings = RerankSettings(
        ...     corpora=("train.PubTator.txt",),
        ...     index="diseases-index",
        ...     base="base",
        ...     output="trained",
        ...     candidates=4,
        ...     max_steps=1,
        ... )
        >>> train_rerank(settings)["steps"]
        1
    """
    setup = partial(_setup, progress=progress)
    return train_reranker(
        "rerank", settings, _initial_model, setup, restart=restart, progress=progress, problems=problems
    )


def _initial_model(settings: RerankSettings, device: torch.device) -> DualEncoder:
    config = DualEncoderConfig(
        max_length=settings.max_length, mention_start=settings.mention_start, candidates=settings.candidates
    )
    return DualEncoder.from_encoder(
        settings.base, config, pooling=settings.pooling, attention=attention_on(device.type)
    )


def _setup(
    dual: DualEncoder, data: RerankerData, settings: RerankSettings, precision: Precision, *, progress: bool
) -> RerankerSetup:
    learned = settings.loss == "prototype-srn"
    radius = SoftRadius(
        radius=settings.radius,
        tolerance=settings.radius_tolerance,
        spread=settings.radius_spread,
        singletons=settings.radius_singletons,
        device=precision.device,
    )
    weights = DualEncoderWeights(dual, radius, learned=learned)
    task = DualEncoderTask(
        weights,
        data.examples,
        dual.entity_tokens(list(entities(data.vocabulary, data.examples.concepts.tolist()))),
        settings,
        precision=precision,
        progress=progress,
    )
    optimiser = adam(
        trainable_parameters(dual),
        weights.radius.lengths,
        learning_rate=settings.learning_rate,
        weight_decay=settings.weight_decay,
        extra_learning_rate=settings.radius_learning_rate,
    )
    return RerankerSetup(
        task,
        weights,
        optimiser,
        held_out_scores(DualScorer, dual, precision),
        lambda: (
            {"unit_length": task.unit_length} | ({"radius": weights.radius.lengths[0].item()} if learned else {})
        ),
    )


def train_cross_encoder(
    settings: CrossEncoderSettings,
    *,
    restart: bool = False,
    progress: bool = False,
    problems: Problems | None = None,
) -> Mapping[str, Any]:
    """Train a cross-encoder, or resume; see :func:`~nymlink.train.mentions.reranker_training.train_reranker`.

    The result also has ``with_gold``, the share of the training mentions with a gold candidate.

    Example:
        >>> from nymlink import CrossEncoderSettings, Linker, train_cross_encoder
        >>> Linker.build("diseases.obo", encoder=None).index.save("diseases-index")
        >>> settings = CrossEncoderSettings(
        ...     corpora=("train.PubTator.txt",),
        ...     index="diseases-index",
        ...     base="base",
        ...     output="cross",
        ...     candidates=2,
        ...     max_steps=1,
        ... )
        >>> train_cross_encoder(settings)["steps"]
        1
    """
    return train_reranker(
        "cross-encoder",
        settings,
        _initial_cross_encoder,
        _cross_setup,
        restart=restart,
        progress=progress,
        problems=problems,
    )


def _initial_cross_encoder(settings: CrossEncoderSettings, device: torch.device) -> CrossEncoder:
    config = CrossEncoderConfig(max_length=settings.max_length, first=settings.candidates)
    return CrossEncoder.from_encoder(settings.base, config, attention=attention_on(device.type))


def _cross_setup(
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
