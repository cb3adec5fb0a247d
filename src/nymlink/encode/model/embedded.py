"""The encoder that comes with nymlink, and what was measured with it."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from nymlink.core.files import sha256
from nymlink.core.store.belongings import MANIFEST

MINI: Final = "nymlink-mini"
"""Name of the default encoder: all-MiniLM-L6-v2, self-aligned on open vocabularies, in int8."""

_FOLDER: Final = Path(__file__).parents[2] / "models"
_NAMES: Final = frozenset({MINI})


def embedded(name: str | Path) -> Path | None:
    """The folder of the encoder that comes with nymlink under this name, if there is one.

    A folder of one's own with that name is told from it by being a ``Path``, or by ``./`` before it.
    """
    return _FOLDER / name if isinstance(name, str) and name in _NAMES else None


def embedded_digest(name: str) -> str:
    """What tells an embedded encoder and its calibration from those of another release; weights are not read."""
    files = (_FOLDER / name / MANIFEST, calibration_file(name))
    return hashlib.sha256("".join(map(sha256, files)).encode()).hexdigest()


def embedded_calibration(fingerprint: str) -> dict[str, Any] | None:
    """The calibration of an embedded encoder, told by its fingerprint; ``None`` if it is none of these.

    It is for indexes that otherwise are as by default. What its JSON values mean,
    :mod:`nymlink.link.calibration` knows.
    """
    for name in _NAMES:
        known = json.loads(calibration_file(name).read_text(encoding="utf-8"))
        if known["fingerprint"] == fingerprint:
            found: dict[str, Any] = known["calibration"]
            return found
    return None


@cache
def common_words() -> frozenset[str]:
    """Some twenty thousand common words of English, folded: those that the default encoder has a token of."""
    tokens = json.loads((_FOLDER / MINI / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    return frozenset(filter(str.isalpha, tokens))


def calibration_file(name: str) -> Path:
    """Where the calibration of an embedded encoder is: its fingerprint, what it was fitted to, and its values."""
    return _FOLDER / f"{name}.calibration.json"
