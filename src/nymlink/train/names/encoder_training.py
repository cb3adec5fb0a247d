"""Training of an encoder, and its evaluation by the nearest names of held-out mentions."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn.functional import normalize
from torch.optim import Optimizer

from nymlink.core.problems import Problems
from nymlink.core.store.arrays import Vectors
from nymlink.corpus.read import read_corpus
from nymlink.encode.batches import TruncationCounts
from nymlink.encode.model.adapters import weights_digest
from nymlink.encode.model.fingerprint import fingerprint, relevant_config
from nymlink.encode.model.folder import require_single
from nymlink.encode.model.torch_model import TorchModel, attention_on
from nymlink.evaluation.outcomes import GoldResolver, Rank, accuracy, as_array, first_rank, worst_rank
from nymlink.index.dense.exact import nearest
from nymlink.index.entries.entries import Entries
from nymlink.index.hits import NONE
from nymlink.linking.queries import queries
from nymlink.train.annotated_queries import describe_corpus, no_gold_error
from nymlink.train.engine.distributed import Processes, local_rank, process_group
from nymlink.train.engine.gradient_cache import encode_names
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
from nymlink.train.names.tuning import add_tuning, write_tuned
from nymlink.train.settings.common import CorpusSettings, EncoderTrainingSettings, HeldOutCorpus
from nymlink.vocabulary.read import open_vocabulary

CUTOFFS: Final = (1, 5)

Encode = Callable[[Sequence[str]], Vectors]
"""N names → float32 (N, D), of unit length."""


class EncoderEvaluation:
    """A repeatable evaluation on a held-out corpus. It prepares the corpus and its dictionary only once.

    The protocol of Sung et al. (2020) and Liu et al. (2021): vectors alone rank the names. A name is right if one
    of its concepts is gold (lenient). A composite mention is right if all its parts are right. Mentions whose gold
    ids are not in the dictionary count as wrong.

    Args:
        held_out: the corpus and the dictionary.
        types: mentions of these types only; all if empty.
        problems: collects broken input.

    Raises:
        InputError: a file cannot be read, or no mention has a gold id of the dictionary.
    """

    def __init__(self, held_out: HeldOutCorpus, *, types: Collection[str] = (), problems: Problems) -> None:
        self._vocabulary = open_vocabulary(Path(held_out.dictionary), problems=problems)
        self._owners = self._vocabulary.columns.names["concept"].to_numpy()
        self._entries = Entries.of(self._vocabulary)
        corpus = read_corpus(Path(held_out.corpus), problems=problems)
        self._corpus = describe_corpus(Path(held_out.corpus))
        resolver = GoldResolver(self._vocabulary)
        self._mentions = [
            (tuple(part.text for part in parts), resolver.rows(mention.concept_ids))
            for document in corpus.documents
            for mention, parts in zip(
                document.mentions,
                queries(document, self._entries, composites="gold", as_published=True),
                strict=True,
            )
            if mention.concept_ids and (not types or mention.type in types)
        ]
        if not any(gold for _, gold in self._mentions):
            raise no_gold_error(held_out, types)
        self._texts = list(dict.fromkeys(part for parts, _ in self._mentions for part in parts))

    def __call__(self, encode: Encode) -> dict[str, float]:
        """Compute ``acc@1`` and ``acc@5`` of an encoder, from 0 to 1."""
        hits = nearest(encode(self._texts), encode(self._entries.texts.to_pylist()), max(CUTOFFS))
        rows = dict(zip(self._texts, hits.rows.tolist(), strict=True))
        ranks = as_array([self._rank([rows[part] for part in parts], gold) for parts, gold in self._mentions])
        return {f"acc@{k}": accuracy(ranks, k) for k in CUTOFFS}

    def describe(self) -> dict[str, Any]:
        """Return the provenance of corpus and dictionary, as JSON values."""
        return {
            "corpus": self._corpus,
            "mentions": len(self._mentions),
            "entries": len(self._entries),
            "dictionary": [source.to_dict() for source in self._vocabulary.sources],
        }

    def _rank(self, parts: Sequence[Sequence[int]], gold: frozenset[int]) -> Rank:
        return worst_rank([first_rank(self._is_right(row, gold) for row in rows) for rows in parts])

    def _is_right(self, row: int, gold: frozenset[int]) -> bool:
        return row != NONE and not gold.isdisjoint(self._entries.concepts(row, self._owners))


def open_evaluations(
    corpora: Mapping[str, HeldOutCorpus], *, types: Collection[str] = (), problems: Problems
) -> dict[str, EncoderEvaluation]:
    """Prepare the evaluations of a training, by name; see :class:`EncoderEvaluation`."""
    return {name: EncoderEvaluation(corpus, types=types, problems=problems) for name, corpus in corpora.items()}


def memoised(encode: Encode) -> Encode:
    """Make an encoder that encodes each name only once, because corpora may share a dictionary."""
    known: dict[str, npt.NDArray[np.float32]] = {}

    def encode_new(names: Sequence[str]) -> npt.NDArray[np.float32]:
        new = [name for name in dict.fromkeys(names) if name not in known]
        if new:
            known.update(zip(new, encode(new), strict=True))
        return np.stack([known[name] for name in names])

    return encode_new


B = TypeVar("B")
S = TypeVar("S", bound=EncoderTrainingSettings)


class EncoderTask(Task[B], Protocol):
    """The task of a training of encoders."""

    def names_cut(self) -> tuple[int, int]:
        """Return the numbers of truncated and of encoded names so far, in all processes together."""
        ...


@dataclass(frozen=True, slots=True)
class TrainingSetup(Generic[B]):
    """The training's objects for the training loop.

    Attributes:
        task: makes batches and gradients.
        weights: holds all trained weights: of the encoder and of the task.
        optimiser: updates these weights.
        result: function that returns this training's own part of the result, as JSON values. It is called with the
            final weights loaded.
    """

    task: EncoderTask[B]
    weights: nn.Module
    optimiser: Optimizer
    result: Callable[[], Mapping[str, Any]] = dict


@dataclass(frozen=True, slots=True)
class TrainingData(Generic[B]):
    """The data of a training.

    Attributes:
        provenance: source of the data, as JSON values; a training resumes only with the same data.
        setup: function that makes the task and the optimiser for an encoder and these data.
    """

    provenance: Mapping[str, Any]
    setup: Callable[[TorchModel, Precision, Processes], TrainingSetup[B]]


def train_encoder(
    training: str,
    settings: EncoderTrainingSettings,
    open_data: Callable[[Path, Problems], TrainingData[B]],
    *,
    restart: bool = False,
    progress: bool = False,
    problems: Problems | None = None,
) -> Mapping[str, Any]:
    """Train an encoder, or resume its training. A finished training is not changed.

    Args:
        training: name of the training, for the record.
        settings: the settings.
        open_data: function that opens the data. It is given a temporary folder and the collector of broken input.
        restart: replace a training in the output folder instead of resuming it.
        progress: show progress if standard error is a terminal.
        problems: collects broken input.

    Returns:
        ``steps``: number of steps made; ``weights_of_step``: the step of the final weights; ``figures``: the
        evaluation of these weights; and values of this kind of training. The result is empty in all processes but
        the first.

    Raises:
        InputError: the input is unusable, or the output folder holds a different training.
        OutputError: the output folder holds something else, cannot be written, or is locked by another training.
        StoreError: the checkpoint to resume from is damaged.
        StoppedError: a signal stopped the training.
        NymlinkError: the training diverged, or ran out of memory.
    """
    device = find_device(settings.device, local_rank=local_rank())
    with (
        process_group(device) as processes,
        tempfile.TemporaryDirectory(prefix="nymlink-") as scratch,
        torch.random.fork_rng([device] if device.type == "cuda" else []),
        ExitStack() as until_done,
    ):
        if problems is None or not processes.first:
            problems = Problems()
        settings = resolve_device(settings)
        precision = Precision.of(settings.precision, device)
        with processes.fail_together(device):
            model = _load(settings, device)
            data = open_data(Path(scratch), problems)
            # Only the first process evaluates and writes.
            evaluations = open_evaluations(
                settings.evaluation if processes.first else {},
                types=settings.types if isinstance(settings, CorpusSettings) else (),
                problems=problems,
            )
            provenance = {"base": _digest(model), **data.provenance}
            provenance |= {f"evaluation.{name}": corpus.describe() for name, corpus in evaluations.items()}
            folder = RunFolder(training, settings, provenance)
            _prepare(model, settings, device)
            start = 0
            if processes.first:
                until_done.enter_context(folder.locked())
                start = folder.open(processes, device, restart=restart)
        own = {"base": provenance["base"], "data": dict(data.provenance), "version of nymlink": version("nymlink")}
        processes.require_same(own, device)
        start = processes.from_first(start, device)
        if start == FINISHED:
            return folder.result if processes.first else {}

        setup = data.setup(model, precision, processes)
        state = run_training(
            setup.task,
            setup.weights,
            setup.optimiser,
            settings=settings,
            precision=precision,
            folder=folder,
            start=start,
            evaluate=partial(_evaluate, evaluations, _encoder(model, precision, settings)),
            processes=processes,
            progress=progress,
        )
        cut, encoded = setup.task.names_cut()
        if not processes.first:
            return {}
        restore_best(folder, setup.weights, state)
        result = finish_training(
            folder, lambda target: write_tuned(model.cpu(), settings, target), state, setup.result()
        )
        TruncationCounts(cut, encoded, model.settings.max_length).warn(stacklevel=4)
        return result


def _load(settings: EncoderTrainingSettings, device: torch.device) -> TorchModel:
    require_single(settings.base, "trained")
    return TorchModel.load(
        settings.base,
        pooling=settings.pooling,
        max_length=settings.max_length,
        attention=attention_on(device.type),
    )


def _digest(model: TorchModel) -> str:
    """Compute a digest of what makes the vectors of a base: weights, shape, tokenizer and pooling."""
    weights = weights_digest(model.transformer.state_dict())
    return fingerprint(
        weights=weights + relevant_config(model.transformer.config.to_dict()),
        tokenizer=model.tokenizer.to_str(),
        settings=model.settings,
        precision="fp32",
    )


def _prepare(model: TorchModel, settings: EncoderTrainingSettings, device: torch.device) -> None:
    torch.manual_seed(settings.seed)
    add_tuning(model, settings)
    prepare_model(model, device)


def _encoder(model: TorchModel, precision: Precision, settings: EncoderTrainingSettings) -> Encode:
    """Make an encoder of names with the current weights, for evaluation."""

    def encode(names: Sequence[str]) -> npt.NDArray[np.float32]:
        vectors = encode_names(model, names, precision, at_once=settings.graph_tokens)
        unit_vectors: npt.NDArray[np.float32] = normalize(vectors).cpu().numpy()
        return unit_vectors

    return encode


def _evaluate(evaluations: Mapping[str, EncoderEvaluation], encode: Encode) -> Figures:
    encode = memoised(encode)
    return {name: evaluation(encode) for name, evaluation in evaluations.items()}
