"""Pairs of names that translate each other.

=====================  ==============================  ==============================================
format                 line                            source
=====================  ==============================  ==============================================
parallel titles        ``heart ||| coeur``             titles of linked Wikipedia pages
TSV, CSV               ``heart<TAB>coeur``             word lists of Wiktionary, XLing, spreadsheets
words                  ``heart coeur``                 MUSE: two words without spaces in them
=====================  ==============================  ==============================================
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nymlink.core.errors import InputError
from nymlink.core.files import read_lines, sha256
from nymlink.core.language_codes import normalise_language
from nymlink.core.problems import Problems
from nymlink.core.store.arrays import Ints
from nymlink.pairs.pairs import NamedPairs
from nymlink.pairs.permutation import permute, seeded_keys
from nymlink.tables.delimited import Record, parse_records
from nymlink.text.normalise import HAN, LATIN, scripts_of

if TYPE_CHECKING:
    # Languages of translations are also parsed without SciPy.
    from scipy.sparse import csr_array

WORDS: Final = " "
"""The separator of two words in a line: any white space."""

_TITLES: Final = "|||"
_DELIMITERS: Final = (_TITLES, "\t", ";", ",")
_TWO_WORDS: Final = 0.9
"""Smallest share of lines of two words in a file of words; in MUSE's own files it is 1."""


def find_separator(lines: list[str]) -> str | None:
    """Choose the separator that at least half of the lines have.

    Args:
        lines: the first lines of a file, without blank ones.

    Returns:
        ``|||``, a tab, a semicolon, a comma or :data:`WORDS`; ``None`` if the lines have one column.
    """
    for separator in _DELIMITERS:
        if sum(separator in line for line in lines) * 2 >= len(lines):
            return separator
    two_words = sum(len(line.split()) == 2 for line in lines)
    return WORDS if two_words >= _TWO_WORDS * len(lines) else None


def split_lines(lines: Iterable[tuple[int, str]], separator: str) -> Iterator[Record]:
    """Split numbered lines into the fields between separators; only fields of TSV and CSV may be quoted."""
    if separator in (_TITLES, WORDS):
        between = None if separator == WORDS else separator
        return (Record(number, line.split(between), line) for number, line in lines if line.strip())
    return parse_records(lines, separator)


_CODES: Final = re.compile(r"([a-z]{2,3})-([a-z]{2,3})", re.IGNORECASE)
_CODES_IN_NAME: Final = re.compile(r"(?<![a-z])([a-z]{2}-[a-z]{2})(?![a-z])", re.IGNORECASE)

_LANGUAGES_OF: Final = {
    "Arabic": "ar fa ps ug ur",
    "Armenian": "hy",
    "Bengali": "as bn",
    HAN: "ja zh",
    "Cyrillic": "be bg kk ky mk mn ru tg uk",
    "Devanagari": "hi mr ne",
    "Ethiopic": "am ti",
    "Georgian": "ka",
    "Greek": "el",
    "Gujarati": "gu",
    "Gurmukhi": "pa",
    "Hangul": "ko",
    "Hebrew": "he yi",
    "Hiragana": "ja",
    "Kannada": "kn",
    "Katakana": "ja",
    "Khmer": "km",
    "Lao": "lo",
    "Malayalam": "ml",
    "Myanmar": "my",
    "Sinhala": "si",
    "Tamil": "ta",
    "Telugu": "te",
    "Thai": "th",
}
"""Script → languages that are written in it. All other languages are taken to be written in Latin letters."""

_ENGLISH: Final = frozenset(
    "before being between both could does during each from into its other our should that the their them "
    "then there these they this those through until were what when where which while whose with without "
    "would your".split()
)
"""Words that are frequent in English, and rare in other languages with Latin letters."""

_LEAST_ROWS: Final = 3
"""Smallest number of rows that must show an exchange, if letters and English words show it instead of scripts."""


