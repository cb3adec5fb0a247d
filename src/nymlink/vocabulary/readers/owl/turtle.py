"""SKOS and OWL in Turtle and its subset N-Triples. Broken statements are left out and reported."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.formats import Format
from nymlink.core.problems import Problems
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.owl.recovery import read_units
from nymlink.vocabulary.readers.owl.turtle_syntax import TURTLE, TurtleParser
from nymlink.vocabulary.tables import Tables

_SIGN: Final = re.compile(
    r"^\s*(?:@prefix\s+[\w.-]*:\s*<|@base\s+<|PREFIX\s+[\w.-]*:\s*<|<[a-z]+:[^<>\s]+>\s+<[a-z]+:[^<>\s]+>\s+[<\"])",
    re.MULTILINE | re.IGNORECASE,
)


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    return _SIGN.search(head) is not None


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    parser = TurtleParser()
    read_units(path, problems, TURTLE, parser.unit)
    tables = parser.statements.tables(options)
    if tables is None:
        raise InputError("no class or SKOS concept in the file has a name: is this Turtle?", path=path)
    return tables


FORMAT: Final[VocabularyFormat] = Format(
    name="turtle", description="SKOS or OWL in Turtle or N-Triples", recognises=_recognises, read=_read
)
"""SKOS and OWL in Turtle."""
