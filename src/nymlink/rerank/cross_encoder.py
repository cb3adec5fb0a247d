"""The transformer of the cross-encoder, with a linear head that scores joint inputs.

Wu et al., "Scalable Zero-shot Entity Linking with Dense Entity Retrieval" (EMNLP 2020), section 4.2. The
transformer reads the context and the concept together, with attention between all their words. So vectors of
concepts cannot be computed in advance, and the transformer runs once for each candidate.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from nymlink.core.errors import InputError, StoreError
from nymlink.core.json_files import member, to_dataclass
from nymlink.core.store.manifest import read_manifest, require_files, write_directory
from nymlink.encode.model.adapters import weights_digest
from nymlink.encode.model.folder import require_single
from nymlink.encode.model.token_batches import Tokens
from nymlink.encode.model.torch_model import Attention
from nymlink.index.hits import Scores
from nymlink.rerank.inputs import SHORTEST_JOINT, EntityIds, Inputs, end_ids, entities
from nymlink.rerank.mention_model import MentionModel, encode
from nymlink.rerank.passages import DEFAULT_MAX_LENGTH, Passage
from nymlink.rerank.scorer import CROSS, DEFAULT_CANDIDATES, VERSIONS
from nymlink.vocabulary.vocabulary import Vocabulary

_SPREAD: Final = 0.02
"""Standard deviation of the head's initial weights, as in BERT."""


class JointModel(MentionModel):
    """Scores a joint input, which has a mention in its context and a concept: token ids → one number.

    The score is a linear function of the last layer's vector of the first token, without a bias, because a bias
    would be the same for all candidates of a mention. In a new model, the vectors of markers and the head are
    random numbers of torch, so the caller sets the seed first.

    Attributes:
        head: (D): the weights of the linear function.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.head = nn.Parameter(torch.randn(self.transformer.config.hidden_size) * _SPREAD)
        _, self._separator = end_ids(self.tokenizer)
        self._typed = getattr(self.transformer.config, "type_vocab_size", 0) > 1

    @property
    def width(self) -> int:
        """The length of an output vector: 1, because the output is one score."""
        return 1

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        """Compute the scores of a batch of inputs. A larger score is better.

        Args:
            input_ids: int64 (B, T): the mention up to the first separator, then the concept. If the transformer
                has token types, the concept is the second segment.
            attention_mask: (B, T): 1 for tokens, 0 for padding; ``None`` without padding.

        Returns:
            float32 (B, 1).
        """
        types = {"token_type_ids": self._types(input_ids)} if self._typed else {}
        states: Tensor = self.transformer(
            input_ids=input_ids, attention_mask=attention_mask, **types
        ).last_hidden_state
        # In mixed precision, a matrix product is rounded to three digits, but scores of candidates differ by less.
        return (states[:, 0].float() * self.head).sum(1, keepdim=True)

    def _types(self, input_ids: Tensor) -> Tensor:
        separators = input_ids.eq(self._separator).long()
        return (separators.cumsum(1) - separators).clamp(max=1)


_MODEL: Final = "encoder"
_HEAD: Final = "head.safetensors"
_WEIGHTS: Final = "weights"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossEncoderConfig:
    """The configuration of a cross-encoder.

    Attributes:
        max_length: most tokens of an input, which is a mention in its context and a concept; with special tokens.
        first: number of candidates of a mention to score: the first ones in the order of the index.

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
        """The default number of candidates of a mention to re-order.

        It is at least the number of scored candidates.
        """
        return max(DEFAULT_CANDIDATES, self.first)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class CrossEncoder(nn.Module):
    """Scores concepts for mentions in context. A larger score is better.

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
        """Create a cross-encoder for training, from an encoder of names and a new random head.

        Args:
            base: an encoder: a folder, or the name of a model on the hub.
            settings: the configuration.
            attention: see :func:`~nymlink.encode.model.torch_model.attention_on`.

        Raises:
            InputError: there is no such encoder, its files are damaged, or it cannot read inputs as long as
                ``max_length``.
            StoreError: its adapters are damaged.
        """
        require_single(base, "trained")
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


_AT_ONCE: Final = 256
"""Number of mentions whose inputs are held in memory at a time."""


class CrossScorer:
    """Scores the first candidates of each mention with a cross-encoder. The other candidates get lower scores.

    The cross-encoder scores as many candidates as its setting ``first`` says. The next candidate gets the lowest
    of these scores minus 1. Each further candidate gets 1 less than the candidate before it. So these candidates
    keep their order, and after a softmax each is e times less probable than the candidate before it. Each concept
    is tokenised once.

    Args:
        model: the cross-encoder, switched to evaluation mode.
        vocabulary: the vocabulary of the candidates.
    """

    def __init__(self, model: CrossEncoder, vocabulary: Vocabulary) -> None:
        self.model = model.eval()
        self.vocabulary = vocabulary
        self._known: dict[int, EntityIds] = {}

    def scores(self, passages: Sequence[Passage], candidates: Sequence[Sequence[int]]) -> list[Scores]:
        """Score the candidates of N mentions: an array float32 (candidates) for each. A larger score is better.

        Args:
            passages: the mentions in context.
            candidates: concept rows of each mention, at least one, in the order of the index.
        """
        first = self.model.settings.first
        scores: list[Scores] = []
        for start in range(0, len(passages), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            scores += self._score(passages[part], [rows[:first] for rows in candidates[part]])
        return [_extend(scored, len(rows)) for scored, rows in zip(scores, candidates, strict=True)]

    def _score(self, passages: Sequence[Passage], candidates: Sequence[Sequence[int]]) -> list[Scores]:
        self._tokenise(row for rows in candidates for row in rows)
        inputs = self.model.inputs
        pairs = zip(inputs.passage_ids(passages), candidates, strict=True)
        scores = self.model.scores(inputs.joint((ids, self._known[row]) for ids, rows in pairs for row in rows))
        return np.split(scores, np.cumsum([len(rows) for rows in candidates])[:-1])

    def _tokenise(self, rows: Iterable[int]) -> None:
        """Tokenise the concepts that are not tokenised yet."""
        new = [row for row in dict.fromkeys(rows) if row not in self._known]
        self._known.update(
            zip(new, self.model.inputs.entity_ids(list(entities(self.vocabulary, new))), strict=True)
        )


def _extend(scored: Scores, total: int) -> Scores:
    """Extend the scores of the first candidates to all candidates, in descending steps of 1."""
    steps = np.arange(1, total - len(scored) + 1, dtype=np.float32)
    return np.concatenate([scored, scored.min() - steps])
