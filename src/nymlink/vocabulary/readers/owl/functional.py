"""OWL in functional-style syntax, in which ontologies are edited. Broken axioms are left out and reported."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.formats import Format
from nymlink.core.problems import Problems
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.owl.functional_syntax import FUNCTIONAL, FunctionalParser
from nymlink.vocabulary.readers.owl.recovery import read_units
from nymlink.vocabulary.tables import Tables

_SIGN: Final = re.compile(r"^\s*(?:Prefix\s*\(\s*[\w.-]*:\s*=|Ontology\s*\()", re.MULTILINE)


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    return _SIGN.search(head) is not None


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    parser = FunctionalParser()
    read_units(path, problems, FUNCTIONAL, parser.unit)
    if not parser.opened:
        raise InputError("the file has no Ontology(: is this OWL functional-style syntax?", path=path)
    if not parser.closed:
        problems.reject(path, None, "the file ends before Ontology( is closed: is it complete?")
    tables = parser.statements.tables(options)
    if tables is None:
        raise InputError("no class in the file has a name", path=path)
    return tables


FORMAT: Final[VocabularyFormat] = Format(
    name="owl-functional", description="OWL in functional-style syntax", recognises=_recognises, read=_read
)
"""OWL in functional-style syntax."""
