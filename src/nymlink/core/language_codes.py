"""Language codes: their normal form, and the code of an unknown language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError

UNKNOWN_LANGUAGE: Final = "und"
"""The BCP 47 code for an unknown language."""

AUTOMATIC: Final = "auto"
"""Stands for the language of each mention, to be detected."""

_CODE: Final = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")


@lru_cache(maxsize=1024)
def normalise_language(code: str) -> str | None:
    """Write a language code as in BCP 47: ``EN`` → ``en``, ``pt_br`` → ``pt-BR``, ``zh-hant`` → ``zh-Hant``.

    A code of three letters (ISO 639-2 or 639-3) becomes the code of two letters, if there is one: ``fre`` and
    ``fra`` → ``fr``, ``ger-AT`` → ``de-AT``. Norwegian (``no``) becomes Bokmål (``nb``).

    Returns:
        The normalised code, or ``None`` for a text that is not a language code.
    """
    code = code.strip()
    if not _CODE.fullmatch(code):
        return None
    primary, *others = re.split("[-_]", code)
    styles = {2: str.upper, 4: str.title}
    language = _two_letters().get(primary.lower(), primary.lower())
    language = "nb" if language == "no" else language
    return "-".join([language, *(styles.get(len(part), str.lower)(part) for part in others)])


def language_of(code: str | None) -> str | None:
    """Normalise the code of a language that a user asks for; ``None`` if the language is unknown.

    :data:`AUTOMATIC` stays as it is.

    Raises:
        InputError: ``code`` is not a language code.
    """
    if code is None or code == UNKNOWN_LANGUAGE:
        return None
    language = AUTOMATIC if code == AUTOMATIC else normalise_language(code)
    if language is None:
        raise InputError(
            f"{code!r} is no language code: give one like en or pt-BR, {AUTOMATIC} to detect it, or none if it is "
            "unknown"
        )
    return language


@cache
def _two_letters() -> Mapping[str, str]:
    rows = (Path(__file__).parent / "data" / "three_letter_codes.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return {code: language for code, language, _ in (row.split("\t") for row in rows)}
