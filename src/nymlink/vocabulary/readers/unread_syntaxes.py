"""Tell ontologies in syntaxes that are not read by their beginning, and say how to convert them.

ROBOT reads whatever the OWL API reads, Jena's riot all of RDF. Libraries for Python that parse these syntaxes lose
the whole file at its first fault, and end the process where brackets are nested too deep.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_ROBOT: Final = "ROBOT (https://robot.obolibrary.org): `robot convert --input {file} --output {stem}.owl`"
_RIOT: Final = "Apache Jena (https://jena.apache.org): `riot --output=turtle {file} > {stem}.ttl`"


@dataclass(frozen=True, slots=True)
class _Syntax:
    """A syntax: its name, what is in the beginning of a file in it, and the command that converts it."""

    name: str
    sign: re.Pattern[str]
    convert: str


_SYNTAXES: Final = (
    _Syntax(
        "OWL in Manchester syntax",
        re.compile(r"^[ \t]*+(?:Prefix:\s+[\w.-]*:?\s*<|Ontology:[ \t]*+(?:<|$)|Class:\s+\S)", re.MULTILINE),
        _ROBOT,
    ),
    _Syntax(
        "OWL/XML", re.compile(r"<(?:\w{1,20}:)?Ontology\s[^<>]{0,2000}http://www\.w3\.org/2002/07/owl#"), _ROBOT
    ),
    _Syntax(
        "KRSS",
        re.compile(r"^[ \t]*+\((?:define-(?:primitive-)?(?:concept|role)|implies|equivalent)\s", re.MULTILINE),
        _ROBOT,
    ),
    _Syntax("JSON-LD", re.compile(r'\A\s*+[\[{][^@]*+@(?:context|graph|id)"\s*+:'), _RIOT),
)


def describe_syntax(path: Path, head: str) -> str | None:
    """Say in which syntax an ontology is that is not read, and how to convert it.

    Args:
        path: the file.
        head: the beginning of its text.

    Returns:
        The syntax and the command; ``None`` for a text in none of these.
    """
    found = next((syntax for syntax in _SYNTAXES if syntax.sign.search(head)), None)
    if found is None:
        return None
    stem = path.with_name(path.name.removesuffix(".gz").rsplit(".", 1)[0] or path.name)
    command = found.convert.format(file=shlex.quote(str(path)), stem=shlex.quote(str(stem)))
    return f"{found.name} is not supported: convert it with {command}"
