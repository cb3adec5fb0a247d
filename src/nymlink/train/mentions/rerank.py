"""Contextual re-ranking: a dual encoder learns from annotated documents which candidate a mention means.

Le & Nguyen, "A metric learning-based method for biomedical entity linking" (Frontiers in Research Metrics and
Analytics 2023).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch

from nymlink.core.problems import Problems
from nymlink.encode.model.torch_model import attention_on
from nymlink.rerank.dual_encoder import DualEncoder, DualSettings
from nymlink.rerank.dual_scorer import DualScorer
from nymlink.rerank.entities import entities
from nymlink.train.engine.loop import trained
from nymlink.train.engine.optimiser import adam
from nymlink.train.engine.precision import Precision
from nymlink.train.losses.contextual import PRESETS, SoftRadius
from nymlink.train.mentions.rerank_task import Reranking, RerankWeights
from nymlink.train.mentions.reranker_training import ContextLearner, ContextMaterial, scoring, train_in_context
from nymlink.train.settings.recipes import RerankSettings


def train_rerank(
    settings: RerankSettings, *, restart: bool = False, progress: bool = False, problems: Problems | None = None
) -> Mapping[str, Any]:
    """Train, or go on with a training that was stopped; see :mod:`~nymlink.train.mentions.reranker_training`.

    Two encoders are trained, and a folder of kind ``reranker`` is written. The result also says the
    ``unit_length`` that was found and, if one was learned, the ``radius`` in that unit.
    """
    learner = partial(_learner, progress=progress)
    return train_in_context(
        "rerank", settings, _begin, learner, restart=restart, progress=progress, problems=problems
    )


def _begin(settings: RerankSettings, device: torch.device) -> DualEncoder:
    made = DualSettings(
        max_length=settings.max_length,
        mention_start=settings.mention_start,
        candidates=settings.candidates,
    )
    return DualEncoder.begin(settings.base, made, pooling=settings.pooling, attention=attention_on(device.type))


def _learner(
    dual: DualEncoder, found: ContextMaterial, settings: RerankSettings, precision: Precision, *, progress: bool
) -> ContextLearner:
    constants = PRESETS[settings.preset]
    margin = constants.margin if settings.margin is None else settings.margin
    radius = constants.radius if settings.radius is None else settings.radius
    rate = settings.radius_learning_rate
    learned = settings.loss == "prototype-srn"
    weights = RerankWeights(dual, SoftRadius(constants, radius=radius, device=precision.device), learned=learned)
    task = Reranking(
        weights,
        found.examples,
        dual.entity_tokens(list(entities(found.vocabulary, found.examples.concepts.tolist()))),
        settings,
        margin=margin,
        radius=radius,
        precision=precision,
        progress=progress,
    )
    optimiser = adam(
        trained(dual),
        weights.radius.lengths,
        learning_rate=settings.learning_rate,
        weight_decay=settings.weight_decay,
        of_weight=constants.radius_learning_rate if rate is None else rate,
    )
    return ContextLearner(
        task,
        weights,
        optimiser,
        scoring(DualScorer, dual, precision),
        lambda: (
            {"unit_length": task.unit_length} | ({"radius": weights.radius.lengths[0].item()} if learned else {})
        ),
    )
