"""What the recipes have in common that bring the names of a concept together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.encode.model.torch_model import TorchModel
from nymlink.pairs.sequence import PairSequence
from nymlink.train.engine.distributed import Processes
from nymlink.train.engine.loop import trained
from nymlink.train.engine.optimiser import adamw
from nymlink.train.engine.precision import Precision
from nymlink.train.names.batches import NameBatch, NameBatches
from nymlink.train.names.encoder_training import Learner, Material, train
from nymlink.train.names.self_alignment import Alignment, make_loss
from nymlink.train.settings.common import AlignmentSettings


@dataclass(frozen=True, slots=True)
class Data:
    """What is aligned.

    Attributes:
        pairs: where batches come from.
        origin: what they were made of, as JSON values; resuming with another origin is refused.
    """

    pairs: PairSequence
    origin: Mapping[str, Any]


def align(
    recipe: str,
    settings: AlignmentSettings,
    data: Callable[[Path, Problems], Data],
    *,
    restart: bool = False,
    progress: bool = False,
    problems: Problems | None = None,
) -> Mapping[str, Any]:
    """Train an encoder on pairs of names, or go on with it; see :mod:`~nymlink.train.names.encoder_training`.

    Args:
        recipe: its name, for the record.
        settings: its settings.
        data: opens the pairs, given a folder for files of its own and a place to report broken input.
        restart: replace a training in the output folder instead of going on with it.
        progress: whether to show progress when standard error is a terminal.
        problems: gets broken input.
    """
    loss = make_loss(settings.loss, settings.loss_settings)

    def material(scratch: Path, problems: Problems) -> Material[NameBatch]:
        found = data(scratch, problems)
        if not len(found.pairs):
            raise InputError("there are no pairs to train on")

        def learner(model: TorchModel, precision: Precision, processes: Processes) -> Learner[NameBatch]:
            batches = NameBatches(
                found.pairs, size=settings.batch_pairs, tokenizer=model.tokenizer, processes=processes
            )
            return Learner(
                Alignment(model, batches, loss, settings, precision, processes),
                model,
                adamw(trained(model), learning_rate=settings.learning_rate, weight_decay=settings.weight_decay),
            )

        return Material(found.origin, learner)

    return train(recipe, settings, material, restart=restart, progress=progress, problems=problems)
