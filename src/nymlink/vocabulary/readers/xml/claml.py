"""Classifications in ClaML, the XML in which WHO and national agencies publish ICD.

Elements: Classification Markup Language, EN 14463 / ISO 13120.
"""

from __future__ import annotations

import re
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

_ROOT: Final = "ClaML"
# Inclusions are often narrower than the class.
_KINDS: Final = {"preferred": "preferred", "preferredLong": "exact", "inclusion": "narrow"}
_XML_LANG: Final = "xml:lang"


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    return root_name(head) == _ROOT


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
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
    """Get the text of a label without the codes of other classes that it refers to."""
    for reference in label.iter("Reference"):
        reference.text = None
        for child in reference:
            child.clear()
    return "".join(label.itertext())


FORMAT: Final[VocabularyFormat] = Format(
    name="claml",
    description="ICD and other classifications in ClaML (XML)",
    recognises=_recognises,
    read=_read,
)
