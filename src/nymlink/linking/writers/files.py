"""Open writers of links, by the format of a file; check what a format needs, warn of what it ignores."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TextIO

from nymlink.core.errors import InputError, UnknownFormatError
from nymlink.core.store.atomic import atomic_file
from nymlink.linking.writers import LINK_FORMATS
from nymlink.linking.writers.writer import LinksInfo, LinkWriter, Need

_INPUTS: Final[Mapping[Need, str]] = {
    "table": "a table as input: give the table and --column NAME",
    "documents": "documents as input: give --corpus FILE",
}
"""Inputs that a format may need, and the options of `nymlink link` that give them."""


def format_of(path: Path) -> str:
    """Tell the format of links by the ending of a file's name; without an ending it is TSV.

    Raises:
        UnknownFormatError: the ending is that of no format.
    """
    ending = path.suffix.lower()
    if not ending:
        return "tsv"
    for name, format in LINK_FORMATS:
        if ending in format.endings:
            return name
    known = ", ".join(LINK_FORMATS.names())
    raise UnknownFormatError(
        f"the ending {ending} tells no format of links: say which with --format, in Python format= (known: "
        f"{known})",
        path=path,
    )


def require_input(name: str, *, table: bool, documents: bool) -> None:
    """Check that the input that a format needs is given.

    Raises:
        InputError: it is not.
        UnknownNameError: there is no format of this name.
    """
    given = {"table": table, "documents": documents}
    for need in sorted(LINK_FORMATS.get(name).needs):
        if not given[need]:
            others = [other for other, format in LINK_FORMATS if not format.needs]
            raise InputError(f"{name} needs {_INPUTS[need]}; or choose another format ({', '.join(others)})")


def open_writer(name: str, out: TextIO, info: LinksInfo) -> LinkWriter:
    """Open a writer of a format, and warn of what the format leaves out or ignores.

    Args:
        name: name of the format in :data:`~nymlink.linking.writers.LINK_FORMATS`.
        out: text stream that does not translate line ends.
        info: what is known of the links.

    Raises:
        InputError: the format cannot write such links.
        UnknownNameError: there is no format of this name.
    """
    require_input(name, table=info.table is not None, documents=info.has_documents)
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
def open_file(path: Path) -> Iterator[TextIO]:
    """Open a text file for links; the file is replaced when the block ends well, and else stays as it was.

    Raises:
        OutputError: the file cannot be written.
    """
    # Lines end in \n everywhere, and bytes that were not UTF-8 go out as they came in, as on standard output.
    with (
        atomic_file(path) as partial,
        open(partial, "w", encoding="utf-8", errors="surrogateescape", newline="") as file,
    ):
        yield file
