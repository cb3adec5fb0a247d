"""Finding a model's folder together with the back end that reads it."""

from __future__ import annotations

from pathlib import Path

from nymlink.encode.backends import BACKENDS, Backend
from nymlink.encode.folder import model_folder


def locate(name_or_folder: str | Path, backend: str | None) -> tuple[Path, Backend]:
    """The folder of a model, and what runs it.

    Args:
        name_or_folder: a folder, or the name of a model on the hub: of that only the back end's files are fetched.
        backend: its name; if ``None``, the first in order of priority that can read the folder.

    Raises:
        InputError: there is no such model.
        UnknownNameError: there is no such back end.
    """
    if backend is not None:
        chosen = BACKENDS.get(backend)
        return model_folder(name_or_folder, weights=chosen.files), chosen
    by_priority = sorted((each for _, each in BACKENDS), key=lambda each: each.priority)
    folder = model_folder(name_or_folder, weights=tuple(file for each in by_priority for file in each.files))
    readers = [each for each in by_priority if each.reads(folder)]
    # Where none can, the last says what is missing.
    return folder, (readers or by_priority[-1:])[0]
