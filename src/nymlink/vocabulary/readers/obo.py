"""OBO 1.2 and 1.4.

Source: OBO Flat File Format 1.4, https://owlcollab.github.io/oboformat/doc/obo-syntax.html. Only ``[Term]``
stanzas are read. An unreadable line is left out and reported; the rest of its stanza stays. The strict check,
which uses https://github.com/fastobo/fastobo-py, lists all violations for the maintainer of a file.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError, MissingExtraError
from nymlink.core.files import read_lines
from nymlink.core.language_codes import normalise_language
from nymlink.core.prefixes import Prefixes
from nymlink.core.problems import Problem, Problems
from nymlink.core.registry import Format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.oboinowl import (
    IN_OWL,
    SKOS,
    XREF_PROPERTIES,
    Synonym,
    SynonymTypes,
    Term,
    build_tables,
)
from nymlink.vocabulary.tables import Tables

_ESCAPE: Final = re.compile(r"\\(.)")
_SPECIAL: Final = {"n": "\n", "t": "\t", "W": " "}
# Possessive quantifiers (``*+``) prevent endless backtracking over white space.
_INSIDE_QUOTES: Final = r'[^"\\]*+(?:\\.[^"\\]*+)*+'
_QUOTED: Final = re.compile(rf'"({_INSIDE_QUOTES})"')
_QUALIFIER: Final = rf'[^\s{{}}",=]++\s*+=\s*+"{_INSIDE_QUOTES}"\s*+'
_QUALIFIERS: Final = re.compile(rf"(?:^|\s)\{{\s*+(?:{_QUALIFIER}(?:,\s*+{_QUALIFIER})*+)?\}}\s*+(?:!.*)?$")
# White space is required around the mark, because names may contain an unescaped "!" ("Yippee!", "Wnt!").
_COMMENT: Final = re.compile(r"(?:^|\s)!(?:\s|$)")
_MARK: Final = re.compile(r"(?<!\\)!")
_AFTER_SYNONYM: Final = re.compile(
    r"(?:@(?P<lang>[A-Za-z0-9-]++))?"
    r"(?:\s++(?P<scope>EXACT|RELATED|NARROW|BROAD)(?![^\s\[{!]))?"
    r'(?:\s++(?P<type>[^\s"\[\]{}!]++(?:\s++[^\s"\[\]{}!]++)*+))?'
    r"\s*+(?:[\[{!].*)?",
    re.IGNORECASE,
)


def unescape(text: str) -> str:
    r"""Undo escapes: ``\n``, ``\t`` and ``\W`` are white space, any other character is itself."""
    return _ESCAPE.sub(lambda match: _SPECIAL.get(match[1], match[1]), text) if "\\" in text else text


def unquoted(value: str) -> str:
    """Strip trailing qualifiers ``{source="…"}`` and comment ``! …``, and unescape."""
    if "{" in value:
        value = _QUALIFIERS.sub("", value)
    if "!" in value:
        value = _COMMENT.split(value, maxsplit=1)[0]
    return unescape(value).strip()


def quoted(value: str) -> tuple[str, str] | None:
    """Split a value into its leading quoted text, unescaped, and the rest; ``None`` without such a text."""
    match = _QUOTED.match(value)
    return (unescape(match[1]), value[match.end() :]) if match else None


def reference(value: str) -> str:
    """Return the id at the beginning of a value, unescaped."""
    if '"' in value:
        value = value.partition(' "')[0]
    # An id ends at a mark, also without white space before it; only IRIs may contain one.
    if "!" in value and "://" not in value:
        value = _MARK.split(value, maxsplit=1)[0]
    return unquoted(value)


def parse_synonym(value: str, *, scope: str | None = None) -> Synonym | None:
    """Parse the value of a synonym line: ``"text" SCOPE TYPE [xrefs] {qualifiers} ! comment``.

    Only the text is required; the default scope is RELATED. ``scope`` is the scope in an old tag
    (``exact_synonym``). Returns ``None`` for a value of another form.
    """
    parsed = quoted(value)
    after = _AFTER_SYNONYM.fullmatch(parsed[1]) if parsed else None
    if parsed is None or after is None:
        return None
    return Synonym(
        text=parsed[0],
        scope=scope or (after["scope"] or "RELATED").upper(),
        type=unescape(after["type"]) if after["type"] else None,
        lang=normalise_language(after["lang"]) if after["lang"] else None,
    )


_LISTED: Final = 20
_MOST_A_STANZA: Final = 100
"""Limit of violations per stanza."""


@dataclass(frozen=True, slots=True)
class Violation:
    """Violation of the format at a 1-based line and column; column ``None``: the whole line."""

    path: str
    line: int
    column: int | None
    message: str

    def __str__(self) -> str:
        column = "" if self.column is None else f":{self.column}"
        return f"{self.path}:{self.line}{column}: {self.message}"


def refuse_violations(path: Path) -> None:
    """Refuse a file that violates OBO 1.4.

    Raises:
        InputError: the file has violations; the message lists the first ones. See also :func:`check`.
        MissingExtraError: fastobo is not installed.
    """
    violations = check(path)
    if violations:
        first = "\n".join(map(str, violations[:_LISTED])) + ("\n…" if len(violations) > _LISTED else "")
        places = "place" if len(violations) == 1 else "places"
        raise InputError(f"not OBO to the letter in {len(violations):,} {places}:\n{first}", path=path)


def check(path: Path) -> list[Violation]:
    """List all violations of the OBO 1.4 syntax in a plain or gzip file, by line.

    Raises:
        MissingExtraError: fastobo is not installed.
        InputError: see :func:`nymlink.core.files.open_bytes`.
    """
    try:
        fastobo = importlib.import_module("fastobo")
    except ImportError as error:
        raise MissingExtraError("strict", purpose="checking OBO strictly") from error
    violations: list[Violation] = []

    def unreadable(problem: Problem) -> None:
        violations.append(Violation(problem.path, problem.line or 1, None, problem.message))

    lines = read_lines(path, Problems(on_problem=unreadable))
    for start, stanza in _stanzas(lines):
        violations.extend(_violations(fastobo, path, start, stanza))
    return sorted(violations, key=lambda violation: violation.line)


def _stanzas(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    """Yield the header and each stanza with the number of its first line."""
    start, stanza = 1, list[str]()
    for number, line in lines:
        if line.startswith("["):
            yield start, stanza
            start, stanza = number, []
        # Blank lines replace unreadable ones, to keep the line numbers.
        stanza.extend("" for _ in range(start + len(stanza), number))
        stanza.append(line)
    yield start, stanza


def _violations(fastobo: Any, path: Path, start: int, stanza: list[str]) -> Iterator[Violation]:
    # The parser fails on lines that are only comments.
    lines = ["" if line.lstrip().startswith("!") else line for line in stanza]
    # The parser stops at the first violation: blank its line to find the next.
    for _ in range(_MOST_A_STANZA):
        if not any(line.strip() for line in lines):
            return
        try:
            fastobo.loads("\n".join(lines) + "\n", threads=1)
        except SyntaxError as error:
            place = min(max((error.lineno or 1) - 1, 0), len(lines) - 1)
            message = f"{error.msg}, in {lines[place][:80]!r}"
            yield Violation(str(path), start + place, error.offset, message)
            # The parser needs these lines; a blank line cannot be blanked again.
            if lines[place].startswith(("[", "id:")) or not lines[place].strip():
                return
            lines[place] = ""
        except ValueError as error:
            yield Violation(str(path), start, None, str(error))
            return
        except BaseException as error:
            # A panic of the Rust parser is a BaseException, but not an Exception.
            if type(error).__name__ != "PanicException":
                raise
            yield Violation(str(path), start, None, "a stanza that crashes the parser fastobo")
            return
        else:
            return


_SIGN: Final = re.compile(r"^(?:format-version:|\[Term\])", re.MULTILINE)
_STANZA: Final = re.compile(r"\[\s*(?P<type>\w+)\s*\](?:\s*!.*)?")
_BROKEN_STANZA: Final = re.compile(r"\[\s*(?P<type>Term|Typedef|Instance)\b", re.IGNORECASE)
_TAG: Final = re.compile(r"[A-Za-z][\w-]*")
_NO_TAG: Final = "neither a tag with its value nor a stanza's beginning"
_SCOPE_OF_OLD_TAG: Final = {f"{scope.lower()}_synonym": scope for scope in ("EXACT", "RELATED", "NARROW", "BROAD")}
_SYNONYM_TAGS: Final = frozenset({"synonym", *_SCOPE_OF_OLD_TAG})
_LICENCE: Final = re.compile(r"\S*[:/]licen[sc]e", re.IGNORECASE)


_VALUES: Final[Mapping[str, tuple[str, Callable[[str], str]]]] = {
    "name": ("labels", unquoted),
    "namespace": ("namespaces", unquoted),
    "is_a": ("parents", reference),
    "alt_id": ("alternate_ids", reference),
    "replaced_by": ("replaced_by", reference),
    "xref": ("xrefs", reference),
    "xref_analog": ("xrefs", reference),
    "xref_unk": ("xrefs", reference),
    "equivalent_to": ("xrefs", reference),
}
"""Tag of a simple value → field of a term, and parser of the value; :func:`reference` is that of ids."""


class _Parser:
    """Parser of one file, line by line, with its header and terms so far."""

    def __init__(self, path: Path, prefixes: Prefixes, problems: Problems) -> None:
        self.prefixes = prefixes
        self.terms: dict[str, Term] = {}
        self.header: dict[str, str] = {}
        self.synonym_types: dict[str, str] = {}
        self._namespaces = {"skos": SKOS, "oboInOwl": IN_OWL}
        self._path = path
        self._problems = problems
        self._stanza = "header"
        self._start = 0
        self._term = Term("")

    def read(self, lines: Iterable[tuple[int, str]]) -> None:
        """Read the numbered lines of the file."""
        for number, line in lines:
            text = line.strip()
            if not text or text[0] == "!" or (text[0] == "[" and self._opens(number, text)):
                continue
            tag, colon, value = text.partition(":")
            fault: str | None = None
            if self._stanza == "Term":
                fault = self._term_tag(number, tag.rstrip(), value.lstrip()) if colon else _NO_TAG
            elif self._stanza == "header":
                if colon:
                    self._header_tag(tag.rstrip(), value.lstrip())
                else:
                    fault = _NO_TAG
            if fault is not None:
                self._problems.reject(self._path, number, fault)
        self._close()

    def _close(self) -> None:
        """End the open stanza."""
        if self._stanza == "Term" and not self._term.id:
            self._problems.reject(self._path, self._start, "a [Term] without an id")

    def _opens(self, number: int, line: str) -> bool:
        match = _STANZA.fullmatch(line) or _BROKEN_STANZA.match(line)
        if match is None:
            return False
        if match.re is _BROKEN_STANZA:
            self._problems.repair(self._path, number, f"{line[:40]!r} taken as [{match['type']}]")
        self._close()
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
            self._namespaces[prefix] = rest.strip().partition(" ")[0]
            self.prefixes.declare(prefix, self._namespaces[prefix])
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
        # Values of tags before the id go to the earlier term.
        for field in ("labels", "synonyms", "namespaces", "alternate_ids", "xrefs", "parents", "replaced_by"):
            getattr(known, field).extend(getattr(collected, field))
        known.definition = known.definition or collected.definition
        known.obsolete = known.obsolete or collected.obsolete
        self._term = known

    def _term_tag(self, number: int, tag: str, value: str) -> str | None:
        """Add a value to the open term; return a reason to reject the line."""
        term = self._term
        if (simple := _VALUES.get(tag)) is not None:
            field, read = simple
            text = read(value)
            if not text:
                return f"the tag {tag!r} has no value"
            getattr(term, field).append(self.prefixes.read(text) if read is reference else text)
        elif tag in _SYNONYM_TAGS:
            synonym = parse_synonym(value, scope=_SCOPE_OF_OLD_TAG.get(tag))
            if synonym is None:
                return 'a synonym that is not of the form "text" SCOPE TYPE [xrefs]'
            term.synonyms.append(synonym)
        elif tag == "id":
            id_ = self.prefixes.read(unquoted(value))
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
        """Add a cross-reference: an id, an IRI, or either in quotation marks."""
        name, _, rest = value.partition(" ")
        prefix, colon, local = unescape(name).partition(":")
        if f"{self._namespaces.get(prefix, prefix + colon)}{local}" in XREF_PROPERTIES:
            text = quoted(rest.strip())
            target = self.prefixes.read(text[0].strip() if text else unquoted(rest).partition(" ")[0])
            if target:
                self._term.xrefs.append(target)


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    return _SIGN.search(head) is not None


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    if options.strict:
        refuse_violations(path)
    parser = _Parser(path, options.new_prefixes(), problems)
    parser.read(read_lines(path, problems))
    parser.prefixes.report(path, problems)
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
        prefixes=parser.prefixes,
    )


FORMAT: Final[VocabularyFormat] = Format(
    name="obo",
    description="OBO flat file: an ontology as [Term] stanzas",
    recognises=_recognises,
    read=_read,
    options=frozenset({"strict"}),
)
