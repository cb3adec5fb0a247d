"""Titles of Wikipedia pages in the one form that MediaWiki gives them."""

from __future__ import annotations

import unicodedata
from html import unescape
from typing import Final
from urllib.parse import unquote

_DOTTED: Final = frozenset({"tr", "az", "kk", "kaa", "crh", "gag"})
"""Languages whose capital of ``i`` has a dot."""

_DROPPED: Final = dict.fromkeys([0x00AD, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), 0x2060, 0xFEFF])
"""Characters that show nothing: soft hyphens, zero-width spaces, marks of direction."""


def normalise_title(target: str, language: str = "") -> str:
    """Normalise a page title, or the target of a link, as MediaWiki does.

    ``heart_attack#Signs`` → ``Heart attack``: no section, spaces for underscores, the first letter a capital.

    Args:
        target: the title, or what stands before the ``|`` of a link.
        language: code of the Wikipedia's language, which decides what the capital of ``i`` is.

    Returns:
        The title; empty for a link within its own page (``#Signs``).
    """
    title = target.partition("#")[0]
    if "&" in title:
        title = unescape(title).partition("#")[0]
    if "%" in title:
        title = unquote(title)
    if not title.isascii():
        title = unicodedata.normalize("NFC", title.translate(_DROPPED))
    title = " ".join(title.replace("_", " ").split()).removeprefix(":").lstrip()
    first = title[:1]
    if not first.islower():
        return title
    capital = "İ" if first == "i" and language.partition("-")[0] in _DOTTED else first.upper()
    # MediaWiki keeps a letter whose capital would be two ("ß").
    return capital + title[1:] if len(capital) == 1 else title
