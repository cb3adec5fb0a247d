"""Language codes: their normal form, and the code of an unknown language."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

UNKNOWN_LANGUAGE: Final = "und"
"""The BCP 47 code for an unknown language."""

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
