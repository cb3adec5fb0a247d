"""Language codes: their normal form, and the choice of languages by code."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Final

_CODE: Final = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")


@lru_cache(maxsize=1024)
def normalise_language(code: str) -> str | None:
    """Write a language code as BCP 47 does: ``EN`` → ``en``, ``pt_br`` → ``pt-BR``, ``zh-hant`` → ``zh-Hant``.

    Returns:
        The normalised code, or ``None`` for a text that is not a language code.
    """
    code = code.strip()
    if not _CODE.fullmatch(code):
        return None
    primary, *others = re.split("[-_]", code)
    styles = {2: str.upper, 4: str.title}
    return "-".join([primary.lower(), *(styles.get(len(part), str.lower)(part) for part in others)])


def matching_languages(requested: Collection[str], available: Iterable[str]) -> list[str]:
    """Select the available languages that match a requested one.

    A language includes its regions, in any spelling: ``EN`` matches ``en`` and ``en-GB``; ``en-GB`` matches only
    itself.
    """
    return [lang for lang in available if any(_includes(code, lang) for code in requested)]


@lru_cache(maxsize=1024)
def _includes(requested: str, lang: str) -> bool:
    whole, part = (normalise_language(code) or code for code in (requested, lang))
    return f"{part}-".startswith(f"{whole}-")
