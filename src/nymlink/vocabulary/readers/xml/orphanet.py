"""Orphanet's rare diseases and cross-references (``en_product1.xml`` and its translations).

Elements: Orphadata, product 1 (https://www.orphadata.com/alignments/).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

from nymlink.core.errors import InputError
from nymlink.core.formats import Format
from nymlink.core.language_codes import normalise_language
from nymlink.core.problems import Problems
from nymlink.core.structured.xml_records import read_records, root_name, text_at
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.tables import TableBuilder, Tables

PREFIX: Final = "Orphanet:"
_ROOT: Final = "JDBOR"
_PREFIXES: Final = {"MeSH": "MESH", "MedDRA": "MEDDRA", "ICD-10": "ICD10", "ICD-11": "ICD11"}
# Orphanet writes these before the names of retired entries and of diseases that are not rare.
_STATUS: Final = re.compile(r"(?P<status>OBSOLETE|NON RARE IN EUROPE)\s*:\s*")


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    return root_name(head) == _ROOT


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read the disorders, with the cross-references that are exact (E)."""
    languages = LanguageFilter(options)
    builder = TableBuilder()
    for record in read_records(path, roots=(_ROOT,), tags=("Disorder", "Availability"), problems=problems):
        element = record.element
        if element.tag == _ROOT:
            builder.version = element.get("date", "").partition(" ")[0] or None
            continue
        if element.tag == "Availability":
            builder.licence = text_at(element, "Licence/ShortIdentifier") or None
            continue
        code = text_at(element, "OrphaCode") or text_at(element, "OrphaNumber")
        if not code:
            problems.reject(path, record.line, "a disorder without OrphaCode")
            continue
        id_ = PREFIX + code
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


FORMAT: Final[VocabularyFormat] = Format(
    name="orphanet",
    description="Orphanet rare diseases and cross-references, XML (en_product1.xml)",
    recognises=_recognises,
    read=_read,
)
