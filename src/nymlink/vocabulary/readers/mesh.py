"""MeSH: XML, ASCII, RDF.

National Library of Medicine: MeSH XML data elements (https://www.nlm.nih.gov/mesh/xml_data_elements.html), ASCII
MeSH (https://www.nlm.nih.gov/mesh/dtype.html, ctype.html), MeSH RDF (https://hhs.github.io/meshrdf/). Here a
record is a concept. A record has several MeSH concepts; these determine the kinds of its terms. Pharmacological
actions are left out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

from nymlink.core.errors import InputError
from nymlink.core.files import read_lines
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.core.xml_files import XmlRecord, read_records, root_name, text_at
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.readers.owl.turtle import unescape_literal
from nymlink.vocabulary.readers.umls.atoms import language
from nymlink.vocabulary.tables import TableBuilder, Tables

PREFIX: Final = "MESH:"
_RECORDS: Final = {"DescriptorRecordSet": "DescriptorRecord", "SupplementalRecordSet": "SupplementalRecord"}
_UIS: Final = {"DescriptorRecord": "DescriptorUI", "SupplementalRecord": "SupplementalRecordUI"}
_NAMES: Final = {"DescriptorRecord": "DescriptorName", "SupplementalRecord": "SupplementalRecordName"}
_CLASSES: Final = {
    "1": "chemical",
    "2": "protocol",
    "3": "disease",
    "4": "organism",
    "5": "population",
    "6": "anatomy",
}
_LEXICAL: Final = {"ABB": "abbreviation", "ACR": "abbreviation", "TRD": "tradename"}
# RelationName → kinds of the terms of Concept2 for Concept1, and of Concept1 for Concept2.
_RELATIONS: Final = {"NRW": ("narrow", "broad"), "BRD": ("broad", "narrow"), "REL": ("related", "related")}


class _Records:
    """Collects the concepts of one file."""

    def __init__(self, path: Path, options: ReadOptions, problems: Problems) -> None:
        self.builder = TableBuilder()
        self._path = path
        self._problems = problems
        self._languages = LanguageFilter(options)
        self._lang = self._languages.default
        self._by_tree_number: dict[str, str] = {}

    def begin(self, root: Element) -> None:
        self._lang = language(root.get("LanguageCode", "").strip().upper(), default=self._lang)

    def add(self, record: XmlRecord) -> None:
        element = record.element
        ui = text_at(element, _UIS[element.tag])
        if not ui:
            self._problems.reject(self._path, record.line, f"a {element.tag} without {_UIS[element.tag]}")
            return
        id_ = PREFIX + ui
        concepts = element.findall("ConceptList/Concept")
        best = next((concept for concept in concepts if concept.get("PreferredConceptYN") == "Y"), None)
        trees = [tree for number in element.iterfind("TreeNumberList/TreeNumber") if (tree := text_at(number))]
        self._by_tree_number.update(dict.fromkeys(trees, id_))
        types = [tree[0] for tree in trees]
        if element.tag == "SupplementalRecord":
            types = [_CLASSES[class_]] if (class_ := element.get("SCRClass", "1")) in _CLASSES else []
        self.builder.concept(
            id_,
            definition=text_at(best, "ScopeNote") or text_at(element, "Note"),
            semantic_types=types,
            # A star marks the main topic.
            parents=[
                PREFIX + heading
                for descriptor in element.iterfind(
                    "HeadingMappedToList/HeadingMappedTo/DescriptorReferredTo/DescriptorUI"
                )
                if (heading := text_at(descriptor).lstrip("*"))
            ],
        )
        if self._languages.wants(self._lang):
            self._name(id_, element, concepts, best)

    def finish(self) -> Tables:
        """Add parents, now that all tree numbers are known, and build the tables."""
        _add_parents(self.builder, self._by_tree_number)
        return self.builder.build()

    def _name(self, id_: str, element: Element, concepts: list[Element], best: Element | None) -> None:
        kinds = _concept_kinds(concepts, best)
        preferred = False
        for concept in concepts:
            kind = "exact" if concept is best else kinds.get(text_at(concept, "ConceptUI"), "related")
            for term in concept.iterfind("TermList/Term"):
                name_kind = _LEXICAL.get(term.get("LexicalTag", ""), kind) if concept is best else kind
                # The preferred term of the record is preferred even if it is an acronym.
                if term.get("RecordPreferredTermYN") == "Y" and concept is best:
                    name_kind = "preferred"
                    preferred = True
                self.builder.name(id_, text_at(term, "String"), lang=self._lang, kind=name_kind)
        if not preferred:
            name = text_at(element, f"{_NAMES[element.tag]}/String")
            self.builder.name(id_, name, lang=self._lang, kind="preferred")


def _add_parents(builder: TableBuilder, by_tree_number: Mapping[str, str]) -> None:
    """Add to each descriptor those one level up in the trees."""
    for tree, id_ in by_tree_number.items():
        parent = by_tree_number.get(tree.rpartition(".")[0])
        if parent is not None and parent != id_:
            builder.concept(id_, parents=[parent])


def _concept_kinds(concepts: list[Element], best: Element | None) -> dict[str, str]:
    """Map each ConceptUI to the kind of its terms as names of the record."""
    own = text_at(best, "ConceptUI")
    kinds: dict[str, str] = {}
    for concept in concepts:
        for relation in concept.iterfind("ConceptRelationList/ConceptRelation"):
            first, second = text_at(relation, "Concept1UI"), text_at(relation, "Concept2UI")
            kind_of_second, kind_of_first = _RELATIONS.get(relation.get("RelationName", ""), _RELATIONS["REL"])
            if own in (first, second) and first != second:
                kinds.setdefault(
                    second if first == own else first, kind_of_second if first == own else kind_of_first
                )
    return kinds


def _recognises_mesh(path: Path, head: str) -> bool:  # noqa: ARG001
    return root_name(head) in _RECORDS


def _read_mesh(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read a file of descriptors or of supplementary records.

    The terms of a record's preferred concept are its names; LexicalTag marks abbreviations and trade names. Terms
    of its other concepts are narrower, broader or related names, by ConceptRelation. Parents are the descriptors
    one level up in the tree, for supplementary records the headings they are mapped to. The semantic type is the
    letter of the tree (``C``), for supplementary records the class (``chemical``).
    """
    records = _Records(path, options, problems)
    xml_records = read_records(path, roots=_RECORDS, tags=tuple(_RECORDS.values()), problems=problems)
    for number, record in enumerate(xml_records):
        if number == 0:
            records.begin(record.element)
        else:
            records.add(record)
    if not len(records.builder):
        raise InputError("no record that could be used", path=path)
    return records.finish()


