"""What the files of a model may not ask for: code to be run, and files or models elsewhere.

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


def require_plain(folder: Path) -> None:
    """See that what transformers loads from a folder is made by its own code, of the folder's own files.

    To be asked before transformers is. Where ONNX Runtime runs a folder's graph, what is asked here is never done.

    Raises:
        InputError: a file asks for code, for another model, or for a file elsewhere; the message says which.
    """
    if (path := folder / _ADAPTERS).is_file():
        base = read_json(path, dict).get("base_model_name_or_path")
        raise InputError(
            f"asks for another model, {_shown(base)}, to put adapters of peft on, and that was refused: give a "
            "model that they are merged into (merge_and_unload)",
            path=path,
        )
    # Also those for single releases of transformers, which are read instead (config.4.0.0.json).
    for path in sorted((*folder.glob("config*.json"), *folder.glob("tokenizer_config*.json"))):
        for key, value in _said(read_json(path, object)):
            _require_harmless(key, value, path)
    for path in sorted(folder.glob("*.index.json")):
        weights = read_json(path, dict).get("weight_map")
        for file in weights.values() if isinstance(weights, dict) else ():
            require_inside(file, path)


def refuse_code(code: object, path: Path) -> None:
    """Say that a file asks for code.

    Raises:
        InputError: always.
    """
    raise InputError(
        f"asks for Python code that comes with the model, {_shown(code)}, and that was refused: nymlink runs no "
        "code of models; choose one that transformers knows by itself",
        path=path,
    )


def require_inside(place: object, path: Path) -> None:
    """See that a place which a file names, relative to its folder, is in that folder.

    Raises:
        InputError: it is elsewhere.
    """
    paths = (PurePosixPath(str(place)), PureWindowsPath(str(place)))
    if any(each.anchor or ".." in each.parts for each in paths):
        raise InputError(f"asks for {_shown(place)}, outside of the model, and that was refused", path=path)


def _shown(value: object) -> str:
    """What a file says, fit to be printed: short, and without control characters."""
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _require_harmless(key: str, value: Any, path: Path) -> None:
    """See that a setting asks for nothing that is refused.

    Raises:
        InputError: it does.
    """
    match key, value:
        case "auto_map", asked if asked:
            refuse_code(asked, path)
        case "backbone", str(model):
            raise InputError(
                f"asks for another model, {_shown(model)}, and that was refused: give one that is whole", path=path
            )
        case (("configuration_files" | "fast_tokenizer_files"), list(files)):
            for file in files:
                require_inside(file, path)


def _said(value: Any) -> Iterator[tuple[str, Any]]:
    """All that a JSON object says, at any depth."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case dict() as found:
                yield from found.items()
                waiting += found.values()
            case list() as found:
                waiting += found
