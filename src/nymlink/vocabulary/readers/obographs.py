"""OBO Graphs JSON: an ontology as nodes and edges, in its present shape and in that of 2018.

Every graph of a file is read, imports included. A node with neither label nor metadata is a reference to another
ontology, and no concept. Source: https://github.com/geneontology/obographs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from nymlink.errors import InputError
from nymlink.files import open_bytes, read_lines
from nymlink.formats import Format
from nymlink.problems import Problems
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers._obo_graph import Graph
from nymlink.vocabulary.readers._oboinowl import SynonymTypes, Term, add_terms
from nymlink.vocabulary.tables import TableBuilder, Tables

_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)
_SIGN: Final = re.compile(r'\s*\{.*"graphs"\s*:', re.DOTALL)


def _load(path: Path, problems: Problems) -> list[Any]:
    with open_bytes(path) as file:
        data = file.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\n".join(line for _, line in read_lines(path, problems))
    if not text.strip():
        raise InputError("the file is empty", path=path)
    try:
        document = json.loads(_whole_characters(text, path, problems))
    except json.JSONDecodeError as error:
        raise InputError(f"malformed JSON ({error.msg}): fetch it again", path=path, line=error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"JSON that cannot be read ({error})", path=path) from error
    graphs = document.get("graphs") if isinstance(document, dict) else None
    if not isinstance(graphs, list):
        raise InputError("no list 'graphs' in it: is this OBO Graphs JSON?", path=path)
    return graphs


def _whole_characters(text: str, path: Path, problems: Problems) -> str:
    """Replace escapes that hold half a surrogate pair: JSON allows them, but no text can hold them."""

    def replacement(match: re.Match[str]) -> str:
        if match["half"] is None:
            return match[0]
        problems.repair(path, text.count("\n", 0, match.start()) + 1, f"{match[0]} is half a character; replaced")
        return r"\ufffd"

    return _ESCAPE.sub(replacement, text) if _SURROGATE.search(text) else text


def _merged_away(terms: Mapping[str, Term]) -> Iterator[str]:
    """Ids that stand as nodes of their own, without a label, only to say that they are alternate ids now."""
    alternates = {alternate for term in terms.values() for alternate in term.alternate_ids}
    return (id_ for id_ in alternates if id_ in terms and terms[id_].obsolete and not terms[id_].labels)


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    return _SIGN.match(head) is not None


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    contents = _load(path, problems)
    graphs = [Graph(content, f"graphs[{place}]", path, problems) for place, content in enumerate(contents)]
    terms: dict[str, Term] = {}
    synonym_types: dict[str, str] = {}
    for graph in graphs:
        graph.collect(terms, synonym_types)
    for graph in graphs:
        graph.connect(terms)
    if not terms:
        raise InputError("no node in it is a class with a label", path=path)
    for id_ in list(_merged_away(terms)):
        del terms[id_]
    builder = TableBuilder()
    builder.version = next((graph.version for graph in graphs if graph.version), None)
    builder.licence = next((graph.licence for graph in graphs if graph.licence), None)
    add_terms(builder, terms.values(), SynonymTypes(synonym_types), options)
    return builder.build()


FORMAT: Final[VocabularyFormat] = Format(
    name="obographs",
    description="OBO Graphs JSON: an ontology as nodes and edges",
    recognises=_recognises,
    read=_read,
)
