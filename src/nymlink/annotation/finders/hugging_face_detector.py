"""Detect mentions with a token-classification model of Hugging Face."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from nymlink.annotation.finders.detectors import OpenDetector
from nymlink.annotation.finders.segments import segments_of
from nymlink.core.errors import InputError, MissingExtraError
from nymlink.corpus.model import Mention

_STRIDE: Final = 64
"""Tokens that the windows of a long text share, at most a quarter of them."""

_POSITIONS: Final = 512
"""Tokens that a model can read at once that does not say how many."""


@dataclass(frozen=True, slots=True)
class HuggingFaceDetector:
    """Finds the entities of a model.

    Attributes:
        pipeline: ``transformers`` pipeline of token classification that joins the pieces of an entity.
    """

    pipeline: Any

    @classmethod
    def load(cls, model: str) -> HuggingFaceDetector:
        """Load a model by its name or from its folder; no code that comes with it is run.

        Raises:
            MissingExtraError: torch or transformers is not installed.
            InputError: there is no such model.
        """
        try:
            import torch  # noqa: F401
            from transformers import AutoModelForTokenClassification, AutoTokenizer, pipeline
        except ImportError as error:
            raise MissingExtraError("train", purpose="A model of Hugging Face") from error
        try:
            tokenizer = AutoTokenizer.from_pretrained(model, trust_remote_code=False)
            network = AutoModelForTokenClassification.from_pretrained(model, trust_remote_code=False)
        except (OSError, ValueError) as error:
            raise InputError(f"no token-classification model {model!r}: {error}") from error
        # A tokenizer need not know how long a text its model can read; some positions of that are special.
        positions = getattr(network.config, "max_position_embeddings", _POSITIONS)
        tokenizer.model_max_length = min(tokenizer.model_max_length, positions - 2)
        stride = min(_STRIDE, tokenizer.model_max_length // 4)
        return cls(
            pipeline(
                "token-classification",
                model=network,
                tokenizer=tokenizer,
                aggregation_strategy="first",
                stride=stride,
            )
        )

    def detect(self, texts: Sequence[str]) -> list[tuple[Mention, ...]]:
        """List the entities of each text, in order."""
        return [
            tuple(
                Mention(
                    text[offset + entity["start"] : offset + entity["end"]],
                    offset + entity["start"],
                    offset + entity["end"],
                    entity["entity_group"],
                )
                for offset, segment in segments_of(text)
                for entity in (self.pipeline(segment) if segment.strip() else ())
            )
            for text in texts
        ]


OPEN: Final[OpenDetector] = HuggingFaceDetector.load
