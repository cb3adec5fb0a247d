"""Choosing the back end for a model, and fetching the files that it reads."""

from __future__ import annotations

from pathlib import Path

from nymlink.encode.backends import BACKENDS, Backend, Precision
from nymlink.encode.model.folder import model_folder


def locate(
    name_or_folder: str | Path, *, backend: str | None, precision: Precision | None, device: str | None
) -> tuple[Path, Backend]:
    """Find the folder of a model and the back end that runs it.

    Args:
        name_or_folder: a folder, or the name of a model on the hub: of that only the back end's files are fetched.
        backend: its name; if ``None``, the first by priority that can read the folder and has the precision and
            the device.
        precision: of the matrix products; ``None`` for any.
        device: to run on; ``None`` for any.

    Raises:
        InputError: there is no such model.
        UnknownNameError: there is no such back end.
    """
    if backend is not None:
        chosen = BACKENDS.get(backend)
        return model_folder(name_or_folder, weights=chosen.patterns(precision)), chosen
    by_priority = sorted((each for _, each in BACKENDS), key=lambda each: each.priority)
    # Where none has precision and device, one that reads the folder, or else the last, says what is missing.
    serving = [each for each in by_priority if each.serves(precision, device)] or by_priority
    patterns = tuple(pattern for each in serving for pattern in each.patterns(precision))
    folder = model_folder(name_or_folder, weights=patterns)
    readers = [each for each in serving if each.reads(folder, precision)]
    readers += [each for each in by_priority if each.reads(folder, None)]
    return folder, (readers or by_priority[-1:])[0]
