"""Choose languages by code."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache

from nymlink.core.language_codes import normalise_language


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
