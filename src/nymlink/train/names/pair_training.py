"""Training of an encoder on pairs of names: what the recipes ``sap`` and ``finetune`` have in common."""

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
from nymlink.train.engine.loop import trainable_parameters
from nymlink.train.engine.optimiser import adamw
from nymlink.train.engine.precision import Precision
from nymlink.train.names.encoder_training import TrainingData, TrainingSetup, train_encoder
from nymlink.train.names.name_batches import NameBatch, NameBatches
from nymlink.train.names.self_alignment_task import SelfAlignmentTask, make_loss
from nymlink.train.settings.common import AlignmentSettings


@dataclass(frozen=True, slots=True)
class PairData:
    """The pairs of a training.

    Attributes:
        pairs: the sequence of pairs.
        provenance: what they were made from, as JSON values; a training with other data is not resumed.
    """

    pairs: PairSequence
    provenance: Mapping[str, Any]


def train_on_pairs(
    recipe: str,
    settings: AlignmentSettings,
    open_pairs: Callable[[Path, Problems], PairData],
    *,
    restart: bool = False,
    progress: bool = False,
    problems: Problems | None = None,
) -> Mapping[str, Any]:
    """Train an encoder by self-alignment of pairs, or resume its training.

    Arguments, result and errors are those of :func:`~nymlink.train.names.encoder_training.train_encoder`, but that
    ``open_pairs`` opens the pairs, given a temporary folder and the collector of broken input.

    Raises:
        InputError: there are no pairs, or the loss has no such setting.
        UnknownNameError: there is no loss of that name.
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

    return train_encoder(recipe, settings, open_data, restart=restart, progress=progress, problems=problems)
