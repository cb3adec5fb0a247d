"""Codes of languages: how they are written, and which of them a code asks for."""

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
        The code, or ``None`` when it is none.
    """
    code = code.strip()
    if not _CODE.fullmatch(code):
        return None
    primary, *others = re.split("[-_]", code)
    styles = {2: str.upper, 4: str.title}
    return "-".join([primary.lower(), *(styles.get(len(part), str.lower)(part) for part in others)])


def with_regions(asked: Collection[str], there: Iterable[str]) -> list[str]:
    """Those of the languages that are there which were asked for.

    A language includes its regions, however it is written: ``EN`` asks for ``en`` and ``en-GB``, but ``en-GB`` for
    no other English.
    """
    return [lang for lang in there if any(_includes(code, lang) for code in asked)]


@lru_cache(maxsize=1024)
def _includes(asked: str, lang: str) -> bool:
    one, other = (normalise_language(code) or code for code in (asked, lang))
    return f"{other}-".startswith(f"{one}-")
