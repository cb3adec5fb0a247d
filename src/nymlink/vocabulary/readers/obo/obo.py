"""OBO 1.0 to 1.4, the line-based ontology format; its parser tolerates the common errors of published files.

A line that cannot be read is left out and reported; the rest of its stanza stays. Only ``[Term]`` stanzas are
read. Source: https://owlcollab.github.io/oboformat/doc/obo-syntax.html.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.files import read_lines
from nymlink.core.formats import Format
from nymlink.core.problems import Problems
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.obo.oboinowl import (
    IN_OWL,
    SKOS,
    XREF_PROPERTIES,
    SynonymTypes,
    Term,
    build_tables,
    curie,
)
from nymlink.vocabulary.readers.obo.strict import refuse_violations
from nymlink.vocabulary.readers.obo.syntax import parse_synonym, quoted, reference, unescape, unquoted
from nymlink.vocabulary.tables import Tables

_SIGN: Final = re.compile(r"^(?:format-version:|\[Term\])", re.MULTILINE)
_STANZA: Final = re.compile(r"\[\s*(?P<type>\w+)\s*\](?:\s*!.*)?")
_BROKEN_STANZA: Final = re.compile(r"\[\s*(?P<type>Term|Typedef|Instance)\b", re.IGNORECASE)
_TAG: Final = re.compile(r"[A-Za-z][\w-]*")
_NO_TAG: Final = "neither a tag with its value nor a stanza's beginning"
_SCOPE_OF_OLD_TAG: Final = {f"{scope.lower()}_synonym": scope for scope in ("EXACT", "RELATED", "NARROW", "BROAD")}
_SYNONYM_TAGS: Final = frozenset({"synonym", *_SCOPE_OF_OLD_TAG})
_LICENCE: Final = re.compile(r"\S*[:/]licen[sc]e", re.IGNORECASE)


def _id(value: str) -> str:
    return curie(reference(value))


_VALUES: Final[Mapping[str, tuple[str, Callable[[str], str]]]] = {
    "name": ("labels", unquoted),
    "namespace": ("namespaces", unquoted),
    "is_a": ("parents", _id),
    "alt_id": ("alternate_ids", _id),
    "replaced_by": ("replaced_by", _id),
    "xref": ("xrefs", reference),
    "xref_analog": ("xrefs", reference),
    "xref_unk": ("xrefs", reference),
    "equivalent_to": ("xrefs", _id),
}
"""Tags of simple values: field of a term, and function that parses the value."""


class _Parser:
    """Parser of the lines of one file, with the header's tags and the terms so far."""

    def __init__(self, path: Path, problems: Problems) -> None:
        self.terms: dict[str, Term] = {}
        self.header: dict[str, str] = {}
        self.synonym_types: dict[str, str] = {}
        self._prefixes = {"skos": SKOS, "oboInOwl": IN_OWL}
        self._path = path
        self._problems = problems
        self._stanza = "header"
        self._start = 0
        self._term = Term("")

    def line(self, number: int, line: str) -> None:
        line = line.strip()
        if not line or line.startswith("!"):
            return
        if line.startswith("[") and self._opens(number, line):
            return
        if self._stanza not in ("header", "Term"):
            return
        tag, colon, value = line.partition(":")
        if not colon:
            self._problems.reject(self._path, number, _NO_TAG)
        elif self._stanza == "header":
            self._header_tag(tag.rstrip(), value.strip())
        elif fault := self._term_tag(number, tag.rstrip(), value.strip()):
            self._problems.reject(self._path, number, fault)

    def close(self) -> None:
        """End the open stanza."""
        if self._stanza == "Term" and not self._term.id:
            self._problems.reject(self._path, self._start, "a [Term] without an id")

    def _opens(self, number: int, line: str) -> bool:
        match = _STANZA.fullmatch(line)
        if match is None:
            match = _BROKEN_STANZA.match(line)
            if match is None:
                return False
            self._problems.repair(self._path, number, f"{line[:40]!r} taken as [{match['type']}]")
        self.close()
        self._stanza = match["type"].capitalize()
        self._start = number
        self._term = Term("")
        return True

    def _header_tag(self, tag: str, value: str) -> None:
        if tag == "synonymtypedef":
            name, _, description = value.partition(" ")
            text = quoted(description.strip())
            self.synonym_types[unquoted(name)] = text[0] if text else description
        elif tag == "property_value":
            name, _, rest = value.partition(" ")
            text = quoted(rest.strip())
            key = "licence" if _LICENCE.fullmatch(name) else name
            self.header.setdefault(key, text[0] if text else unquoted(rest).partition(" ")[0])
        elif tag == "idspace":
            prefix, _, rest = unquoted(value).partition(" ")
            self._prefixes[prefix] = rest.strip().partition(" ")[0]
        else:
            self.header.setdefault(tag, unquoted(value))

    def _identify(self, number: int, id_: str) -> None:
        collected = self._term
        if collected.id:
            if collected.id != id_:
                message = f"a second id in the stanza of {collected.id[:40]}: taken as a new [Term]"
                self._problems.repair(self._path, number, message)
            collected = Term("")
        known = self.terms.get(id_)
        if known is None:
            collected.id = id_
            self.terms[id_] = self._term = collected
            return
        self._problems.repair(self._path, number, f"a second [Term] of {id_[:40]}: merged with the first")
        # Tags may stand before the id; their values go to the earlier term.
        for field in ("labels", "synonyms", "namespaces", "alternate_ids", "xrefs", "parents", "replaced_by"):
            getattr(known, field).extend(getattr(collected, field))
        known.definition = known.definition or collected.definition
        known.obsolete = known.obsolete or collected.obsolete
        self._term = known

    def _term_tag(self, number: int, tag: str, value: str) -> str | None:
        """Add the value of a line to the open term; returns the reason if the line is rejected."""
        term = self._term
        if tag in _VALUES:
            field, read = _VALUES[tag]
            text = read(value)
            if not text:
                return f"the tag {tag!r} has no value"
            getattr(term, field).append(text)
        elif tag in _SYNONYM_TAGS:
            synonym = parse_synonym(value, scope=_SCOPE_OF_OLD_TAG.get(tag))
            if synonym is None:
                return 'a synonym that is not of the form "text" SCOPE TYPE [xrefs]'
            term.synonyms.append(synonym)
        elif tag == "id":
            id_ = curie(unquoted(value))
            if not id_:
                return "the id is empty"
            self._identify(number, id_)
        elif tag == "def":
            definition = quoted(value)
            if definition is None:
                return "a definition that is not in quotation marks"
            term.definition = term.definition or definition[0]
        elif tag == "property_value":
            self._property_value(value)
        elif tag == "is_obsolete":
            term.obsolete = term.obsolete or unquoted(value).lower() == "true"
        elif not _TAG.fullmatch(tag):
            return _NO_TAG
        return None

    def _property_value(self, value: str) -> None:
        """Add a value that is a cross-reference: an id or IRI, or a text in quotation marks, kept as it is."""
        name, _, rest = value.partition(" ")
        prefix, colon, local = unescape(name).partition(":")
        if f"{self._prefixes.get(prefix, prefix + colon)}{local}" in XREF_PROPERTIES:
            text = quoted(rest.strip())
            target = text[0].strip() if text else curie(unquoted(rest).partition(" ")[0])
            if target:
                self._term.xrefs.append(target)


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    return _SIGN.search(head) is not None


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    if options.strict:
        refuse_violations(path)
    parser = _Parser(path, problems)
    for number, line in read_lines(path, problems):
        parser.line(number, line)
    parser.close()
    if not parser.terms:
        raise InputError("no [Term] that could be used: is this an OBO file?", path=path)
    default_namespace = parser.header.get("default-namespace")
    for term in parser.terms.values():
        if not term.namespaces and default_namespace:
            term.namespaces.append(default_namespace)
    return build_tables(
        parser.terms,
        SynonymTypes(parser.synonym_types),
        options,
        version=parser.header.get("data-version") or parser.header.get("owl:versionInfo"),
        licence=parser.header.get("licence"),
    )


FORMAT: Final[VocabularyFormat] = Format(
    name="obo",
    description="OBO flat file: an ontology as [Term] stanzas",
    recognises=_recognises,
    read=_read,
    options=frozenset({"strict"}),
)
