"""Finding an encoder's files: in an installed package, in a folder, or on the Hugging Face hub."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.encode.model.installed import installed

_LIGHT: Final = ("*.json", "*.txt", "*.model", "1_Pooling/*.json")
"""Configuration, tokenizer, settings."""

WEIGHTS: Final = ("*.safetensors", "*.bin")
"""Patterns of the weight files that torch reads; the first is preferred."""

INT8: Final = "onnx/model_int8.onnx"
"""An int8 graph: torch reads it where a folder has no float weights (:mod:`nymlink.encode.export.dequantise`)."""

ADAPTERS: Final = "adapters"
"""The folder of an encoder that holds its adapters (:mod:`nymlink.encode.model.adapters`)."""


def model_folder(name: str | Path, *, weights: tuple[str, ...]) -> Path:
    """Find the folder of a model, fetched from the hub if need be.

    Args:
        name: the name of an installed encoder, a folder, or that of a model on the hub; a ``Path`` is a folder.
        weights: patterns of weight files: from the hub, those of the first pattern that matches any are fetched.

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
        # A missing part of a re-ranker must not be looked for on the hub.
        raise InputError("no such folder", path=folder)
    fetched = _fetch(str(name), _LIGHT)
    for pattern in weights:
        # Even where some are in the hub's cache: a fetch may have been interrupted.
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
    # Its dependencies raise errors of their own: of HTTP libraries, of Xet, of the disk.
    except Exception as error:
        raise InputError(
            f"no such folder, and fetching a model of that name from the hub failed ({_reason(error)}): check "
            "network, proxy and disk, or fetch the model to a folder",
            path=name,
        ) from error


def _reason(error: Exception) -> str:
    """Take the first line of an error's message, or its type where it has none."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def weight_files(folder: Path) -> list[Path]:
    """List the files that torch reads a model's weights from, those of its adapters included.

    Raises:
        InputError: there are none.
    """
    for pattern in (*WEIGHTS, INT8):
        if files := sorted(folder.glob(pattern)):
            return [*files, *sorted((folder / ADAPTERS).glob("*.safetensors"))]
    raise InputError("the model has no weights (model.safetensors)", path=folder)
