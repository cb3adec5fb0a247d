"""The folders of re-rankers: which scorer is in one, and the weights that were fitted to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from nymlink.atomic import atomic_file
from nymlink.encode.cache import EmbeddingCache
from nymlink.errors import InputError, MissingExtraError, StoreError
from nymlink.manifest import MANIFEST, read_manifest
from nymlink.rerank.combine import Weights
from nymlink.rerank.scorer import ContextScorer
from nymlink.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from torch import nn

M = TypeVar("M", bound="nn.Module")

_WEIGHTS: Final = "weights"
"""Where the manifest has them: it is replaced in one step. A training that replaces the re-ranker drops them."""


def open_scorer(folder: Path, vocabulary: Vocabulary) -> tuple[ContextScorer, Weights]:
    """The scorer of a folder, on the first CUDA device or else on the CPU, and the weights that were fitted to it.

    Transformers are in bf16 where the device multiplies that itself. Vectors of concepts go to the user's cache.

    Raises:
        StoreError: it is missing, damaged, or of another format version.
        MissingExtraError: torch or transformers is not installed.
    """
    try:
        import torch
        import transformers  # noqa: F401  # the encoders are made of both
    except ImportError as error:
        raise MissingExtraError("train", purpose="re-ranking") from error
    from nymlink.encode.torch_model import attention_on
    from nymlink.rerank.cross_encoder import KIND, CrossEncoder
    from nymlink.rerank.cross_scorer import CrossScorer
    from nymlink.rerank.dual_encoder import DualEncoder
    from nymlink.rerank.dual_scorer import DualScorer

    manifest = _manifest(folder)
    weights = _weights(manifest, folder)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    attention = attention_on(device)
    if manifest["kind"] == KIND:
        return CrossScorer(_on_device(CrossEncoder.load(folder, attention=attention), device), vocabulary), weights
    dual = _on_device(DualEncoder.load(folder, attention=attention), device)
    return DualScorer(dual, vocabulary, cache=EmbeddingCache.of_user()), weights


def store_weights(folder: str | Path, weights: Weights) -> None:
    """Change the weights of a re-ranker, in one step.

    Raises:
        StoreError: it is missing, damaged, or of another format version.
        OutputError: it cannot be written; nothing was changed.
    """
    folder = Path(folder)
    manifest = {**_manifest(folder), _WEIGHTS: weights.to_dict()}
    with atomic_file(folder / MANIFEST) as partial:
        partial.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _on_device(model: M, device: str) -> M:
    from nymlink.encode.torch_model import TorchModel, has_bf16

    if has_bf16(device):
        for part in model.modules():
            if isinstance(part, TorchModel):
                # What is made of its states stays float32: scores of candidates differ by little.
                part.transformer.bfloat16()
    return model.to(device)


def _manifest(folder: Path) -> dict[str, Any]:
    from nymlink.rerank import cross_encoder, dual_encoder

    kind = cross_encoder if _kind(folder) == cross_encoder.KIND else dual_encoder
    return read_manifest(folder, kind=kind.KIND, version=kind.VERSION)


def _kind(folder: Path) -> Any:
    """What its manifest says; ``None`` where there is none that can be read: that is said by who checks it."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return manifest.get("kind") if isinstance(manifest, dict) else None


def _weights(manifest: dict[str, Any], folder: Path) -> Weights:
    try:
        return Weights(**manifest.get(_WEIGHTS, {}))
    except (InputError, TypeError) as error:
        raise StoreError(
            f"its fitted weights are damaged ({error}): run `nymlink rerank fit` again", path=folder
        ) from error