class ColumnLanguages(NamedTuple):
    """The languages of the left and the right column, as codes: ``en``, ``tr``."""

    left: str
    right: str

    def __str__(self) -> str:
        return f"{self.left}-{self.right}"


def parse_languages(code: str) -> ColumnLanguages:
    """Read the languages of two columns, for example ``en-tr``.

    Raises:
        ValueError: the text is not two different language codes.
    """
    match = _CODES.fullmatch(code.strip())
    left, right = (None, None) if match is None else map(normalise_language, match.groups())
    if left is None or right is None or left == right:
        raise ValueError(
            f"two different language codes, the first column's first, for example en-tr, not {code!r}"
        )
    return ColumnLanguages(left, right)


def languages_in_name(name: str) -> ColumnLanguages | None:
    """Find the languages in the name of a file, for example of ``en-tr.txt`` or ``titles.de-en.tsv``."""
    match = _CODES_IN_NAME.search(name)
    try:
        return match and parse_languages(match[1])
    except ValueError:
        return None


def find_exchange(rows: Iterable[tuple[int, str, str]], languages: ColumnLanguages) -> int | None:
    """Find out whether two columns are in the opposite order of the given languages.

    If the languages have different scripts, a row counts as evidence if a word is in the script of the other
    column. For English and another language with Latin letters, evidence is a word that is frequent only in
    English, or a letter that English does not have. Other pairs of languages give no evidence.

    Args:
        rows: line number, left and right word.
        languages: the stated languages of the columns.

    Returns:
        The line of the first row that shows an exchange, if more rows show an exchange than the given order; else
        ``None``.
    """
    left, right = map(_scripts, languages)
    if left != right:
        marked, least = (left - right, right - left), 1
        votes = [(line, _vote(scripts_of(x), scripts_of(y), marked)) for line, x, y in rows]
    elif "en" in languages and left == {LATIN}:
        least = _LEAST_ROWS
        sign = 1 if languages.left == "en" else -1
        votes = [(line, sign * (_englishness(x) - _englishness(y))) for line, x, y in rows]
    else:
        return None
    exchanged = [line for line, vote in votes if vote < 0]
    as_given = sum(vote > 0 for _, vote in votes)
    return exchanged[0] if len(exchanged) > max(as_given, least - 1) else None


def _vote(left: frozenset[str], right: frozenset[str], marked: tuple[frozenset[str], frozenset[str]]) -> int:
    """Compare the scripts of two words: above 0 for the given order, below 0 for the opposite one.

    Latin letters are no evidence, because texts in every language have them.
    """
    first, second = (scripts - {LATIN} for scripts in marked)
    as_given = bool(left & first) + bool(right & second)
    exchanged = bool(right & first) + bool(left & second)
    return as_given - exchanged


def _englishness(text: str) -> int:
    """Weigh a text in Latin letters.

    A word that is frequent only in English adds 1. A letter that English does not have subtracts 1.
    """
    has_english_word = not _ENGLISH.isdisjoint(text.lower().split())
    has_other_letter = any(letter.isalpha() and not letter.isascii() for letter in text)
    return has_english_word - has_other_letter


@cache
def _scripts(language: str) -> frozenset[str]:
    found = {script for script, languages in _LANGUAGES_OF.items() if language in languages.split()}
    return frozenset(found or {LATIN})


_SAMPLE: Final = 200
"""Number of lines from which the format is recognised."""

_CHECKED_ROWS: Final = 10_000
"""Largest number of rows that are checked for an exchange of columns. They are spread over the file."""

