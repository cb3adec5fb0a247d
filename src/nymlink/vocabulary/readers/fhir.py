"""FHIR terminology, JSON of R4 and R5: CodeSystem, ValueSet, ConceptMap, or a Bundle of them.

Source: https://hl7.org/fhir/terminology-module.html. Ids are the codes, prefixed as in other vocabularies, or by
the last part of the system's URI (``observation-status:final``) unless another system has that prefix.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.core.json_files import read_json_records
from nymlink.core.language_codes import normalise_language
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.tables import TableBuilder, Tables

_STANDARD_PROPERTY: Final = "http://hl7.org/fhir/concept-properties#"
_RETIRED: Final = frozenset({"retired", "deprecated", "inactive"})
_REPLACED_BY: Final = frozenset({"replacedby", "replacedwith", "successor"})
# Uses of designations: preferredForLanguage is of R5, the numbers are of SNOMED CT.
_KINDS: Final = {
    "preferredforlanguage": "preferred",
    "900000000000548007": "preferred",
    "abbreviation": "abbreviation",
    "shortname": "abbreviation",
    "brandname": "tradename",
    "tradename": "tradename",
    "relatednames2": "related",
}
_DEFINITIONS: Final = frozenset({"definition", "textdefinition", "900000000000550004"})
_FULLY_SPECIFIED: Final = "900000000000003001"
_TAG: Final = re.compile(r"(?P<name>.*\S)\s*\((?P<tag>[^()]+)\)")
_EQUIVALENT: Final = frozenset({"equal", "equivalent"})


class _Resources:
    """Collects the concepts of all resources in one file."""

    def __init__(self, path: Path, options: ReadOptions, problems: Problems) -> None:
        self.builder = TableBuilder()
        self._path = path
        self._problems = problems
        self._languages = LanguageFilter(options)
        self._prefixes = options.new_prefixes()
        self.builder.prefixes = self._prefixes.used
        self._preferred: dict[tuple[str, str], str] = {}

    def add(self, resource: Any, where: str) -> bool:
        """Add a resource or a bundle of them; return whether there was any of the three types."""
        fields = _mapping(resource)
        match fields.get("resourceType"):
            case "Bundle":
                entries = [_mapping(entry).get("resource") for entry in _list(fields.get("entry"))]
                found = [self.add(entry, f"{where}entry[{place}].") for place, entry in enumerate(entries)]
                return any(found)
            case "CodeSystem":
                self._code_system(fields, where)
            case "ValueSet":
                self._value_set(fields, where)
            case "ConceptMap":
                self._concept_map(fields, where)
            case _:
                return False
        self.builder.version = self.builder.version or _text(fields, "version") or None
        self.builder.licence = self.builder.licence or _text(fields, "copyrightLabel") or None
        return True

    def _code_system(self, resource: Mapping[str, Any], where: str) -> None:
        system = (
            _text(resource, "supplements").partition("|")[0] or _text(resource, "url") or _text(resource, "name")
        )
        properties = {}
        for stated in map(_mapping, _list(resource.get("property"))):
            uri = _text(stated, "uri")
            properties[_text(stated, "code")] = (
                uri.removeprefix(_STANDARD_PROPERTY)
                if uri.startswith(_STANDARD_PROPERTY)
                else _text(stated, "code")
            )
        is_hierarchy = _text(resource, "hierarchyMeaning") != "part-of"
        for concept, parent, place in _walk(resource.get("concept"), f"{where}concept", "concept"):
            id_ = self._concept(concept, system, place, _text(resource, "language"))
            if id_ is None:
                continue
            self.builder.concept(id_, definition=_text(concept, "definition"))
            above = _text(parent, "code")
            if above and is_hierarchy:
                self.builder.concept(id_, parents=[self._prefixes.coded(system, above)])
            for stated in map(_mapping, _list(concept.get("property"))):
                self._property(id_, system, properties.get(_text(stated, "code"), _text(stated, "code")), stated)

    def _property(self, id_: str, system: str, name: str, stated: Mapping[str, Any]) -> None:
        coding = _mapping(stated.get("valueCoding"))
        value = _text(stated, "valueCode") or _text(stated, "valueString") or _text(coding, "code")
        other = self._prefixes.coded(_text(coding, "system") or system, value) if value else ""
        key = _key(name)
        if key == "parent" and other:
            self.builder.concept(id_, parents=[other])
        elif key == "child" and other:
            self.builder.concept(other, parents=[id_])
        elif key in _REPLACED_BY and other:
            self.builder.concept(id_, replaced_by=[other])
        elif (key == "status" and value.lower() in _RETIRED) or (
            key in ("inactive", "deprecated") and (stated.get("valueBoolean") is True or "valueDateTime" in stated)
        ):
            self.builder.concept(id_, obsolete=True)

    def _value_set(self, resource: Mapping[str, Any], where: str) -> None:
        lang = _text(resource, "language")
        expansion = _mapping(resource.get("expansion"))
        for concept, parent, place in _walk(expansion.get("contains"), f"{where}expansion.contains", "contains"):
            # Some entries only group others.
            if "code" not in concept and "contains" in concept:
                continue
            id_ = self._concept(concept, _text(concept, "system"), place, lang)
            if id_ is not None:
                above = _text(parent, "code")
                self.builder.concept(
                    id_,
                    obsolete=concept.get("inactive") is True,
                    parents=[self._prefixes.coded(_text(parent, "system"), above)] if above else [],
                )
        for number, include in enumerate(map(_mapping, _list(_mapping(resource.get("compose")).get("include")))):
            system, place = _text(include, "system"), f"{where}compose.include[{number}]"
            if not include.get("concept") and not expansion.get("contains"):
                self._problems.repair(
                    self._path,
                    None,
                    f"{place} includes concepts of {system or 'another value set'} that it does not list: "
                    "expand the value set with a terminology server ($expand)",
                )
            for at, concept in enumerate(map(_mapping, _list(include.get("concept")))):
                self._concept(concept, system, f"{place}.concept[{at}]", lang)

    def _concept_map(self, resource: Mapping[str, Any], where: str) -> None:
        lang = _text(resource, "language")
        for number, group in enumerate(map(_mapping, _list(resource.get("group")))):
            source, target = (_text(group, side).partition("|")[0] for side in ("source", "target"))
            for at, element in enumerate(map(_mapping, _list(group.get("element")))):
                place = f"{where}group[{number}].element[{at}]"
                id_ = self._concept(element, source, place, lang)
                for to, mapped in enumerate(map(_mapping, _list(element.get("target")))):
                    # In R4 an unmatched element may have a target without a code.
                    if "code" not in mapped:
                        continue
                    other = self._concept(mapped, target, f"{place}.target[{to}]", lang)
                    relation = _text(mapped, "equivalence") or _text(mapped, "relationship")
                    if id_ is not None and other is not None and relation in _EQUIVALENT:
                        self.builder.concept(id_, xrefs=[other])

    def _concept(self, concept: Mapping[str, Any], system: str, where: str, lang: str) -> str | None:
        """Add a concept with its display and designations; return its id, ``None`` if it has no code."""
        code = _text(concept, "code")
        if not code:
            self._problems.reject(self._path, None, f"{where} has no code")
            return None
        id_ = self._prefixes.coded(system, code)
        self.builder.concept(id_)
        self._name(id_, _text(concept, "display"), lang, "preferred")
        for designation in map(_mapping, _list(concept.get("designation"))):
            use = _mapping(designation.get("use"))
            uses = {_key(_text(use, "code"))}
            uses |= {_key(_text(_mapping(more), "code")) for more in _list(designation.get("additionalUse"))}
            value = _text(designation, "value")
            tag = _TAG.fullmatch(value) if _FULLY_SPECIFIED in uses else None
            if uses & _DEFINITIONS:
                self.builder.concept(id_, definition=value)
            elif tag:
                self.builder.concept(id_, semantic_types=[tag["tag"]])
                self._name(id_, tag["name"], _text(designation, "language") or lang, "exact")
            else:
                kind = next((_KINDS[key] for key in _KINDS if key in uses), "exact")
                for text in value.split(";") if kind == "related" else [value]:
                    self._name(id_, text, _text(designation, "language") or lang, kind)
        return id_

    def _name(self, id_: str, text: str, stated: str, kind: str) -> None:
        lang = normalise_language(stated) or self._languages.default
        if not text or not self._languages.wants(lang):
            return
        # A value set may display a concept otherwise than its code system.
        if kind == "preferred" and self._preferred.setdefault((id_, lang), text) != text:
            kind = "exact"
        self.builder.name(id_, text, lang=lang, kind=kind)


def _walk(concepts: Any, where: str, below: str) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any], str]]:
    """Yield nested concepts in their order, each with the one around it and its place in the file."""
    nothing: Mapping[str, Any] = {}
    stack = [(concept, nothing, f"{where}[{place}]") for place, concept in enumerate(_list(concepts))][::-1]
    while stack:
        value, parent, place = stack.pop()
        concept = _mapping(value)
        yield concept, parent, place
        inner = [(part, concept, f"{place}.{below}[{at}]") for at, part in enumerate(_list(concept.get(below)))]
        stack += inner[::-1]


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key)
    return value.strip() if isinstance(value, str) else ""


_SIGN: Final = re.compile(r'\s*\{.*?"resourceType"\s*:\s*"(?:CodeSystem|ValueSet|ConceptMap|Bundle)"', re.DOTALL)


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    return _SIGN.match(head) is not None


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read the concepts; in a ConceptMap those of both sides, with equivalent ones as xrefs.

    Displays are preferred names, designations synonyms in their languages by their uses. Parents come from nesting
    and from the properties parent and child. Status, inactive and deprecated mark obsolete concepts.
    """
    resources = _Resources(path, options, problems)
    instead = "ask the server for its parts, or take the vocabulary's own release"
    known = False
    for _, resource in read_json_records(path, problems, instead=instead):
        known = resources.add(resource, "") or known
    if not known:
        raise InputError("no CodeSystem, ValueSet or ConceptMap: is this FHIR JSON?", path=path)
    if not len(resources.builder):
        raise InputError(
            "no concept with a code: a code system or value set that lists none cannot be read", path=path
        )
    return resources.builder.build()


FORMAT: Final[VocabularyFormat] = Format(
    name="fhir",
    description="FHIR CodeSystem, ValueSet or ConceptMap, or a Bundle of them, JSON of R4 or R5",
    recognises=_recognises,
    read=_read,
)
