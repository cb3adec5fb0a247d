"""The encoders that installed packages carry, nymlink's own among them, with their rankers and calibrations.

A package offers an encoder by an entry point that is the path of a model folder::

    [project.entry-points."nymlink.encoders"]
    my-encoder = "my_package:FOLDER"

A ranker and a calibration for indexes with default settings are beside the folder, in ``<folder>.ranker.json`` and
``<folder>.calibration.json``.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import MissingExtraError, NymlinkError
from nymlink.core.files import sha256
from nymlink.core.registry import Registry
from nymlink.core.store.ownership import MANIFEST

ENCODERS: Final[Registry[Path]] = Registry("nymlink.encoders", noun="encoder")

XL_MINI: Final = "nymlink-xl-mini"
"""Name of nymlink's encoder of many languages."""

_EXTRAS: Final = {XL_MINI: "xl"}
"""Encoders of nymlink in packages of their own, and the extras that install them."""


def installed(name: str | Path) -> Path | None:
    """Find the folder of an encoder that an installed package carries; ``None`` for other names.

    A folder of the user's with that name is given as a ``Path``, or with ``./`` before it.

    Raises:
        MissingExtraError: it is an encoder of nymlink whose package is not installed.
        NymlinkError: its package is damaged, or offers no folder.
    """
    if not isinstance(name, str):
        return None
    if name in ENCODERS.names():
        folder = ENCODERS.get(name)
        if not (isinstance(folder, Path) and folder.is_dir()):
            raise NymlinkError(
                f"the entry point {name!r} of {ENCODERS.group} must be the path of a model folder, not "
                f"{folder!r}: repair or uninstall its package"
            )
        return folder
    if name in _EXTRAS:
        raise MissingExtraError(_EXTRAS[name], purpose=f"the encoder {name}")
    return None


def installed_digest(name: str) -> str:
    """Compute a digest of the release of an installed encoder and what is beside it, without reading weights."""
    beside = (file for file in (ranker_file(name), calibration_file(name)) if file.is_file())
    files = (_folder(name) / MANIFEST, *beside)
    return hashlib.sha256("".join(map(sha256, files)).encode()).hexdigest()


def installed_calibration(name: str | None, fingerprint: str) -> dict[str, Any] | None:
    """Read the calibration of an installed encoder, as JSON values; ``None`` where it has none.

    It is for indexes with default settings, and read by
    :meth:`nymlink.linking.confidence.calibration.Calibration.from_dict`.

    Args:
        name: where the encoder was loaded from; ``None`` for one made in memory.
        fingerprint: of the encoder: with other settings it gives other vectors, and needs another calibration.
    """
    return _read_beside(name, "calibration", fingerprint)


def installed_ranker(name: str | None, fingerprint: str) -> dict[str, Any] | None:
    """Read the ranker of an installed encoder, as JSON values; ``None`` where it has none.

    It is for indexes with default settings. :meth:`nymlink.rank.ranker.Ranker.from_dict` reads it.

    Args:
        name: where the encoder was loaded from; ``None`` for one made in memory.
        fingerprint: of the encoder: with other vectors it needs another ranker.
    """
    return _read_beside(name, "ranker", fingerprint)


def calibration_file(name: str) -> Path:
    """Path of the calibration of an installed encoder: its fingerprint, what it was fitted to, and its values."""
    return _beside(name, "calibration")


def ranker_file(name: str) -> Path:
    """Path of the ranker of an installed encoder: its fingerprint, what it learned from, and its trees."""
    return _beside(name, "ranker")


def _read_beside(name: str | None, what: str, fingerprint: str) -> dict[str, Any] | None:
    if name is None or installed(name) is None or not _beside(name, what).is_file():
        return None
    known = json.loads(_beside(name, what).read_text(encoding="utf-8"))
    values: dict[str, Any] = known[what]
    return values if known["fingerprint"] == fingerprint else None


def _beside(name: str, what: str) -> Path:
    folder = _folder(name)
    return folder.with_name(f"{folder.name}.{what}.json")


def _folder(name: str) -> Path:
    """Find the folder of an encoder that must be installed.

    Raises:
        UnknownNameError: it is not.
    """
    return installed(name) or ENCODERS.get(name)
