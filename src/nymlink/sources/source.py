"""What is known of a source before it is fetched: where it is published, in which format, on which terms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

MAPPINGS: Final = "sssom"
"""The format of a source that holds mappings between vocabularies instead of names."""

SIZES: Final = ("small", "medium", "large")
"""What there is to download: up to 10 MB, up to 100 MB, more."""

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]*")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSource:
    """A vocabulary, or a table of mappings between vocabularies, that somebody publishes as one file.

    Attributes:
        name: what a user calls it.
        title: its full name.
        url: where it is published, ``http`` or ``https``.
        format: name of the vocabulary format it is in, or :data:`MAPPINGS`.
        licence: SPDX identifier where there is one, else in words.
        open: whether anybody may use it for anything, at most naming its authors.
        citation: what its authors ask to be cited, a DOI where there is one.
        size: one of :data:`SIZES`.
        prefix: how the ids of its own concepts begin (``MONDO:``); others in the file are parts of other
            vocabularies, which come in better state and on their own terms from their publishers. Empty: all
            concepts are its own.
        member: name of the file in the ZIP archive that the URL gives; empty: the URL gives the file itself.
        sha256: digest that the file must have; empty: the publisher changes the file in place.

    Raises:
        ValueError: a value is not of its form.
    """

    name: str
    title: str
    url: str
    format: str
    licence: str
    open: bool
    citation: str
    size: str
    prefix: str = ""
    member: str = ""
    sha256: str = ""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name == "open":
            raise ValueError(f"{self.name!r} is no name for a source: letters a-z, digits and hyphens, not 'open'")
        if urlsplit(self.url).scheme not in ("http", "https"):
            raise ValueError(f"{self.name}: only http and https are fetched, not {self.url!r}")
        if self.size not in SIZES:
            raise ValueError(f"{self.name}: the size is one of {', '.join(SIZES)}, not {self.size!r}")
        if self.sha256 and not _DIGEST.fullmatch(self.sha256):
            raise ValueError(
                f"{self.name}: {self.sha256!r} is no SHA-256 digest (64 hexadecimal digits, lower case)"
            )

    @property
    def is_mappings(self) -> bool:
        """Whether it holds mappings instead of names."""
        return self.format == MAPPINGS

    @property
    def file_name(self) -> str:
        """The name of the file, from its URL or its archive."""
        name = self.member or urlsplit(self.url).path
        return re.sub(r"[^\w.-]+", "_", name.rsplit("/", 1)[-1]).lstrip(".") or self.name
