"""Collect the sources of all tables, from nymlink and other packages, and choose sources by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from nymlink.core.errors import InputError, NymlinkError, UnknownNameError
from nymlink.core.language_codes import normalise_language
from nymlink.sources import SOURCE_TABLES
from nymlink.sources.source import PublishedSource
from nymlink.vocabulary.concepts import matching_languages

OPEN: Final = "open"
"""The name of all sources with an open licence."""


def known_sources() -> dict[str, PublishedSource]:
    """Return the sources of all tables by name, in the order of the tables.

    Raises:
        NymlinkError: two tables give the same name to different sources, or a table does not load.
    """
    known: dict[str, PublishedSource] = {}
    for _, table in SOURCE_TABLES:
        for source in table:
            first = known.setdefault(source.name, source)
            if first != source:
                raise NymlinkError(
                    f"two packages have different sources called {source.name!r} ({first.url} and {source.url}): "
                    "uninstall one of the packages"
                )
    return known


def choose_sources(names: Iterable[str], known: Mapping[str, PublishedSource]) -> list[PublishedSource]:
    """Return the named sources, each once; ``open`` means all with an open licence.

    Raises:
        UnknownNameError: a name is in no table; the message lists the known ones.
    """
    chosen: dict[str, PublishedSource] = {}
    for name in names:
        if name == OPEN:
            chosen.update((source.name, source) for source in known.values() if source.open)
        elif name in known:
            chosen[name] = known[name]
        else:
            raise UnknownNameError(f"unknown source {name!r}; known: {OPEN}, {', '.join(known)}")
    return list(chosen.values())


def with_translations(
    sources: Iterable[PublishedSource], languages: Iterable[str], known: Mapping[str, PublishedSource]
) -> list[PublishedSource]:
    """Add the sources of translated names, if a language other than English is wanted.

    Returns:
        The sources, each once and followed by the source of its translations.

    Raises:
        InputError: one of the languages is no language code.
    """
    codes = list(map(_checked, languages))
    chosen: dict[str, PublishedSource] = {}
    for source in sources:
        chosen[source.name] = source
        if source.translations in known and matching_languages(["en"], codes) != codes:
            chosen[source.translations] = known[source.translations]
    return list(chosen.values())


def _checked(code: str) -> str:
    language = normalise_language(code)
    if language is None:
        raise InputError(f"{code!r} is no language code: give one like en or pt-BR")
    return language
