"""Vocabularies in XML: ClaML, MeSH, Orphanet.

ClaML: Classification Markup Language, EN 14463 / ISO 13120.

MeSH: National Library of Medicine, MeSH XML data elements (https://www.nlm.nih.gov/mesh/xml_data_elements.html).
Here a record is a concept. A record has several MeSH concepts; these determine the kinds of its terms.
Pharmacological actions are left out.

Orphanet: Orphadata, product 1 (https://www.orphadata.com/alignments/).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

from nymlink.core.errors import InputError
from nymlink.core.language_codes import normalise_language
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.core.xml_files import XmlRecord, read_records, root_name, text_at
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.readers.umls.atoms import language
from nymlink.vocabulary.tables import TableBuilder, Tables

_ROOT: Final = "ClaML"
# Inclusions are often narrower than the class.
_KINDS: Final = {"preferred": "preferred", "preferredLong": "exact", "inclusion": "narrow"}
_XML_LANG: Final = "xml:lang"


def _recognises_claml(path: Path, head: str) -> bool:  # noqa: ARG001
    return root_name(head) == _ROOT


def _read_claml(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read the classes; ids are the codes, prefixed by the name of the classification (``ICD10``)."""
    languages = LanguageFilter(options)
    builder = TableBuilder()
    prefix = ""
    for record in read_records(path, roots=(_ROOT,), tags=("Class", "Title"), problems=problems):
        element = record.element
        if element.tag == "Title":
            name = re.sub(r"[^A-Za-z0-9]", "", element.get("name") or text_at(element))
            prefix = f"{name}:" if name else ""
            builder.version = element.get("version") or element.get("date") or None
        elif element.tag == "Class":
            code = element.get("code", "").strip()
            if not code:
                problems.reject(path, record.line, "a class without code")
                continue
            _add(builder, prefix + code, prefix, element, languages)
    if not len(builder):
        raise InputError("no class that could be used", path=path)
    return builder.build()


def _add(builder: TableBuilder, id_: str, prefix: str, element: Element, languages: LanguageFilter) -> None:
    parents = (parent.get("code", "").strip() for parent in element.iterfind("SuperClass"))
    rubrics = element.findall("Rubric")
    definitions = (text_at(label) for rubric in rubrics if rubric.get("kind") == "definition" for label in rubric)
    kind = element.get("kind")
    builder.concept(
        id_,
        definition=next(filter(None, definitions), None),
        semantic_types=[kind] if kind else [],
        parents=[prefix + code for code in parents if code],
    )
    for rubric in rubrics:
        name_kind = _KINDS.get(rubric.get("kind", ""))
        for label in rubric.iterfind("Label") if name_kind else ():
            lang = normalise_language(label.get(_XML_LANG, "")) or languages.default
            if name_kind and languages.wants(lang):
                builder.name(id_, _without_references(label), lang=lang, kind=name_kind)


def _without_references(label: Element) -> str:
    """Get the text of a label without references to the codes of other classes."""
    for reference in label.iter("Reference"):
        reference.text = None
        for child in reference:
            child.clear()
    return "".join(label.itertext())


CLAML: Final[VocabularyFormat] = Format(
    name="claml",
    description="ICD and other classifications in ClaML (XML)",
    recognises=_recognises_claml,
    read=_read_claml,
)


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


ORPHANET_PREFIX: Final = "Orphanet:"
_ORPHANET_ROOT: Final = "JDBOR"
_PREFIXES: Final = {"MeSH": "MESH", "MedDRA": "MEDDRA", "ICD-10": "ICD10", "ICD-11": "ICD11"}
# Orphanet puts these before the names of retired entries and of diseases that are not rare.
_STATUS: Final = re.compile(r"(?P<status>OBSOLETE|NON RARE IN EUROPE)\s*:\s*")


def _recognises_orphanet(path: Path, head: str) -> bool:  # noqa: ARG001
    return root_name(head) == _ORPHANET_ROOT


def _read_orphanet(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read the disorders, with the cross-references that are exact (E)."""
    languages = LanguageFilter(options)
    builder = TableBuilder()
    for record in read_records(
        path, roots=(_ORPHANET_ROOT,), tags=("Disorder", "Availability"), problems=problems
    ):
        element = record.element
        if element.tag == _ORPHANET_ROOT:
            builder.version = element.get("date", "").partition(" ")[0] or None
            continue
        if element.tag == "Availability":
            builder.licence = text_at(element, "Licence/ShortIdentifier") or None
            continue
        code = text_at(element, "OrphaCode") or text_at(element, "OrphaNumber")
        if not code:
            problems.reject(path, record.line, "a disorder without OrphaCode")
            continue
        id_ = ORPHANET_PREFIX + code
        name = text_at(element, "Name")
        status = _STATUS.match(name)
        type_ = text_at(element, "DisorderType/Name")
        builder.concept(
            id_,
            definition=_definition(element),
            semantic_types=[type_] if type_ else [],
            xrefs=_exact_references(element),
            obsolete=status is not None and status["status"] == "OBSOLETE",
        )
        names = [(element.find("Name"), "preferred")]
        names += [(synonym, "exact") for synonym in element.iterfind("SynonymList/Synonym")]
        for name_element, kind in names:
            lang = _language(name_element, languages)
            if languages.wants(lang):
                builder.name(id_, _STATUS.sub("", text_at(name_element), count=1), lang=lang, kind=kind)
    if not len(builder):
        raise InputError("no disorder that could be used", path=path)
    return builder.build()


def _language(element: Element | None, languages: LanguageFilter) -> str:
    stated = "" if element is None else element.get("lang", "")
    return normalise_language(stated) or languages.default


def _definition(element: Element) -> str:
    for section in element.iter("TextSection"):
        if text_at(section, "TextSectionType/Name") == "Definition":
            return text_at(section, "Contents")
    return ""


def _exact_references(element: Element) -> Iterator[str]:
    for reference in element.iterfind("ExternalReferenceList/ExternalReference"):
        source, value = text_at(reference, "Source"), text_at(reference, "Reference")
        relation = text_at(reference, "DisorderMappingRelation/Name")
        if source and value and re.match(r"E\b", relation):
            yield f"{_PREFIXES.get(source, source)}:{value}"


ORPHANET: Final[VocabularyFormat] = Format(
    name="orphanet",
    description="Orphanet rare diseases and cross-references, XML (en_product1.xml)",
    recognises=_recognises_orphanet,
    read=_read_orphanet,
)
