"""Read folders from strangers safely: only regular files inside the folder, and only JSON of limited size."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Final

_MAX_JSON: Final = 256 << 20
"""Most bytes of a JSON file. The largest tokenizers and rankers have a tenth of this."""

_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def leads_outside(directory: Path, file: Path) -> bool:
    """Whether a file of a directory is a link to a file outside of the directory.

    In the cache of the Hugging Face hub, the files of a model are links. There, the model's part of the cache
    counts as the directory.
    """
    home = Path(os.path.realpath(directory))
    if home.parent.name == "snapshots":
        home = home.parents[1]
    return not Path(os.path.realpath(file)).is_relative_to(home)


def read_json_file(path: Path) -> Any:
    """Read a JSON file.

    Raises:
        FileNotFoundError: there is no such file.
        OSError: it cannot be read, or is a folder, a pipe or a device.
        ValueError: it is not JSON in UTF-8, has half a surrogate pair, is nested too deep, or has more than 256
            MB.
    """
    size = path.stat().st_size
    if not path.is_file() and not path.is_dir():
        raise OSError(f"{path.name} is a pipe or a device, not a file")
    if size > _MAX_JSON:
        raise ValueError(f"{path.name} has more than {_MAX_JSON >> 20} MB")
    text = path.read_text(encoding="utf-8")
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError("too many levels of nested brackets") from error
    if _SURROGATE.search(text):
        # Half a surrogate pair can be read, but neither printed nor written. This raises an error if there is one.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value
