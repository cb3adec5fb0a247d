"""Bottleneck adapters: small layers that are trained in a transformer whose own weights are frozen.

The configuration is that of Pfeiffer et al. ("MAD-X" and "AdapterFusion"), which AdapterHub calls ``pfeiffer``.
There is one adapter after each feed-forward block, within the residual connection of the block. If h is the output
of the block for input x, then

    z = LayerNorm(h + x),    output = LayerNorm(h + x + up(relu(down(z)))).

In models with normalisation before the blocks (ModernBERT), both LayerNorms are left out, as in AdapterHub. Liu et
al. (2021) trained with a release whose configuration also had an invertible adapter after the embeddings. Only
with this adapter are the sizes as published. With reductions 1 and 16, BERT-base gets 14.47 M and 1.19 M
parameters, which are 13.22 % and 1.09 % of its own. (For reduction 16, the paper says "0.60 M", which contradicts
its own percentage.)

An adapter contains a ReLU, so it cannot be merged into the model's weights as LoRA can. It is stored separately,
and added again when the model is loaded.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import torch
from torch import Tensor, nn

from nymlink.core.errors import InputError, StoreError
from nymlink.core.json_files import member, to_dataclass
from nymlink.core.store.manifest import read_manifest, require_files, write_directory

if TYPE_CHECKING:
    from transformers import PreTrainedModel


_CHILD: Final = "adapter"

_NORM: Final = re.compile(r".*\.layer\.\d+\.(output\.LayerNorm|output_layer_norm)")
"""Pattern of the name of the normalisation at the end of a feed-forward block, in BERT and similar models, and in
DistilBERT.
"""

_LAYER: Final = re.compile(r"(.*\.)?layers\.\d+")
"""Pattern of the name of a layer in a model with normalisation before its blocks.

