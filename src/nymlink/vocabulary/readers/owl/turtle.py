"""OWL in Turtle."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.owl.recovery import MAX_DEPTH, Grammar, MalformedError, Scanner, read_units
from nymlink.vocabulary.readers.owl.statements import RDF, Statements, Value, resolve_iri
from nymlink.vocabulary.tables import Tables

_TOKEN: Final = re.compile(
    r"""\s*+(?:(?P<iri><[^<>"{}|^`\x00-\x20]*+>)"""
    r"""|(?P<long>"{3}(?:[^"\\]++|\\.|"(?!""))*+"{3}|'{3}(?:[^'\\]++|\\.|'(?!''))*+'{3})"""
    r"""|(?P<text>"(?!"")(?:[^"\\\n]++|\\.)*+"|'(?!'')(?:[^'\\\n]++|\\.)*+')"""
    r"""|(?P<lang>@[A-Za-z]++(?:-[A-Za-z0-9]++)*+)"""
    r"""|(?P<blank>_:\w(?:[\w.-]*\w)?)"""
    r"""|(?P<name>(?:[^\W\d_](?:[\w.-]*[\w-])?)?:(?:\.*(?:[\w:-]|%[0-9A-Fa-f]{2}|\\[^\s\w]))*)"""
    r"""|(?P<number>[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)"""
    r"""|(?P<word>[A-Za-z]++)|(?P<mark>\^\^|[\[\]();,.]))""",
    re.DOTALL,
)
# Limit the length of a comment here, because full stops may follow each other closely.
_RESUME: Final = re.compile(r"(?:\.[ \t]{0,80}(?:#[^\n]{0,80})?|\n)\n(?=[^\s.;,\])])")
TURTLE: Final = Grammar("a statement", _TOKEN, multiline=('"""', "'''"), resume=_RESUME)
_ESCAPE: Final = re.compile(r"\\(?:u(?P<four>[0-9A-Fa-f]{4})|U(?P<eight>[0-9A-Fa-f]{8})|(?P<one>.))", re.DOTALL)
_ESCAPED: Final = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_NOUNS: Final = {
    "subject": "a subject",
    "predicate": "a predicate",
    "object": "an object",
    "item": "an item of a list",
    "end": "the end of the statement",
}
_REPLACEMENT: Final = "�"


@dataclass(slots=True)
class _Frame:
    """State of a statement, or of a ``[…]`` or ``(…)`` within it."""

    expects: str
    subject: str = ""
    predicate: str = ""


class TurtleParser:
    """Parser of triples; turns them into statements."""

    def __init__(self) -> None:
        self.statements = Statements()
        self._prefixes: dict[str, str] = {}
        self._base = ""
        self._blanks = 0

    def unit(self, scanner: Scanner) -> None:
        """Read one directive, or one subject with its predicates and objects."""
        place = scanner.place
        _, token = scanner.take()
        if token.lower() in ("@prefix", "@base", "prefix", "base"):
            self._directive(token, scanner)
        else:
            scanner.place = place
            self._triples(scanner)

    def _directive(self, token: str, scanner: Scanner) -> None:
        name = ""
        if token.lower().endswith("prefix"):
            kind, name = scanner.take()
            if kind != "name" or not name.endswith(":"):
                raise MalformedError(f"{token} without a prefix")
        kind, iri = scanner.take()
        if kind != "iri" or (token.startswith("@") and scanner.take()[1] != "."):
            raise MalformedError(f"{token} without an IRI or the full stop after it")
        if name:
            self._prefixes[name[:-1]] = self.statements.prefixes[name[:-1]] = self._iri(kind, iri)
        else:
            self._base = self._iri(kind, iri)

    def _triples(self, scanner: Scanner) -> None:
        triples: list[tuple[str, str, Value]] = []
        closed: list[str] = []
        frames = [_Frame("subject")]
        while True:
            kind, token = scanner.take()
            frame = frames[-1]
            if kind != "mark":
                self._put(frame, self._term(frame, kind, token, scanner), triples)
            elif token in "[(" and frame.expects in ("subject", "object", "item"):
                if len(frames) > MAX_DEPTH:
                    raise MalformedError("brackets that are not closed")
                self._blanks += 1
                frames.append(_Frame("predicate" if token == "[" else "item", f"_:[{self._blanks}]"))
            elif (
                token in "])"
                and len(frames) > 1
                and (token == ")") == (frame.expects == "item")
                and frame.expects in ("predicate", "end", "item")
            ):
                frames.pop()
                closed.append(frame.subject)
                self._put(frames[-1], Value(frame.subject, is_iri=True), triples)
            elif token == ";" and frame.expects in ("end", "predicate"):
                frame.expects = "predicate"
            elif token == "," and frame.expects == "end":
                frame.expects = "object"
            elif token == "." and len(frames) == 1 and frame.expects in ("end", "predicate"):
                break
            else:
                raise MalformedError(f"{token[:40]!r} instead of {_NOUNS[frame.expects]}")
        for statement in triples:
            self.statements.add(*statement)
        for blank in closed:
            self.statements.close(blank)

    def _put(self, frame: _Frame, value: Value, triples: list[tuple[str, str, Value]]) -> None:
        if frame.expects == "end" or (frame.expects in ("subject", "predicate") and not value.is_iri):
            raise MalformedError(f"{value.text[:40]!r} instead of {_NOUNS[frame.expects]}")
        if frame.expects == "subject":
            frame.subject, frame.expects = value.text, "predicate"
        elif frame.expects == "predicate":
            frame.predicate, frame.expects = value.text, "object"
        elif frame.expects == "object":
            # A blank node has no meaning outside its own statements, unless it is a label.
            is_blank = value.is_iri and value.text.startswith("_:")
            if not is_blank or self.statements.may_be_node(frame.predicate):
                triples.append((frame.subject, frame.predicate, value))
            frame.expects = "end"

    def _term(self, frame: _Frame, kind: str, token: str, scanner: Scanner) -> Value:
        if kind in ("iri", "name", "blank"):
            return Value(self._iri(kind, token), is_iri=True)
        if kind in ("text", "long"):
            quotes = 3 if kind == "long" else 1
            return Value(unescape_literal(token[quotes:-quotes]), scanner.take_language())
        if kind == "word" and token == "a" and frame.expects == "predicate":
            return Value(f"{RDF}type", is_iri=True)
        if kind == "number" or token in ("true", "false"):
            return Value(token)
        raise MalformedError(f"{token[:40]!r} instead of {_NOUNS[frame.expects]}")

    def _iri(self, kind: str, token: str) -> str:
        if kind == "iri":
            return resolve_iri(unescape_literal(token[1:-1]), self._base)
        if kind == "blank":
            return token
        prefix, _, local = token.partition(":")
        if prefix not in self._prefixes:
            raise MalformedError(f"the prefix of {token[:40]!r} is not declared")
        return self._prefixes[prefix] + (re.sub(r"\\(.)", r"\1", local) if "\\" in local else local)


def unescape_literal(text: str) -> str:
    """Undo the escapes of a literal or an IRI, also of N-Triples."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    if match["one"] is not None:
        return _ESCAPED.get(match["one"], match["one"])
    code = int(match["four"] or match["eight"], 16)
    # Halves of surrogate pairs and numbers beyond Unicode are no characters.
    return _REPLACEMENT if 0xD800 <= code < 0xE000 or code > 0x10FFFF else chr(code)


_SIGN: Final = re.compile(
    r"^[^\S\n]*(?:@prefix\s+[\w.-]*:\s*<|@base\s+<|PREFIX\s+[\w.-]*:\s*<|<[a-z]+:[^<>\s]+>\s+<[a-z]+:[^<>\s]+>\s+[<\"])",
    re.MULTILINE | re.IGNORECASE,
)


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    return _SIGN.search(head) is not None


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    parser = TurtleParser()
    read_units(path, problems, TURTLE, parser.unit)
    tables = parser.statements.tables(options, path, problems)
    if tables is None:
        raise InputError("no class or SKOS concept in the file has a name: is this Turtle?", path=path)
    return tables


FORMAT: Final[VocabularyFormat] = Format(
    name="turtle", description="SKOS or OWL in Turtle or N-Triples", recognises=_recognises, read=_read
)
"""SKOS and OWL in Turtle."""
