"""Self-alignment pretraining (SapBERT): batches of names, and the task.

Liu et al., "Self-Alignment Pretraining for Biomedical Entity Representations" (NAACL 2021), section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from torch import Tensor

from nymlink.core.errors import InputError, NymlinkError
from nymlink.core.problems import Problems
from nymlink.core.store.arrays import Ints
from nymlink.encode.model.token_batches import Tokens, tokenise
from nymlink.encode.model.torch_model import TorchModel
from nymlink.pairs.pairs import PairSequence
from nymlink.train.engine.distributed import SINGLE, Processes
from nymlink.train.engine.gradient_cache import EncodedBatch
from nymlink.train.engine.loop import trainable_parameters
from nymlink.train.engine.optimiser import Precision, adamw
from nymlink.train.engine.task import BatchResult
from nymlink.train.losses import LOSSES
from nymlink.train.losses.base import Loss, distances, mine, similarities
from nymlink.train.names.encoder_training import TrainingData, TrainingSetup, train_encoder
from nymlink.train.settings.common import AlignmentSettings, SynonymSettings

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@dataclass(frozen=True, slots=True)
class NameBatch:
    """The names of B pairs, as R = 2 B rows: first the left names of all pairs, then the right names.

    The batch has U distinct names. Each process encodes some of them, and knows the rows of the whole batch.

    Attributes:
        labels: int64 (R): number of each row's concept.
        groups: int64 (R): number of each row's group. Rows of one group are never negatives of each other. All
            rows of a concept are in one group.
        names: int64 (R): number of each row's distinct name. The names that process 0 encodes have the lowest
            numbers.
        counts: number of distinct names of each process; their sum is U.
        tokens: distinct names of this process.
        place: epoch and numbers of the pairs, shown in messages.
    """

    labels: Ints
    groups: Ints
    names: Ints
    counts: tuple[int, ...]
    tokens: Tokens
    place: str

    @property
    def pairs(self) -> int:
        """B, the number of pairs."""
        return len(self.labels) // 2

    def __str__(self) -> str:
        return self.place


class NameBatches:
    """Cuts a sequence of pairs into batches.

    Args:
        pairs: the sequence of pairs.
        size: pairs of a batch, over all processes; the last batch of an epoch may have fewer.
        tokenizer: truncates names.
        processes: the processes that share the names.
    """

    def __init__(
        self, pairs: PairSequence, *, size: int, tokenizer: Tokenizer, processes: Processes = SINGLE
    ) -> None:
        self._pairs = pairs
        self._size = size
        self._tokenizer = tokenizer
        self._processes = processes

    def __len__(self) -> int:
        """Count the batches of an epoch."""
        return -(-len(self._pairs) // self._size)

    def batch(self, number: int, *, epoch: int) -> NameBatch:
        """Make a batch of an epoch from these two numbers alone."""
        start = number * self._size
        stop = min(start + self._size, len(self._pairs))
        pairs = self._pairs.slice(start, stop, epoch=epoch)
        _, labels = np.unique(pairs.concepts, return_inverse=True)
        groups = labels if pairs.groups is None else pairs.groups
        distinct: dict[str, int] = {}
        rows = [distinct.setdefault(name, len(distinct)) for name in (*pairs.left, *pairs.right)]
        shares = _shares(list(distinct), self._processes.count)
        order = np.argsort(np.concatenate(shares))
        names = list(distinct)
        return NameBatch(
            labels=np.concatenate([labels, labels]),
            groups=np.concatenate([groups, groups]),
            names=order[rows],
            counts=tuple(map(len, shares)),
            tokens=tokenise(self._tokenizer, [names[row] for row in shares[self._processes.rank].tolist()]),
            place=f"epoch {epoch + 1}, pairs {start + 1:,} to {stop:,} of {len(self._pairs):,}",
        )


def _shares(names: Sequence[str], processes: int) -> list[Ints]:
    """Divide names between processes, so that each process gets names of all lengths."""
    by_length = np.argsort([len(name) for name in names], kind="stable")
    return [by_length[rank::processes] for rank in range(processes)]


_FAR: Final = 1e4
"""A distance larger than that of any two unit vectors. It keeps ignored rows out of hard triplets."""


class SelfAlignmentTask:
    """Brings the names of a concept together; a :class:`~nymlink.train.engine.task.Task`."""

    unit = "pairs"
    memory_setting = "graph_tokens"

    def __init__(
        self,
        model: TorchModel,
        batches: NameBatches,
        loss: Loss,
        settings: AlignmentSettings,
        precision: Precision,
        processes: Processes = SINGLE,
    ) -> None:
        self._model = model
        self._batches = batches
        self._settings = settings
        self._ignore_shared_names = isinstance(settings, SynonymSettings) and settings.shared_names == "ignore"
        self._loss = loss
        self._precision = precision
        self._processes = processes
        self._encoded = self._cut = 0

    def __len__(self) -> int:
        return len(self._batches)

    def start_epoch(self, epoch: int) -> None:
        """Do nothing: epochs differ only in the order of pairs."""

    def batch(self, epoch: int, number: int) -> NameBatch:
        return self._batches.batch(number, epoch=epoch)

    def backward(self, batch: NameBatch) -> BatchResult:
        """Add the gradients of the whole batch's loss. Each process propagates them through its own names."""
        encoding = EncodedBatch(
            self._model, batch.tokens, self._precision, graph_tokens=self._settings.graph_tokens
        )
        vectors = self._processes.gather(encoding.vectors, batch.counts).requires_grad_()
        if not torch.isfinite(vectors).all():
            raise NymlinkError("the encoder's vectors are no longer finite numbers")
        device = vectors.device
        names, labels, groups = (
            torch.from_numpy(numbers).to(device) for numbers in (batch.names, batch.labels, batch.groups)
        )
        rows = vectors[names]
        cosines = similarities(rows, rows)
        positives, negatives = self._pairs(cosines.detach(), labels, groups, names)
        loss = self._loss(cosines, positives, negatives)
        (gradient,) = torch.autograd.grad(loss * self._precision.scale, vectors)
        self._encoded += len(batch.tokens)
        self._cut += batch.tokens.truncated
        start = sum(batch.counts[: self._processes.rank])
        encoding.backward(gradient[start : start + len(encoding.vectors)])
        same = labels[:, None] == labels[None, :]
        return BatchResult(
            loss=loss.item(),
            size=batch.pairs,
            figures={
                "mined_positives": _share(positives, same.sum() - len(labels)),
                "mined_negatives": _share(negatives, (~same).sum()),
            },
        )

    def names_cut(self) -> tuple[int, int]:
        """Count the truncated and the encoded names so far, in all processes."""
        device = self._precision.device
        return self._processes.total(self._cut, device), self._processes.total(self._encoded, device)

    def _pairs(self, cosines: Tensor, labels: Tensor, groups: Tensor, names: Tensor) -> tuple[Tensor, Tensor]:
        """Mine the positive and negative pairs of the loss: bool (R, R) each."""
        rows = torch.arange(len(labels), device=labels.device)
        margin = self._settings.margin if self._settings.mining else None
        same = groups[:, None] == groups[None, :]
        if self._ignore_shared_names:
            same |= names[:, None] == names[None, :]
        # These pairs are neither positives nor negatives, so they are in no triplet.
        ignored = same & (labels[:, None] != labels[None, :])
        euclidean = distances(cosines).masked_fill(ignored, _FAR)
        positives, negatives = mine(euclidean, labels, labels, rows, margin)
        return positives, negatives & ~ignored


