"""Training of a re-ranker, and its evaluation: accuracy of the candidates before and after re-ranking."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import nn
from torch.optim import Optimizer

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.corpus.read import read_corpus
from nymlink.evaluation.outcomes import Rank, accuracy, as_array, first_rank, worst_rank
from nymlink.index.hits import NONE, Rows, Scores
from nymlink.index.index import Index
from nymlink.rerank.cross_encoder import CrossEncoder
from nymlink.rerank.dual_encoder import DualEncoder
from nymlink.rerank.passages import Passage
from nymlink.rerank.scorer import ContextScorer
from nymlink.train.annotated_queries import describe_corpus, no_gold_error
from nymlink.train.engine.distributed import SINGLE, process_count
from nymlink.train.engine.gradient_cache import evaluation_mode
from nymlink.train.engine.optimiser import Precision, find_device
from nymlink.train.engine.run_folder import FINISHED, RunFolder
from nymlink.train.engine.task import Figures, Task
from nymlink.train.engine.training_run import (
    finish_training,
    prepare_model,
    resolve_device,
    restore_best,
    run_training,
)
from nymlink.train.mentions.reranker_examples import (
    ContextMention,
    Examples,
    mentions_in_context,
    retrieve_concepts,
)
from nymlink.train.settings.common import HeldOutCorpus
from nymlink.train.settings.reranker_trainings import RerankerTrainingSettings
from nymlink.vocabulary.vocabulary import Vocabulary

Score = Callable[[Vocabulary, Sequence[Passage], Sequence[Rows]], Sequence[Scores]]
"""Scores of a :class:`~nymlink.rerank.scorer.ContextScorer` for a vocabulary, with the current weights."""


class RerankerEvaluation:
    """A repeatable evaluation on a held-out corpus. It searches the candidates only once.

    All mentions with gold ids count. A mention counts as wrong if its gold ids are not in the vocabulary or not
    among its candidates. A composite mention counts as right if all its parts are right. The re-ranker does not
    re-order the candidates of composite mentions and of mentions without context.

    Args:
        held_out: the corpus and its index.
        types: mentions of these types only; all if empty.
        candidates: k, the number of candidates of a mention.
        max_length: tokens of a mention with its context that the model reads.
        problems: collects broken input.

    Raises:
        InputError: a file cannot be read, or no mention has a gold id of the vocabulary.
        StoreError: the index is missing or damaged.
    """

    def __init__(
        self,
        held_out: HeldOutCorpus,
        *,
        types: Collection[str],
        candidates: int,
        max_length: int,
        problems: Problems,
    ) -> None:
        index = Index.load(held_out.dictionary)
        self._candidates = candidates
        self._vocabulary = index.vocabulary
        corpus = read_corpus(Path(held_out.corpus), problems=problems)
        self._corpus = describe_corpus(Path(held_out.corpus))
        self._mentions = list(mentions_in_context(index, [corpus], types=types, max_length=max_length))
        if not any(mention.gold for mention in self._mentions):
            raise no_gold_error(held_out, types)
        queries = (part for mention in self._mentions for part in mention.parts)
        retrieved = retrieve_concepts(index, queries, candidates)
        self._digest = hashlib.sha256(b"".join(rows.tobytes() for rows in retrieved.values())).hexdigest()
        self._retrieved = {query: rows[rows != NONE] for query, rows in retrieved.items()}

    def __call__(self, score: Score) -> dict[str, float]:
        """Compute accuracies, from 0 to 1.

        Returns:
            ``acc@1`` and ``acc@5``: accuracies after re-ranking; ``retrieved@1``: accuracy before re-ranking;
            ``recall``: share of mentions with a gold candidate, which no accuracy can exceed.
        """
        before = [[self._retrieved[part] for part in mention.parts] for mention in self._mentions]
        after = list(before)
        passages = {
            place: mention.passage
            for place, (mention, parts) in enumerate(zip(self._mentions, before, strict=True))
            if mention.passage is not None and len(parts[0])
        }
        candidates = [before[place][0] for place in passages]
        all_scores = score(self._vocabulary, list(passages.values()), candidates)
        for place, rows, scores in zip(passages, candidates, all_scores, strict=True):
            after[place] = [rows[np.argsort(-scores, kind="stable")]]
        ranks_before, ranks_after = (
            as_array([_rank(mention, parts) for mention, parts in zip(self._mentions, lists, strict=True)])
            for lists in (before, after)
        )
        return {
            "acc@1": accuracy(ranks_after, 1),
            "acc@5": accuracy(ranks_after, 5),
            "retrieved@1": accuracy(ranks_before, 1),
            "recall": accuracy(ranks_before, self._candidates),
        }

    def describe(self) -> Mapping[str, Any]:
        """Return the provenance of corpus, vocabulary and candidates, as JSON values."""
        return {
            "corpus": self._corpus,
            "mentions": len(self._mentions),
            "vocabulary": self._vocabulary.describe(),
            "candidates": self._digest,
        }


def _rank(mention: ContextMention, parts: list[Rows]) -> Rank:
    return worst_rank([first_rank(row in mention.gold for row in rows.tolist()) for rows in parts])


S = TypeVar("S", bound=RerankerTrainingSettings)
M = TypeVar("M", DualEncoder, CrossEncoder)


@dataclass(frozen=True, slots=True)
class RerankerData:
    """The data of a training.

    Attributes:
        examples: training mentions with candidates.
        vocabulary: vocabulary of the concepts.
        evaluations: evaluations on held-out corpora, by name.
        provenance: source of the data, as JSON values; a training resumes only with the same data.
    """

    examples: Examples
    vocabulary: Vocabulary
    evaluations: Mapping[str, RerankerEvaluation]
    provenance: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RerankerSetup:
    """The training's objects for the training loop.

    Attributes:
        task: makes batches and gradients.
        weights: holds all trained weights.
        optimiser: updates these weights.
        score: function that scores held-out mentions with the current weights.
        result: function that returns this training's own part of the result, as JSON values. It is called with the
            final weights loaded.
    """

    task: Task[Any]
    weights: nn.Module
    optimiser: Optimizer
    score: Score
    result: Callable[[], Mapping[str, Any]]


def train_reranker(
    training: str,
    settings: S,
    initial_model: Callable[[S, torch.device], M],
    setup: Callable[[M, RerankerData, S, Precision], RerankerSetup],
    *,
    restart: bool,
    progress: bool,
    problems: Problems | None,
) -> Mapping[str, Any]:
    """Train a re-ranker in one process, or resume its training. A finished training is not changed.

    Args:
        training: name of the training, for the record.
        settings: the settings.
        initial_model: makes the model to train.
        setup: makes task and optimiser of the model on the data.
        restart: replace a training in the output folder instead of resuming it.
        progress: show progress if standard error is a terminal.
        problems: collects broken input.

    Result and errors are those of :func:`nymlink.train.names.encoder_training.train_encoder`.

    Raises:
        InputError: ``torchrun`` started several processes.
    """
    if process_count() > 1:
        raise InputError(f"the training {training} runs in one process only: start it without torchrun")
    device = find_device(settings.device)
    precision = Precision.of(settings.precision, device)
    settings = resolve_device(settings)
    with torch.random.fork_rng([device] if device.type == "cuda" else []), ExitStack() as until_done:
        torch.manual_seed(settings.seed)
        model = initial_model(settings, device)
        data = _open_data(settings, model.settings.max_length, problems or Problems())
        folder = RunFolder(training, settings, {"base": model.fingerprint, **data.provenance})
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
    """Make a function that scores held-out mentions with the current weights, in the training's precision."""

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
        # The record has a digest of the candidates, because they depend on the index and its fusion, not only on
        # the vocabulary.
        "candidates": hashlib.sha256(examples.concepts[examples.candidates].tobytes()).hexdigest(),
        **{f"evaluation.{name}": evaluation.describe() for name, evaluation in evaluations.items()},
    }
    return RerankerData(examples, index.vocabulary, evaluations, provenance)


def _evaluate(evaluations: Mapping[str, RerankerEvaluation], score: Score) -> Figures:
    return {name: evaluation(score) for name, evaluation in evaluations.items()}
