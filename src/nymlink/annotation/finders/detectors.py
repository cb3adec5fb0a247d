"""Open detectors of mentions: models of spaCy and of Hugging Face, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from nymlink.annotation.finders.detected import Detector
from nymlink.core.errors import UnknownNameError


def open_detector(name: str) -> Detector:
    """Open a detector: ``spacy:NAME``, a pipeline or its folder; ``hf:NAME``, a token-classification model.

    Raises:
        UnknownNameError: there is no such kind of detector.
        InputError: the model cannot be loaded.
        MissingExtraError: its package is not installed.
    """
    kind, _, model = name.partition(":")
    if kind not in _KINDS or not model:
        raise UnknownNameError(
            f"no detector {name!r}: there are dictionary, given, "
            + " and ".join(f"{known}:NAME" for known in _KINDS)
        )
    return _KINDS[kind](model)


def _open_spacy(model: str) -> Detector:
    from nymlink.annotation.finders.spacy_detector import SpacyDetector

    return SpacyDetector.load(model)


def _open_hugging_face(model: str) -> Detector:
    from nymlink.annotation.finders.hugging_face_detector import HuggingFaceDetector

    return HuggingFaceDetector.load(model)


_KINDS: Final[Mapping[str, Callable[[str], Detector]]] = MappingProxyType(
    {"spacy": _open_spacy, "hf": _open_hugging_face}
)
"""Kinds of detectors, and what opens one."""
