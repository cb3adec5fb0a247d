"""Find the folders of encoders: by path, by the name of an installed encoder, or on the hub.

A package offers an encoder by an entry point with the path of a model folder::

    [project.entry-points."nymlink.encoders"]
    my-encoder = "my_package:FOLDER"

A package may also bring a ranker and a calibration for indexes with default settings. They are files beside the
folder, ``<folder>.ranker.json`` and ``<folder>.calibration.json``. Vectors for the default index may be in
``<folder>.vectors.npz``. nymlink also brings a ranker and a calibration for indexes without an encoder.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError, MissingExtraError, NymlinkError
from nymlink.core.files import sha256
from nymlink.core.registry import Registry
from nymlink.core.store.ownership import MANIFEST

MINI: Final = "nymlink-mini"
"""Name of the default encoder: all-MiniLM-L6-v2, self-aligned on open vocabularies, in int8."""

FOLDER: Final = Path(__file__).parents[2] / "models" / MINI
"""The folder of the default encoder. It is an entry of ``nymlink.encoders``."""

NANO: Final = "nymlink-nano"
"""Name of the fast encoder: a student of the default one, with one layer of width 256."""

NANO_FOLDER: Final = FOLDER.with_name(NANO)
"""The folder of the fast encoder."""

NO_ENCODER: Final = "none"
"""Name of search by spelling alone, in place of that of an encoder. It is the fingerprint, too."""

ENCODERS: Final[Registry[Path]] = Registry("nymlink.encoders", noun="encoder")

XL_MINI: Final = "nymlink-xl-mini"
"""Name of nymlink's multilingual encoder."""

BESIDE: Final = "beside"


def require_single(encoder: str | Path, purpose: str) -> None:
    """Refuse an encoder that adds the vectors of two encoders.

    Args:
        encoder: a folder, or a name of a model.
        purpose: what cannot be done with it, as "trained".

    Raises:
        InputError: it adds the vectors of two encoders, or there is no such encoder.
    """
    beside = model_folder(encoder, weights=()) / BESIDE
    if beside.is_dir():
        raise InputError(
            f"{encoder} adds the vectors of two encoders, and cannot be {purpose}: take one of them, for example "
            f"{beside}"
        )


"""Folder inside that of an encoder: a second encoder, whose vectors are added."""

_EXTRAS: Final = {XL_MINI: "xl"}
"""Encoders of nymlink that are in packages of their own → the extras that install them."""


def installed(name: str | Path) -> Path | None:
    """Find the folder of an encoder in an installed package; ``None`` for other names.

    To name a folder with the same name as an encoder, give a ``Path``, or write ``./`` before it.

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
    """Compute a digest of an installed encoder's manifest and of the files beside its folder.

    No weights are read.
    """
    beside = (file for file in (ranker_file(name), calibration_file(name), vectors_file(name)) if file.is_file())
    files = (_folder(name) / MANIFEST, *beside)
    return hashlib.sha256("".join(map(sha256, files)).encode()).hexdigest()


def installed_calibration(name: str | None, fingerprint: str) -> dict[str, Any] | None:
    """Read the calibration of an installed encoder, as JSON values; ``None`` if it has none.

    The values are for indexes with default settings; see
    :meth:`nymlink.linking.calibration.Calibration.from_dict`.

    Args:
        name: where the encoder was loaded from, or :data:`NO_ENCODER`; ``None`` if it was made in memory.
        fingerprint: fingerprint of the encoder. With other settings, an encoder gives other vectors and needs
            another calibration.
    """
    return _read_beside(name, "calibration", fingerprint)


def installed_ranker(name: str | None, fingerprint: str) -> dict[str, Any] | None:
    """Read the ranker of an installed encoder, as JSON values; ``None`` if it has none.

    The values are for indexes with default settings; see :meth:`nymlink.rank.ranker.Ranker.from_dict`.

    Args:
        name: where the encoder was loaded from, or :data:`NO_ENCODER`; ``None`` if it was made in memory.
        fingerprint: fingerprint of the encoder. An encoder that gives other vectors needs another ranker.
    """
    return _read_beside(name, "ranker", fingerprint)


def calibration_file(name: str) -> Path:
    """Path of the file with the calibration of an installed encoder.

    The file has the encoder's fingerprint, the origin of the calibration, and its values.
    """
    return _beside(name, "calibration")


def ranker_file(name: str) -> Path:
    """Path of the file with the ranker of an installed encoder.

    The file has the encoder's fingerprint, the origin of the ranker, and its trees.
    """
    return _beside(name, "ranker")


def vectors_file(name: str) -> Path:
    """Path of the vectors of an installed encoder (:class:`~nymlink.encode.cached_vectors.KnownVectors`).

    They are of the names of the default index, which is then built in seconds.
    """
    return _beside(name, "vectors", "npz")


def _read_beside(name: str | None, what: str, fingerprint: str) -> dict[str, Any] | None:
    if name is None or not (name == NO_ENCODER or installed(name)) or not _beside(name, what).is_file():
        return None
    known = json.loads(_beside(name, what).read_text(encoding="utf-8"))
    values: dict[str, Any] = known[what]
    return values if known["fingerprint"] == fingerprint else None


def _beside(name: str, what: str, suffix: str = "json") -> Path:
    folder = _folder(name)
    return folder.with_name(f"{folder.name}.{what}.{suffix}")


def _folder(name: str) -> Path:
    """Find the folder of an encoder that must be installed. That of no encoder has only files beside it."""
    return FOLDER.with_name(NO_ENCODER) if name == NO_ENCODER else installed(name) or ENCODERS.get(name)


_LIGHT: Final = ("*.json", "*.txt", "*.model", "1_Pooling/*.json")
"""Patterns of the small files of a model: configuration, tokenizer, settings."""

WEIGHTS: Final = ("*.safetensors", "*.bin")
"""Patterns of the weight files that torch reads. The first pattern is preferred."""

INT8: Final = "onnx/model_int8.onnx"
"""Path of the int8 graph in a folder.

