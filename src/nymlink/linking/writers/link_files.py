"""Open writers of links, by the format of a file; check what a format needs, warn of what it ignores."""

from __future__ import annotations

import codecs
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, TextIO

from nymlink.core.errors import InputError, OutputError, UnknownFormatError
from nymlink.core.store.atomic import atomic_directory, atomic_file
from nymlink.core.store.output_checks import require_place
from nymlink.linking.writers import LINK_FORMATS
from nymlink.linking.writers.writer import LinksInfo, LinkWriter, Need

TEXT_ERRORS: Final = "nymlink-surrogates"
"""How text is encoded to UTF-8: bytes that were not UTF-8 as they were, other halves of characters as U+FFFD."""

_INPUTS: Final[Mapping[Need, str]] = {"documents": "documents as input: give --corpus FILE"}
"""Inputs that a format may need, and the options of `nymlink link` that give them."""


def format_of(path: Path) -> str:
    """Tell the format of links by the ending of a file's name; without an ending it is TSV.

    Raises:
        UnknownFormatError: the ending is that of no format.
    """
    ending = path.suffix.lower()
    if not ending:
        return "tsv"
    endings = {known: name for name, format in LINK_FORMATS for known in format.endings}
    # The longest, as a file of mappings ends in .sssom.tsv.
    found = max(filter(path.name.lower().endswith, endings), key=len, default=None)
    if found is not None:
        return endings[found]
    known = ", ".join(LINK_FORMATS.names())
    raise UnknownFormatError(
        f"the ending {ending} tells no format of links: say which with --format, in Python format= (known: "
        f"{known})",
        path=path,
    )


def require_input(name: str, *, documents: bool) -> None:
    """Check that the input that a format needs is given.

    Raises:
        InputError: it is not.
        UnknownNameError: there is no format of this name.
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
        out: what :func:`open_target` gives for this format.
        info: what is known of the links.

    Raises:
        InputError: the format cannot write such links.
        UnknownNameError: there is no format of this name.
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
def open_target(path: Path, name: str) -> Iterator[TextIO | BinaryIO | Path]:
    """Open a file or make a folder for links in a format, which is there only when the block ends well.

    Args:
        path: the file, which is replaced, or the folder, which must be empty or not exist.
        name: name of the format.

    Raises:
        OutputError: it cannot be written.
        UnknownNameError: there is no format of this name.
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
        with open_file(path) as text:
            yield text


def standard_output(name: str) -> TextIO | BinaryIO:
    """Return standard output as a format writes to it.

    Raises:
        OutputError: the format is binary, and standard output a terminal.
        UnknownNameError: there is no format of this name.
    """
    if LINK_FORMATS.get(name).target != "binary":
        return sys.stdout
    if sys.stdout.isatty():
        raise OutputError(f"{name} is no text for a terminal: give -o FILE")
    return sys.stdout.buffer


def require_free_folder(path: Path) -> None:
    """Check that a folder for many files is empty, or can be made.

    Raises:
        OutputError: something is there, or it cannot be made.
    """
    require_place(path)
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise OutputError("a new or empty folder is needed for the files of documents", path=path)


@contextmanager
def open_file(path: Path) -> Iterator[TextIO]:
    """Open a text file for links; the file is replaced when the block ends well, and else stays as it was.

    Raises:
        OutputError: the file cannot be written.
    """
    # Lines end in \n everywhere, and bytes that were not UTF-8 go out as they came in, as on standard output.
    with (
        atomic_file(path) as partial,
        open(partial, "w", encoding="utf-8", errors=TEXT_ERRORS, newline="") as file,
    ):
        yield file


def _encode_halves(error: UnicodeError) -> tuple[bytes, int]:
    """Write bytes that were not UTF-8 as they were, and U+FFFD for any other half of a surrogate pair."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    is_byte = "\udc80" <= character <= "\udcff"
    return character.encode("utf-8", "surrogateescape") if is_byte else "\ufffd".encode(), error.start + 1


codecs.register_error(TEXT_ERRORS, _encode_halves)
