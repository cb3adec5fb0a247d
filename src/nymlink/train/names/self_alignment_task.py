"""The task of self-alignment: batches of pairs, and the gradients of a metric-learning loss over mined pairs.

Liu et al., "Self-Alignment Pretraining for Biomedical Entity Representations" (NAACL 2021), section 2.
"""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Tensor

from nymlink.core.errors import InputError, NymlinkError
from nymlink.encode.model.torch_model import TorchModel
from nymlink.train.engine.distributed import SINGLE, Processes
from nymlink.train.engine.gradient_cache import EncodedBatch
from nymlink.train.engine.precision import Precision
from nymlink.train.engine.task import BatchResult
from nymlink.train.losses import LOSSES
from nymlink.train.losses.base import Loss
from nymlink.train.losses.geometry import distances, similarities
from nymlink.train.losses.mining import mine
from nymlink.train.names.name_batches import NameBatch, NameBatches
from nymlink.train.settings.common import AlignmentSettings, SynonymSettings

_FAR: Final = 1e4
"""Larger than any distance of unit vectors: a row at this distance is in no hard triplet."""


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
        """Do nothing: epochs differ only in the order of the pairs."""

    def batch(self, epoch: int, number: int) -> NameBatch:
        return self._batches.batch(number, epoch=epoch)

    def backward(self, batch: NameBatch) -> BatchResult:
        """Add the gradients of the whole batch's loss, in each process through its own names."""
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
        """Count the truncated and the encoded names of all batches so far, in all processes."""
        device = self._precision.device
        return self._processes.total(self._cut, device), self._processes.total(self._encoded, device)

    def _pairs(self, cosines: Tensor, labels: Tensor, groups: Tensor, names: Tensor) -> tuple[Tensor, Tensor]:
        """Mine the positive and negative pairs of the loss: bool (R, R) each."""
        rows = torch.arange(len(labels), device=labels.device)
        margin = self._settings.margin if self._settings.mining else None
        same = groups[:, None] == groups[None, :]
        if self._ignore_shared_names:
            same |= names[:, None] == names[None, :]
        # Neither positives nor negatives, and so in no triplet.
        ignored = same & (labels[:, None] != labels[None, :])
        euclidean = distances(cosines).masked_fill(ignored, _FAR)
        positives, negatives = mine(euclidean, labels, labels, rows, margin)
        return positives, negatives & ~ignored


def make_loss(name: str, settings: dict[str, Any]) -> Loss:
    """Create the loss of that name.

    Raises:
        UnknownNameError: there is no such loss; the message lists the known ones.
        InputError: the loss has no such setting, or a value is out of range.
    """
    loss_class = LOSSES.get(name)
    try:
        return loss_class(**settings)
    except (TypeError, ValueError) as error:
        raise InputError(f"loss_settings of {name}: {error}; its settings are {loss_class().to_dict()}") from error


def _share(mask: Tensor, of: Tensor) -> float:
    return float(mask.sum() / of.clamp(min=1))
