"""Results of SPARQL queries as a vocabulary: JSON, TSV and CSV, as Wikidata and other servers write them.

A row is about one concept: the first variable with IRIs that has a label beside it (``?item ?itemLabel
?itemAltLabel ?itemDescription``), else the first with IRIs, beside ``?label``, ``?altLabel`` and ``?description``.
The alternative labels of Wikidata's label service are joined by commas. Formats: SPARQL 1.1 Query Results (W3C),
and the plain ones of https://query.wikidata.org, whose JSON is a list of objects and whose TSV has no marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.core.files import read_head, read_lines
from nymlink.core.json_files import read_json
from nymlink.core.prefixes import contract
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.tables.delimited import guess_delimiter, parse_records
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.tables import TableBuilder, Tables

_ENTITY: Final = re.compile(r"https?://www\.wikidata\.org/(?:entity|wiki)/(?P<id>[QLP]\d+)")
_WIKIDATA: Final = "Wikidata:"
_LITERAL: Final = re.compile(r'"(?P<text>(?:[^"\\]|\\.)*)"(?:@(?P<lang>[A-Za-z-]+)|\^\^\S+)?', re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r"}
_JSON: Final = re.compile(r'\s*\{\s*"head"\s*:\s*\{[^{}]*"vars"\s*:')
_FIRST_ROW: Final = re.compile(r'\s*\[\s*\{[^{}]*"https?://www\.wikidata\.org/entity/')

_NAMES: Final = {
    "label": "preferred",
    "preflabel": "preferred",
    "name": "preferred",
    "altlabel": "exact",
    "alias": "exact",
    "aliases": "exact",
    "synonym": "exact",
    "synonyms": "exact",
    "exactsynonym": "exact",
    "relatedsynonym": "related",
    "narrowsynonym": "narrow",
    "broadsynonym": "broad",
}
"""Kinds of names by the name of the variable, or by its ending behind that of the concept."""
_DEFINITIONS: Final = ("description", "definition", "comment")
_PARENTS: Final = ("parent", "superclass", "subclassof", "broader")
_XREFS: Final = ("xref", "exactmatch", "sameas")
_LANGUAGES: Final = ("lang", "language")


@dataclass(frozen=True, slots=True)
class Term:
    """A value of a variable: its text, its language if stated, and whether it is an IRI."""

    text: str
    lang: str = ""
    is_iri: bool = False

    @property
    def id(self) -> str:
        """The text as a CURIE, if it is an IRI in a known form."""
        match = _ENTITY.fullmatch(self.text)
        return _WIKIDATA + match["id"] if match else contract(self.text)


Row = Mapping[str, Term]


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    if _JSON.match(head) or _FIRST_ROW.match(head):
        return True
    first, _, rest = head.lstrip().partition("\n")
    if first.startswith("?"):
        return all(name.strip().startswith("?") for name in first.split("\t"))
    second = rest.partition("\n")[0]
    return any(_ENTITY.fullmatch(cell.strip('<>" \r')) for cell in second.split(guess_delimiter(first)))


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read the concepts of all rows."""
    is_json = read_head(path).lstrip().startswith(("{", "["))
    rows = _json_rows(path, problems) if is_json else _table_rows(path, problems)
    languages = LanguageFilter(options)
    builder = TableBuilder()
    concept = ""
    named: set[tuple[str, str]] = set()
    for line, row in rows:
        concept = concept or _concept_variable(row)
        if concept not in row or not row[concept].text:
            problems.reject(path, line, "no concept: a variable with IRIs, like ?item, must name it")
            continue
        id_ = row[concept].id
        roles = {variable: _role(variable, concept) for variable in row if variable != concept}
        builder.concept(
            id_,
            definition=next(_texts(row, roles, _DEFINITIONS), None),
            parents=_ids(row, roles, _PARENTS),
            xrefs=_ids(row, roles, _XREFS),
            semantic_types=_texts(row, roles, ("typelabel", "classlabel", "instanceoflabel")),
        )
        stated = next(_texts(row, roles, _LANGUAGES), "")
        for variable, role in roles.items():
            term = row[variable]
            if role not in _NAMES or not term.text or term.text == row[concept].text.rpartition("/")[2]:
                # The label service gives the number of an item that has no label in the language.
                continue
            lang = languages.normalise(term.lang or stated, path, line, problems)
            is_list = role == "altlabel" and variable.lower() == f"{concept.lower()}altlabel"
            kind = _NAMES[role]
            for text in term.text.split(", ") if is_list else [term.text]:
                if languages.wants(lang):
                    is_second = kind == "preferred" and (id_, lang) in named
                    builder.name(id_, text, lang=lang, kind="exact" if is_second else kind)
            if kind == "preferred":
                named.add((id_, lang))
    if not len(builder):
        raise InputError("no row that could be used: ?item and ?itemLabel must be among the variables", path=path)
    return builder.build()


