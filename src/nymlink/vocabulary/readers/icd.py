"""ICD and other classifications: ClaML, ICD-10-CM.

ClaML: Classification Markup Language, EN 14463 / ISO 13120. Fourth and fifth characters that many categories share
are modifiers: every category with no class below it gets one code for each of their classes.

ICD-10-CM: columns of the order file, from the ``icd10OrderFiles.pdf`` of CMS, counted from 1: 1-5 order number,
7-13 code, 15 billable code (1) or header (0), 17-76 short description, from 78 on long description. The tabular
list is XML of the CDC, with seventh characters stated once for a category.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

from nymlink.core.errors import InputError
from nymlink.core.files import read_lines
from nymlink.core.language_codes import normalise_language
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.core.xml_files import read_records, root_name, text_at
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.tables import TableBuilder, Tables

_ROOT: Final = "ClaML"
# Inclusions are often narrower than the class.
_KINDS: Final = {"preferred": "preferred", "preferredLong": "exact", "inclusion": "narrow"}
_XML_LANG: Final = "xml:lang"
_NOT_MODIFIED: Final = frozenset({"chapter", "block"})
_THREE_CHARACTERS: Final = re.compile(r"[A-Z][0-9]{2}")
_FIFTH: Final = re.compile(r".*_5")


@dataclass(frozen=True, slots=True)
class _Name:
    text: str
    lang: str
    kind: str


@dataclass(slots=True)
class _Class:
    """A class, or a class of a modifier.

    Attributes:
        code: its code; for a class of a modifier the characters that it adds.
        kind: chapter, block or category.
        names: its names in all languages.
        parents: codes of its superclasses.
        modified_by: the modifiers of it and the classes below it: code, whether it gives the fifth character, and
            its valid classes (``None``: all).
        excluded: codes of inherited modifiers that do not apply.
        excluded_after: for a class of a modifier: modifiers and their classes that it may not follow.
    """

    code: str
    kind: str = ""
    names: list[_Name] = field(default_factory=list)
    parents: list[str] = field(default_factory=list)
    modified_by: list[tuple[str, bool, frozenset[str] | None]] = field(default_factory=list)
    excluded: set[str] = field(default_factory=set)
    excluded_after: set[tuple[str, str]] = field(default_factory=set)


class _Classification:
    """Collects the classes and modifiers of one file."""

    def __init__(self, options: ReadOptions) -> None:
        self.builder = TableBuilder()
        self.prefix = ""
        self._languages = LanguageFilter(options)
        self._classes: dict[str, _Class] = {}
        self._modifiers: defaultdict[str, list[_Class]] = defaultdict(list)

    def add(self, element: Element, code: str) -> None:
        class_ = self._class(element, code)
        self._classes[code] = class_
        definitions = (
            text_at(label)
            for rubric in element.findall("Rubric")
            if rubric.get("kind") == "definition"
            for label in rubric
        )
        self._concept(class_, code, class_.parents, next(filter(None, definitions), None))

    def add_modifier_class(self, element: Element, code: str) -> None:
        self._modifiers[element.get("modifier", "").strip()].append(self._class(element, code))

    def add_modified(self) -> None:
        """Add the codes that modifiers make, now that all classes and modifiers are known."""
        above = {parent for class_ in self._classes.values() for parent in class_.parents}
        for code, class_ in list(self._classes.items()):
            if code not in above and class_.kind not in _NOT_MODIFIED:
                self._modify(class_, self._inherited(code), ())

    def _inherited(self, code: str) -> list[tuple[str, bool, frozenset[str] | None]]:
        """List the modifiers of a class and the classes above it, the fourth character before the fifth."""
        found: dict[str, tuple[str, bool, frozenset[str] | None]] = {}
        excluded: set[str] = set()
        queue, seen = [code], {code}
        for current in queue:
            class_ = self._classes.get(current)
            if class_ is None:
                continue
            for modifier in class_.modified_by:
                if modifier[0] not in excluded:
                    found.setdefault(modifier[0], modifier)
            excluded |= class_.excluded
            queue += [parent for parent in class_.parents if parent not in seen]
            seen.update(class_.parents)
        return sorted(found.values(), key=lambda modifier: modifier[1])

    def _modify(
        self,
        class_: _Class,
        modifiers: list[tuple[str, bool, frozenset[str] | None]],
        before: tuple[tuple[str, str], ...],
    ) -> None:
        if not modifiers:
            return
        (modifier, is_fifth, valid), *others = modifiers
        for addition in self._modifiers.get(modifier, ()):
            code = _modified_code(class_.code, addition.code, is_fifth=is_fifth)
            if (
                code is None
                or code in self._classes
                or (valid is not None and addition.code not in valid)
                or not addition.excluded_after.isdisjoint(before)
            ):
                continue
            made = _Class(code, class_.kind, names=list(_modified_names(class_, addition)))
            self._concept(made, code, [class_.code], None)
            self._modify(made, others, (*before, (modifier, addition.code)))
        # A modifier without codes for this class, such as a fourth character of a four-character code.
        if not any(
            _modified_code(class_.code, part.code, is_fifth=is_fifth) for part in self._modifiers[modifier]
        ):
            self._modify(class_, others, before)

    def _class(self, element: Element, code: str) -> _Class:
        modified_by = []
        for by in element.iterfind("ModifiedBy"):
            modifier = by.get("code", "").strip()
            valid = frozenset(part.get("code", "") for part in by.iterfind("ValidModifierClass"))
            is_fifth = by.get("position") == "5" or _FIFTH.fullmatch(modifier) is not None
            modified_by.append((modifier, is_fifth, valid if by.get("all") == "false" else None))
        rules = (meta for meta in element.iterfind("Meta") if meta.get("name") == "excludeOnPrecedingModifier")
        parts = (rule.get("value", "").split() for rule in rules)
        return _Class(
            code,
            kind=element.get("kind", ""),
            names=list(self._names(element)),
            parents=[
                parent for above in element.iterfind("SuperClass") if (parent := above.get("code", "").strip())
            ],
            modified_by=modified_by,
            excluded={part.get("code", "").strip() for part in element.iterfind("ExcludeModifier")},
            excluded_after={(part[0], part[1]) for part in parts if len(part) > 1},
        )

    def _names(self, element: Element) -> Iterator[_Name]:
        for rubric in element.iterfind("Rubric"):
            kind = _KINDS.get(rubric.get("kind", ""))
            for label in rubric.iterfind("Label") if kind else ():
                lang = normalise_language(label.get(_XML_LANG, "")) or self._languages.default
                if kind and self._languages.wants(lang):
                    yield _Name(_without_references(label), lang, kind)

    def _concept(self, class_: _Class, code: str, parents: list[str], definition: str | None) -> None:
        id_ = self.prefix + code
        self.builder.concept(
            id_,
            definition=definition,
            semantic_types=[class_.kind] if class_.kind else [],
            parents=[self.prefix + parent for parent in parents],
        )
        for name in class_.names:
            self.builder.name(id_, name.text, lang=name.lang, kind=name.kind)


def _modified_code(code: str, addition: str, *, is_fifth: bool) -> str | None:
    """Add the characters of a modifier to a code: ``E10`` and ``.0`` → ``E10.0``, ``M45`` and ``0`` → ``M45.X0``.

    Returns:
        The code; ``None`` if the modifier gives the character after the full stop, and the code has one.
    """
    if addition.startswith("."):
        return code + addition if "." not in code else None
    if _THREE_CHARACTERS.fullmatch(code):
        return f"{code}.X{addition}" if is_fifth else f"{code}.{addition}"
    return code + addition


def _modified_names(class_: _Class, addition: _Class) -> Iterator[_Name]:
    """Join the preferred names of a category to the names of a modifier's class in the same language."""
    for whole in class_.names:
        for part in addition.names if whole.kind != "narrow" else ():
            if part.lang == whole.lang and (whole.kind == "preferred" or part.kind == "preferred"):
                kind = max(whole.kind, part.kind, key=list(_KINDS.values()).index)
                yield _Name(f"{whole.text}: {part.text}", whole.lang, kind)


