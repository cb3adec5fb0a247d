"""Open detectors of mentions by name: a registry of kinds, each opened by the name of a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from nymlink.annotation.finders.detected import Detector
from nymlink.core.errors import UnknownNameError
from nymlink.core.registry import Registry

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