Such a layer ends with a feed-forward block.
"""


@dataclass(frozen=True, kw_only=True)
class AdapterSettings:
    """The size of adapters.

    Attributes:
        reduction: the width of the model divided by the width of the bottleneck. Liu et al. (2021) publish results
            for 1 and 16.
        invertible: whether to add an adapter after the embeddings too, as in the published training.
    """

    reduction: int = 16
    invertible: bool = True

    def __post_init__(self) -> None:
        if self.reduction < 1:
            raise ValueError(f"reduction must be at least 1, not {self.reduction}")


class Bottleneck(nn.Module):
    """Computes up(relu(down(x))).

    Before training the result is 0, so that training starts from the unchanged model.
    """

    def __init__(self, width: int, reduction: int) -> None:
        super().__init__()
        self.down = nn.Linear(width, max(width // reduction, 1))
        self.up = nn.Linear(self.down.out_features, width)
        nn.init.normal_(self.down.weight, std=0.02)
        for values in (self.down.bias, self.up.weight, self.up.bias):
            nn.init.zeros_(values)

    def forward(self, hidden: Tensor) -> Tensor:
        """Compute (…, D) → (…, D), in the precision of the weights."""
        inside = torch.relu(self.down(hidden.to(self.down.weight.dtype)))
        added: Tensor = self.up(inside)
        return added.to(hidden.dtype)

    def after_norm(self, norm: nn.Module, inputs: tuple[Tensor], normed: Tensor) -> Tensor:
        """Add the adapter before the final normalisation of a block.

        This is a forward hook of the normalisation.
        """
        # Call forward, because norm(…) would call this hook again.
        output: Tensor = norm.forward(inputs[0] + self(normed))
        return output

    def after_layer(self, layer: nn.Module, inputs: tuple[Tensor], hidden: Tensor) -> Tensor:
        """Add the adapter after a layer with normalisation before its blocks.

        This is a forward hook of the layer.
        """
        added: Tensor = self(hidden)
        return hidden + added


class Coupling(nn.Module):
    """An invertible adapter (NICE, Dinh et al. 2015): each half of a vector shifts the other."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = Bottleneck(width // 2, 2)
        self.second = Bottleneck(width // 2, 2)

    def forward(self, hidden: Tensor) -> Tensor:
        """(…, D) → (…, D)."""
        first, second = hidden.chunk(2, dim=-1)
        first = first + self.first(second)
        return torch.cat([first, second + self.second(first)], dim=-1)

    def after_embeddings(self, embeddings: nn.Module, inputs: tuple[Any, ...], hidden: Tensor) -> Tensor:
        """Transform the output of the embeddings. This is a forward hook of the embeddings."""
        output: Tensor = self(hidden)
        return output


def add_adapters(model: PreTrainedModel, settings: AdapterSettings) -> None:
    """Freeze a model and add adapters. From then on, only the adapters have gradients.

    Each adapter becomes a child of the module before it. So adapters move with the model and are among its
    parameters, and the names of the other weights stay the same. Adapters are always float32.

    Raises:
        InputError: the model has adapters already, or its feed-forward blocks were not found; the message lists
            its modules.
    """
    if adapter_weights(model):
        raise InputError("the model has adapters already: choose one without, or train all weights of this one")
    sites = _feed_forward_ends(model)
    embeddings = getattr(model, "embeddings", None)
    if settings.invertible and embeddings is None:
        raise InputError(
            f"a model of type {model.config.model_type} has no module 'embeddings' for an invertible adapter to "
            f"follow, but {_children(model)}: switch that adapter off (invertible=False)"
        )
    model.requires_grad_(False)
    with torch.device(model.device):
        for site in sites:
            adapter = Bottleneck(model.config.hidden_size, settings.reduction)
            site.add_module(_CHILD, adapter)
            site.register_forward_hook(adapter.after_norm if _is_norm(site) else adapter.after_layer)
        if settings.invertible and embeddings is not None:
            coupling = Coupling(model.config.hidden_size)
            embeddings.add_module(_CHILD, coupling)
            embeddings.register_forward_hook(coupling.after_embeddings)


def adapter_weights(model: nn.Module) -> dict[str, Tensor]:
    """Collect the weights of a model's adapters: name in the model → weight.

    The result is empty if there are none.
    """
    return {name: value for name, value in model.state_dict().items() if f".{_CHILD}." in name}


def _feed_forward_ends(model: PreTrainedModel) -> list[nn.Module]:
    """Find the modules after which adapters are added, one in each layer."""
    modules = dict(model.named_modules())
    ends = [module for name, module in modules.items() if _NORM.fullmatch(name)]
    if not ends:
        layers = [module for name, module in modules.items() if _LAYER.fullmatch(name)]
        ends = [layer for layer in layers if hasattr(layer, "mlp") and hasattr(layer, "mlp_norm")]
    if len(ends) != model.config.num_hidden_layers:
        named = [match[1] for name in modules if (match := re.fullmatch(r".*\b0\.(.+)", name, re.DOTALL))]
        raise InputError(
            f"a model of type {model.config.model_type} has {model.config.num_hidden_layers} layers, but "
            f"{len(ends)} places for adapters were found in them. Its first layer has: "
            f"{', '.join(named) or _children(model)}. Train all its weights, or use LoRA"
        )
    return ends


def _is_norm(module: nn.Module) -> bool:
    return "norm" in type(module).__name__.lower()


def _children(module: nn.Module) -> str:
    return ", ".join(name for name, _ in module.named_children())


_KIND: Final = "adapter"
_VERSION: Final = 2
_WEIGHTS: Final = "adapters.safetensors"


def save_adapters(model: PreTrainedModel, settings: AdapterSettings, folder: Path) -> None:
    """Write the adapters of a model, without its own weights, atomically.

    Raises:
        OutputError: something else is there, or it cannot be written.
    """
    from safetensors.torch import save_file

    body = {"settings": asdict(settings), "model_type": model.config.model_type, "base": base_digest(model)}
    with write_directory(folder, kind=_KIND, version=_VERSION, body=body) as partial:
        save_file({name: value.contiguous() for name, value in adapter_weights(model).items()}, partial / _WEIGHTS)


def load_adapters(model: PreTrainedModel, folder: Path) -> AdapterSettings:
    """Add the adapters of a folder to the model that they were trained on, and return their settings.

    Raises:
        StoreError: there are no adapters in the folder, they are damaged, or were trained on another model.
        InputError: the model has adapters already.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    manifest = read_manifest(folder, kind=_KIND, version=_VERSION)
    try:
        require_files(manifest, [_WEIGHTS])
        settings = to_dataclass(AdapterSettings, member(manifest, "settings", dict))
        weights = load_file(folder / _WEIGHTS)
    except (ValueError, OSError, SafetensorError) as error:
        raise StoreError(f"the adapters cannot be read ({error}): train them again", path=folder) from error
    if manifest.get("base") != base_digest(model):
        raise StoreError(
            f"these adapters were trained on another model (of type {manifest.get('model_type')}): load that one",
            path=folder,
        )
    add_adapters(model, settings)
    if {name: value.shape for name, value in weights.items()} != {
        name: value.shape for name, value in adapter_weights(model).items()
    }:
        raise StoreError("the weights do not fit the settings: train the adapters again", path=folder)
    model.load_state_dict(weights, strict=False)
    return settings


def base_digest(model: nn.Module) -> str:
    """Compute the digest of a model's own weights, without its adapters and its pooler."""
    adapters = adapter_weights(model)
    own = {name: value for name, value in model.state_dict().items() if not name.startswith("pooler.")}
    return weights_digest({name: value for name, value in own.items() if name not in adapters})


def weights_digest(weights: Mapping[str, Tensor]) -> str:
    """Compute the digest of named weights. It is the same in float32 and bfloat16."""
    digest = hashlib.blake2b(digest_size=16)
    for name, value in sorted(weights.items()):
        digest.update(f"{name} {tuple(value.shape)}\n".encode())
        digest.update(value.to(torch.bfloat16).cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
