"""ICD-10-CM order file (``icd10cm_order_20xx.txt``): fixed width, one code a line.

Columns, from the ``icd10OrderFiles.pdf`` that CMS publishes with it, counted from 1: 1-5 order number, 7-13 code,
15 whether it is billable (1) or a header (0), 17-76 short description, 78 and on long description.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.files import read_lines
from nymlink.core.formats import Format
from nymlink.core.problems import Problems
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.tables import TableBuilder, Tables

PREFIX: Final = "ICD10CM:"
_LINE: Final = re.compile(r"\d{5} (?P<code>[A-Z][0-9][0-9A-Z ]{5}) [01] (?P<short>.{60}) (?P<long>.*\S.*)")
_LINES_CHECKED: Final = 20
_CATEGORY: Final = 3


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    lines = [line.rstrip("\r") for line in head.split("\n") if line.strip()][:_LINES_CHECKED]
    return 2 * sum(_LINE.fullmatch(line) is not None for line in lines) > len(lines)


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read the codes: long descriptions are preferred, the longest prefix that is a code is the parent."""
    languages = LanguageFilter(options)
    builder = TableBuilder()
    for number, line in read_lines(path, problems):
        if not line.strip():
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            problems.reject(path, number, "not a row of an ICD-10-CM order file")
            continue
        code = match["code"].rstrip()
        id_ = _curie(code)
        shorter = (_curie(code[:length]) for length in range(len(code) - 1, _CATEGORY - 1, -1))
        parent = next((prefix for prefix in shorter if prefix in builder), None)
        builder.concept(id_, parents=[parent] if parent else [])
        if languages.wants(languages.default):
            builder.name(id_, match["long"], lang=languages.default, kind="preferred")
            builder.name(id_, match["short"], lang=languages.default)
    if not len(builder):
        raise InputError("no row that could be used", path=path)
    return builder.build()


def _curie(code: str) -> str:
    """Write a code as a CURIE: ``A000`` → ``ICD10CM:A00.0``."""
    tail = code[_CATEGORY:]
    return f"{PREFIX}{code[:_CATEGORY]}" + (f".{tail}" if tail else "")


FORMAT: Final[VocabularyFormat] = Format(
    name="icd10cm",
    description="ICD-10-CM, the fixed-width order file",
    recognises=_recognises,
    read=_read,
)
