"""Refusing models whose files ask for code to be run, or for files or models elsewhere.

transformers does what they ask: it runs Python files where ``auto_map`` names them, and loads or fetches another
model where adapters of peft or a ``backbone`` name one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.encode.model.config import read_json

_ADAPTERS: Final = "adapter_config.json"
_SHOWN: Final = 120


def require_self_contained(folder: Path) -> None:
    """Check that transformers can load a folder with its own code, from the folder's own files.

    To be called before transformers. Where ONNX Runtime runs a folder's graph, it is not needed.

    Raises:
        InputError: a file asks for code, another model, or a file elsewhere; the message says which file.
    """
    if (path := folder / _ADAPTERS).is_file():
        base = read_json(path, dict).get("base_model_name_or_path")
        raise InputError(
            f"asks for another model, {_printable(base)}, to put adapters of peft on, and that was refused: give "
            "a model that they are merged into (merge_and_unload)",
            path=path,
        )
    # Also those for single releases of transformers (config.4.0.0.json), which are read in their place.
    for path in sorted((*folder.glob("config*.json"), *folder.glob("tokenizer_config*.json"))):
        for key, value in _nested_items(read_json(path, object)):
            _require_harmless(key, value, path)
    for path in sorted(folder.glob("*.index.json")):
        weights = read_json(path, dict).get("weight_map")
        for file in weights.values() if isinstance(weights, dict) else ():
            require_inside(file, path)


def refuse_code(code: object, path: Path) -> None:
    """Refuse a file that asks for code.

    Raises:
        InputError: always; it names the code.
    """
    raise InputError(
        f"asks for Python code that comes with the model, {_printable(code)}, and that was refused: nymlink runs "
        "no code of models; choose a model that transformers supports by itself",
        path=path,
    )


def require_inside(place: object, path: Path) -> None:
    """Check that a path in a file, relative to its folder, is inside that folder.

    Raises:
        InputError: it is outside.
    """
    paths = (PurePosixPath(str(place)), PureWindowsPath(str(place)))
    if any(each.anchor or ".." in each.parts for each in paths):
        raise InputError(f"asks for {_printable(place)}, outside of the model, and that was refused", path=path)


def _printable(value: object) -> str:
    """Format a value of a file for a message: short, and without control characters."""
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _require_harmless(key: str, value: Any, path: Path) -> None:
    """Check that a setting asks for nothing that is refused.

    Raises:
        InputError: it does.
    """
    match key, value:
        case "auto_map", code if code:
            refuse_code(code, path)
        case "backbone", str(model):
            raise InputError(
                f"asks for another model, {_printable(model)}, and that was refused: give a complete model",
                path=path,
            )
        case (("configuration_files" | "fast_tokenizer_files"), list(files)):
            for file in files:
                require_inside(file, path)


def _nested_items(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield all keys and values of a JSON object, at any depth."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case dict() as members:
                yield from members.items()
                waiting += members.values()
            case list() as members:
                waiting += members