def _without_references(label: Element) -> str:
    """Get the text of a label without references to the codes of other classes."""
    for reference in label.iter("Reference"):
        reference.text = None
        for child in reference:
            child.clear()
    return " ".join("".join(label.itertext()).split())


def _recognises_claml(path: Path, head: str) -> bool:  # noqa: ARG001
    return root_name(head) == _ROOT


def _read_claml(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read the classes; ids are the codes, prefixed by the name of the classification (``ICD10``).

    The name of a code made by a modifier is that of its category, a colon, and that of the modifier's class.
    """
    classification = _Classification(options)
    for record in read_records(path, roots=(_ROOT,), tags=("Class", "ModifierClass", "Title"), problems=problems):
        element = record.element
        if element.tag == "Title":
            name = re.sub(r"[^A-Za-z0-9]", "", element.get("name") or text_at(element))
            classification.prefix = f"{name}:" if name else ""
            classification.builder.version = element.get("version") or element.get("date") or None
        elif element.tag in ("Class", "ModifierClass"):
            code = element.get("code", "").strip()
            if not code:
                problems.reject(path, record.line, "a class without code")
            elif element.tag == "Class":
                classification.add(element, code)
            else:
                classification.add_modifier_class(element, code)
    if not len(classification.builder):
        raise InputError("no class that could be used", path=path)
    classification.add_modified()
    return classification.builder.build()


CLAML: Final[VocabularyFormat] = Format(
    name="claml",
    description="ICD and other classifications in ClaML (XML)",
    recognises=_recognises_claml,
    read=_read_claml,
)


PREFIX: Final = "ICD10CM:"
_LINE: Final = re.compile(r"\d{5} (?P<code>[A-Z][0-9][0-9A-Z ]{5}) [01] (?P<short>.{60}) (?P<long>\s*\S.*)")
_LINES_CHECKED: Final = 20
_CATEGORY: Final = 3
_TABULAR: Final = "ICD10CM.tabular"
_RANGE: Final = re.compile(r"(?P<name>.*?)\s*\((?P<codes>[A-Z]\d\w(?:-[A-Z]\d\w)?)\)")
_SEVENTH: Final = 6
"""Characters of a code, without its full stop, before the seventh."""


def _recognises_icd10cm(path: Path, head: str) -> bool:  # noqa: ARG001
    lines = [line.rstrip("\r") for line in head.split("\n") if line.strip()][:_LINES_CHECKED]
    return 2 * sum(_LINE.fullmatch(line) is not None for line in lines) > len(lines)


def _read_icd10cm(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read the codes: long descriptions are preferred names, the longest prefix that is a code is the parent."""
    languages = LanguageFilter(options)
    builder = TableBuilder()
    for number, line in read_lines(path, problems):
        if not line.strip():
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            problems.reject(path, number, "not a row of an ICD-10-CM order file")
            continue
        code = match["code"].rstrip()
        id_ = _icd_curie(code)
        shorter = (_icd_curie(code[:length]) for length in range(len(code) - 1, _CATEGORY - 1, -1))
        parent = next((prefix for prefix in shorter if prefix in builder), None)
        builder.concept(id_, parents=[parent] if parent else [])
        if languages.wants(languages.default):
            builder.name(id_, match["long"], lang=languages.default, kind="preferred")
            builder.name(id_, match["short"], lang=languages.default)
    if not len(builder):
        raise InputError("no row that could be used", path=path)
    return builder.build()


def _icd_curie(code: str) -> str:
    """Write a code as a CURIE: ``A000`` → ``ICD10CM:A00.0``."""
    tail = code[_CATEGORY:]
    return f"{PREFIX}{code[:_CATEGORY]}" + (f".{tail}" if tail else "")


ICD10CM: Final[VocabularyFormat] = Format(
    name="icd10cm",
    description="ICD-10-CM, the fixed-width order file",
    recognises=_recognises_icd10cm,
    read=_read_icd10cm,
)


class _TabularList:
    """Collects the chapters, sections and codes of one file."""

    def __init__(self, path: Path, options: ReadOptions, problems: Problems) -> None:
        self.builder = TableBuilder()
        self._path = path
        self._problems = problems
        self._languages = LanguageFilter(options)
        self._chapter = ""

    def begin_chapter(self, desc: str) -> None:
        match = _RANGE.fullmatch(desc)
        self._chapter = self._group(match["codes"], desc, "chapter", "") if match else ""

    def add_section(self, line: int, section: Element) -> None:
        codes = section.get("id", "").strip()
        if not codes:
            self._problems.reject(self._path, line, "a section without id")
            return
        parent = self._group(codes, text_at(section, "desc"), "section", self._chapter)
        for diag in section.iterfind("diag"):
            self._add(line, diag, parent, [])

    def _group(self, codes: str, desc: str, type_: str, parent: str) -> str:
        id_ = PREFIX + codes
        match = _RANGE.fullmatch(desc)
        self.builder.concept(id_, semantic_types=[type_], parents=[parent] if parent not in ("", id_) else [])
        self._name(id_, match["name"] if match else desc, "preferred")
        return id_

    def _add(self, line: int, diag: Element, parent: str, seventh: list[Element]) -> None:
        code, desc = text_at(diag, "name"), text_at(diag, "desc")
        if not code or not desc:
            self._problems.reject(self._path, line, f"a diag without name or desc, below {parent}")
            return
        id_ = PREFIX + code
        self.builder.concept(id_, parents=[parent])
        self._name(id_, desc, "preferred")
        for note in diag.iterfind("inclusionTerm/note"):
            self._name(id_, text_at(note), "narrow")
        seventh = diag.findall("sevenChrDef/extension") or seventh
        below = diag.findall("diag")
        for child in below:
            self._add(line, child, id_, seventh)
        whole = code.replace(".", "").ljust(_SEVENTH, "X")
        for extension in seventh if not below and len(whole) == _SEVENTH else ():
            longer = _icd_curie(whole + extension.get("char", "").strip())
            self.builder.concept(longer, parents=[id_])
            self._name(longer, f"{desc}, {text_at(extension)}", "preferred")

    def _name(self, id_: str, text: str, kind: str) -> None:
        if self._languages.wants(self._languages.default):
            self.builder.name(id_, text, lang=self._languages.default, kind=kind)


def _recognises_tabular(path: Path, head: str) -> bool:  # noqa: ARG001
    return root_name(head) == _TABULAR


def _read_tabular(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read chapters, sections and codes, also those with a seventh character; inclusion terms are narrow names."""
    tabular = _TabularList(path, options, problems)
    records = read_records(path, roots=(_TABULAR,), tags=("version", "desc", "section"), problems=problems)
    for record in records:
        if record.element.tag == "version":
            tabular.builder.version = text_at(record.element) or None
        elif record.element.tag == "desc":
            tabular.begin_chapter(text_at(record.element))
        elif record.element.tag == "section":
            tabular.add_section(record.line, record.element)
    if not len(tabular.builder):
        raise InputError("no section with codes that could be used", path=path)
    return tabular.builder.build()


ICD10CM_TABULAR: Final[VocabularyFormat] = Format(
    name="icd10cm-tabular",
    description="ICD-10-CM, the tabular list of the CDC, XML (icd10cm_tabular_20xx.xml)",
    recognises=_recognises_tabular,
    read=_read_tabular,
)
