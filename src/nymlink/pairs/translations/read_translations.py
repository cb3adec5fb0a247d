"""Read files of translation pairs: MUSE, TSV, CSV, parallel titles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from nymlink.core.delimited import Record
from nymlink.core.errors import InputError
from nymlink.core.files import read_lines, sha256
from nymlink.core.problems import Problems
from nymlink.pairs.translations.column_languages import ColumnLanguages, find_exchange, languages_in_name
from nymlink.pairs.translations.separators import find_separator, split_lines

_SAMPLE: Final = 200
"""Lines from which the format is found."""

_CHECKED_ROWS: Final = 10_000
"""Rows, spread over the file, from which an exchange of its columns is found."""

_HEADER: Final = re.compile(
    r"(source|target|src|tgt|trg|word|translation|term|title|name|text)s?|(source|target|src|tgt|trg)[ _-]\w+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Translations:
    """The translation pairs of a file: n pairs of different words, in lower case.

    Attributes:
        path: the file.
        languages: the languages of the columns, where they are known.
        left: (n): the words of the first column.
        right: (n): those of the second.
        same: the number of rows left out because both words are the same.
    """

    path: Path
    languages: ColumnLanguages | None
    left: list[str]
    right: list[str]
    same: int

    def describe(self) -> dict[str, Any]:
        """Describe where the pairs come from, as JSON values."""
        languages = None if self.languages is None else str(self.languages)
        return {
            "sha256": sha256(self.path),
            "languages": languages,
            "pairs": len(self.left),
            "same_word_on_both_sides": self.same,
        }


def read_translations(
    path: Path, *, languages: ColumnLanguages | None = None, problems: Problems | None = None
) -> Translations:
    """Read the translation pairs of a plain or gzip file; the separator of its columns is found from its lines.

    The first line may be a header. A table of more columns needs one that names two columns by the codes of
    ``languages``. Words are lower-cased, as the names of self-alignment are. Rows with the same word on both
    sides, half of MUSE, teach nothing and are left out.

    Args:
        path: the file.
        languages: the languages of the two columns; if not given, those in the name of the file, if any.
        problems: receives rows that do not have two columns, or have an empty one.

    Raises:
        InputError: the file cannot be read, is not UTF-8, has one column, too many, no pair of different words, or
            has its columns in the opposite order of the languages.
    """
    problems = Problems() if problems is None else problems
    told = languages
    languages = languages or languages_in_name(path.name)
    lines = ((number, line) for number, line in _utf8_lines(path, problems) if line.strip())
    first = list(islice(lines, _SAMPLE))
    if not first:
        raise InputError("the file is empty: it needs a word and its translation in each line", path=path)
    separator = find_separator([line for _, line in first])
    if separator is None:
        raise InputError(
            f"one column, {first[0][1][:40]!r}: put the translation behind each word, after a tab",
            path=path,
            line=first[0][0],
        )
    rows: list[tuple[int, str, str]] = []
    same = 0
    for number, left, right in _rows(split_lines(chain(first, lines), separator), languages, path, problems):
        if left == right:
            same += 1
        else:
            rows.append((number, left, right))
    if not rows:
        reason = "the same word on both sides of every line" if same else "no line has two words"
        raise InputError(
            f"{reason}: choose a file whose two columns are in different languages", path=path, line=first[0][0]
        )
    if languages is not None:
        _require_order(rows, languages, path, by_name=told is None)
    return Translations(path, languages, [left for _, left, _ in rows], [right for _, _, right in rows], same)


def _utf8_lines(path: Path, problems: Problems) -> Iterator[tuple[int, str]]:
    """Read lines.

    Raises:
        InputError: a line is not UTF-8. Guessed letters would be learned as if they were the language's.
    """
    decoding = Problems()
    for number, line in read_lines(path, decoding):
        if decoding.repaired:
            raise InputError(
                "not UTF-8: convert the file first, for example iconv -f WINDOWS-1252 (or UTF-16) -t UTF-8",
                path=path,
                line=next(problem.line for problem in decoding.first if not problem.rejected),
            )
        yield number, line
    for problem in decoding.first:
        problems.reject(path, problem.line, problem.message)


def _rows(
    records: Iterator[Record], languages: ColumnLanguages | None, path: Path, problems: Problems
) -> Iterator[tuple[int, str, str]]:
    """Yield line number, left and right word of each row, in lower case."""
    first = next(records, None)
    while first is not None and len(first.fields) == 1:
        problems.reject(path, first.line, "one column: there is no translation behind it")
        first = next(records, None)
    if first is None:
        return
    columns = _columns_of_header(first.fields, languages)
    if columns is None:
        if len(first.fields) > 2:
            raise InputError(
                f"{len(first.fields)} columns: keep the two with the words, or name these in a header by their "
                "languages (en, tr) and say --languages en-tr",
                path=path,
                line=first.line,
            )
        records, columns = chain([first], records), (0, 1)
    width = len(first.fields)
    for record in records:
        if len(record.fields) != width:
            problems.reject(path, record.line, f"{len(record.fields)} columns, where the first line has {width}")
            continue
        left, right = (" ".join(record.fields[column].split()).lower() for column in columns)
        if left and right:
            yield record.line, left, right
        else:
            problems.reject(path, record.line, "a word or its translation is empty")


def _columns_of_header(fields: Sequence[str], languages: ColumnLanguages | None) -> tuple[int, int] | None:
    """Find the columns of the left and the right word in a header; ``None`` where the first row is none."""
    names = [field.strip().lower() for field in fields]
    if languages is not None and all(names.count(language) == 1 for language in languages):
        return names.index(languages.left), names.index(languages.right)
    return (0, 1) if len(names) == 2 and all(map(_HEADER.fullmatch, names)) else None


def _require_order(
    rows: Sequence[tuple[int, str, str]], languages: ColumnLanguages, path: Path, *, by_name: bool
) -> None:
    line = find_exchange(rows[:: -(-len(rows) // _CHECKED_ROWS)], languages)
    if line is not None:
        told = "its name says" if by_name else "--languages says"
        opposite = ColumnLanguages(languages.right, languages.left)
        raise InputError(
            f"the columns look like {opposite}, where {told} {languages}: exchange them, or say --languages "
            f"{opposite}",
            path=path,
            line=line,
        )
