"""The dual encoder: two transformers encode mentions in context, and concepts, into one vector space.

Le & Nguyen, "A metric learning-based method for biomedical entity linking" (Frontiers in Research Metrics and
Analytics 2023), section 3.2.1.
"""

from __future__ import annotations

import hashlib
import json
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final, cast, get_args

import numpy as np
import numpy.typing as npt
from torch import nn

from nymlink.core.errors import InputError, StoreError
from nymlink.core.json_files import member, to_dataclass
from nymlink.core.store.arrays import Vectors
from nymlink.core.store.manifest import read_manifest, write_directory
from nymlink.encode.cached_vectors import EmbeddingCache
from nymlink.encode.model.adapters import weights_digest
from nymlink.encode.model.encoder_settings import Pooling
from nymlink.encode.model.fingerprint import relevant_config
from nymlink.encode.model.folder import require_single
from nymlink.encode.model.token_batches import Tokens
from nymlink.encode.model.torch_model import Attention, TorchModel
from nymlink.encode.vector_cache import ABSENT, Keys, name_keys
from nymlink.index.hits import Scores
from nymlink.rerank.inputs import SHORTEST, Entity, Inputs, entities
from nymlink.rerank.mention_model import MentionModel, MentionStart, encode
from nymlink.rerank.passages import DEFAULT_MAX_LENGTH, Passage
from nymlink.rerank.scorer import DEFAULT_CANDIDATES, DUAL, VERSIONS
from nymlink.vocabulary.vocabulary import Vocabulary

_INPUT_VERSION: Final = "entity 2"
"""Version of the input of a concept.

Change this version when the input changes, so that old cached vectors of concepts are not used.
"""

_MENTION: Final = "mention"
_ENTITY: Final = "entity"


