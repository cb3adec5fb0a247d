"""Taking one file out of a ZIP archive."""

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
"""What reading an archive with wrong bytes in it raises."""


def extract(archive: Path, member: str, target: Path) -> None:
    """Write a file of an archive, in whatever folder of it, to ``target``.

    Raises:
        InputError: the archive is none, is damaged, or does not hold the file.
        OSError: the disk is full.
    """
    with open(target, "wb") as file:
        file.writelines(_read(archive, member))


def _read(archive: Path, member: str) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(archive) as files:
            names = files.namelist()
            inside = [name for name in names if name.rsplit("/", 1)[-1] == member]
            if not inside:
                raise InputError(f"the archive holds no {member}, but: {', '.join(names[:10])}")
            with files.open(inside[0]) as packed:
                while chunk := packed.read(_CHUNK):
                    yield chunk
    except _DAMAGED as error:
        raise InputError(f"no ZIP archive, or a damaged one ({error})") from error
