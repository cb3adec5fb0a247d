"""Full, adapter and LoRA tuning: the weights of an encoder that are trained, and how they are written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from transformers import PreTrainedModel

from nymlink.encode.model.adapters import AdapterSettings
from nymlink.encode.model.torch_model import TorchModel
from nymlink.train.names.lora import LoraSettings, add_lora, merge_lora
from nymlink.train.settings.common import EncoderTrainingSettings

if TYPE_CHECKING:
    from peft import PeftModel


def add_tuning(model: TorchModel, settings: EncoderTrainingSettings) -> None:
    """Freeze and extend a model for adapter or LoRA tuning; parameters with ``requires_grad`` are then trained.

    New weights are drawn from torch's random numbers: seed them before.
    """
    if settings.tuning == "adapters":
        model.add_adapters(AdapterSettings(reduction=settings.adapter_reduction))
    elif settings.tuning == "lora":
        lora = LoraSettings(rank=settings.lora_rank, alpha=settings.lora_alpha)
        model.transformer = cast(PreTrainedModel, add_lora(model.transformer, lora))


def write_tuned(model: TorchModel, settings: EncoderTrainingSettings, folder: Path) -> None:
    """Write an encoder into a folder, with a manifest (see :meth:`TorchModel.save`).

    LoRA's updates are merged into the weights; ``model`` cannot be used afterwards.
    """
    if settings.tuning == "lora":
        model.transformer = merge_lora(cast("PeftModel", model.transformer))
    model.save(folder)
