"""Open writers of links by file ending; check the inputs that a format needs, and warn of options it ignores."""

from __future__ import annotations

import codecs
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, TextIO

from nymlink.core.encodings import UTF_8
from nymlink.core.errors import InputError, OutputError, UnknownFormatError
from nymlink.core.store.atomic import atomic_directory, atomic_file
from nymlink.core.store.output_checks import require_place
from nymlink.linking.writers import LINK_FORMATS
from nymlink.linking.writers.writer import LinksInfo, LinkWriter, Need

TEXT_ERRORS: Final = "nymlink-surrogates"
"""Encoding to UTF-8: bytes that were not UTF-8 when read are written unchanged; other surrogates as U+FFFD."""

_INPUTS: Final[Mapping[Need, str]] = {"documents": "documents as input: give --corpus FILE"}
"""Inputs that a format may need, and the options of `nymlink link` that give them."""


def format_of(path: Path) -> str:
    """Find the format of links by the ending of a file name; TSV without an ending.

    Raises:
        UnknownFormatError: no format has this ending.
    """
    ending = path.suffix.lower()
    if not ending:
        return "tsv"
    endings = {known: name for name, format in LINK_FORMATS for known in format.endings}
    # Take the longest matching ending: .sssom.tsv before .tsv.
    found = max(filter(path.name.lower().endswith, endings), key=len, default=None)
    if found is not None:
        return endings[found]
    known = ", ".join(LINK_FORMATS.names())
    raise UnknownFormatError(
        f"no format of links has the ending {ending}: name a format with --format, in Python format= (known: "
        f"{known})",
        path=path,
    )


def require_input(name: str, *, documents: bool) -> None:
    """Check that the input that a format needs is given.

    Raises:
        InputError: it is missing.
        UnknownNameError: no format has this name.
    """
    given = {"documents": documents}
    for need in sorted(LINK_FORMATS.get(name).needs):
        if not given[need]:
            others = [other for other, format in LINK_FORMATS if not format.needs]
            raise InputError(f"{name} needs {_INPUTS[need]}; or choose another format ({', '.join(others)})")


def open_writer(name: str, out: TextIO | BinaryIO | Path, info: LinksInfo) -> LinkWriter:
    """Open a writer of a format, and warn of what the format leaves out or ignores.

    Args:
        name: name of the format in :data:`~nymlink.linking.writers.LINK_FORMATS`.
        out: the stream or folder from :func:`open_target` for this format.
        info: information on the links.

    Raises:
        InputError: the format cannot write such links.
        UnknownNameError: no format has this name.
    """
    require_input(name, documents=info.has_documents)
    format = LINK_FORMATS.get(name)
    if info.table is not None and not format.keeps_table:
        keeping = [other for other, each in LINK_FORMATS if each.keeps_table]
        warnings.warn(
            f"--format {name} leaves out the columns of your table; {', '.join(keeping)} keep them", stacklevel=2
        )
    for option in sorted(info.options & format.ignores):
        warnings.warn(f"{option} is ignored by --format {name}", stacklevel=2)
    return format.open(out, info)


@contextmanager
def open_target(path: Path, name: str, *, encoding: str = UTF_8) -> Iterator[TextIO | BinaryIO | Path]:
    """Open a file or make a folder for links; it appears under its name only when the block ends without an error.

    Args:
        path: the file, which is replaced, or the folder, which must be empty or missing.
        name: name of the format.
        encoding: of a text file, see :func:`open_file`.

    Raises:
        OutputError: it cannot be written.
        UnknownNameError: no format has this name.
    """
    target = LINK_FORMATS.get(name).target
    if target == "folder":
        require_free_folder(path)
        with atomic_directory(path) as partial:
            yield partial
    elif target == "binary":
        with atomic_file(path) as partial, open(partial, "wb") as binary:
            yield binary
    else:
        with open_file(path, encoding) as text:
            yield text


def standard_output(name: str) -> TextIO | BinaryIO:
    """Return standard output as the text or binary stream that a format needs.

    Raises:
        OutputError: the format is binary, and standard output is a terminal.
        UnknownNameError: no format has this name.
    """
    if LINK_FORMATS.get(name).target != "binary":
        return sys.stdout
    if sys.stdout.isatty():
        raise OutputError(f"{name} is binary and cannot be shown in a terminal: give -o FILE")
    return sys.stdout.buffer


def require_free_folder(path: Path) -> None:
    """Check that a folder for many files is empty or can be made.

    Raises:
        OutputError: the folder has files, or cannot be made.
    """
    require_place(path)
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise OutputError("the files of documents need a new or empty folder", path=path)


@contextmanager
def open_file(path: Path, encoding: str = UTF_8) -> Iterator[TextIO]:
    """Open a text file for links. The file is replaced when the block ends; after an error it stays unchanged.

    Args:
        path: the file.
        encoding: ``"UTF-8"``, ``"UTF-16"`` or ``"Windows-1252"``. If it lacks a character, the file is written in
            UTF-8 with a byte order mark, by which spreadsheets tell it, and a warning says so.

    Raises:
        OutputError: the file cannot be written.
    """
    # On every system lines end in \n, and bytes that were not UTF-8 are written as they were read.
    with (
        atomic_file(path) as partial,
        open(partial, "w", encoding="utf-8", errors=TEXT_ERRORS, newline="") as file,
    ):
        yield file
        if encoding != UTF_8:
            file.flush()
            _write_again(partial, path, encoding)


def _write_again(partial: Path, path: Path, encoding: str) -> None:
    """Replace a text in UTF-8 by the same text in another encoding."""
    with tempfile.TemporaryFile() as text:
        for codec in (encoding, "utf-8-sig"):
            text.seek(0)
            text.truncate()
            writer = codecs.getwriter(codec)(text)
            try:
                with open(partial, encoding="utf-8", errors="surrogateescape", newline="") as file:
                    for place, line in enumerate(file):
                        writer.write(line if place else line.removeprefix("\ufeff"))
                break
            except UnicodeEncodeError as error:
                lacking = error.object[error.start]
                warnings.warn(
                    f"{path}: {encoding} has no {lacking!r}: written in UTF-8 with a byte order mark", stacklevel=2
                )
        text.seek(0)
        with open(partial, "wb") as file:
            shutil.copyfileobj(text, file)


def _encode_halves(error: UnicodeError) -> tuple[bytes, int]:
    """Write surrogates: those from bytes that were not UTF-8 as these bytes, any other as U+FFFD."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    is_byte = "\udc80" <= character <= "\udcff"
    return character.encode("utf-8", "surrogateescape") if is_byte else "\ufffd".encode(), error.start + 1


codecs.register_error(TEXT_ERRORS, _encode_halves)