If a folder has no float weights, torch reads this graph (:mod:`nymlink.encode.quantise`).
"""

ADAPTERS: Final = "adapters"
"""The folder of the adapters of an encoder (:mod:`nymlink.encode.model.adapters`)."""


def model_folder(name: str | Path, *, weights: tuple[str, ...]) -> Path:
    """Find the folder of a model. If necessary, fetch the model from the hub.

    Args:
        name: the name of an installed encoder, a folder, or the name of a model on the hub. A ``Path`` is always a
            folder.
        weights: patterns of weight files. From the hub, only the files of the first matching pattern are fetched.

    Raises:
        InputError: there is no such folder, and no such model could be fetched from the hub.
    """
    if (shipped := installed(name)) is not None:
        return shipped
    folder = Path(name)
    if folder.is_dir():
        return folder
    if folder.exists():
        raise InputError("this is a file: give a folder, or the name of a model on the hub", path=folder)
    if isinstance(name, Path):
        # Do not search the hub for a missing part of a re-ranker.
        raise InputError("no such folder", path=folder)
    fetched = _fetch(str(name), _LIGHT)
    for pattern in weights:
        # Fetch even if some files are in the hub's cache, because an earlier fetch may have been interrupted.
        if any(_fetch(str(name), (pattern,)).glob(pattern)):
            return fetched
    return fetched


def _fetch(name: str, patterns: tuple[str, ...]) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, allow_patterns=list(patterns)))
    except HFValidationError as error:
        raise InputError("no such folder", path=name) from error
    except LocalEntryNotFoundError as error:
        raise InputError(
            "no such folder, and the hub cannot be reached to look for a model of that name: "
            "check name and network, or fetch the model to a folder",
            path=name,
        ) from error
    except HfHubHTTPError as error:
        raise InputError(
            f"no such folder, and no such model could be fetched from the hub: {_reason(error)}", path=name
        ) from error
    # The dependencies of huggingface_hub raise errors of their own: of HTTP libraries, of Xet, of the disk.
    except Exception as error:
        raise InputError(
            f"no such folder, and fetching a model of that name from the hub failed ({_reason(error)}): check "
            "network, proxy and disk, or fetch the model to a folder",
            path=name,
        ) from error


def _reason(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def weight_files(folder: Path) -> list[Path]:
    """List the files of a model's weights for torch, including its adapters.

    Raises:
        InputError: there are none.
    """
    for pattern in (*WEIGHTS, INT8):
        if files := sorted(folder.glob(pattern)):
            return [*files, *sorted((folder / ADAPTERS).glob("*.safetensors"))]
    raise InputError("the model has no weights (model.safetensors)", path=folder)
