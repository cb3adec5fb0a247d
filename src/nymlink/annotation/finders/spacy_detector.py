"""Detect mentions with a pipeline of spaCy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from nymlink.annotation.finders.detectors import OpenDetector
from nymlink.core.errors import InputError, MissingExtraError
from nymlink.corpus.model import Mention


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


OPEN: Final[OpenDetector] = SpacyDetector.load
