"""Training of re-rankers: what the recipes ``rerank`` and ``cross-encoder`` have in common."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
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
from nymlink.rerank.cross.cross_encoder import CrossEncoder
from nymlink.rerank.dual.dual_encoder import DualEncoder
from nymlink.rerank.passages import Passage
from nymlink.rerank.scorer import ContextScorer
from nymlink.train.annotated_queries import describe_corpus
from nymlink.train.engine.distributed import SINGLE, process_count
from nymlink.train.engine.gradient_cache import evaluation_mode
from nymlink.train.engine.precision import Precision, find_device
from nymlink.train.engine.run_folder import FINISHED, RunFolder
from nymlink.train.engine.task import Figures, Task
from nymlink.train.engine.training_run import (
    finish_training,
    prepare_model,
    resolve_device,
    restore_best,
    run_training,
)
from nymlink.train.mentions.reranker_evaluation import RerankerEvaluation, Score
from nymlink.train.mentions.reranker_examples import Examples, mentions_in_context
from nymlink.train.settings.reranker_recipes import RerankerTrainingSettings
from nymlink.vocabulary.vocabulary import Vocabulary

S = TypeVar("S", bound=RerankerTrainingSettings)
M = TypeVar("M", DualEncoder, CrossEncoder)


@dataclass(frozen=True, slots=True)
class RerankerData:
    """The data of a training.

    Attributes:
        examples: the training mentions with their candidates.
        vocabulary: the vocabulary of the concepts.
        evaluations: the evaluations on held-out corpora, by name.
        provenance: what the data were made from, as JSON values; a training with other data is not resumed.
    """

    examples: Examples
    vocabulary: Vocabulary
    evaluations: Mapping[str, RerankerEvaluation]
    provenance: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RerankerSetup:
    """The recipe's objects for the training loop.

    Attributes:
        task: makes batches and gradients.
        weights: the module that holds all trained weights.
        optimiser: the optimiser of these weights.
        score: scores held-out mentions with the current weights.
        result: returns the recipe's part of the result, for the weights that are kept, as JSON values.
    """

    task: Task[Any]
    weights: nn.Module
    optimiser: Optimizer
    score: Score
    result: Callable[[], Mapping[str, Any]]


def train_reranker(
    recipe: str,
    settings: S,
    initial_model: Callable[[S, torch.device], M],
    setup: Callable[[M, RerankerData, S, Precision], RerankerSetup],
    *,
    restart: bool,
    progress: bool,
    problems: Problems | None,
) -> Mapping[str, Any]:
    """Train a re-ranker in one process, or resume its training; a finished training is not changed.

    Args:
        recipe: the name of the recipe, for the record.
        settings: the settings.
        initial_model: makes the model to train.
        setup: makes task and optimiser of the model on the data.
        restart: replace a training in the output folder instead of resuming it.
        progress: whether to show progress when standard error is a terminal.
        problems: collects broken input.

    Returns:
        The result, as of :func:`nymlink.train.names.encoder_training.train_encoder`.

    Raises:
        InputError: it was started by ``torchrun`` with several processes; and the errors of
            :func:`nymlink.train.names.encoder_training.train_encoder`.
    """
    if process_count() > 1:
        raise InputError(f"the recipe {recipe} trains in one process only: start it without torchrun")
    device = find_device(settings.device)
    precision = Precision.of(settings.precision, device)
    settings = resolve_device(settings)
    with torch.random.fork_rng([device] if device.type == "cuda" else []), ExitStack() as until_done:
        torch.manual_seed(settings.seed)
        model = initial_model(settings, device)
        data = _open_data(settings, model.settings.max_length, problems or Problems())
        folder = RunFolder(recipe, settings, {"base": model.fingerprint, **data.provenance})
        prepare_model(model, device)
        until_done.enter_context(folder.locked())
        start = folder.open(SINGLE, device, restart=restart)
        if start == FINISHED:
            return folder.result
        parts = setup(model, data, settings, precision)
        state = run_training(
            parts.task,
            parts.weights,
            parts.optimiser,
            settings=settings,
            precision=precision,
            folder=folder,
            start=start,
            evaluate=partial(_evaluate, data.evaluations, parts.score),
            progress=progress,
        )
        restore_best(folder, parts.weights, state)
        return finish_training(folder, model.cpu().save, state, parts.result())


def held_out_scores(scorer: Callable[[M, Vocabulary], ContextScorer], model: M, precision: Precision) -> Score:
    """Make the function that scores held-out mentions with the current weights, in the training's precision."""

    def scores(
        vocabulary: Vocabulary, passages: Sequence[Passage], candidates: Sequence[Rows]
    ) -> Sequence[Scores]:
        with evaluation_mode(model), precision.autocast():
            return scorer(model, vocabulary).scores(passages, [rows.tolist() for rows in candidates])

    return scores


def _open_data(settings: RerankerTrainingSettings, max_length: int, problems: Problems) -> RerankerData:
    index = Index.load(settings.index)
    paths = [Path(path) for path in settings.corpora]
    corpora = [read_corpus(path, problems=problems) for path in paths]
    mentions = mentions_in_context(index, corpora, types=settings.types, max_length=max_length)
    examples = Examples.of(index, mentions, k=settings.candidates)
    evaluations = {
        name: RerankerEvaluation(
            held_out,
            types=settings.types,
            candidates=settings.candidates,
            max_length=max_length,
            problems=problems,
        )
        for name, held_out in settings.evaluation.items()
    }
    provenance = {
        "vocabulary": index.vocabulary.describe(),
        "corpora": [describe_corpus(path) for path in paths],
        "mentions": {
            "count": len(examples),
            "clusters": examples.clusters,
            "concepts": len(examples.concepts),
            "left_out": dict(examples.left_out),
        },
        # A digest of the candidates, since they depend on how the index was built and on its fusion.
        "candidates": hashlib.sha256(examples.concepts[examples.candidates].tobytes()).hexdigest(),
        **{f"evaluation.{name}": evaluation.describe() for name, evaluation in evaluations.items()},
    }
    return RerankerData(examples, index.vocabulary, evaluations, provenance)


def _evaluate(evaluations: Mapping[str, RerankerEvaluation], score: Score) -> Figures:
    return {name: evaluation(score) for name, evaluation in evaluations.items()}