def _concept_variable(row: Row) -> str:
    """Find the variable of concepts: with IRIs, and a label beside it or, failing that, the first."""
    found = [variable for variable, term in row.items() if term.is_iri]
    beside = {variable.lower() for variable in row}
    labelled = [variable for variable in found if f"{variable.lower()}label" in beside]
    return next(iter(labelled or found), "")


def _role(variable: str, concept: str) -> str:
    name = re.sub(r"_", "", variable.lower())
    return name.removeprefix(concept.lower().replace("_", "")) or name


def _texts(row: Row, roles: Mapping[str, str], wanted: Sequence[str]) -> Iterator[str]:
    return (row[variable].text for variable, role in roles.items() if role in wanted and row[variable].text)


def _ids(row: Row, roles: Mapping[str, str], wanted: Sequence[str]) -> Iterator[str]:
    return (row[variable].id for variable, role in roles.items() if role in wanted and row[variable].text)


def _json_rows(path: Path, problems: Problems) -> Iterator[tuple[int | None, Row]]:
    document = read_json(path, problems, instead="take the results as TSV or CSV")
    results = document.get("results") if isinstance(document, dict) else None
    bindings = results.get("bindings") if isinstance(results, dict) else document
    if not isinstance(bindings, list):
        raise InputError("no list of bindings: these are no results of a SELECT query", path=path)
    for binding in bindings:
        if not isinstance(binding, dict) or not all(map(_is_value, binding.values())):
            problems.reject(path, None, "a row that is no object of values")
            continue
        yield None, {variable: _json_term(value) for variable, value in binding.items()}


def _is_value(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, dict) and isinstance(value.get("value"), str))


def _json_term(value: Any) -> Term:
    if isinstance(value, str):
        return Term(value, is_iri="://" in value)
    lang = value.get("xml:lang")
    return Term(value["value"], lang if isinstance(lang, str) else "", is_iri=value.get("type") == "uri")


def _table_rows(path: Path, problems: Problems) -> Iterator[tuple[int, Row]]:
    lines = read_lines(path, problems)
    header = next((line for _, line in lines if line.strip()), "")
    delimiter = guess_delimiter(header)
    variables = [name.strip().strip('"').removeprefix("?") for name in header.split(delimiter)]
    is_marked = header.lstrip().startswith("?")
    rows: Iterable[tuple[int, list[str]]] = (
        # Quotation marks belong to the literals.
        ((number, line.split(delimiter)) for number, line in lines if line.strip())
        if is_marked
        else ((record.line, record.fields) for record in parse_records(lines, delimiter))
    )
    for number, cells in rows:
        if len(cells) != len(variables):
            problems.reject(path, number, f"{len(cells)} columns instead of {len(variables)}")
            continue
        terms = (_marked_term(cell.strip()) if is_marked else _plain_term(cell) for cell in cells)
        yield number, dict(zip(variables, terms, strict=True))


def _plain_term(cell: str) -> Term:
    text = cell.strip()
    return Term(text, is_iri="://" in text and " " not in text)


def _marked_term(cell: str) -> Term:
    if cell.startswith("<") and cell.endswith(">"):
        return Term(cell[1:-1], is_iri=True)
    match = _LITERAL.fullmatch(cell)
    if match is None:
        return Term(cell)
    text = _ESCAPE.sub(lambda escape: _ESCAPES.get(escape[1], escape[1]), match["text"])
    return Term(text, match["lang"] or "")


FORMAT: Final[VocabularyFormat] = Format(
    name="sparql",
    description="results of a SPARQL query, of Wikidata for example (JSON, TSV, CSV)",
    recognises=_recognises,
    read=_read,
)
