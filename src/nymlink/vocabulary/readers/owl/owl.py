"""OWL and SKOS in RDF/XML, as ontology editors save them.

A file that is not well-formed is an error, since parsing cannot resume; a class without an id is left out.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.formats import Format
from nymlink.core.problems import Problems
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.owl.rdf_xml import parse_rdf_xml
from nymlink.vocabulary.tables import Tables

_SIGN: Final = re.compile(r"<(?:!DOCTYPE\s+)?(?:[\w.-]+:)?RDF[\s>]")


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    return _SIGN.search(head) is not None


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    tables = parse_rdf_xml(path, problems).tables(options)
    if tables is None:
        raise InputError("no class or SKOS concept in the file has a name", path=path)
    return tables


FORMAT: Final[VocabularyFormat] = Format(
    name="owl", description="OWL or SKOS in RDF/XML", recognises=_recognises, read=_read
)
"""OWL and SKOS in RDF/XML."""
