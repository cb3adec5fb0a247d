"""Tuning of few weights: adapters, or LoRA through peft.

LoRA trains low-rank updates of attention weights, which are merged into the weights after training.

Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models" (ICLR 2022).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from torch import nn
from transformers import PreTrainedModel

from nymlink.core.errors import InputError, MissingExtraError
from nymlink.encode.model.adapters import AdapterSettings
from nymlink.encode.model.torch_model import TorchModel
from nymlink.train.settings.common import EncoderTrainingSettings

if TYPE_CHECKING:
    from peft import PeftModel


_BERT_LIKE: Final = ("query", "value")

TARGETS: Final = {
    "bert": _BERT_LIKE,
    "camembert": _BERT_LIKE,
    "deberta": ("in_proj",),
    "deberta-v2": ("query_proj", "value_proj"),
    "distilbert": ("q_lin", "v_lin"),
    "electra": _BERT_LIKE,
    "modernbert": ("Wqkv",),
    "mpnet": ("attn.q", "attn.v"),
    "roberta": _BERT_LIKE,
    "xlm-roberta": _BERT_LIKE,
}
"""Model type → names of the layers that LoRA updates: those of queries and values (paper, section 4.2)."""


@dataclass(frozen=True, kw_only=True)
class LoraSettings:
    """Settings of LoRA: the rank r of an update, and α. Each update is multiplied by α / r."""

    rank: int = 16
    alpha: int = 32

    def __post_init__(self) -> None:
        if self.rank < 1 or self.alpha < 1:
            raise ValueError(f"rank and alpha must be at least 1, not {self.rank} and {self.alpha}")


def add_lora(model: PreTrainedModel, settings: LoraSettings) -> PeftModel:
    """Freeze a model, and add trainable low-rank updates.

    Raises:
        InputError: :data:`TARGETS` does not have this type of model; the message lists its linear layers.
        MissingExtraError: peft is not installed.
    """
    try:
        from peft import LoraConfig, get_peft_model
    except ImportError as error:
        raise MissingExtraError("train", purpose="LoRA") from error
    kind = model.config.model_type
    if kind not in TARGETS:
        linear = (name for name, module in model.named_modules() if isinstance(module, nn.Linear))
        layers = sorted({name.rpartition(".")[2] for name in linear})
        raise InputError(
            f"LoRA is available for models of the types {', '.join(TARGETS)}, not {kind} "
            f"(whose linear layers are {', '.join(layers)}): use the tuning full or adapters instead"
        )
    config = LoraConfig(r=settings.rank, lora_alpha=settings.alpha, target_modules=list(TARGETS[kind]))
    return cast("PeftModel", get_peft_model(model, config))


def merge_lora(model: PeftModel) -> PreTrainedModel:
    """Add the updates to the weights, and return the model without LoRA. ``model`` cannot be used afterwards."""
    return cast("PreTrainedModel", model.merge_and_unload())


def add_tuning(model: TorchModel, settings: EncoderTrainingSettings) -> None:
    """Freeze a model, and add adapters or LoRA updates, if the settings say so.

    The caller seeds torch first, because the new weights are random.
    """
    if settings.tuning == "adapters":
        model.add_adapters(AdapterSettings(reduction=settings.adapter_reduction))
    elif settings.tuning == "lora":
        lora = LoraSettings(rank=settings.lora_rank, alpha=settings.lora_alpha)
        model.transformer = cast(PreTrainedModel, add_lora(model.transformer, lora))


def write_tuned(model: TorchModel, settings: EncoderTrainingSettings, folder: Path) -> None:
    """Write an encoder with :meth:`TorchModel.save`, after merging LoRA. ``model`` cannot be used afterwards."""
    if settings.tuning == "lora":
        model.transformer = merge_lora(cast("PeftModel", model.transformer))
    model.save(folder)
