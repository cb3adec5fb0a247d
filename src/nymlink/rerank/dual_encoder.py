"""The dual encoder: mentions in their contexts and concepts as points of one space.

Le & Nguyen, "A metric learning-based method for biomedical entity linking" (Frontiers in Research Metrics and
Analytics 2023), section 3.2.1.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, cast, get_args

from torch import nn

from nymlink.core.errors import InputError, StoreError
from nymlink.core.json_objects import member, record
from nymlink.core.store.arrays import Vectors
from nymlink.core.store.manifest import read_manifest, write_directory
from nymlink.encode.model.adapter_files import weights_digest
from nymlink.encode.model.fingerprint import heeded
from nymlink.encode.model.settings import Pooling
from nymlink.encode.model.tokens import Tokens
from nymlink.encode.model.torch_model import Attention, TorchModel
from nymlink.rerank.encoding import encode
from nymlink.rerank.entities import Entity
from nymlink.rerank.inputs import SHORTEST, Inputs
from nymlink.rerank.kinds import DUAL, VERSIONS
from nymlink.rerank.mention_model import MentionModel, MentionStart
from nymlink.rerank.passages import MAX_LENGTH, Passage
from nymlink.rerank.scorer import CANDIDATES

_READS: Final = "entity 2"
"""How a concept becomes tokens. To be another where that changes: vectors of concepts are kept from run to run."""

_MENTION: Final = "mention"
_ENTITY: Final = "entity"


@dataclass(frozen=True, slots=True, kw_only=True)
class DualSettings:
    """What a dual encoder is made with.

    Attributes:
        max_length: tokens of an input, special ones included.
        mention_start: see :class:`~nymlink.rerank.mention_model.MentionModel`.
        candidates: so many of a mention are to be put in order, unless something else is said. Older folders do
            not say it.
    """

    max_length: int = MAX_LENGTH
    mention_start: MentionStart = "marker"
    candidates: int = CANDIDATES

    def __post_init__(self) -> None:
        if self.max_length < SHORTEST:
            raise InputError(f"max_length must be at least {SHORTEST}, not {self.max_length}")
        if self.mention_start not in get_args(MentionStart):
            known = ", ".join(get_args(MentionStart))
            raise InputError(f"unknown mention_start {self.mention_start!r}; known: {known}")
        if self.candidates < 1:
            raise InputError(f"candidates must be at least 1, not {self.candidates}")

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class DualEncoder(nn.Module):
    """Two encoders of one width, with weights of their own. Near is alike, by the Euclidean distance.

    Attributes:
        mention: encodes passages; see :class:`~nymlink.rerank.mention_model.MentionModel`.
        entity: encodes concepts: the last layer's vector of the first token, or the mean of all.
        settings: what it is made with.
    """

    def __init__(self, mention: MentionModel, entity: TorchModel, settings: DualSettings) -> None:
        super().__init__()
        self.mention = mention
        self.entity = entity
        self.settings = settings
        mention.mention_start = settings.mention_start
        self._passages = Inputs(mention.tokenizer, length=settings.max_length)
        self._entities = Inputs(entity.tokenizer, length=settings.max_length)

    @classmethod
    def begin(
        cls,
        base: str | Path,
        settings: DualSettings,
        *,
        pooling: Pooling | None = None,
        attention: Attention = "eager",
    ) -> DualEncoder:
        """An encoder of names as both encoders, to be trained.

        Args:
            base: an encoder: a folder, or the name of a model on the hub.
            settings: what it is made with.
            pooling: of both; that of the base if ``None``.
            attention: see :func:`~nymlink.encode.model.torch_model.attention_on`.

        Raises:
            InputError: no such encoder, or its files are damaged, or it takes no such length.
            StoreError: its adapters are damaged.
        """
        entity = TorchModel.load(base, pooling=pooling, max_length=settings.max_length, attention=attention)
        return cls(_mention(base, entity, settings, attention), entity, settings)

    @classmethod
    def load(cls, folder: str | Path, *, attention: Attention = "eager") -> DualEncoder:
        """Load what :meth:`save` wrote, or a training, onto the CPU, in evaluation mode.

        Raises:
            StoreError: it is missing, damaged, or of another format version.
        """
        folder = Path(folder)
        manifest = read_manifest(folder, kind=DUAL, version=VERSIONS[DUAL])
        try:
            settings = record(DualSettings, member(manifest, "settings", dict))
            entity = TorchModel.load(folder / _ENTITY, max_length=settings.max_length, attention=attention)
            mention = _mention(folder / _MENTION, entity, settings, attention)
            if not mention.width == entity.width == member(manifest, "width", int):
                raise ValueError(f"its widths are {mention.width} and {entity.width}")
        except (InputError, ValueError) as error:
            raise StoreError(f"the re-ranker is damaged ({error}): train it again", path=folder) from error
        return cls(mention, entity, settings)

    def save(self, folder: Path) -> None:
        """Write both encoders, with a manifest, atomically.

        Args:
            folder: where they go; a re-ranker that is there is replaced.

        Raises:
            OutputError: something else is there, or it cannot be written.
        """
        body = {"settings": self.settings.to_dict(), "width": self.width, "fingerprint": self.fingerprint}
        with write_directory(folder, kind=DUAL, version=VERSIONS[DUAL], body=body) as partial:
            for name, model in ((_MENTION, self.mention), (_ENTITY, self.entity)):
                (partial / name).mkdir()
                model.write(partial / name)

    @property
    def width(self) -> int:
        """Length of a vector."""
        return self.entity.width

    @property
    def fingerprint(self) -> str:
        """What identifies it: 64 hex digits over the weights and tokenizers of both encoders, and the settings.

        Of these not how many candidates it is for, which changes no vector.
        """
        settings = {name: value for name, value in self.settings.to_dict().items() if name != "candidates"}
        parts: list[Any] = [settings, self.entity.settings.pooling]
        for model in (self.mention, self.entity):
            parts += [weights_digest(model.transformer.state_dict()), model.tokenizer.to_str()]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    @property
    def entity_fingerprint(self) -> str:
        """What identifies the vectors of concepts: 64 hex digits over the entity encoder and its precision."""
        model = self.entity
        parts = [
            _READS,
            heeded(model.transformer.config.to_dict()),
            self.settings.max_length,
            model.settings.pooling,
            str(next(model.transformer.parameters()).dtype),
            weights_digest(model.transformer.state_dict()),
            model.tokenizer.to_str(),
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def passage_tokens(self, passages: Sequence[Passage]) -> Tokens:
        """The inputs of the mention encoder."""
        return self._passages.passages(passages)

    def entity_tokens(self, entities: Sequence[Entity]) -> Tokens:
        """The inputs of the entity encoder."""
        return self._entities.entities(entities)

    def encode_passages(self, passages: Sequence[Passage]) -> Vectors:
        """The vectors of N mentions: float32 (N, D)."""
        return encode(self.mention, self.passage_tokens(passages))

    def encode_entities(self, entities: Sequence[Entity]) -> Vectors:
        """The vectors of N concepts: float32 (N, D)."""
        return encode(self.entity, self.entity_tokens(entities))


def _mention(base: str | Path, entity: TorchModel, settings: DualSettings, attention: Attention) -> MentionModel:
    """The other encoder: its folder says nothing of pooling, which is the same in both."""
    pooling = entity.settings.pooling
    model = MentionModel.load(base, pooling=pooling, max_length=settings.max_length, attention=attention)
    return cast(MentionModel, model)
