"""Filter the names of a source by language, and read the languages that it states."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.language_codes import UNKNOWN_LANGUAGE, normalise_language
from nymlink.core.problems import Problems
from nymlink.vocabulary.concepts import ReadOptions, matching_languages

_TAGGED: Final = re.compile(r"(?P<text>.*\S)@(?P<code>[a-z]{2}(?:-[A-Za-z]{2,4})?)", re.DOTALL)


class LanguageFilter:
    """Selects the names of a source by language; names without a language get the default.

    Args:
        options: ``lang`` is the language of names without one, ``languages`` those to keep. A requested language
            includes its regions: ``en`` keeps ``en-GB``.

    Raises:
        InputError: one of the codes is no language code.
    """

    def __init__(self, options: ReadOptions) -> None:
        self.default = _checked(options.lang)
        self._kept = None if options.languages is None else {_checked(code) for code in options.languages}

    def normalise(self, code: str, path: Path, line: int | None, problems: Problems) -> str:
        """Normalise a stated language code; a blank code becomes the default, an invalid one "und".

        Args:
            code: the code as stated.
            path: the source.
            line: its line number; ``None`` without lines.
            problems: receives a report of an invalid code.
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
        """List the wanted languages that are not among ``seen``, themselves or as a region, in order."""
        present = list(seen)
        return sorted(code for code in self._kept or () if not matching_languages([code], present))


def split_language_tag(text: str) -> tuple[str, str | None]:
    """Split a trailing language tag off a name: ``bordeaux@fr`` → ``("bordeaux", "fr")``."""
    # Testing for "@" first is far faster, because almost no name has one.
    match = _TAGGED.fullmatch(text) if "@" in text else None
    return (match["text"], normalise_language(match["code"])) if match else (text, None)


def _checked(code: str) -> str:
    lang = normalise_language(code)
    if lang is None:
        raise InputError(
            f"{code!r} is no language code: give BCP 47, for example 'en', 'pt-BR' or 'und' for unknown"
        )
    return lang
