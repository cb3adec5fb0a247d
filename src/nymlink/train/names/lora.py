"""LoRA (Hu et al. 2022) through peft: low-rank changes of the attention, merged into plain weights when done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from torch import nn

from nymlink.core.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from peft import PeftModel
    from transformers import PreTrainedModel

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
"""The layers that are changed, by type of model: those that make queries and values, as in the paper."""


@dataclass(frozen=True, kw_only=True)
class LoraSettings:
    """How much is trained.

    Attributes:
        rank: rank of the change of each weight matrix.
        alpha: the change is scaled by alpha / rank.
    """

    rank: int = 16
    alpha: int = 32

    def __post_init__(self) -> None:
        if self.rank < 1 or self.alpha < 1:
            raise ValueError(f"rank and alpha must be at least 1, not {self.rank} and {self.alpha}")


def add_lora(model: PreTrainedModel, settings: LoraSettings) -> PeftModel:
    """Freeze a model and wrap it so that only low-rank changes are trained.

    Raises:
        InputError: which layers to change in a model of this type is not known; the message lists what there is.
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
            f"LoRA is set up for models of the types {', '.join(TARGETS)}, not {kind} "
            f"(which has the linear layers {', '.join(layers)}): train all its weights"
        )
    config = LoraConfig(r=settings.rank, lora_alpha=settings.alpha, target_modules=list(TARGETS[kind]))
    return cast("PeftModel", get_peft_model(model, config))


def merge_lora(model: PeftModel) -> PreTrainedModel:
    """The plain model with the changes added to its weights, to be saved like any other; ``model`` is used up."""
    return cast("PreTrainedModel", model.merge_and_unload())
