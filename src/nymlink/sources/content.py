"""Check by its content that a downloaded file is what its source should be."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.files import open_bytes, read_head, read_lines
from nymlink.core.formats import find_format
from nymlink.core.problems import Problems
from nymlink.sources.source import PublishedSource
from nymlink.vocabulary.mappings import REQUIRED, parse_header
from nymlink.vocabulary.readers import VOCABULARY_FORMATS

_SHOWN: Final = 60
_CHUNK: Final = 1 << 20


def check_content(path: Path, source: PublishedSource) -> None:
    """Check that a file is in the format of its source, and that its compression is intact.

    Raises:
        InputError: it is not, for example because the server sent an error page instead of the file.
    """
    try:
        with open_bytes(path) as file:
            while file.read(_CHUNK):
                pass
        beginning = " ".join(read_head(path).split())[:_SHOWN]
    except InputError as error:
        raise InputError(f"the file that the server sent is damaged ({error.message})", path=source.url) from error
    if not beginning:
        raise InputError("the server sent an empty file: try again later", path=source.url)
    if not _is_in_format(path, source):
        raise InputError(
            f"the file that the server sent is not in the format {source.format}: it begins {beginning!r}. "
            "Open the address in a browser to see what is wrong",
            path=source.url,
        )


def _is_in_format(path: Path, source: PublishedSource) -> bool:
    if source.is_mappings:
        lines = (line for _, line in read_lines(path, Problems()) if line and not line.startswith("#"))
        header = next(lines, "")
        return set(parse_header(header)) >= set(REQUIRED)
    try:
        return find_format(VOCABULARY_FORMATS, path).name == source.format
    except InputError:
        return False
