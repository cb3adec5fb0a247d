"""Self-alignment: one step, from the names of a batch to the gradients of the weights.

Liu et al., "Self-Alignment Pretraining for Biomedical Entity Representations" (NAACL 2021), section 2.
"""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Tensor

from nymlink.core.errors import InputError, NymlinkError
from nymlink.encode.model.torch_model import TorchModel
from nymlink.train.engine.cached_gradient import Encoding
from nymlink.train.engine.distributed import SINGLE, Processes
from nymlink.train.engine.precision import Precision
from nymlink.train.engine.task import Outcome
from nymlink.train.losses import LOSSES
from nymlink.train.losses.base import Loss
from nymlink.train.losses.geometry import distances, similarities
from nymlink.train.losses.mining import mine
from nymlink.train.names.batches import NameBatch, NameBatches
from nymlink.train.settings.common import AlignmentSettings

_FAR: Final = 1e4
"""A distance that no two unit vectors have: a row at it is in no hard triplet."""


class Alignment:
    """The task of bringing the names of a concept together, for the :mod:`~nymlink.train.engine.loop`."""

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
        self._loss = loss
        self._precision = precision
        self._processes = processes
        self._encoded = self._cut = 0

    def __len__(self) -> int:
        return len(self._batches)

    def start_epoch(self, epoch: int) -> None:
        """Nothing changes from epoch to epoch but the order of the pairs."""

    def batch(self, epoch: int, number: int) -> NameBatch:
        return self._batches.batch(number, epoch=epoch)

    def backward(self, batch: NameBatch) -> Outcome:
        """Add the gradients of the joint batch's loss; each process those that flow through its own names."""
        encoding = Encoding(self._model, batch.tokens, self._precision, graph_tokens=self._settings.graph_tokens)
        vectors = self._processes.gather(encoding.vectors, batch.counts).requires_grad_()
        if not torch.isfinite(vectors).all():
            raise NymlinkError("the encoder's vectors are no longer finite numbers")
        device = vectors.device
        names, labels = torch.from_numpy(batch.names).to(device), torch.from_numpy(batch.labels).to(device)
        rows = vectors[names]
        cosines = similarities(rows, rows)
        positives, negatives = self._pairs(cosines.detach(), labels, names)
        loss = self._loss(cosines, positives, negatives)
        (gradient,) = torch.autograd.grad(loss * self._precision.scale, vectors)
        self._encoded += len(batch.tokens)
        self._cut += batch.tokens.truncated
        start = sum(batch.counts[: self._processes.rank])
        encoding.backward(gradient[start : start + len(encoding.vectors)])
        same = labels[:, None] == labels[None, :]
        return Outcome(
            loss=loss.item(),
            size=batch.pairs,
            figures={
                "mined_positives": _share(positives, same.sum() - len(labels)),
                "mined_negatives": _share(negatives, (~same).sum()),
            },
        )

    def names_cut(self) -> tuple[int, int]:
        """How many names were cut, and how many were encoded: of all batches so far, in all processes."""
        device = self._precision.device
        return self._processes.total(self._cut, device), self._processes.total(self._encoded, device)

    def _pairs(self, cosines: Tensor, labels: Tensor, names: Tensor) -> tuple[Tensor, Tensor]:
        """The positives and negatives that the loss looks at, bool (R, R) each."""
        rows = torch.arange(len(labels), device=labels.device)
        margin = self._settings.margin if self._settings.mining else None
        apart = distances(cosines)
        if self._settings.shared_names == "negative":
            return mine(apart, labels, labels, rows, margin)
        shared = (names[:, None] == names[None, :]) & (labels[:, None] != labels[None, :])
        positives, negatives = mine(apart.masked_fill(shared, _FAR), labels, labels, rows, margin)
        return positives, negatives & ~shared


def make_loss(name: str, settings: dict[str, Any]) -> Loss:
    """The loss of that name.

    Raises:
        UnknownNameError: there is none; the message lists those there are.
        InputError: it has no such setting, or not such a value for it.
    """
    kind = LOSSES.get(name)
    try:
        return kind(**settings)
    except (TypeError, ValueError) as error:
        raise InputError(f"loss_settings of {name}: {error}; its settings are {kind().to_dict()}") from error


def _share(mask: Tensor, of: Tensor) -> float:
    return float(mask.sum() / of.clamp(min=1))
