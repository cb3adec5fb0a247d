"""Find the files of an RF2 release by their names, in whichever of its folders they are.

File naming: SNOMED CT Release File Specifications, chapter 3 (https://docs.snomed.org/).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError

_FILE: Final = re.compile(
    r"x?(?:sct2|der2)_(?:(?P<terminology>Concept|Description|TextDefinition|Relationship)"
    r"|cRefset_(?P<refset>Language|Association)(?:Reference)?)_?"
    r"(?P<type>Snapshot|Full|Delta)(?:-[A-Za-z-]+)?(?:_[A-Za-z0-9]+)?(?:_(?P<date>\d{8})[TZ0-9]*)?\.txt(?:\.gz)?"
)
# In order of preference: snapshots are smallest; of some extensions there is only a delta.
_TYPES: Final = ("Snapshot", "Full", "Delta")
# Relative to the folder of a release, of one of its types, or of its files.
_PLACES: Final = ("*", "Terminology/*", "*/Terminology/*", "*/*/Terminology/*")


@dataclass(frozen=True, slots=True)
class Release:
    """Files of one type (snapshot, full or delta) of a release, by their content.

    Attributes:
        files: ``Concept``, ``Description``, ``TextDefinition``, ``Relationship``, ``Language`` or ``Association``
            → its files, one a language or module.
        version: latest date in the names of the files, ``YYYYMMDD``, or ``None``.
    """

    files: dict[str, tuple[Path, ...]]
    version: str | None

    def __getitem__(self, content: str) -> tuple[Path, ...]:
        return self.files.get(content, ())


def has_release(folder: Path) -> bool:
    """Whether there is a description file in the folder or below it, where a release has it."""
    return any(match["terminology"] == "Description" for match, _ in _files(folder, _PLACES))


def open_release(path: Path) -> Release:
    """Find the files of a release.

    Args:
        path: the folder of a release or one within it (``Snapshot``, ``Terminology``), or a description file; the
            files in its folder and in those of its reference sets are used too.

    Raises:
        InputError: there is no description file.
    """
    home = path.parent if path.is_file() else path
    home = home.parent if home.name == "Terminology" else home
    matches = list(_files(home, (*_PLACES, *(place.replace("Terminology", "Refset/*") for place in _PLACES))))
    own = _FILE.fullmatch(path.name) if path.is_file() else None
    types = [own["type"]] if own else _TYPES
    present = {match["type"] for match, _ in matches if match["terminology"] == "Description"}
    type_ = next((type_ for type_ in types if type_ in present), None)
    files: dict[str, tuple[Path, ...]] = {}
    for match, file in matches:
        content = match["terminology"] or match["refset"]
        if match["type"] == type_ and file not in files.get(content, ()):
            files[content] = (*files.get(content, ()), file)
    if path.is_file():
        files["Description"] = (path,)
    if "Description" not in files:
        raise InputError(
            "no description file (sct2_Description_Snapshot….txt) here or in its Terminology folder", path=path
        )
    dates = [match["date"] for match, _ in matches if match["type"] == type_ and match["date"]]
    return Release(files=files, version=max(dates, default=None))


def _files(folder: Path, places: tuple[str, ...]) -> Iterator[tuple[re.Match[str], Path]]:
    for place in places:
        for file in sorted(folder.glob(place)):
            match = _FILE.fullmatch(file.name)
            if match and file.is_file():
                yield match, file
