"""From settings to a re-ranker: what both of its trainings have in common."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn
from torch.optim import Optimizer

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.corpus.read import read_corpus
from nymlink.index.fusion.hits import Rows, Scores
from nymlink.index.index import Index
from nymlink.rerank.cross_encoder import CrossEncoder
from nymlink.rerank.dual_encoder import DualEncoder
from nymlink.rerank.passages import Passage
from nymlink.rerank.scorer import ContextScorer
from nymlink.train.engine.cached_gradient import evaluating
from nymlink.train.engine.distributed import SINGLE, process_count
from nymlink.train.engine.memory import fitting
from nymlink.train.engine.precision import Precision, find_device
from nymlink.train.engine.run_folder import FINISHED, RunFolder
from nymlink.train.engine.sparse_gradients import sparsify
from nymlink.train.engine.task import Figures, Task
from nymlink.train.mentions.annotated import describe_corpus
from nymlink.train.mentions.rerank_evaluation import RerankEvaluation, Score
from nymlink.train.mentions.rerank_examples import Examples, mentions_in_context
from nymlink.train.names.encoder_training import finish, restore_best, run
from nymlink.train.names.sap import describe
from nymlink.train.settings.recipes import ContextSettings
from nymlink.vocabulary.vocabulary import Vocabulary

S = TypeVar("S", bound=ContextSettings)
M = TypeVar("M", DualEncoder, CrossEncoder)


@dataclass(frozen=True, slots=True)
class ContextMaterial:
    """What is trained on, and what it was made of."""

    examples: Examples
    vocabulary: Vocabulary
    evaluations: Mapping[str, RerankEvaluation]
    origin: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ContextLearner:
    """What the loop makes steps with.

    Attributes:
        task: the recipe's part of a step.
        weights: holds all that is trained.
        optimiser: over these.
        score: what the weights, as they are, give held-out mentions.
        result: what the recipe has to say of the weights that are kept, as JSON values.
    """

    task: Task[Any]
    weights: nn.Module
    optimiser: Optimizer
    score: Score
    result: Callable[[], Mapping[str, Any]]


def train_in_context(
    recipe: str,
    settings: S,
    begin: Callable[[S, torch.device], M],
    learner: Callable[[M, ContextMaterial, S, Precision], ContextLearner],
    *,
    restart: bool,
    progress: bool,
    problems: Problems | None,
) -> Mapping[str, Any]:
    """Train a re-ranker, or go on with a training that was stopped; a finished one is left as it is.

    All is as in :func:`nymlink.train.names.encoder_training.train`, but that one process trains.

    Args:
        recipe: its name, for the record.
        settings: its settings.
        begin: makes what is to be trained.
        learner: says how it learns from the material.
        restart: replace a training in the output folder instead of going on with it.
        progress: whether to show progress when standard error is a terminal.
        problems: gets broken input.
    """
    if process_count() > 1:
        raise InputError(f"{recipe} trains in one process: start it without torchrun")
    device = find_device(settings.device)
    precision = Precision.of(settings.precision, device)
    # As they turn out to be: what "auto" stands for is part of what is recorded.
    settings = replace(settings, device="cuda" if device.type == "cuda" else "cpu", precision=precision.name)
    with torch.random.fork_rng([device] if device.type == "cuda" else []), ExitStack() as until_done:
        torch.manual_seed(settings.seed)
        model = begin(settings, device)
        found = _material(settings, model.settings.max_length, problems or Problems())
        folder = RunFolder(recipe, settings, {"base": model.fingerprint, **found.origin})
        with fitting(f"the model does not fit onto {device}: choose a smaller base, or the device cpu"):
            sparsify(model)
            model.to(device).train()
        until_done.enter_context(folder.held())
        start = folder.open(SINGLE, device, restart=restart)
        if start == FINISHED:
            return folder.result
        made = learner(model, found, settings, precision)
        state = run(
            made.task,
            made.weights,
            made.optimiser,
            settings=settings,
            precision=precision,
            folder=folder,
            start=start,
            evaluate=partial(_evaluate, found.evaluations, made.score),
            progress=progress,
        )
        restore_best(folder, made.weights, state)
        return finish(folder, model.cpu().save, state, made.result())


def scoring(scorer: Callable[[M, Vocabulary], ContextScorer], model: M, precision: Precision) -> Score:
    """What a model gives held-out mentions by its weights as they then are, in the training's precision."""

    def scores(
        vocabulary: Vocabulary, passages: Sequence[Passage], candidates: Sequence[Rows]
    ) -> Sequence[Scores]:
        with evaluating(model), precision.autocast():
            return scorer(model, vocabulary).scores(passages, [rows.tolist() for rows in candidates])

    return scores


def _material(settings: ContextSettings, max_length: int, problems: Problems) -> ContextMaterial:
    index = Index.load(settings.index)
    paths = [Path(path) for path in settings.corpora]
    corpora = [read_corpus(path, problems=problems) for path in paths]
    mentions = mentions_in_context(index, corpora, types=settings.types, max_length=max_length)
    examples = Examples.of(index, mentions, k=settings.candidates)
    evaluations = {
        name: RerankEvaluation(
            one,
            types=settings.types,
            candidates=settings.candidates,
            max_length=max_length,
            problems=problems,
        )
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
    return ContextMaterial(examples, index.vocabulary, evaluations, origin)


def _evaluate(evaluations: Mapping[str, RerankEvaluation], score: Score) -> Figures:
    return {name: evaluation(score) for name, evaluation in evaluations.items()}
