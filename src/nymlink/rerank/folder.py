"""Folders of re-rankers: open the scorer, and read and write the fitted order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from nymlink.core.errors import InputError, MissingExtraError, StoreError
from nymlink.core.json_files import member
from nymlink.core.store.foreign_folders import read_json_file
from nymlink.core.store.manifest import read_manifest, write_manifest
from nymlink.core.store.ownership import MANIFEST
from nymlink.encode.cached_vectors import EmbeddingCache
from nymlink.rerank.evidence import LearnedOrder
from nymlink.rerank.scorer import CROSS, DUAL, VERSIONS
from nymlink.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from torch import nn

    from nymlink.index.index import Index
    from nymlink.rerank.cross_encoder import CrossScorer
    from nymlink.rerank.dual_encoder import DualScorer

M = TypeVar("M", bound="nn.Module")

_FITTED: Final = "fitted"
"""Key of the fitted order in the manifest. The manifest is replaced atomically.

A new training removes the fitted order.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedOrder:
    """The order learned by ``nymlink rerank fit``, with the settings of the scores that it was learned from.

    Attributes:
        order: the order of candidates by all evidence.
        candidates: the number of candidates of a mention to re-order.
        scores: the :func:`score_settings` of the index that it was fitted with; ``None`` if they were not
            recorded.

    Raises:
        InputError: ``candidates`` is below 1.
    """

    order: LearnedOrder
    candidates: int
    scores: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.candidates < 1:
            raise InputError(f"candidates must be at least 1, not {self.candidates}")


def score_settings(index: Index) -> dict[str, Any]:
    """Return the settings that affect an index's scores, as JSON values.

    A fitted order is valid only for scores made with equal settings.
    """
    encoder = index.settings["encoder"]
    return {
        "sparse": index.settings["sparse"],
        "encoder": None if encoder is None else encoder["fingerprint"],
        "fusion": index.fusion.to_dict(),
        "ranker": None if index.ranker is None else index.ranker["learned_from"],
    }


def open_scorer(folder: Path, vocabulary: Vocabulary) -> CrossScorer | DualScorer:
    """Open the scorer of a folder on the first CUDA device. If there is none, open it on the CPU.

    Transformers run in bfloat16 if the hardware of the device supports it. Vectors of concepts are kept in the
    user's cache.

    Raises:
        StoreError: it is missing, damaged, or of another format version.
        MissingExtraError: torch or transformers is not installed.
    """
    try:
        import torch
        import transformers  # noqa: F401  # the encoders need both
    except ImportError as error:
        raise MissingExtraError("train", purpose="re-ranking") from error
    from nymlink.encode.model.torch_model import attention_on
    from nymlink.rerank.cross_encoder import CrossEncoder, CrossScorer
    from nymlink.rerank.dual_encoder import DualEncoder, DualScorer

    device = "cuda" if torch.cuda.is_available() else "cpu"
    attention = attention_on(device)
    if _manifest(folder)["kind"] == CROSS:
        return CrossScorer(_on_device(CrossEncoder.load(folder, attention=attention), device), vocabulary)
    dual = _on_device(DualEncoder.load(folder, attention=attention), device)
    return DualScorer(dual, vocabulary, cache=EmbeddingCache.of_user())


def read_fitted(folder: str | Path, *, refit: bool = False) -> FittedOrder | None:
    """Read the fitted order of a re-ranker; ``None`` if none was fitted.

    Args:
        folder: the re-ranker's folder.
        refit: whether a new fit follows. If so, a damaged order gives ``None`` instead of an error.

    Raises:
        StoreError: the re-ranker is missing, damaged, or of another format version; or the order is damaged, or of
            another version.
    """
    folder = Path(folder)
    stored = _manifest(folder).get(_FITTED)
    if stored is None:
        return None
    try:
        return FittedOrder(
            order=LearnedOrder.from_dict(member(stored, "order", dict)),
            candidates=member(stored, "candidates", int),
            scores=stored.get("scores"),
        )
    except (InputError, ValueError) as error:
        if refit:
            return None
        raise StoreError(
            f"what was fitted cannot be used ({error}): run `nymlink rerank fit` again", path=folder
        ) from error


def write_fitted(folder: str | Path, fitted: FittedOrder) -> None:
    """Write the fitted order of a re-ranker, atomically.

    Raises:
        StoreError: the re-ranker is missing, damaged, or of another format version.
        OutputError: it cannot be written; it is unchanged.
    """
    folder = Path(folder)
    stored = {"order": fitted.order.to_dict(), "candidates": fitted.candidates, "scores": fitted.scores}
    manifest = {**_manifest(folder), _FITTED: stored}
    write_manifest(folder, manifest)


def _on_device(model: M, device: str) -> M:
    from nymlink.encode.model.torch_model import TorchModel, has_bf16

    if has_bf16(device):
        for part in model.modules():
            if isinstance(part, TorchModel):
                # Convert only the transformer. Vectors and scores stay float32, since scores of candidates differ
                # by little.
                part.transformer.bfloat16()
    return model.to(device)


def _manifest(folder: Path) -> dict[str, Any]:
    kind = CROSS if _kind(folder) == CROSS else DUAL
    return read_manifest(folder, kind=kind, version=VERSIONS[kind])


def _kind(folder: Path) -> Any:
    """Read the kind of a folder; ``None`` if its manifest cannot be read, which ``read_manifest`` then reports."""
    try:
        manifest = read_json_file(folder / MANIFEST)
    except (OSError, ValueError):
        return None
    return manifest.get("kind") if isinstance(manifest, dict) else None
