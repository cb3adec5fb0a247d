"""The cross-encoder: one transformer reads a mention in its context together with a concept, and scores them.

Wu et al., "Scalable Zero-shot Entity Linking with Dense Entity Retrieval" (EMNLP 2020), section 4.2. Attention is
between all words of the context and of the concept. So vectors of concepts cannot be computed in advance, and each
candidate costs as much as the mention does.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from nymlink.core.errors import InputError, StoreError
from nymlink.core.json_objects import member, to_dataclass
from nymlink.core.store.manifest import read_manifest, require_files, write_directory
from nymlink.encode.model.adapter_files import weights_digest
from nymlink.encode.model.tokens.token_batches import Tokens
from nymlink.encode.model.torch_model import Attention
from nymlink.rerank.cross.joint_model import JointModel
from nymlink.rerank.encoding import encode
from nymlink.rerank.inputs import SHORTEST_JOINT, Inputs
from nymlink.rerank.kinds import CROSS, VERSIONS
from nymlink.rerank.passages import DEFAULT_MAX_LENGTH
from nymlink.rerank.scorer import DEFAULT_CANDIDATES

_MODEL: Final = "encoder"
_HEAD: Final = "head.safetensors"
_WEIGHTS: Final = "weights"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossEncoderConfig:
    """The configuration of a cross-encoder.

    Attributes:
        max_length: tokens of an input, a mention in its context and a concept together, special tokens included.
        first: the number of first candidates of a mention that are scored.

    Raises:
        InputError: a value is out of range.
    """

    max_length: int = DEFAULT_MAX_LENGTH
    first: int = 16

    def __post_init__(self) -> None:
        if self.max_length < SHORTEST_JOINT:
            raise InputError(f"max_length must be at least {SHORTEST_JOINT}, not {self.max_length}")
        if self.first < 1:
            raise InputError(f"first must be at least 1, not {self.first}")

    @property
    def candidates(self) -> int:
        """The default number of candidates of a mention to re-order: at least those that are scored."""
        return max(DEFAULT_CANDIDATES, self.first)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class CrossEncoder(nn.Module):
    """Scores concepts for mentions in context, larger is better.

    Only scores of the candidates of one mention are comparable.

    Attributes:
        model: the transformer with its head.
        settings: its configuration.
        inputs: makes its inputs.
    """

    def __init__(self, model: JointModel, settings: CrossEncoderConfig) -> None:
        super().__init__()
        self.model = model
        self.settings = settings
        self.inputs = Inputs(model.tokenizer, length=settings.max_length)

    @classmethod
    def from_encoder(
        cls, base: str | Path, settings: CrossEncoderConfig, *, attention: Attention = "eager"
    ) -> CrossEncoder:
        """Create a cross-encoder to be trained: an encoder of names with a new random head.

        Args:
            base: an encoder: a folder, or the name of a model on the hub.
            settings: the configuration.
            attention: see :func:`~nymlink.encode.model.torch_model.attention_on`.

        Raises:
            InputError: there is no such encoder, its files are damaged, or its inputs are shorter than
                ``max_length``.
            StoreError: its adapters are damaged.
        """
        model = JointModel.load(base, pooling="cls", max_length=settings.max_length, attention=attention)
        return cls(cast(JointModel, model), settings)

    @classmethod
    def load(cls, folder: str | Path, *, attention: Attention = "eager") -> CrossEncoder:
        """Load a folder that :meth:`save` or a training wrote, onto the CPU, in evaluation mode.

        Raises:
            StoreError: it is missing, damaged, or of another format version.
        """
        folder = Path(folder)
        manifest = read_manifest(folder, kind=CROSS, version=VERSIONS[CROSS])
        try:
            require_files(manifest, [_HEAD])
            settings = to_dataclass(CrossEncoderConfig, member(manifest, "settings", dict))
            loaded = cls.from_encoder(folder / _MODEL, settings, attention=attention)
            head = load_file(folder / _HEAD).get(_WEIGHTS)
            if head is None:
                raise ValueError(f"{_HEAD} has no {_WEIGHTS}")
            if head.shape != loaded.model.head.shape:
                raise ValueError(f"its head is for vectors of length {len(head)}")
        except (InputError, ValueError, OSError, SafetensorError) as error:
            raise StoreError(f"the cross-encoder is damaged ({error}): train it again", path=folder) from error
        with torch.no_grad():
            loaded.model.head.copy_(head)
        return loaded.eval()

    def save(self, folder: Path) -> None:
        """Write transformer and head with a manifest, atomically.

        Args:
            folder: the folder to write; a cross-encoder in it is replaced.

        Raises:
            OutputError: the folder holds something else, or cannot be written.
        """
        body = {"settings": self.settings.to_dict(), "fingerprint": self.fingerprint}
        with write_directory(folder, kind=CROSS, version=VERSIONS[CROSS], body=body) as partial:
            (partial / _MODEL).mkdir()
            self.model.write(partial / _MODEL)
            save_file({_WEIGHTS: self.model.head.detach()}, partial / _HEAD)

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of weights, tokenizer and settings: 64 hex digits."""
        weights = weights_digest(self.model.state_dict())
        parts = [self.settings.to_dict(), weights, self.model.tokenizer.to_str()]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def scores(self, tokens: Tokens) -> npt.NDArray[np.float32]:
        """Score N joint inputs (see :meth:`~nymlink.rerank.inputs.Inputs.joint`): float32 (N)."""
        return encode(self.model, tokens)[:, 0]