def make_loss(name: str, settings: dict[str, Any]) -> Loss:
    """Create a loss by its name.

    Raises:
        UnknownNameError: unknown loss; the message lists the known ones.
        InputError: unknown setting, or a value out of range.
    """
    loss_class = LOSSES.get(name)
    try:
        return loss_class(**settings)
    except (TypeError, ValueError) as error:
        raise InputError(f"loss_settings of {name}: {error}; its settings are {loss_class().to_dict()}") from error


def _share(mask: Tensor, of: Tensor) -> float:
    return float(mask.sum() / of.clamp(min=1))


@dataclass(frozen=True, slots=True)
class PairData:
    """The pairs of a training.

    Attributes:
        pairs: the sequence of pairs.
        provenance: source of the pairs, as JSON values; a training resumes only with the same data.
    """

    pairs: PairSequence
    provenance: Mapping[str, Any]


def train_on_pairs(
    training: str,
    settings: AlignmentSettings,
    open_pairs: Callable[[Path, Problems], PairData],
    *,
    restart: bool = False,
    progress: bool = False,
    problems: Problems | None = None,
) -> Mapping[str, Any]:
    """Train an encoder by self-alignment of pairs, or resume its training.

    ``open_pairs`` is a function that opens the pairs. It is given a temporary folder and the collector of broken
    input. The other arguments, the result and the errors are those of
    :func:`~nymlink.train.names.encoder_training.train_encoder`.

    Raises:
        InputError: there are no pairs, or the loss lacks a given setting.
        UnknownNameError: unknown loss.
    """
    loss = make_loss(settings.loss, settings.loss_settings)

    def open_data(scratch: Path, problems: Problems) -> TrainingData[NameBatch]:
        data = open_pairs(scratch, problems)
        if not len(data.pairs):
            raise InputError("there are no pairs to train on: no concept has two names")

        def setup(model: TorchModel, precision: Precision, processes: Processes) -> TrainingSetup[NameBatch]:
            batches = NameBatches(
                data.pairs, size=settings.batch_pairs, tokenizer=model.tokenizer, processes=processes
            )
            return TrainingSetup(
                SelfAlignmentTask(model, batches, loss, settings, precision, processes),
                model,
                adamw(
                    trainable_parameters(model),
                    learning_rate=settings.learning_rate,
                    weight_decay=settings.weight_decay,
                ),
            )

        return TrainingData(data.provenance, setup)

    return train_encoder(training, settings, open_data, restart=restart, progress=progress, problems=problems)
