"""The encoder that comes with nymlink, and its calibration."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from nymlink.core.files import sha256
from nymlink.core.store.ownership import MANIFEST

MINI: Final = "nymlink-mini"
"""Name of the default encoder: all-MiniLM-L6-v2, self-aligned on open vocabularies, in int8."""

_FOLDER: Final = Path(__file__).parents[2] / "models"
_NAMES: Final = frozenset({MINI})


def embedded(name: str | Path) -> Path | None:
    """Find the folder of an encoder that comes with nymlink; ``None`` for other names.

    A folder of the user's with that name is given as a ``Path``, or with ``./`` before it.
    """
    return _FOLDER / name if isinstance(name, str) and name in _NAMES else None


def embedded_digest(name: str) -> str:
    """Digest what identifies the release of an embedded encoder and its calibration; weights are not read."""
    files = (_FOLDER / name / MANIFEST, calibration_file(name))
    return hashlib.sha256("".join(map(sha256, files)).encode()).hexdigest()


def embedded_calibration(fingerprint: str) -> dict[str, Any] | None:
    """Read the calibration of an embedded encoder by its fingerprint; ``None`` for other encoders.

    It is for indexes with default settings. :meth:`nymlink.linking.calibration.Calibration.from_dict` reads its
    JSON values.
    """
    for name in _NAMES:
        known = json.loads(calibration_file(name).read_text(encoding="utf-8"))
        if known["fingerprint"] == fingerprint:
            calibration: dict[str, Any] = known["calibration"]
            return calibration
    return None


def calibration_file(name: str) -> Path:
    """Path of the calibration of an embedded encoder: its fingerprint, what it was fitted to, and its values."""
    return _FOLDER / f"{name}.calibration.json"
