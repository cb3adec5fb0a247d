"""Which language a name is in, and whether that language was asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.vocabulary.languages import matching_languages, normalise_language
from nymlink.vocabulary.model import UNKNOWN_LANGUAGE
from nymlink.vocabulary.options import ReadOptions

_TAGGED: Final = re.compile(r"(?P<text>.*\S)@(?P<code>[a-z]{2}(?:-[A-Za-z]{2,4})?)", re.DOTALL)


class Languages:
    """The languages of one reading.

    Args:
        options: ``lang`` is the language of names that have none, ``languages`` those to keep. A language asked
            for includes its regions: ``en`` keeps ``en-GB``.

    Raises:
        InputError: one of them is no language code.
    """

    def __init__(self, options: ReadOptions) -> None:
        self.default = _asked_for(options.lang)
        self._kept = None if options.languages is None else {_asked_for(code) for code in options.languages}

    def normalise(self, code: str, path: Path, line: int, problems: Problems) -> str:
        """The language that a source states: the usual one where it states none, unknown where that is no code.

        Args:
            code: what it states.
            path: the source.
            line: the line it stands on.
            problems: told of what is no code.
        """
        if not code.strip():
            return self.default
        lang = normalise_language(code)
        if lang is None:
            lang = UNKNOWN_LANGUAGE
            problems.repair(path, line, f"{code[:40]!r} is no language code: taken as {lang!r}, unknown")
        return lang

    def wants(self, lang: str) -> bool:
        """Whether names in this language are kept."""
        return self._kept is None or bool(matching_languages(self._kept, [lang]))

    def missing(self, seen: Iterable[str]) -> list[str]:
        """Those asked for that no language seen is or is a region of, in order."""
        there = list(seen)
        return sorted(code for code in self._kept or () if not matching_languages([code], there))


def split_language_tag(text: str) -> tuple[str, str | None]:
    """Part a name from the language some writers hang on it: ``bordeaux@fr`` → ``("bordeaux", "fr")``."""
    # The test spares nearly all names the regular expression.
    match = _TAGGED.fullmatch(text) if "@" in text else None
    return (match["text"], normalise_language(match["code"])) if match else (text, None)


def _asked_for(code: str) -> str:
    lang = normalise_language(code)
    if lang is None:
        raise InputError(
            f"{code!r} is no language code: give BCP 47, for example 'en', 'pt-BR' or 'und' for unknown"
        )
    return lang
