"""Detectors of spaCy and of Hugging Face."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from nymlink.annotation.detectors import OpenDetector
from nymlink.core.errors import InputError, MissingExtraError
from nymlink.corpus.documents import Mention

LONGEST: Final = 100_000
"""Characters of the longest text that is read at once, and of a segment."""

_TAIL: Final = 2_000
"""Characters at the end of a segment among which it is cut: at a paragraph, else a line, a sentence, a space."""

_ENDS: Final = tuple(map(re.compile, (r"\n\s*\n", r"\n", r"[.!?]\s+", r"\s+")))


def segments_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield the segments of a text, each with its offset; a text that is not long is one."""
    start = 0
    while len(text) - start > LONGEST:
        end = _cut(text, start + LONGEST)
        yield start, text[start:end]
        start = end
    yield start, text[start:] if start else text


def _cut(text: str, end: int) -> int:
    """Find the best place to cut a text, not after ``end``."""
    for pattern in _ENDS:
        ends = [match.end() for match in pattern.finditer(text, end - _TAIL, end)]
        if ends:
            return ends[-1]
    return end


@dataclass(frozen=True, slots=True)
class SpacyDetector:
    """Finds the entities of a pipeline.

    Attributes:
        pipeline: ``spacy.Language``; what it calls entities are mentions.
    """

    pipeline: Any

    @classmethod
    def load(cls, model: str) -> SpacyDetector:
        """Load a pipeline by the name of its package, or from its folder.

        Raises:
            MissingExtraError: spaCy is not installed.
            InputError: there is no such pipeline.
        """
        try:
            import spacy
        except ImportError as error:
            raise MissingExtraError("spacy", purpose="A pipeline of spaCy") from error
        try:
            return cls(spacy.load(model))
        except OSError as error:
            raise InputError(f"no pipeline {model!r} of spaCy: install its package, or name its folder") from error

    def detect(self, texts: Sequence[str]) -> list[tuple[Mention, ...]]:
        """List the entities of each text, in order."""
        return [
            tuple(
                Mention(entity.text, entity.start_char, entity.end_char, entity.label_) for entity in parsed.ents
            )
            for parsed in self.pipeline.pipe(texts)
        ]


OPEN_SPACY: Final[OpenDetector] = SpacyDetector.load


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


OPEN_HUGGING_FACE: Final[OpenDetector] = HuggingFaceDetector.load
