"""OWL in functional syntax."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.owl.recovery import MAX_DEPTH, Grammar, MalformedError, Scanner, read_units
from nymlink.vocabulary.readers.owl.statements import OWL, RDF, RDFS, Statements, Value
from nymlink.vocabulary.tables import Tables

_TOKEN: Final = re.compile(
    r"""\s*+(?:(?P<name>[^\s()<>"=^@#][^\s()<>"=^@]*+)|(?P<mark>[()=]|\^\^)|(?P<iri><[^<>"\s]*+>)"""
    r"""|(?P<text>"(?:[^"\\]++|\\.)*+")|(?P<lang>@[A-Za-z][A-Za-z0-9-]*+))""",
    re.DOTALL,
)
_AXIOMS: Final = (
    "Declaration",
    "AnnotationAssertion",
    "SubClassOf",
    "EquivalentClasses",
    "DisjointClasses",
    "Prefix",
)
_AXIOM: Final = rf"(?:{'|'.join(_AXIOMS)})\s*\("
_RESUME: Final = re.compile(rf"\n[ \t]*(?={_AXIOM}|\)\s*\Z)")
FUNCTIONAL: Final = Grammar("an axiom", _TOKEN, multiline=('"',), resume=_RESUME)
_SWALLOWED: Final = re.compile(rf"\n[ \t]*{_AXIOM}")
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_STANDARD: Final = {"rdf": RDF, "rdfs": RDFS, "owl": OWL, "xsd": "http://www.w3.org/2001/XMLSchema#"}


class _Call(NamedTuple):
    """Expression ``Name(argument argument …)``."""

    name: str
    arguments: list[_Call | Value]


class FunctionalParser:
    """Parser of axioms about classes and annotations; turns them into statements."""

    def __init__(self) -> None:
        self.statements = Statements()
        self.opened = False
        self.closed = False
        self._ontology = ""
        self._prefixes = dict(_STANDARD)

    def unit(self, scanner: Scanner) -> None:
        """Read one axiom, or the beginning or the end of the ontology."""
        kind, token = scanner.take()
        if token == ")" and self.opened:
            self.closed = True
        elif kind != "name":
            raise MalformedError(f"it begins with {token[:20]!r}")
        elif token == "Prefix":
            self._prefix(scanner)
        elif token == "Ontology":
            self._open(scanner)
        else:
            self._state(self._call(token, scanner))

    def _prefix(self, scanner: Scanner) -> None:
        (_, opening), (_, name), (_, equals), (kind, iri), (_, closing) = (scanner.take() for _ in range(5))
        if (opening, name[-1:], equals, kind, closing) != ("(", ":", "=", "iri", ")"):
            raise MalformedError("it is not of the form Prefix(name:=<IRI>)")
        self._prefixes[name[:-1]] = self.statements.prefixes[name[:-1]] = iri[1:-1]

    def _open(self, scanner: Scanner) -> None:
        if scanner.take()[1] != "(":
            raise MalformedError("Ontology without a bracket")
        iris: list[str] = []
        while True:
            place = scanner.place
            kind, token = scanner.take()
            if len(iris) == 2 or (kind != "iri" and ":" not in token):
                scanner.place = place
                break
            iris.append(self._iri(kind, token))
        self.opened = True
        self._ontology = iris[0] if iris else ""
        self.statements.add(self._ontology, f"{RDF}type", Value(f"{OWL}Ontology", is_iri=True))
        if len(iris) == 2:
            self.statements.add(self._ontology, f"{OWL}versionIRI", Value(iris[1], is_iri=True))

    def _call(self, name: str, scanner: Scanner) -> _Call:
        if scanner.take()[1] != "(":
            raise MalformedError(f"{name[:40]} without a bracket")
        whole = _Call(name, [])
        open_calls = [whole]
        word = ""
        while open_calls:
            kind, token = scanner.take()
            if word and token != "(":
                open_calls[-1].arguments.append(Value(self._iri("name", word), is_iri=True))
            if kind == "name":
                word = token
                continue
            if token == "(":
                if word in _AXIOMS or len(open_calls) > MAX_DEPTH:
                    raise MalformedError("its bracket is not closed")
                call = _Call(word, [])
                open_calls[-1].arguments.append(call)
                open_calls.append(call)
            elif token == ")":
                open_calls.pop()
            elif kind == "iri":
                open_calls[-1].arguments.append(Value(token[1:-1], is_iri=True))
            elif kind == "text":
                open_calls[-1].arguments.append(self._literal(token, scanner))
            else:
                raise MalformedError(f"{token[:40]!r} in the wrong place")
            word = ""
        return whole

    def _literal(self, token: str, scanner: Scanner) -> Value:
        if "\n" in token and _SWALLOWED.search(token):
            raise MalformedError("a text whose quotation mark is not closed")
        text = _ESCAPE.sub(r"\1", token[1:-1]) if "\\" in token else token[1:-1]
        return Value(text, scanner.take_language())

    def _iri(self, kind: str, token: str) -> str:
        if kind == "iri":
            return token[1:-1]
        prefix, colon, local = token.partition(":")
        if prefix == "_" and colon:
            return token
        if not colon or prefix not in self._prefixes:
            raise MalformedError(f"the prefix of {token[:40]!r} is not declared")
        return self._prefixes[prefix] + local

    def _state(self, axiom: _Call) -> None:
        annotations = [part for part in axiom.arguments if isinstance(part, _Call) and part.name == "Annotation"]
        parts = [part for part in axiom.arguments if not (isinstance(part, _Call) and part.name == "Annotation")]
        match axiom.name, parts:
            case "Annotation", [Value() as predicate, Value() as value]:
                self.statements.add(self._ontology, predicate.text, value)
            case "Declaration", [_Call(type_, [Value() as subject])]:
                self.statements.add(subject.text, f"{RDF}type", Value(OWL + type_, is_iri=True))
            case "AnnotationAssertion", [Value() as predicate, Value(is_iri=True) as subject, Value() as value]:
                self.statements.add(subject.text, predicate.text, value)
                self._annotate(annotations, subject.text, predicate.text, value.text)
            case "SubClassOf", [Value() as child, Value() as parent]:
                self.statements.add(child.text, f"{RDFS}subClassOf", parent)
            case "EquivalentClasses", [Value() as left, Value() as right]:
                self.statements.add(left.text, f"{OWL}equivalentClass", right)
            case (("Annotation" | "Declaration" | "AnnotationAssertion"), _):
                raise MalformedError(f"{axiom.name} with the wrong arguments")
            case (("SubClassOf" | "EquivalentClasses"), [] | [_]):
                raise MalformedError(f"{axiom.name} with too few arguments")

    def _annotate(self, annotations: list[_Call], subject: str, predicate: str, text: str) -> None:
        for annotation in annotations:
            match [part for part in annotation.arguments if isinstance(part, Value)]:
                case [about, type_]:
                    self.statements.add_synonym_type(subject, predicate, text, about.text, type_.text)


_SIGN: Final = re.compile(r"^[^\S\n]*(?:Prefix\s*\(\s*[\w.-]*:\s*=|Ontology\s*\()", re.MULTILINE)


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    return _SIGN.search(head) is not None


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    parser = FunctionalParser()
    read_units(path, problems, FUNCTIONAL, parser.unit)
    if not parser.opened:
        raise InputError("the file has no Ontology(: is this OWL functional-style syntax?", path=path)
    if not parser.closed:
        problems.reject(path, None, "the file ends before Ontology( is closed: is it complete?")
    tables = parser.statements.tables(options, path, problems)
    if tables is None:
        raise InputError("no class in the file has a name", path=path)
    return tables


FORMAT: Final[VocabularyFormat] = Format(
    name="owl-functional", description="OWL in functional-style syntax", recognises=_recognises, read=_read
)
"""OWL in functional-style syntax."""
