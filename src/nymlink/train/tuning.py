"""Which of an encoder's weights are trained, and what is written of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from transformers import PreTrainedModel

from nymlink.encode.quiet import quiet_transformers
from nymlink.encode.torch_model import TorchModel
from nymlink.train.adapter_files import save_adapters
from nymlink.train.adapters import AdapterSettings, adapter_weights, add_adapters
from nymlink.train.lora import LoraSettings, add_lora, merge_lora
from nymlink.train.settings import AlignmentSettings

if TYPE_CHECKING:
    from peft import PeftModel

ADAPTERS: Final = "adapters"
"""The folder of an encoder that holds its adapters."""


def add_tuning(model: TorchModel, settings: AlignmentSettings) -> None:
    """Freeze and extend a model as the settings say; what wants a gradient afterwards is what is trained.

    Random weights are torch's: seed it before.
    """
    if settings.tuning == "adapters":
        add_adapters(model.transformer, _adapter_settings(settings))
    elif settings.tuning == "lora":
        lora = LoraSettings(rank=settings.lora_rank, alpha=settings.lora_alpha)
        model.transformer = cast(PreTrainedModel, add_lora(model.transformer, lora))


def write_tuned(model: TorchModel, settings: AlignmentSettings, folder: Path) -> None:
    """Write an encoder into a folder, as transformers and sentence-transformers load it.

    LoRA's changes are merged into the weights, and ``model`` is used up. Adapters cannot be: they are put into the
    folder ``adapters`` beside the weights of the base.
    """
    if settings.tuning == "lora":
        model.transformer = merge_lora(cast("PeftModel", model.transformer))
    if settings.tuning != "adapters":
        model.write(folder)
        return
    adapters = adapter_weights(model.transformer)
    own = {name: value for name, value in model.transformer.state_dict().items() if name not in adapters}
    with quiet_transformers():
        model.transformer.save_pretrained(folder, state_dict=own)
    model.write_settings(folder)
    save_adapters(model.transformer, _adapter_settings(settings), folder / ADAPTERS)


def _adapter_settings(settings: AlignmentSettings) -> AdapterSettings:
    return AdapterSettings(reduction=settings.adapter_reduction)
