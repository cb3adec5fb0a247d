"""The cross-encoder: one transformer reads a mention in its context and a concept together, and gives a score.

Wu et al., "Scalable Zero-shot Entity Linking with Dense Entity Retrieval" (EMNLP 2020), section 4.2: every word of
the mention's context sees every word of the concept. So nothing can be computed before the mention is known, and
each candidate costs as much as the mention does.
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
from nymlink.core.json_objects import member, record
from nymlink.core.store.manifest import read_manifest, require_files, write_directory
from nymlink.encode.model.adapter_files import weights_digest
from nymlink.encode.model.tokens import Tokens
from nymlink.encode.model.torch_model import Attention
from nymlink.rerank.cross_model import CrossModel
from nymlink.rerank.encoding import encode
from nymlink.rerank.inputs import SHORTEST_JOINT, Inputs
from nymlink.rerank.kinds import CROSS, VERSIONS
from nymlink.rerank.passages import MAX_LENGTH
from nymlink.rerank.scorer import CANDIDATES

_MODEL: Final = "encoder"
_HEAD: Final = "head.safetensors"
_WEIGHTS: Final = "weights"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossSettings:
    """What a cross-encoder is made with.

    Attributes:
        max_length: tokens of a mention with its context and a concept together, special ones included.
        first: so many candidates of a mention are read: each costs as much as the mention does.
    """

    max_length: int = MAX_LENGTH
    first: int = 16

    def __post_init__(self) -> None:
        if self.max_length < SHORTEST_JOINT:
            raise InputError(f"max_length must be at least {SHORTEST_JOINT}, not {self.max_length}")
        if self.first < 1:
            raise InputError(f"first must be at least 1, not {self.first}")

    @property
    def candidates(self) -> int:
        """So many of a mention are to be put in order, unless something else is said: not fewer than are read."""
        return max(CANDIDATES, self.first)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class CrossEncoder(nn.Module):
    """Scores of mentions in their contexts with concepts, larger is better.

    Only the scores of one mention's candidates can be compared.

    Attributes:
        model: the transformer with its head.
        settings: what it is made with.
        inputs: makes its inputs.
    """

    def __init__(self, model: CrossModel, settings: CrossSettings) -> None:
        super().__init__()
        self.model = model
        self.settings = settings
        self.inputs = Inputs(model.tokenizer, length=settings.max_length)

    @classmethod
    def begin(cls, base: str | Path, settings: CrossSettings, *, attention: Attention = "eager") -> CrossEncoder:
        """An encoder of names with a new head, to be trained.

        Args:
            base: an encoder: a folder, or the name of a model on the hub.
            settings: what it is made with.
            attention: see :func:`~nymlink.encode.model.torch_model.attention_on`.

        Raises:
            InputError: no such encoder, or its files are damaged, or it takes no such length.
            StoreError: its adapters are damaged.
        """
        model = CrossModel.load(base, pooling="cls", max_length=settings.max_length, attention=attention)
        return cls(cast(CrossModel, model), settings)

    @classmethod
    def load(cls, folder: str | Path, *, attention: Attention = "eager") -> CrossEncoder:
        """Load what :meth:`save` wrote, or a training, onto the CPU, in evaluation mode.

        Raises:
            StoreError: it is missing, damaged, or of another format version.
        """
        folder = Path(folder)
        manifest = read_manifest(folder, kind=CROSS, version=VERSIONS[CROSS])
        try:
            require_files(manifest, [_HEAD])
            settings = record(CrossSettings, member(manifest, "settings", dict))
            found = cls.begin(folder / _MODEL, settings, attention=attention)
            head = load_file(folder / _HEAD).get(_WEIGHTS)
            if head is None:
                raise ValueError(f"{_HEAD} has no {_WEIGHTS}")
            if head.shape != found.model.head.shape:
                raise ValueError(f"its head is for vectors of length {len(head)}")
        except (InputError, ValueError, OSError, SafetensorError) as error:
            raise StoreError(f"the cross-encoder is damaged ({error}): train it again", path=folder) from error
        with torch.no_grad():
            found.model.head.copy_(head)
        return found.eval()

    def save(self, folder: Path) -> None:
        """Write transformer and head, with a manifest, atomically.

        Args:
            folder: where they go; a cross-encoder that is there is replaced.

        Raises:
            OutputError: something else is there, or it cannot be written.
        """
        body = {"settings": self.settings.to_dict(), "fingerprint": self.fingerprint}
        with write_directory(folder, kind=CROSS, version=VERSIONS[CROSS], body=body) as partial:
            (partial / _MODEL).mkdir()
            self.model.write(partial / _MODEL)
            save_file({_WEIGHTS: self.model.head.detach()}, partial / _HEAD)

    @property
    def fingerprint(self) -> str:
        """What identifies it: 64 hex digits over weights, tokenizer and settings."""
        weights = weights_digest(self.model.state_dict())
        parts = [self.settings.to_dict(), weights, self.model.tokenizer.to_str()]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def scores(self, tokens: Tokens) -> npt.NDArray[np.float32]:
        """The scores of N joint inputs (see :meth:`~nymlink.rerank.inputs.Inputs.joint`): float32 (N)."""
        return encode(self.model, tokens)[:, 0]
