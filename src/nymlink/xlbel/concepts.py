"""Tables that say which concepts a Wikipedia page is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from nymlink.core.delimited import guess_delimiter, parse_records
from nymlink.core.errors import InputError
from nymlink.core.files import read_lines
from nymlink.core.problems import Problems
from nymlink.xlbel.titles import normalise_title

PageConcepts = dict[str, tuple[str, ...]]
"""Page title → ids of its concepts."""

_ITEM: Final = re.compile(r"(?:wikidata:|wd:|https?://www\.wikidata\.org/(?:entity|wiki)/)?(Q[1-9]\d*)", re.I)
_ID: Final = re.compile(r"[^\s|]+")
_HEADERS: Final = frozenset(
    "page title page_title page_name wikipedia item item_id wikidata wikidata_id qid concept_id".split()
)
"""First cells of a header."""


def read_page_concepts(
    path: Path, *, items: Path | None = None, language: str = "", problems: Problems | None = None
) -> PageConcepts:
    """Read a table of two columns: page title → concept id, or Wikidata id → concept id.

    A page of several rows, or with several ids joined by ``|``, has several concepts. A header is not required.

    Args:
        path: the table, TSV or CSV, plain or gzip.
        items: a table of two columns, page title → Wikidata id, where ``path`` has Wikidata ids.
        language: code of the Wikipedia's language.
        problems: receives rows that cannot be used.

    Raises:
        InputError: a table cannot be read, or nothing in it can be used; ``path`` has Wikidata ids, and no
            ``items`` are given.
    """
    problems = Problems() if problems is None else problems
    rows = list(_rows(path, problems))
    is_of_items = bool(rows) and all(_ITEM.fullmatch(key) for _, key, _ in rows)
    if items is None:
        if is_of_items:
            raise InputError(
                "the first column has Wikidata ids, not page titles: give a table of the titles of its pages and "
                "their Wikidata ids, too (--wikidata)",
                path=path,
            )
        keys: Iterable[tuple[str, list[str]]] = ((normalise_title(key, language), ids) for _, key, ids in rows)
    else:
        keys = _by_title(rows, path, _titles_of_items(items, language, problems), problems)
    concepts: dict[str, dict[str, None]] = {}
    for title, ids in keys:
        concepts.setdefault(title, {}).update(dict.fromkeys(ids))
    if not concepts:
        raise InputError("no page has a concept: two columns are needed, page title and concept id", path=path)
    if all(title.isdecimal() for title in concepts):
        raise InputError("the first column has numbers of pages: their titles are needed", path=path)
    return {title: tuple(ids) for title, ids in concepts.items()}


def _rows(path: Path, problems: Problems) -> Iterator[tuple[int, str, list[str]]]:
    """Yield line number, first cell and the ids in the second cell of each usable row."""
    lines = read_lines(path, problems)
    first = next((line for line in lines if line[1].strip()), None)
    if first is None:
        raise InputError("the table is empty", path=path)
    delimiter = guess_delimiter(first[1])
    for record in parse_records((line for part in ([first], lines) for line in part), delimiter):
        if len(record.fields) != 2:
            problems.reject(path, record.line, f"{len(record.fields)} columns instead of 2")
            continue
        key, ids = record.fields[0].strip(), [id_.strip() for id_ in record.fields[1].split("|")]
        if record.line == first[0] and key.casefold() in _HEADERS:
            continue
        if not key or not all(map(_ID.fullmatch, ids)):
            problems.reject(path, record.line, "no page, or no id of a concept (an id has no space in it)")
            continue
        yield record.line, key, ids


def _titles_of_items(path: Path, language: str, problems: Problems) -> dict[str, list[str]]:
    titles: dict[str, list[str]] = {}
    for line, title, ids in _rows(path, problems):
        item = _ITEM.fullmatch(ids[0])
        if item is None or len(ids) > 1:
            problems.reject(path, line, "the second column has no Wikidata id, such as Q12152")
            continue
        titles.setdefault(item[1].upper(), []).append(normalise_title(title, language))
    if not titles:
        raise InputError("no row has a page title and then a Wikidata id: are the columns swapped?", path=path)
    return titles


def _by_title(
    rows: list[tuple[int, str, list[str]]], path: Path, titles: dict[str, list[str]], problems: Problems
) -> Iterator[tuple[str, list[str]]]:
    for line, key, ids in rows:
        item = _ITEM.fullmatch(key)
        if item is None:
            problems.reject(path, line, "the first column has no Wikidata id, such as Q12152")
            continue
        # Most concepts have no page in most languages.
        for title in titles.get(item[1].upper(), ()):
            yield title, ids
