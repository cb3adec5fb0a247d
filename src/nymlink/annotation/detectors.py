"""Detectors of mentions from other packages, and links of the mentions that they find."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from nymlink.core.errors import UnknownNameError
from nymlink.core.registry import Registry
from nymlink.corpus.documents import Document, Mention
from nymlink.linking.link import Link
from nymlink.linking.linker import Linker


class Detector(Protocol):
    """Finds mentions in texts, without concepts."""

    def detect(self, texts: Sequence[str]) -> list[tuple[Mention, ...]]:
        """List the mentions of each text, with their offsets, in order."""
        ...


@dataclass(frozen=True, slots=True)
class DetectedFinder:
    """Links the mentions of a detector or, without one, those of the documents.

    Attributes:
        linker: links the mentions.
        detector: finds them; ``None`` for those of the documents.
        min_confidence: links of less confidence are NIL.
    """

    linker: Linker
    detector: Detector | None
    min_confidence: float

    def find(self, documents: Sequence[Document]) -> list[list[Link]]:
        """List the links of each document, in the order of their mentions."""
        if self.detector is not None:
            detected = self.detector.detect([document.text for document in documents])
            documents = [
                replace(document, mentions=mentions)
                for document, mentions in zip(documents, detected, strict=True)
            ]
        return [list(map(self._checked, links)) for links in self.linker.link_documents(documents)]

    def _checked(self, link: Link) -> Link:
        """Make a link NIL if its confidence is too low."""
        return link if self.is_wanted(link) else replace(link, nil=True)

    def is_wanted(self, link: Link) -> bool:
        """Whether the confidence of a link is sufficient."""
        return link.confidence is None or link.confidence >= self.min_confidence


OpenDetector = Callable[[str], Detector]
"""A function that opens a detector, given what follows the colon of its name."""

DETECTORS: Final[Registry[OpenDetector]] = Registry("nymlink.detectors", noun="detector")


def open_detector(name: str) -> Detector:
    """Open a detector: ``spacy:NAME``, a pipeline or its folder; ``hf:NAME``, a token-classification model.

    Raises:
        UnknownNameError: there is no such kind of detector.
        InputError: the model cannot be loaded.
        MissingExtraError: its package is not installed.
    """
    kind, _, model = name.partition(":")
    if kind not in DETECTORS.names() or not model:
        known = " and ".join(f"{known}:NAME" for known in DETECTORS.names())
        raise UnknownNameError(f"no detector {name!r}: there are dictionary, given, {known}")
    return DETECTORS.get(kind)(model)
