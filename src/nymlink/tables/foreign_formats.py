"""Recognise text that is no list of mentions: other corpus formats, vocabularies, binary files.

Only files that no reader recognises are checked here; a format with a reader is never described as foreign.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_NAME_IT: Final = "if its format has a reader, name it with --input-format; else convert it to PubTator or a table"
_BUILD_IT: Final = "build it with `nymlink vocab build`, and link to it with --index"
_UNPACK_IT: Final = "unpack it, or give its text, a mention a line"

# A list may begin with a mention in HTML: "<i>E. coli</i>" is not XML.
_ROOT: Final = re.compile(r"\s*<(?:\?xml\b|!DOCTYPE\b|[A-Za-z][\w.:-]*(?:\s[^<>]*)?/?>\s*(?:<|$))", re.IGNORECASE)
_JSON: Final = re.compile(r'\s*(?:\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|\}|$)|\[\s*(?:[\[{"]|$))')
_STANDOFF: Final = re.compile(
    r"T\d+\t\S+ \d+ \d+(?:;\d+ \d+)*(?:\t|$)|[REM]\d+\t\S+(?: \S+:\S+|:T\d+)|\*\t\S+(?: [TE]\d+)+"
    r"|[AN]\d+\t\S+ [TE]\d+|#\d+\t\S+ [A-Z]\d+\t"
)
_TAGGED_TOKEN: Final = re.compile(r"\S.*[ \t](?:O|[BIESLUM]-[A-Za-z_]+)\s*$")
_UNTAGGED_TOKEN: Final = re.compile(r"[ \t]O[ \t\r]*$", re.MULTILINE)
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_LARGEST_SHARE_OF_CONTROLS: Final = 0.02


def _begins(pattern: str) -> Callable[[str], bool]:
    sign = re.compile(pattern)
    return lambda head: sign.match(head.lstrip()) is not None


def _is_xml(head: str) -> bool:
    return _ROOT.match(head) is not None


def _is_json(head: str) -> bool:
    return _JSON.match(head) is not None


def _is_binary(head: str) -> bool:
    return len(_CONTROLS.findall(head)) > _LARGEST_SHARE_OF_CONTROLS * len(head)


def _most(pattern: re.Pattern[str], head: str) -> bool:
    *whole, last = head.split("\n")
    lines = [line for line in whole or [last] if line.strip()]
    return 2 * sum(pattern.match(line) is not None for line in lines) > len(lines)


def _has_tags(head: str) -> bool:
    return _most(_TAGGED_TOKEN, head) and _UNTAGGED_TOKEN.search(head) is not None


@dataclass(frozen=True, slots=True)
class _Foreign:
    """A format that is no list of mentions: its name, a test for the beginning of a text, and advice."""

    name: str
    begins: Callable[[str], bool]
    advice: str = _NAME_IT


# Specific formats before general ones: BioC is XML.
_FORMATS: Final = (
    _Foreign("a binary file", _is_binary, _UNPACK_IT),
    _Foreign("a PDF", _begins("%PDF-"), _UNPACK_IT),
    _Foreign("an RTF document", _begins(r"\{\\rtf"), "save it as plain text"),
    _Foreign("an ontology in RDF/XML", lambda head: _is_xml(head) and "<rdf:RDF" in head, _BUILD_IT),
    _Foreign("BioC XML", lambda head: _is_xml(head) and ("BioC.dtd" in head or "<collection>" in head)),
    _Foreign("XML", _is_xml),
    _Foreign("an ontology in OBO Graphs JSON", lambda head: _is_json(head) and '"graphs"' in head, _BUILD_IT),
    _Foreign("BioC JSON", lambda head: _is_json(head) and '"infons"' in head),
    _Foreign("PubAnnotation JSON", lambda head: _is_json(head) and '"denotations"' in head),
    _Foreign("BigBIO JSON", lambda head: _is_json(head) and '"passages"' in head and '"entities"' in head),
    _Foreign("standoff annotations (BRAT)", lambda head: _most(_STANDOFF, head)),
    _Foreign("tokens with tags (CoNLL)", _has_tags),
    _Foreign("an ontology in OBO", _begins(r"format-version:|\[Term\]"), _BUILD_IT),
    _Foreign(
        "an ontology in Turtle, functional or Manchester syntax",
        _begins(r"@prefix\s+[\w.-]*:\s*<|PREFIX\s+[\w.-]*:\s*<|Prefix\s*\(|Ontology\s*\(|(?:Prefix|Ontology): "),
        _BUILD_IT,
    ),
    _Foreign("MRCONSO of the UMLS", _begins(r"C\d{7}\|[A-Z]{3}\|[A-Za-z]\|L\d+\|"), _BUILD_IT),
)
_JSON_VALUES: Final = _Foreign("JSON", _is_json)


def describe_format(head: str, *, may_be_objects: bool = False) -> str | None:
    """Name the format of a text that is no list of mentions, with advice.

    Args:
        head: the beginning of the text.
        may_be_objects: whether JSON of no known format is accepted, for mention tables of JSON objects.

    Returns:
        The format and the advice; ``None`` if the text may be a list of mentions.
    """
    formats = _FORMATS if may_be_objects else (*_FORMATS, _JSON_VALUES)
    found = next((foreign for foreign in formats if foreign.begins(head)), None)
    return None if found is None else f"this looks like {found.name}, not like a list of mentions: {found.advice}"
