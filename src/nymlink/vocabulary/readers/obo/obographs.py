"""OBO Graphs JSON: an ontology as nodes and edges, in its present form and in that of 2018.

Every graph of a file is read, imports included. A node with neither label nor metadata is a reference to another
ontology, and no concept; one without a type is a concept only where its place in the graph is that of a class, or
no node of the graph has a type. Source: https://github.com/geneontology/obographs.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.core.formats import Format
from nymlink.core.problems import Problems
from nymlink.core.structured.json_file import read_json
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.obo.graph import Graph
from nymlink.vocabulary.readers.obo.oboinowl import SynonymTypes, Term, build_tables
from nymlink.vocabulary.tables import Tables

_SIGN: Final = re.compile(r'\s*\{.*"graphs"\s*:', re.DOTALL)


def _load(path: Path, problems: Problems) -> list[Any]:
    document = read_json(path, problems, instead="use the OBO or OWL file")
    graphs = document.get("graphs") if isinstance(document, dict) else None
    if not isinstance(graphs, list):
        raise InputError("the file has no list 'graphs': is this OBO Graphs JSON?", path=path)
    return graphs


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    return _SIGN.match(head) is not None


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    contents = _load(path, problems)
    graphs = [
        Graph(content, f"graphs[{place}]", path, problems)
        for place, content in enumerate(contents)
        if isinstance(content, dict)
    ]
    terms: dict[str, Term] = {}
    synonym_types: dict[str, str] = {}
    classes = {iri for graph in graphs for iri in graph.classes()}
    for graph in graphs:
        graph.collect(terms, synonym_types, classes)
    for graph in graphs:
        graph.connect(terms)
    if not terms:
        raise InputError("no node in the file is a class with a label", path=path)
    return build_tables(
        terms,
        SynonymTypes(synonym_types),
        options,
        version=next((graph.version for graph in graphs if graph.version), None),
        licence=next((graph.licence for graph in graphs if graph.licence), None),
    )


FORMAT: Final[VocabularyFormat] = Format(
    name="obographs",
    description="OBO Graphs JSON: an ontology as nodes and edges",
    recognises=_recognises,
    read=_read,
)
