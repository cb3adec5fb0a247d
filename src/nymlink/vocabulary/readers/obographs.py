"""OBO Graphs, as JSON.

All graphs of a file are read, imports included. A node with neither label nor metadata is a reference to another
ontology rather than a concept. A node without a type is a concept only if the graph uses it as a class, or if no
node of the graph has a type. Source: https://github.com/geneontology/obographs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.core.json_files import read_json
from nymlink.core.prefixes import Prefixes, contract
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.oboinowl import (
    IN_OWL,
    XREF_PROPERTIES,
    Synonym,
    SynonymTypes,
    Term,
    build_tables,
)
from nymlink.vocabulary.tables import Tables

_SYNONYM: Final = re.compile(r"(?:.*[#/])?has(Exact|Related|Narrow|Broad)Synonym")
_PARENT: Final = re.compile(r"is_a|sub_class_of|(?:.*[#/:])?subClassOf")
_PROPERTY_PARENT: Final = re.compile(r"(?:.*[#/:])?subPropertyOf")
_OWL: Final = "http://www.w3.org/2002/07/owl#"
_NAMESPACE: Final = f"{IN_OWL}hasOBONamespace"
_DEFAULT_NAMESPACE: Final = f"{IN_OWL}default-namespace"
_ALTERNATE_ID: Final = f"{IN_OWL}hasAlternativeId"
_REPLACED_BY: Final = "http://purl.obolibrary.org/obo/IAO_0100001"
_LICENCE: Final = re.compile(r".*[/#]licen[sc]e")
_VERSION: Final = re.compile(r".*[/#_]versionInfo")


class Graph:
    """One graph of a file.

    Args:
        content: the parsed JSON of the graph.
        where: its place in the file, for reports.
        path: the file.
        prefixes: the prefixes of the file.
        problems: receives parts that cannot be used, with their index in the JSON instead of a line number.
    """

    def __init__(
        self, content: Mapping[str, Any], where: str, path: Path, prefixes: Prefixes, problems: Problems
    ) -> None:
        self._prefixes = prefixes
        self._path = path
        self._problems = problems
        self._where = where
        self._content = content
        self.version: str | None = None
        self.licence: str | None = None
        self._namespace: str | None = None
        meta = _mapping(self._content.get("meta"))
        for pred, value in self._values(meta, "basicPropertyValues", where):
            if _LICENCE.fullmatch(pred):
                self.licence = self.licence or value
            elif _VERSION.fullmatch(pred):
                self.version = self.version or value
            elif pred == _DEFAULT_NAMESPACE:
                self._namespace = value
        # The version IRI is used only if the version itself is not stated.
        iri = meta.get("version")
        self.version = self.version or (iri if isinstance(iri, str) else None)

    def collect(self, terms: dict[str, Term], synonym_types: dict[str, str], classes: Collection[str]) -> None:
        """Add the graph's classes to the terms, and the labels of its properties to the synonym types.

        Args:
            terms: receives the classes.
            synonym_types: receives the labels of nodes that are no classes.
            classes: ids that any graph of the file uses or declares as classes.
        """
        nodes = _list(self._content.get("nodes"))
        types = ["type" in node for node in nodes if isinstance(node, dict)]
        properties = set() if any(types) else set(self._properties())
        seen: set[str] = set()
        for place, node in enumerate(nodes):
            where = f"{self._where}.nodes[{place}]"
            if not isinstance(node, dict) or not isinstance(node.get("id"), str) or not node["id"]:
                self._problems.reject(self._path, None, f"{where} has no id")
                continue
            iri = node["id"]
            label = node.get("lbl") if isinstance(node.get("lbl"), str) else None
            # A node without a type is a class if the graph uses it as one, or if no node has a type.
            is_class = iri in classes or not (any(types) or iri in properties)
            if node.get("type", "CLASS" if is_class else "") != "CLASS":
                synonym_types[contract(iri)] = label or ""
            elif (label or node.get("meta")) and not iri.startswith(_OWL):
                if iri in seen:
                    self._problems.repair(
                        self._path, None, f"{where} is a second node {iri[:80]}: merged with the first"
                    )
                seen.add(iri)
                id_ = self._prefixes.contract(iri)
                term = terms.setdefault(id_, Term(id_))
                if label:
                    term.labels.append(label)
                self._describe(term, _mapping(node.get("meta")), where)

    def connect(self, terms: Mapping[str, Term]) -> None:
        """Add the parents of terms and the references between equivalent ones."""
        for child, relation, parent in self._edges(report=True):
            term = terms.get(self._prefixes.contract(child))
            if term and _PARENT.fullmatch(relation) and not parent.startswith(_OWL):
                term.parents.append(self._prefixes.contract(parent))
        for place, group in enumerate(_list(self._content.get("equivalentNodesSets"))):
            ids = _mapping(group).get("nodeIds")
            if not isinstance(ids, list) or not all(isinstance(id_, str) for id_ in ids):
                self._problems.reject(self._path, None, f"{self._where}.equivalentNodesSets[{place}] has no ids")
                continue
            equal = [self._prefixes.contract(id_) for id_ in ids]
            for id_ in equal:
                if id_ in terms:
                    terms[id_].xrefs.extend(other for other in equal if other != id_)

    def classes(self) -> Iterator[str]:
        """Yield the ids that are classes by type, or by place: in hierarchy, equivalences or definitions."""
        for node in map(_mapping, _list(self._content.get("nodes"))):
            if node.get("type") == "CLASS":
                yield _string(node.get("id"))
        for child, relation, parent in self._edges():
            if _PARENT.fullmatch(relation):
                yield from (child, parent)
        for group in _list(self._content.get("equivalentNodesSets")):
            yield from _strings(_mapping(group).get("nodeIds"))
        for axiom in map(_mapping, _list(self._content.get("logicalDefinitionAxioms"))):
            yield from _strings([axiom.get("definedClassId"), *_list(axiom.get("genusIds"))])

    def _properties(self) -> Iterator[str]:
        """Yield the ids used as relations."""
        for child, relation, parent in self._edges():
            yield relation
            if _PROPERTY_PARENT.fullmatch(relation):
                yield from (child, parent)

    def _edges(self, *, report: bool = False) -> Iterator[tuple[str, str, str]]:
        for place, edge in enumerate(_list(self._content.get("edges"))):
            fields = _mapping(edge)
            child, relation, parent = fields.get("sub"), fields.get("pred"), fields.get("obj")
            if isinstance(child, str) and isinstance(relation, str) and isinstance(parent, str):
                yield child, relation, parent
            elif report:
                self._problems.reject(self._path, None, f"{self._where}.edges[{place}] lacks sub, pred or obj")

    def _describe(self, term: Term, meta: Mapping[str, Any], where: str) -> None:
        definition = _mapping(meta.get("definition")).get("val")
        if isinstance(definition, str):
            term.definition = term.definition or definition
        term.obsolete = term.obsolete or meta.get("deprecated") is True
        for place, entry in enumerate(_list(meta.get("synonyms"))):
            synonym = self._synonym(entry)
            if synonym is None:
                self._problems.reject(self._path, None, f"{where}.meta.synonyms[{place}] has no text or scope")
            else:
                term.synonyms.append(synonym)
        term.xrefs.extend(self._prefixes.contract(value) for _, value in self._values(meta, "xrefs", where))
        for pred, value in self._values(meta, "basicPropertyValues", where):
            if pred == _NAMESPACE:
                term.namespaces.append(value)
            elif pred == _ALTERNATE_ID:
                term.alternate_ids.append(self._prefixes.contract(value))
            elif pred == _REPLACED_BY:
                term.replaced_by.append(self._prefixes.contract(value))
            elif pred in XREF_PROPERTIES:
                term.xrefs.append(self._prefixes.contract(value))
        if self._namespace and not term.namespaces:
            term.namespaces.append(self._namespace)

    def _synonym(self, entry: Any) -> Synonym | None:
        fields = _mapping(entry)
        match = _SYNONYM.fullmatch(_string(fields.get("pred")))
        if match is None or not isinstance(fields.get("val"), str):
            return None
        type_ = fields.get("synonymType")
        return Synonym(
            text=fields["val"], scope=match[1].upper(), type=contract(type_) if isinstance(type_, str) else None
        )

    def _values(self, meta: Mapping[str, Any], key: str, where: str) -> Iterator[tuple[str, str]]:
        for place, entry in enumerate(_list(meta.get(key))):
            fields = _mapping(entry)
            if isinstance(fields.get("val"), str):
                yield _string(fields.get("pred")), fields["val"]
            else:
                self._problems.reject(self._path, None, f"{where}.meta.{key}[{place}] has no value")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _strings(value: Any) -> Iterator[str]:
    return (item for item in _list(value) if isinstance(item, str))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


_SIGN: Final = re.compile(r'\s*\{.*"graphs"\s*:', re.DOTALL)


def _load(path: Path, problems: Problems) -> tuple[list[Any], Mapping[str, Any]]:
    """Load the graphs and the JSON-LD context of a file."""
    document = read_json(path, problems, instead="use the OBO or OWL file")
    graphs = document.get("graphs") if isinstance(document, dict) else None
    if not isinstance(graphs, list):
        raise InputError("the file has no list 'graphs': is this OBO Graphs JSON?", path=path)
    return graphs, _mapping(document.get("@context"))


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    return _SIGN.match(head) is not None


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    contents, context = _load(path, problems)
    prefixes = options.new_prefixes()
    for name, term in context.items():
        prefixes.declare(name, _string(_mapping(term).get("@id") or term))
    graphs = [
        Graph(content, f"graphs[{place}]", path, prefixes, problems)
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
    prefixes.report(path, problems)
    if not terms:
        raise InputError("no node in the file is a class with a label", path=path)
    return build_tables(
        terms,
        SynonymTypes(synonym_types),
        options,
        version=next((graph.version for graph in graphs if graph.version), None),
        licence=next((graph.licence for graph in graphs if graph.licence), None),
        prefixes=prefixes,
    )


FORMAT: Final[VocabularyFormat] = Format(
    name="obographs",
    description="OBO Graphs JSON: an ontology as nodes and edges",
    recognises=_recognises,
    read=_read,
)