@dataclass(frozen=True, slots=True, kw_only=True)
class DualEncoderConfig:
    """The configuration of a dual encoder.

    Attributes:
        max_length: tokens of an input, special tokens included.
        mention_start: see :class:`~nymlink.rerank.mention_model.MentionModel`.
        candidates: the default number of candidates of a mention to re-order. Older folders do not have this
            value.

    Raises:
        InputError: a value is unknown or out of range.
    """

    max_length: int = DEFAULT_MAX_LENGTH
    mention_start: MentionStart = "marker"
    candidates: int = DEFAULT_CANDIDATES

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
    """An encoder of mentions and an encoder of concepts, with separate weights.

    The distance between their vectors says how well a concept fits a mention.

    Attributes:
        mention: encodes passages; see :class:`~nymlink.rerank.mention_model.MentionModel`.
        entity: encodes concepts. The vector is the last layer's vector of the first token, or the mean of all
            tokens.
        settings: the configuration.
    """

    def __init__(self, mention: MentionModel, entity: TorchModel, settings: DualEncoderConfig) -> None:
        super().__init__()
        self.mention = mention
        self.entity = entity
        self.settings = settings
        mention.mention_start = settings.mention_start
        self._passages = Inputs(mention.tokenizer, length=settings.max_length)
        self._entities = Inputs(entity.tokenizer, length=settings.max_length)

    @classmethod
    def from_encoder(
        cls,
        base: str | Path,
        settings: DualEncoderConfig,
        *,
        pooling: Pooling | None = None,
        attention: Attention = "eager",
    ) -> DualEncoder:
        """Create a dual encoder for training. Both encoders start as copies of the same encoder of names.

        Args:
            base: an encoder: a folder, or the name of a model on the hub.
            settings: the configuration.
            pooling: the pooling of both encoders; ``None`` for the pooling of the base.
            attention: see :func:`~nymlink.encode.model.torch_model.attention_on`.

        Raises:
            InputError: there is no such encoder, its files are damaged, or its inputs are shorter than
                ``max_length``.
            StoreError: its adapters are damaged.
        """
        require_single(base, "trained")
        entity = TorchModel.load(base, pooling=pooling, max_length=settings.max_length, attention=attention)
        return cls(_mention(base, entity, settings, attention), entity, settings)

    @classmethod
    def load(cls, folder: str | Path, *, attention: Attention = "eager") -> DualEncoder:
        """Load a folder that :meth:`save` or a training wrote, onto the CPU, in evaluation mode.

        Raises:
            StoreError: it is missing, damaged, or of another format version.
        """
        folder = Path(folder)
        manifest = read_manifest(folder, kind=DUAL, version=VERSIONS[DUAL])
        try:
            settings = to_dataclass(DualEncoderConfig, member(manifest, "settings", dict))
            entity = TorchModel.load(folder / _ENTITY, max_length=settings.max_length, attention=attention)
            mention = _mention(folder / _MENTION, entity, settings, attention)
            if not mention.width == entity.width == member(manifest, "width", int):
                raise ValueError(f"the widths of its encoders are {mention.width} and {entity.width}")
        except (InputError, ValueError) as error:
            raise StoreError(f"the re-ranker is damaged ({error}): train it again", path=folder) from error
        return cls(mention, entity, settings)

    def save(self, folder: Path) -> None:
        """Write both encoders with a manifest, atomically.

        Args:
            folder: the folder to write; a re-ranker in it is replaced.

        Raises:
            OutputError: the folder holds something else, or cannot be written.
        """
        body = {"settings": self.settings.to_dict(), "width": self.width, "fingerprint": self.fingerprint}
        with write_directory(folder, kind=DUAL, version=VERSIONS[DUAL], body=body) as partial:
            for name, model in ((_MENTION, self.mention), (_ENTITY, self.entity)):
                (partial / name).mkdir()
                model.write(partial / name)

    @property
    def width(self) -> int:
        """The length D of a vector."""
        return self.entity.width

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the weights and tokenizers of both encoders and of the settings: 64 hex digits.

        The setting ``candidates`` is left out, because it changes no vector.
        """
        settings = {name: value for name, value in self.settings.to_dict().items() if name != "candidates"}
        parts: list[Any] = [settings, self.entity.settings.pooling]
        for model in (self.mention, self.entity):
            parts += [weights_digest(model.transformer.state_dict()), model.tokenizer.to_str()]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    @property
    def entity_fingerprint(self) -> str:
        """The SHA-256 of the entity encoder, its input and its precision: 64 hex digits.

        The cache of concept vectors uses this fingerprint as a key.
        """
        model = self.entity
        parts = [
            _INPUT_VERSION,
            relevant_config(model.transformer.config.to_dict()),
            self.settings.max_length,
            model.settings.pooling,
            str(next(model.transformer.parameters()).dtype),
            weights_digest(model.transformer.state_dict()),
            model.tokenizer.to_str(),
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def passage_tokens(self, passages: Sequence[Passage]) -> Tokens:
        """Make the inputs of the mention encoder."""
        return self._passages.passages(passages)

    def entity_tokens(self, entities: Sequence[Entity]) -> Tokens:
        """Make the inputs of the entity encoder."""
        return self._entities.entities(entities)

    def encode_passages(self, passages: Sequence[Passage]) -> Vectors:
        """Encode N mentions in context: float32 (N, D)."""
        return encode(self.mention, self.passage_tokens(passages))

    def encode_entities(self, entities: Sequence[Entity]) -> Vectors:
        """Encode N concepts: float32 (N, D)."""
        return encode(self.entity, self.entity_tokens(entities))


def _mention(
    base: str | Path, entity: TorchModel, settings: DualEncoderConfig, attention: Attention
) -> MentionModel:
    """Load the mention encoder with the pooling of the entity encoder.

    The folder of a mention encoder does not record its pooling.
    """
    pooling = entity.settings.pooling
    model = MentionModel.load(base, pooling=pooling, max_length=settings.max_length, attention=attention)
    return cast(MentionModel, model)


_BLOCK: Final = 1 << 10
"""Number of vectors written at a time.

