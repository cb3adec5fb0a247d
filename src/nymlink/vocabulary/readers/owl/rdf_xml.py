"""OWL in RDF/XML.

A file that is not well-formed is an error, because parsing cannot resume; a class without an id is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.core.xml_files import NotWellFormedError, XmlParser
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.oboinowl import SKOS
from nymlink.vocabulary.readers.owl.statements import CLASSES, RDF, RDFS, Statements, Value, resolve_iri
from nymlink.vocabulary.tables import Tables

_XML: Final = "http://www.w3.org/XML/1998/namespace"
# Ontology editors declare short names of namespaces as XML entities.
_MAX_ENTITY: Final = 128
_MAX_TEXT: Final = 1 << 20
_NAMES: Final = frozenset({f"{RDFS}label", f"{SKOS}prefLabel"})


@dataclass(slots=True)
class _Element:
    """Open element: a node (subject of statements) or a property (statement about its node).

    Attributes:
        subject: the node, or the node of the property.
        predicate: the property; empty for a node.
        lang: the language in force.
        line: line of its start tag.
        text: for a property: the literal so far, ``None`` if it is not wanted.
        length: for a property: characters of the literal so far, kept or not.
        value: for a property: the node that is its value.
        is_list: for a property: whether its value is a list of nodes, which is not kept.
        is_class: for a node: whether it is a class or a SKOS concept.
        is_named: for a node: whether it has a label.
    """

    subject: str
    predicate: str
    lang: str | None
    line: int = 0
    text: list[str] | None = None
    length: int = 0
    value: str | None = None
    is_list: bool = False
    is_class: bool = False
    is_named: bool = False


@dataclass(slots=True)
class _Handler:
    parser: XmlParser
    path: Path
    problems: Problems
    statements: Statements
    base: str = ""
    blanks: int = 0
    literal_depth: int = 0
    open: list[_Element] = field(default_factory=list)

    def declare(self, prefix: str | None, namespace: str) -> None:
        # XML itself allows a prefix to change its meaning within a file.
        self.statements.prefixes.setdefault(prefix or "", namespace)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.parser.check_depth(len(self.open) + self.literal_depth)
        if self.literal_depth:
            self.literal_depth += 1
        elif not self.open:
            if name != f"{RDF}RDF":
                message = f"the root element is <{name[:80]}>, not rdf:RDF: is this OWL or SKOS in RDF/XML?"
                raise self.parser.refusal(message)
            self.parser.has_root = True
            self.base = attributes.get(f"{_XML}base", "")
            self.open.append(_Element("", "root", attributes.get(f"{_XML}lang")))
        elif self.open[-1].predicate:
            self._node(name, attributes)
        else:
            self._property(name, attributes)

    def end(self, _: str) -> None:
        if self.literal_depth > 1:
            self.literal_depth -= 1
            return
        self.literal_depth = 0
        element = self.open.pop()
        if not self.open:
            return
        if not element.predicate:
            self._end_node(element)
        elif element.value is not None:
            self._add_statement(element, Value(element.value, is_iri=True))
        elif element.text is not None:
            if element.length > _MAX_TEXT:
                self.problems.reject(
                    self.path, element.line, f"a text of {element.length:,} characters, more than {_MAX_TEXT:,}"
                )
            else:
                self._add_statement(element, Value("".join(element.text), lang=element.lang))

    def text(self, data: str) -> None:
        element = self.open[-1]
        if element.text is not None:
            element.length += len(data)
            if element.length <= _MAX_TEXT:
                element.text.append(data)

    def _node(self, name: str, attributes: dict[str, str]) -> None:
        parent = self.open[-1]
        parent.text = None
        subject = self._subject(attributes)
        lang = attributes.get(f"{_XML}lang", parent.lang)
        element = _Element(subject, "", lang, self.parser.line, is_class=name in CLASSES)
        self.open.append(element)
        if name != f"{RDF}Description":
            self.statements.add(subject, f"{RDF}type", Value(name, is_iri=True))
        for predicate, text in attributes.items():
            if not predicate.startswith((RDF, _XML)):
                self.statements.add(subject, predicate, Value(text, lang=lang))
                element.is_named = element.is_named or predicate in _NAMES

    def _end_node(self, element: _Element) -> None:
        parent = self.open[-1]
        is_blank = element.subject.startswith("_:")
        if not parent.is_list and (not is_blank or self.statements.may_be_node(parent.predicate)):
            parent.value = element.subject
        if not is_blank:
            return
        if element.is_class and element.is_named:
            self.problems.reject(self.path, element.line, "a class or concept with a label, but without an id")
        self.statements.close(element.subject)

    def _property(self, predicate: str, attributes: dict[str, str]) -> None:
        node = self.open[-1]
        node.is_named = node.is_named or predicate in _NAMES
        lang = attributes.get(f"{_XML}lang", node.lang)
        element = _Element(node.subject, predicate, lang, self.parser.line)
        self.open.append(element)
        parse_type = attributes.get(f"{RDF}parseType")
        if parse_type == "Resource":
            # Such a property is also a blank node.
            element.subject, element.predicate = self._blank(), ""
            if self.statements.may_be_node(predicate):
                self.statements.add(node.subject, predicate, Value(element.subject, is_iri=True))
        elif parse_type == "Collection":
            element.is_list = True
        elif resource := attributes.get(f"{RDF}resource"):
            element.value = resolve_iri(resource, self.base)
        elif (id_ := attributes.get(f"{RDF}nodeID")) is not None:
            element.value = f"_:{id_}" if self.statements.may_be_node(predicate) else None
        else:
            element.text = [] if self.statements.role(predicate) else None
            self.literal_depth = 1 if parse_type == "Literal" else 0
        if self.statements.role(predicate) is None:
            self.statements.add(node.subject, predicate, Value(""))

    def _add_statement(self, element: _Element, value: Value) -> None:
        self.statements.add(element.subject, element.predicate, value)

    def _subject(self, attributes: dict[str, str]) -> str:
        if (about := attributes.get(f"{RDF}about")) is not None:
            return resolve_iri(about, self.base)
        if (id_ := attributes.get(f"{RDF}ID")) is not None:
            return resolve_iri(f"#{id_}", self.base)
        if (id_ := attributes.get(f"{RDF}nodeID")) is not None:
            return f"_:{id_}"
        return self._blank()

    def _blank(self) -> str:
        self.blanks += 1
        return f"_:[{self.blanks}]"


def parse_rdf_xml(path: Path, problems: Problems) -> Statements:
    """Read the statements of a plain or gzip file.

    Raises:
        InputError: the file is not well-formed XML or not RDF, or it could exhaust the memory.
    """
    parser = XmlParser(path, problems, namespaces=True, longest_entity=_MAX_ENTITY)
    handler = _Handler(parser, path, problems, Statements())
    parser.expat.StartNamespaceDeclHandler = handler.declare
    parser.expat.StartElementHandler = handler.start
    parser.expat.EndElementHandler = handler.end
    parser.expat.CharacterDataHandler = handler.text
    try:
        for _ in parser.run():
            pass
    except NotWellFormedError as error:
        raise InputError(f"malformed XML ({error}): fetch it again", path=path, line=error.line) from error
    return handler.statements


_SIGN: Final = re.compile(r"<(?:!DOCTYPE\s+)?(?:[\w.-]+:)?RDF[\s>]")


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    return _SIGN.search(head) is not None


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    tables = parse_rdf_xml(path, problems).tables(options, path, problems)
    if tables is None:
        raise InputError("no class or SKOS concept in the file has a name", path=path)
    return tables


FORMAT: Final[VocabularyFormat] = Format(
    name="owl", description="OWL or SKOS in RDF/XML", recognises=_recognises, read=_read
)
"""OWL and SKOS in RDF/XML."""
