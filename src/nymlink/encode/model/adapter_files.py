"""Adapter folders: the weights of adapters alone, for the model they were trained on and no other."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import torch
from torch import Tensor, nn

from nymlink.core.errors import StoreError
from nymlink.core.json_objects import member, to_dataclass
from nymlink.core.store.manifest import read_manifest, require_files, write_directory
from nymlink.encode.model.adapters import AdapterSettings, adapter_weights, add_adapters

if TYPE_CHECKING:
    from transformers import PreTrainedModel

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
    """Add the adapters of a folder to the model that they were trained on; return their settings.

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
    """Digest a model's own weights, without its adapters and its pooler."""
    adapters = adapter_weights(model)
    own = {name: value for name, value in model.state_dict().items() if not name.startswith("pooler.")}
    return weights_digest({name: value for name, value in own.items() if name not in adapters})


def weights_digest(weights: Mapping[str, Tensor]) -> str:
    """Digest named weights; the same in float32 and bfloat16."""
    digest = hashlib.blake2b(digest_size=16)
    for name, value in sorted(weights.items()):
        digest.update(f"{name} {tuple(value.shape)}\n".encode())
        digest.update(value.to(torch.bfloat16).cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
