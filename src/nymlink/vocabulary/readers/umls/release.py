"""The files of a release of the UMLS or of RxNorm, block by block."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

import pyarrow as pa

from nymlink.core.errors import InputError
from nymlink.core.files import MAX_LINE, open_bytes, read_lines
from nymlink.core.problems import Problems
from nymlink.vocabulary.readers.column_files import CODE, TEXT, Block, RowFormat, read_blocks, read_columns

# UMLS Reference Manual, chapter 3 (https://www.ncbi.nlm.nih.gov/books/NBK9685/).
_STANDARD_ORDER: Final[Mapping[str, str]] = {
    "MRCONSO": "CUI,LAT,TS,LUI,STT,SUI,ISPREF,AUI,SAUI,SCUI,SDUI,SAB,TTY,CODE,STR,SRL,SUPPRESS,CVF",
    "MRSTY": "CUI,TUI,STN,STY,ATUI,CVF",
    "MRDEF": "CUI,AUI,ATUI,SATUI,SAB,DEF,SUPPRESS,CVF",
    "MRREL": "CUI1,AUI1,STYPE1,REL,CUI2,AUI2,STYPE2,RELA,RUI,SRUI,SAB,SL,RG,DIR,SUPPRESS,CVF",
    "MRCUI": "CUI1,VER,REL,RELA,MAPREASON,CUI2,MAPIN",
    "MRSAB": "VCUI,RCUI,VSAB,RSAB,SON,SF,SVER,VSTART,VEND,IMETA,RMETA,SLC,SCC,SRL,TFR,CFR,CXTY,TTYL,ATNL,"
    "LAT,CENC,CURVER,SABIN,SSN,SCIT",
}
# RxNorm Technical Documentation, section 12; the columns have the names of the UMLS.
_RXNORM_ORDER: Final[Mapping[str, str]] = {
    **{name: _STANDARD_ORDER[name] for name in ("MRCONSO", "MRSTY", "MRSAB")},
    "MRREL": "CUI1,AUI1,STYPE1,REL,CUI2,AUI2,STYPE2,RELA,RUI,SRUI,SAB,SL,DIR,RG,SUPPRESS,CVF",
    "MRCUI": "CUI1,VSTART,VEND,CARDINALITY,CUI2",
}
_MRFILES_NAME, _MRFILES_COLUMNS = 0, 2
_PART: Final = re.compile(r"(?P<stem>.+\.RRF)\.(?!gz$)(?P<suffix>[a-z]{2})(\.gz)?")


@dataclass(frozen=True, slots=True)
class Release:
    """A folder of RRF files.

    Attributes:
        parts: file name without ending (``MRCONSO``) → the file, or its parts in order.
        columns: file name without ending → its columns in order.
        is_rxnorm: whether it is of RxNorm, whose files (``RXNCONSO``) have the names of those of the UMLS here.
    """

    parts: Mapping[str, tuple[Path, ...]]
    columns: Mapping[str, tuple[str, ...]]
    is_rxnorm: bool = False

    def __contains__(self, name: str) -> bool:
        return name in self.parts


def has_release(folder: Path, *, is_rxnorm: bool = False) -> bool:
    """Whether the folder, or its sub-folder ``META`` (RxNorm: ``rrf``), holds an MRCONSO (RXNCONSO) file."""
    return _home(folder, is_rxnorm=is_rxnorm) is not None


def open_release(path: Path, problems: Problems) -> Release:
    """Find the files of a release.

    Args:
        path: a folder with ``MRCONSO.RRF`` in it or in its sub-folder ``META``, or that file (any part of it); the
            other files of its folder belong to the release. Each may be plain, ``.gz``, or in parts
            (``MRCONSO.RRF.aa.gz``, ``MRCONSO.RRF.ab.gz``, …).
        problems: receives invalid column orders in MRFILES.RRF.

    Raises:
        InputError: there is no MRCONSO file, or one of its parts is missing.
    """
    folder = (_home(path) or path) if path.is_dir() else path.parent
    parts = {name: files for name in _STANDARD_ORDER if (files := _find(folder, f"{name}.RRF"))}
    if path.is_file() and not _PART.fullmatch(path.name):
        parts["MRCONSO"] = (path,)
    if "MRCONSO" not in parts:
        raise InputError("no MRCONSO.RRF (or MRCONSO.RRF.gz) here, nor in a sub-folder META", path=path)
    return Release(parts=parts, columns=_columns(folder, problems))


def open_rxnorm(path: Path) -> Release:
    """Find the files of a release of RxNorm: a folder with ``RXNCONSO.RRF`` in it or in ``rrf``, or that file.

    Raises:
        InputError: there is no RXNCONSO file.
    """
    folder = (_home(path, is_rxnorm=True) or path) if path.is_dir() else path.parent
    parts = {name: files for name in _RXNORM_ORDER if (files := _find(folder, f"{_rxnorm_name(name)}.RRF"))}
    if path.is_file():
        parts["MRCONSO"] = (path,)
    if "MRCONSO" not in parts:
        raise InputError("no RXNCONSO.RRF (or RXNCONSO.RRF.gz) here, nor in a sub-folder rrf", path=path)
    orders = {**_STANDARD_ORDER, **_RXNORM_ORDER}
    return Release(parts, {name: tuple(order.split(",")) for name, order in orders.items()}, is_rxnorm=True)


def _rxnorm_name(name: str) -> str:
    return f"RXN{name.removeprefix('MR')}"


def _home(folder: Path, *, is_rxnorm: bool = False) -> Path | None:
    name, below = ("RXNCONSO.RRF", "rrf") if is_rxnorm else ("MRCONSO.RRF", "META")
    return next((place for place in (folder, folder / below) if _find(place, name)), None)


def _find(folder: Path, name: str) -> tuple[Path, ...]:
    for whole in (folder / name, folder / f"{name}.gz"):
        if whole.is_file():
            return (whole,)
    parts = {
        match["suffix"]: path
        for path in sorted(folder.glob(f"{name}.*"))
        if (match := _PART.fullmatch(path.name)) and match["stem"] == name and path.is_file()
    }
    letters = string.ascii_lowercase
    for expected, suffix in zip(product(letters, letters), sorted(parts), strict=False):
        if suffix != "".join(expected):
            raise InputError(f"part {name}.{''.join(expected)} is missing: fetch it", path=folder)
    return tuple(parts[suffix] for suffix in sorted(parts))


def _columns(folder: Path, problems: Problems) -> dict[str, tuple[str, ...]]:
    columns = {name: tuple(order.split(",")) for name, order in _STANDARD_ORDER.items()}
    for part in _find(folder, "MRFILES.RRF"):
        for number, line in read_lines(part, problems):
            fields = line.split("|")
            name = fields[_MRFILES_NAME].rpartition("/")[2].removesuffix(".RRF")
            if name not in columns or len(fields) <= _MRFILES_COLUMNS:
                continue
            stated = tuple(fields[_MRFILES_COLUMNS].split(","))
            if set(_STANDARD_ORDER[name].split(",")) <= set(stated) and len(set(stated)) == len(stated):
                columns[name] = stated
            else:
                problems.repair(
                    part, number, f"the columns stated for {name} lack or repeat some; read in the standard order"
                )
    return columns


def read_rrf(
    release: Release,
    name: str,
    *,
    strings: Sequence[str],
    codes: Sequence[str] = (),
    required: Sequence[str],
    problems: Problems,
) -> Iterator[pa.Table]:
    """Yield the good rows of a file, some hundred thousand at a time.

    Args:
        release: its release; a missing file yields nothing.
        name: file name without ending, for example ``MRSTY``.
        strings: columns wanted as strings.
        codes: columns wanted dictionary-encoded, with few distinct values.
        required: columns that may not be blank.
        problems: receives each row that is rejected or repaired, with its line number.

    Raises:
        InputError: see :func:`nymlink.core.files.open_bytes`.
    """
    wanted = dict.fromkeys(strings, TEXT) | dict.fromkeys(codes, CODE)
    layout = RowFormat(release.columns[name], wanted, required, delimiter="|", is_closed=True)
    return read_columns(_blocks(release.parts.get(name, ()), problems), layout, problems)


def _blocks(parts: Sequence[Path], problems: Problems) -> Iterator[Block]:
    """Cut a file into whole lines; a line across two parts counts for the part in which it begins."""
    carried: Block | None = None
    for part in parts:
        with open_bytes(part) as file:
            for block in read_blocks(file, part, problems):
                if carried is not None:
                    head, line_feed, rest = block.data.partition(b"\n")
                    kept = head if len(carried.data) <= MAX_LINE else b""
                    carried = Block(carried.path, carried.line, carried.data + kept + line_feed)
                    if not line_feed:
                        continue
                    yield carried
                    carried, block = None, Block(part, 2, rest)
                if block.data.endswith(b"\n"):
                    yield block
                elif block.data:
                    carried = block
    if carried is not None:
        yield carried