_HEADER: Final = re.compile(
    r"(source|target|src|tgt|trg|word|translation|term|title|name|text)s?|(source|target|src|tgt|trg)[ _-]\w+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Translations:
    """The translation pairs of a file: n pairs of different words, in lower case.

    Attributes:
        path: the file.
        languages: the languages of the columns, if known.
        left: (n): the words of the first column.
        right: (n): the words of the second column.
        same: number of rows left out because both words are the same.
    """

    path: Path
    languages: ColumnLanguages | None
    left: list[str]
    right: list[str]
    same: int

    def describe(self) -> dict[str, Any]:
        """Describe the source of the pairs, as JSON values."""
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
    """Read the translation pairs of a plain or gzip file; the separator of its columns is recognised.

    The first line may be a header. A table with more than two columns needs a header that has the codes of
    ``languages``. Words are lower-cased, like names in self-alignment. Rows with the same word on both sides teach
    nothing, and are left out; half of the rows of MUSE are such rows.

    Args:
        path: the file.
        languages: the languages of the two columns; if not given, those in the name of the file, if any.
        problems: receives rows that do not have two columns, or have an empty one.

    Raises:
        InputError: the file cannot be read, is not UTF-8, has one column or too many columns, has no pair of
            different words, or has its columns in the opposite order of the languages.
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
        InputError: the file is not UTF-8.
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
    """Find the columns of the left and the right word in a header; ``None`` if the first row is no header."""
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


class TranslationPairs:
    """Translation pairs (x, y), each with its own label; a :class:`~nymlink.pairs.pairs.PairSequence`.

    Liu et al., "Learning Domain-Specialised Representations for Cross-Lingual Biomedical Entity Linking" (ACL
    2021), section 2.2. Both words of a pair are anchors of the loss: each is learned from the other. If several
    files have a pair, in either order, it counts once.

    A word with several translations is in several pairs, each with its own label. Words of a batch that
    translations connect, directly or through other words of the batch, are one group. Words of a group are not
    negatives of each other. Otherwise, the pair of "heart" and "yürek" would push "heart" away from "kalp".

    Args:
        files: the pairs of each file.
        seed: seed of the order of pairs.
    """

    def __init__(self, files: Iterable[Translations], *, seed: int = 0) -> None:
        files = list(files)
        columns = (text for side in ("left", "right") for file in files for text in getattr(file, side))
        encoded = pa.array(columns, pa.large_string()).dictionary_encode()
        self._names = encoded.dictionary
        left, right = np.split(encoded.indices.to_numpy().astype(np.int64), 2)
        key = np.minimum(left, right) * len(self._names) + np.maximum(left, right)
        first = np.sort(np.unique(key, return_index=True)[1])
        self._left, self._right = left[first], right[first]
        self._translations = _symmetric(self._left, self._right, len(self._names))
        self._seed = seed

    def __len__(self) -> int:
        return len(self._left)

    def slice(self, start: int, stop: int, *, epoch: int) -> NamedPairs:
        key = seeded_keys([f"epoch {epoch}"], seed=self._seed)
        numbers = permute(np.arange(start, stop), size=len(self), key=key)
        left, right = self._left[numbers], self._right[numbers]
        names = self._names.take(pa.array(np.concatenate([left, right]))).to_pylist()
        return NamedPairs(numbers, names[: len(left)], names[len(left) :], groups=self._groups(left, right))

    def _groups(self, left: Ints, right: Ints) -> npt.NDArray[np.int32]:
        """Find the groups of words that translations connect, and return the number of its group for each pair."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        words = np.unique(np.concatenate([left, right]))
        rows = self._translations[words].tocoo()
        places = np.searchsorted(words, rows.col).clip(max=len(words) - 1)
        present = words[places] == rows.col
        joined = csr_array(
            (np.ones(present.sum(), bool), (rows.row[present], places[present])), shape=(len(words), len(words))
        )
        groups: npt.NDArray[np.int32] = connected_components(joined, directed=False)[1]
        return groups[np.searchsorted(words, left)]


def _symmetric(left: Ints, right: Ints, size: int) -> csr_array:
    """Make the matrix of translations between words: bool (size, size)."""
    from scipy.sparse import csr_array

    rows, columns = np.concatenate([left, right]), np.concatenate([right, left])
    return csr_array((np.ones(len(rows), bool), (rows, columns)), shape=(size, size))
