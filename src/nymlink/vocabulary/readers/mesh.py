"""MeSH: XML.

National Library of Medicine, MeSH XML data elements (https://www.nlm.nih.gov/mesh/xml_data_elements.html). Here a
record is a concept. A record has several MeSH concepts; these determine the kinds of its terms. Pharmacological
actions are left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.core.xml_files import XmlRecord, read_records, root_name, text_at
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.readers.umls.atoms import language
from nymlink.vocabulary.tables import TableBuilder, Tables

PREFIX: Final = "MESH:"
_RECORDS: Final = {"DescriptorRecordSet": "DescriptorRecord", "SupplementalRecordSet": "SupplementalRecord"}
_UIS: Final = {"DescriptorRecord": "DescriptorUI", "SupplementalRecord": "SupplementalRecordUI"}
_NAMES: Final = {"DescriptorRecord": "DescriptorName", "SupplementalRecord": "SupplementalRecordName"}
_CLASSES: Final = {"1": "chemical", "2": "protocol", "3": "disease", "4": "organism"}
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
        for tree, id_ in self._by_tree_number.items():
            parent = self._by_tree_number.get(tree.rpartition(".")[0])
            if parent is not None and parent != id_:
                self.builder.concept(id_, parents=[parent])
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