Encoding them takes some ten seconds on a CPU; a killed process loses at most these vectors.
"""


class ConceptVectors:
    """The vectors of concepts by the entity encoder of a dual encoder.

    Args:
        model: encodes the concepts. Its weights must not change.
        vocabulary: the vocabulary of the concepts.
        cache: keeps vectors after the process ends. The type and names of a concept are the key. The last vectors
            are written when this object is deleted, or when the process ends.
    """

    def __init__(self, model: DualEncoder, vocabulary: Vocabulary, cache: EmbeddingCache | None = None) -> None:
        self._model = model
        self._vocabulary = vocabulary
        self._known: dict[int, Vectors] = {}
        self._store = None if cache is None else _Store(cache, model)
        if self._store is not None:
            weakref.finalize(self, self._store.write)

    def add(self, rows: Iterable[int]) -> None:
        """Encode the concepts that have no vector yet."""
        new = [row for row in dict.fromkeys(rows) if row not in self._known]
        concepts = list(entities(self._vocabulary, new))
        if self._store is None:
            vectors = self._model.encode_entities(concepts)
        else:
            vectors = self._from_store(self._store, concepts)
        self._known.update(zip(new, vectors, strict=True))

    def get(self, rows: Iterable[int]) -> Vectors:
        """Return the vectors of N added concepts: float32 (N, D)."""
        return np.stack([self._known[row] for row in rows])

    def _from_store(self, store: _Store, concepts: list[Entity]) -> Vectors:
        keys = name_keys([json.dumps([concept.type, *concept.names]) for concept in concepts])
        kept, vectors = store.read(keys)
        missing = np.flatnonzero(~kept)
        if len(missing):
            vectors[missing] = self._model.encode_entities([concepts[place] for place in missing.tolist()])
            store.add(keys[missing], vectors[missing])
        return vectors


class _Store:
    """The cached vectors of a model, and new vectors that are not yet written to the cache."""

    def __init__(self, cache: EmbeddingCache, model: DualEncoder) -> None:
        self._width = model.width
        # The cache holds values of 16 bits, so each float32 is stored as two values, without rounding.
        self._cache = cache.for_encoder(model.entity_fingerprint, width=2 * self._width)
        self._waiting: list[tuple[Keys, Vectors]] = []

    def read(self, keys: Keys) -> tuple[npt.NDArray[np.bool_], Vectors]:
        """Read N vectors.

        Returns:
            bool (N): whether each vector is in the cache; float32 (N, D): the vectors, 0 for missing ones.
        """
        vectors = np.zeros((len(keys), self._width), np.float32)
        places = self._cache.places(keys)
        kept = places != ABSENT
        try:
            vectors[kept] = self._cache.vectors(places[kept]).view(np.float32)
        except StoreError:
            # The cache was emptied after the places were looked up.
            kept[:] = False
        return kept, vectors

    def add(self, keys: Keys, vectors: Vectors) -> None:
        """Add vectors that are not in the cache. They are written in blocks."""
        self._waiting.append((keys, vectors))
        if sum(len(waiting) for waiting, _ in self._waiting) >= _BLOCK:
            self.write()

    def write(self) -> None:
        """Write the added vectors. If the cache cannot be written, the vectors are not kept."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            keys, vectors = (np.concatenate(column) for column in zip(*waiting, strict=True))
            self._cache.try_add(keys, vectors.view(np.float16))


_AT_ONCE: Final = 256
"""Number of mentions held in memory at a time, with the inputs of the mentions and of their candidates."""


class DualScorer:
    """Scores candidates by the negative Euclidean distance between mention and concept.

    Args:
        model: the dual encoder; it is put into evaluation mode.
        vocabulary: the vocabulary of the candidates.
        cache: keeps vectors of concepts between processes; ``None`` to keep them in memory only.
    """

    def __init__(self, model: DualEncoder, vocabulary: Vocabulary, *, cache: EmbeddingCache | None = None) -> None:
        self.model = model.eval()
        self.vocabulary = vocabulary
        self._concepts = ConceptVectors(model, vocabulary, cache)

    def scores(self, passages: Sequence[Passage], candidates: Sequence[Sequence[int]]) -> list[Scores]:
        """Score candidates; see :meth:`nymlink.rerank.scorer.ContextScorer.scores`."""
        scores: list[Scores] = []
        for start in range(0, len(passages), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            scores += self._score(passages[part], candidates[part])
        return scores

    def _score(self, passages: Sequence[Passage], candidates: Sequence[Sequence[int]]) -> list[Scores]:
        self._concepts.add(chain.from_iterable(candidates))
        mentions = self.model.encode_passages(passages)
        return [
            -np.linalg.norm(self._concepts.get(rows) - mention, axis=1)
            for mention, rows in zip(mentions, candidates, strict=True)
        ]
