"""Published sources: addresses and licences."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Final
from urllib.parse import urlsplit

MAPPINGS: Final = "sssom"
"""The format of a source that holds mappings between vocabularies instead of names."""

SIZES: Final = {"small": 10**7, "medium": 10**8, "large": 10**10}
"""Sizes of a download, with most bytes of each when it entered the table: up to 10 MB, up to 100 MB, more."""
_GROWTH: Final = 10
"""Factor for the growth of a file since its entry."""

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]*")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSource:
    """A vocabulary, or a table of mappings between vocabularies, published as one file.

    Attributes:
        name: its short name.
        title: its full name.
        url: its address, ``http`` or ``https``.
        format: name of its vocabulary format, or :data:`MAPPINGS`.
        licence: SPDX identifier if there is one, else in words.
        open: whether anybody may use it for any purpose, at most with attribution.
        citation: the citation its authors ask for, a DOI if there is one.
        size: one of :data:`SIZES`.
        prefix: prefix of the ids of its own concepts (``MONDO:``). Concepts imported from other vocabularies,
            which publish them in full and under their own licence, are left out. Empty: all concepts are its own.
        member: name of the file in the ZIP archive at the URL; empty: the URL is the file itself.
        sha256: required digest of the file; empty: the publisher changes the file in place.
        translations: name of the source with names of its concepts in other languages than English; empty: none.

    Raises:
        ValueError: a value has the wrong form.
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
    translations: str = ""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name == "open":
            raise ValueError(
                f"{self.name!r} cannot be the name of a source: use letters a-z, digits and hyphens, not 'open'"
            )
        if urlsplit(self.url).scheme not in ("http", "https"):
            raise ValueError(f"{self.name}: the address must begin with http or https, not {self.url!r}")
        if self.size not in SIZES:
            raise ValueError(f"{self.name}: the size must be one of {', '.join(SIZES)}, not {self.size!r}")
        if self.sha256 and not _DIGEST.fullmatch(self.sha256):
            raise ValueError(
                f"{self.name}: {self.sha256!r} is not a SHA-256 digest (64 hexadecimal digits, lower case)"
            )

    @property
    def is_mappings(self) -> bool:
        """Whether it holds mappings instead of names."""
        return self.format == MAPPINGS

    @property
    def limit(self) -> int:
        """Most bytes of a download: a hostile server must not fill the disk."""
        return SIZES[self.size] * _GROWTH

    @property
    def file_name(self) -> str:
        """The name of the file, from its URL or its archive."""
        name = self.member or urlsplit(self.url).path
        return re.sub(r"[^\w.-]+", "_", name.rsplit("/", 1)[-1]).lstrip(".") or self.name


def _read() -> tuple[PublishedSource, ...]:
    text = (files("nymlink.sources") / "table.toml").read_text(encoding="utf-8")
    return tuple(PublishedSource(name=name, **entry) for name, entry in tomllib.loads(text).items())


TABLE: Final = _read()
