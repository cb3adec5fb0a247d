"""OBO Graphs JSON: an ontology as nodes and edges, in its present form and in that of 2018.

Every graph of a file is read, imports included. A node with neither label nor metadata is a reference to another
ontology, and no concept; one without a type is a concept only where its place in the graph is that of a class, or
no node of the graph has a type. Source: https://github.com/geneontology/obographs.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.core.files import open_bytes
from nymlink.core.formats import Format
from nymlink.core.problems import Problems
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.obo.graph import Graph
from nymlink.vocabulary.readers.obo.oboinowl import SynonymTypes, Term, build_tables
from nymlink.vocabulary.readers.text_blocks import read_text_blocks
from nymlink.vocabulary.tables import Tables

_MAX_BYTES: Final = 512 << 20
"""Parsed JSON takes some ten times as much memory; larger ontologies are published in other formats too."""
_PIECE_BYTES: Final = 1 << 20
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)
_SIGN: Final = re.compile(r'\s*\{.*"graphs"\s*:', re.DOTALL)


def _load(path: Path, problems: Problems) -> list[Any]:
    _check_size(path)
    text = "".join(read_text_blocks(path, problems))
    if not text.strip():
        raise InputError("the file is empty", path=path)
    try:
        document = json.loads(_whole_characters(text, path, problems))
    except json.JSONDecodeError as error:
        raise InputError(f"malformed JSON ({error.msg}): fetch it again", path=path, line=error.lineno) from error
    except RecursionError as error:
        raise InputError("JSON with too many levels of nested brackets", path=path) from error
    except ValueError as error:
        raise InputError(f"JSON that cannot be read ({error})", path=path) from error
    graphs = document.get("graphs") if isinstance(document, dict) else None
    if not isinstance(graphs, list):
        raise InputError("the file has no list 'graphs': is this OBO Graphs JSON?", path=path)
    return graphs


def _check_size(path: Path) -> None:
    """Refuse a file that, unpacked, is too large for memory.

    Raises:
        InputError: it is too large; see also :func:`nymlink.core.files.open_bytes`.
    """
    size = 0
    with open_bytes(path) as file:
        while piece := file.read(_PIECE_BYTES):
            size += len(piece)
            if size > _MAX_BYTES:
                message = f"more than {_MAX_BYTES >> 20} MB of JSON, too large for memory: use the OBO or OWL file"
                raise InputError(message, path=path)


def _whole_characters(text: str, path: Path, problems: Problems) -> str:
    """Replace escapes of half a surrogate pair, which JSON allows but no Unicode text can contain."""
    line, counted = 1, 0

    def replacement(match: re.Match[str]) -> str:
        nonlocal line, counted
        if match["half"] is None:
            return match[0]
        line += text.count("\n", counted, match.start())
        counted = match.start()
        problems.repair(path, line, f"{match[0]} is half a surrogate pair; replaced")
        return r"\ufffd"

    return _ESCAPE.sub(replacement, text) if _SURROGATE.search(text) else text


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
