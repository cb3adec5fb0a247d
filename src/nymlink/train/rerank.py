"""Contextual re-ranking: a dual encoder learns from annotated documents which candidate a mention means.

Le & Nguyen, "A metric learning-based method for biomedical entity linking" (Frontiers in Research Metrics and
Analytics 2023).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.optim import Optimizer

from nymlink.corpus.read import read_corpus
from nymlink.encode.torch_model import attention_on
from nymlink.errors import InputError
from nymlink.index.index import Index
from nymlink.problems import Problems
from nymlink.rerank.dual_encoder import DualEncoder, DualSettings
from nymlink.rerank.entities import entities
from nymlink.train.annotated import describe_corpus
from nymlink.train.distributed import SINGLE, process_count
from nymlink.train.loop import trained
from nymlink.train.memory import fitting
from nymlink.train.optimise import adam
from nymlink.train.precision import Precision, find_device
from nymlink.train.recipe_settings import RerankSettings
from nymlink.train.rerank_evaluation import RerankEvaluation
from nymlink.train.rerank_examples import Examples, mentions_in_context
from nymlink.train.rerank_losses import PRESETS, SoftRadius
from nymlink.train.rerank_task import Reranking, RerankWeights
from nymlink.train.run_folder import FINISHED, RunFolder
from nymlink.train.sap import describe
from nymlink.train.speed import quicken
from nymlink.train.task import Figures
from nymlink.train.training import finish, restore_best, run
from nymlink.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class _Material:
    """What is trained on, and what it was made of."""

    examples: Examples
    vocabulary: Vocabulary
    evaluations: Mapping[str, RerankEvaluation]
    origin: Mapping[str, Any]


def train_rerank(
    settings: RerankSettings, *, restart: bool = False, progress: bool = False, problems: Problems | None = None
) -> Mapping[str, Any]:
    """Train a re-ranker, or go on with a training that was stopped; a finished one is left as it is.

    Two encoders are trained, and a folder of kind ``reranker`` is written; otherwise all is as for the recipes of
    encoders of names, see :func:`nymlink.train.training.train`. The result also says the ``unit_length`` that was
    found and the ``radius`` that was learned, in that unit.
    """
    if process_count() > 1:
        raise InputError("rerank trains in one process: start it without torchrun")
    device = find_device(settings.device)
    precision = Precision.of(settings.precision, device)
    # As they turn out to be: what "auto" stands for is part of what is recorded.
    settings = replace(settings, device="cuda" if device.type == "cuda" else "cpu", precision=precision.name)
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(settings.seed)
        dual = _begin(settings, device)
        found = _material(settings, problems or Problems())
        folder = RunFolder("rerank", settings, {"base": dual.fingerprint, **found.origin})
        with fitting(f"the model does not fit onto {device}: choose a smaller base, or the device cpu"):
            quicken(dual, device)
            dual.to(device).train()
        start = folder.open(SINGLE, device, restart=restart)
        if start == FINISHED:
            return folder.result
        weights, task, optimiser = _learner(dual, found, settings, precision, progress=progress)
        state = run(
            task,
            weights,
            optimiser,
            settings=settings,
            precision=precision,
            folder=folder,
            start=start,
            evaluate=partial(_evaluate, found.evaluations, dual, precision, settings),
            progress=progress,
        )
        restore_best(folder, weights, state)
        learned = {"unit_length": task.unit_length, "radius": weights.radius.lengths[0].item()}
        return finish(folder, dual.cpu().save, state, learned)


def _begin(settings: RerankSettings, device: torch.device) -> DualEncoder:
    made = DualSettings(max_length=settings.max_length, mention_start=settings.mention_start)
    return DualEncoder.begin(settings.base, made, attention=attention_on(device.type))


def _material(settings: RerankSettings, problems: Problems) -> _Material:
    index = Index.load(settings.index)
    paths = [Path(path) for path in settings.corpora]
    corpora = [read_corpus(path, problems=problems) for path in paths]
    examples = Examples.of(index, mentions_in_context(index, corpora, types=settings.types), k=settings.candidates)
    evaluations = {
        name: RerankEvaluation(one, types=settings.types, candidates=settings.candidates, problems=problems)
        for name, one in settings.evaluation.items()
    }
    origin = {
        "vocabulary": describe(index.vocabulary),
        "corpora": [describe_corpus(path) for path in paths],
        "mentions": {
            "count": len(examples),
            "clusters": examples.clusters,
            "concepts": len(examples.concepts),
            "left_out": dict(examples.left_out),
        },
        # Which candidates an index gives depends on how it was built and is joined: they say it themselves.
        "candidates": hashlib.sha256(examples.concepts[examples.candidates].tobytes()).hexdigest(),
        **{f"evaluation.{name}": one.describe() for name, one in evaluations.items()},
    }
    return _Material(examples, index.vocabulary, evaluations, origin)


def _learner(
    dual: DualEncoder, found: _Material, settings: RerankSettings, precision: Precision, *, progress: bool
) -> tuple[RerankWeights, Reranking, Optimizer]:
    constants = PRESETS[settings.preset]
    margin = constants.margin if settings.margin is None else settings.margin
    radius = constants.radius if settings.radius is None else settings.radius
    rate = settings.radius_learning_rate
    weights = RerankWeights(
        dual,
        SoftRadius(constants, radius=radius, device=precision.device),
        learned=settings.loss == "prototype-srn",
    )
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
    return weights, task, optimiser


def _evaluate(
    evaluations: Mapping[str, RerankEvaluation], dual: DualEncoder, precision: Precision, settings: RerankSettings
) -> Figures:
    return {
        name: evaluation(dual, precision, at_once=settings.graph_tokens)
        for name, evaluation in evaluations.items()
    }
