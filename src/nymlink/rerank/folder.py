"""The folders of re-rankers: which scorer is in one, and what was fitted to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from nymlink.core.errors import InputError, MissingExtraError, StoreError
from nymlink.core.json_objects import member, record
from nymlink.core.store.belongings import MANIFEST
from nymlink.core.store.manifest import read_manifest, write_manifest
from nymlink.encode.cache.embedding_cache import EmbeddingCache
from nymlink.rerank.combine import Weights
from nymlink.rerank.kinds import CROSS, DUAL, VERSIONS
from nymlink.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from torch import nn

    from nymlink.index.index import Index
    from nymlink.rerank.cross_scorer import CrossScorer
    from nymlink.rerank.dual_scorer import DualScorer

M = TypeVar("M", bound="nn.Module")

_FITTED: Final = "fitted"
"""Where the manifest has it: it is replaced in one step. A training that replaces the re-ranker drops it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """What ``nymlink rerank fit`` found.

    Attributes:
        weights: what each piece of evidence counts.
        candidates: of each mention, with so many.
        scores: what the index's scores were made of, see :func:`scores_of`; ``None`` where that was not kept.

    Raises:
        InputError: there are no candidates.
    """

    weights: Weights
    candidates: int
    scores: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.candidates < 1:
            raise InputError(f"candidates must be at least 1, not {self.candidates}")


def scores_of(index: Index) -> dict[str, Any]:
    """What the scores of an index are made of, as JSON values: where it differs, ``retrieval`` counts others."""
    encoder = index.settings["encoder"]
    return {
        "sparse": index.settings["sparse"],
        "encoder": None if encoder is None else encoder["fingerprint"],
        "fusion": index.fusion.to_dict(),
    }


def open_scorer(folder: Path, vocabulary: Vocabulary) -> CrossScorer | DualScorer:
    """The scorer of a folder, on the first CUDA device or else on the CPU.

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
    from nymlink.encode.model.torch_model import attention_on
    from nymlink.rerank.cross_encoder import CrossEncoder
    from nymlink.rerank.cross_scorer import CrossScorer
    from nymlink.rerank.dual_encoder import DualEncoder
    from nymlink.rerank.dual_scorer import DualScorer

    device = "cuda" if torch.cuda.is_available() else "cpu"
    attention = attention_on(device)
    if _manifest(folder)["kind"] == CROSS:
        return CrossScorer(_on_device(CrossEncoder.load(folder, attention=attention), device), vocabulary)
    dual = _on_device(DualEncoder.load(folder, attention=attention), device)
    return DualScorer(dual, vocabulary, cache=EmbeddingCache.of_user())


def fitted(folder: str | Path, *, refit: bool = False) -> Fitted | None:
    """What was fitted to the re-ranker of a folder, if anything.

    Args:
        folder: the folder.
        refit: whether it is going to be fitted anew: what was fitted and is damaged is then nothing.

    Raises:
        StoreError: the re-ranker, or what was fitted to it, is missing, damaged, or of another format version.
    """
    folder = Path(folder)
    found = _manifest(folder).get(_FITTED)
    if found is None:
        return None
    try:
        return Fitted(
            weights=record(Weights, member(found, "weights", dict)),
            candidates=member(found, "candidates", int),
            scores=found.get("scores"),
        )
    except (InputError, ValueError) as error:
        if refit:
            return None
        raise StoreError(
            f"what was fitted to it is damaged ({error}): run `nymlink rerank fit` again", path=folder
        ) from error


def store_fitted(folder: str | Path, fitted: Fitted) -> None:
    """Change what is fitted to a re-ranker, in one step.

    Raises:
        StoreError: it is missing, damaged, or of another format version.
        OutputError: it cannot be written; nothing was changed.
    """
    folder = Path(folder)
    found = {"weights": fitted.weights.to_dict(), "candidates": fitted.candidates, "scores": fitted.scores}
    manifest = {**_manifest(folder), _FITTED: found}
    write_manifest(folder, manifest)


def _on_device(model: M, device: str) -> M:
    from nymlink.encode.model.torch_model import TorchModel, has_bf16

    if has_bf16(device):
        for part in model.modules():
            if isinstance(part, TorchModel):
                # What is made of its states stays float32: scores of candidates differ by little.
                part.transformer.bfloat16()
    return model.to(device)


def _manifest(folder: Path) -> dict[str, Any]:
    kind = CROSS if _kind(folder) == CROSS else DUAL
    return read_manifest(folder, kind=kind, version=VERSIONS[kind])


def _kind(folder: Path) -> Any:
    """What its manifest says; ``None`` where there is none that can be read: that is said by who checks it."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return manifest.get("kind") if isinstance(manifest, dict) else None
