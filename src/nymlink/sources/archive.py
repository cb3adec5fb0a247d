"""Extract one file from a ZIP archive."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError

_CHUNK: Final = 1 << 18
_DAMAGED: Final = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError)
"""The errors that reading a damaged archive raises."""


def extract_member(archive: Path, member: str, target: Path) -> None:
    """Extract the file called ``member``, in any folder of the archive, to ``target``.

    Raises:
        InputError: the file is not a ZIP archive, is damaged, or does not hold the member.
        OSError: the target cannot be written, for example because the disk is full.
    """
    with open(target, "wb") as file:
        file.writelines(_read(archive, member))


def _read(archive: Path, member: str) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(archive) as files:
            names = files.namelist()
            matching = [name for name in names if name.rsplit("/", 1)[-1] == member]
            if not matching:
                raise InputError(f"the archive holds no {member}, but: {', '.join(names[:10])}")
            with files.open(matching[0]) as packed:
                while chunk := packed.read(_CHUNK):
                    yield chunk
    except _DAMAGED as error:
        raise InputError(f"not a ZIP archive, or a damaged one ({error})") from error