MESH: Final[VocabularyFormat] = Format(
    name="mesh",
    description="MeSH descriptors or supplementary records, XML",
    recognises=_recognises_mesh,
    read=_read_mesh,
)


_NEW_RECORD: Final = "*NEWRECORD"
_FIELD: Final = re.compile(r"(?P<name>[A-Z][A-Z0-9_ ]{0,14}?)\s*=\s*(?P<value>.*\S)\s*")
_HEADINGS: Final = ("MH", "NM", "SH")
_ENTRIES: Final = ("PRINT ENTRY", "ENTRY", "SY")
_SEMANTIC_RELATIONS: Final = {"NRW": "narrow", "BRD": "broad", "REL": "related"}


def _recognises_ascii(path: Path, head: str) -> bool:  # noqa: ARG001
    return head.lstrip().startswith(_NEW_RECORD)


def _read_ascii(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read descriptors (``d2025.bin``), qualifiers (``q2025.bin``) or supplementary records (``c2025.bin``).

    Headings are preferred names, entry terms synonyms by lexical type and semantic relation. Supplementary records
    have no parents, because the headings that they are mapped to have no ids in the file.
    """
    languages = LanguageFilter(options)
    builder = TableBuilder()
    by_tree_number: dict[str, str] = {}
    for line, record in _ascii_records(path, problems):
        ui = next(iter(record.get("UI", ())), "")
        if not ui:
            problems.reject(path, line, "a record without UI")
            continue
        id_ = PREFIX + ui
        trees = record.get("MN", [])
        by_tree_number.update(dict.fromkeys(trees, id_))
        definitions = [*record.get("MS", ()), *record.get("NO", ())]
        builder.concept(id_, definition=next(iter(definitions), None), semantic_types=[tree[0] for tree in trees])
        if not languages.wants(languages.default):
            continue
        for heading in (value for name in _HEADINGS for value in record.get(name, ())):
            builder.name(id_, heading, lang=languages.default, kind="preferred")
        for entry in (value for name in _ENTRIES for value in record.get(name, ())):
            text, kind = _entry(entry)
            builder.name(id_, text, lang=languages.default, kind=kind)
    if not len(builder):
        raise InputError("no record that could be used: is this ASCII MeSH?", path=path)
    _add_parents(builder, by_tree_number)
    return builder.build()


def _ascii_records(path: Path, problems: Problems) -> Iterator[tuple[int, dict[str, list[str]]]]:
    """Yield each record with the line that it begins on: name of a field → its values."""
    record: defaultdict[str, list[str]] = defaultdict(list)
    start = 0
    for number, line in read_lines(path, problems):
        if line.strip() == _NEW_RECORD:
            if start:
                yield start, record
            record, start = defaultdict(list), number
        elif start and (match := _FIELD.fullmatch(line)):
            record[match["name"]].append(match["value"])
    if start:
        yield start, record


def _entry(value: str) -> tuple[str, str]:
    """Split the value of an entry term into text and kind; the letters at its end say what its parts are."""
    parts = value.split("|")
    named = dict(zip(parts[-1], parts, strict=False)) if len(parts) > 1 else {}
    kind = _SEMANTIC_RELATIONS.get(named.get("d", ""))
    return parts[0], kind or _LEXICAL.get(named.get("c", ""), "exact")


MESH_ASCII: Final[VocabularyFormat] = Format(
    name="mesh-ascii",
    description="ASCII MeSH: descriptors, qualifiers or supplementary records (d2025.bin, c2025.bin)",
    recognises=_recognises_ascii,
    read=_read_ascii,
)


_MESH_IRI: Final = r"<http://id\.nlm\.nih\.gov/mesh/(?:\d{4}/)?"
_VOCABULARY: Final = "http://id.nlm.nih.gov/mesh/vocab#"
_TYPE: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_LABEL: Final = "http://www.w3.org/2000/01/rdf-schema#label"
_TRIPLE: Final = re.compile(
    rf"{_MESH_IRI}(?P<subject>[A-Z][\w.]*)>\s*<(?P<predicate>[^<>\s]+)>\s*"
    rf'(?:{_MESH_IRI}(?P<object>[\w.#]+)>|<(?P<other>[^<>\s]+)>|"(?P<text>(?:[^"\\]|\\.)*+)"'
    r"(?:@(?P<lang>[A-Za-z-]+)|\^\^<[^<>\s]+>)?)\s*\.\s*"
)
_RECORD_TYPES: Final = {
    "TopicalDescriptor": "",
    "GeographicalDescriptor": "",
    "PublicationType": "",
    "CheckTag": "",
    "Qualifier": "qualifier",
    "SCR_Chemical": "chemical",
    "SCR_Protocol": "protocol",
    "SCR_Disease": "disease",
    "SCR_Organism": "organism",
    "SCR_Population": "population",
    "SCR_Anatomy": "anatomy",
}
_KEPT: Final = frozenset(
    "preferredConcept concept preferredTerm term prefLabel altLabel lexicalTag scopeNote note treeNumber "
    "broaderDescriptor mappedTo preferredMappedTo broaderConcept narrowerConcept relatedConcept active".split()
)
_CONCEPT_RELATIONS: Final = {
    "narrowerConcept": ("narrow", "broad"),
    "broaderConcept": ("broad", "narrow"),
    "relatedConcept": ("related", "related"),
}
_Literal = tuple[str, str]


class _Triples:
    """Statements of MeSH RDF by subject; ids without their IRIs, texts with their languages."""

    def __init__(self) -> None:
        self.links: defaultdict[str, dict[str, list[str]]] = defaultdict(dict)
        self.texts: defaultdict[str, dict[str, list[_Literal]]] = defaultdict(dict)
        self.records: dict[str, str] = {}

    def add(self, match: re.Match[str]) -> None:
        subject, predicate = match["subject"], match["predicate"]
        name = predicate.removeprefix(_VOCABULARY)
        if predicate == _TYPE and match["object"]:
            type_ = match["object"].removeprefix("vocab#")
            if type_ in _RECORD_TYPES:
                self.records[subject] = _RECORD_TYPES[type_]
        elif predicate == _LABEL or name in _KEPT:
            if match["text"] is not None:
                text = unescape_literal(match["text"])
                self.texts[subject].setdefault(name, []).append((text, match["lang"] or ""))
            elif match["object"]:
                self.links[subject].setdefault(name, []).append(match["object"])

    def text(self, subject: str, name: str) -> str | None:
        return next((text for text, _ in self.texts.get(subject, {}).get(name, ())), None)

    def linked(self, subject: str, *names: str) -> list[str]:
        about = self.links.get(subject, {})
        return [target for name in names for target in about.get(name, ())]


def _recognises_rdf(path: Path, head: str) -> bool:  # noqa: ARG001
    lines = [line for line in head.split("\n") if line.strip() and not line.startswith("#")][:20]
    return 2 * sum(_TRIPLE.fullmatch(line) is not None for line in lines) > len(lines)


def _read_rdf(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read descriptors, qualifiers and supplementary records from N-Triples, like :func:`_read_mesh`."""
    triples = _Triples()
    for number, line in read_lines(path, problems):
        if not line.strip() or line.startswith("#"):
            continue
        match = _TRIPLE.fullmatch(line)
        if match is None:
            problems.reject(path, number, "not a statement about MeSH in N-Triples")
        else:
            triples.add(match)
    if not triples.records:
        raise InputError("no record that could be used: is this MeSH RDF in N-Triples?", path=path)
    languages = LanguageFilter(options)
    builder = TableBuilder()
    for record, type_ in triples.records.items():
        id_ = PREFIX + record
        best = next(iter(triples.linked(record, "preferredConcept")), "")
        mapped = triples.linked(record, "preferredMappedTo", "mappedTo")
        parents = [*triples.linked(record, "broaderDescriptor"), *(target.partition("Q")[0] for target in mapped)]
        trees = triples.linked(record, "treeNumber")
        builder.concept(
            id_,
            definition=triples.text(best, "scopeNote") or triples.text(record, "note"),
            semantic_types=[type_] if type_ else [tree[0] for tree in trees],
            parents=[PREFIX + parent for parent in parents],
            obsolete=triples.text(record, "active") == "false",
        )
        for text, lang, kind in _rdf_names(triples, record, best):
            name_lang = language(lang, default=languages.default)
            if languages.wants(name_lang):
                builder.name(id_, text, lang=name_lang, kind=kind)
    return builder.build()


def _rdf_names(triples: _Triples, record: str, best: str) -> Iterator[tuple[str, str, str]]:
    for text, lang in triples.texts.get(record, {}).get(_LABEL, ()):
        yield text, lang, "preferred"
    kinds = dict.fromkeys(triples.linked(record, "concept"), "related") | {best: "exact"}
    for concept in kinds:
        for relation, (of_object, of_subject) in _CONCEPT_RELATIONS.items():
            if concept != best and best in triples.linked(concept, relation):
                kinds[concept] = of_subject
            elif concept != best and concept in triples.linked(best, relation):
                kinds[concept] = of_object
    own = triples.linked(record, "preferredTerm")
    for concept, kind in kinds.items():
        for term in dict.fromkeys(
            [*(own if concept == best else ()), *triples.linked(concept, "preferredTerm", "term")]
        ):
            name_kind = _LEXICAL.get(triples.text(term, "lexicalTag") or "", kind) if concept == best else kind
            about = triples.texts.get(term, {})
            for text, lang in (*about.get("prefLabel", ()), *about.get("altLabel", ())):
                yield text, lang, name_kind


MESH_RDF: Final[VocabularyFormat] = Format(
    name="mesh-rdf",
    description="MeSH RDF, N-Triples (mesh2025.nt)",
    recognises=_recognises_rdf,
    read=_read_rdf,
)
