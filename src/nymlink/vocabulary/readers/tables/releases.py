"""Releases of terminologies as tables: LOINC, the flat file of the NCI Thesaurus, ICD-11.

LOINC: LOINC Users' Guide, appendix A (https://loinc.org/kb/users-guide/loinc-database-structure/). Only the main
table is required.

NCI Thesaurus: ``Thesaurus.txt``, by the ReadMe.txt of each release: code, IRI (formerly name), parents, synonyms
(the first is preferred), definition, display name, concept status, semantic types; no header.

ICD-11: the simple tabulation of the WHO (https://icd.who.int/browse, "Info"), in any language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.files import read_lines
from nymlink.core.language_codes import normalise_language
from nymlink.core.prefixes import contract
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.tables.delimited import header_cells, parse_records
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.readers.tables.header_rows import Row, header_rows
from nymlink.vocabulary.tables import TableBuilder, Tables

LOINC_PREFIX: Final = "LOINC:"
_LICENCE: Final = "LOINC License"
_NEEDED: Final = frozenset({"LOINC_NUM", "COMPONENT", "LONG_COMMON_NAME", "SHORTNAME"})
# A component is a part of a name, and consumers' names and related names are shared by many codes.
_KINDS: Final = {
    "LONG_COMMON_NAME": "preferred",
    "DisplayName": "exact",
    "LinguisticVariantDisplayName": "exact",
    "SHORTNAME": "abbreviation",
    "CONSUMER_NAME": "related",
    "ConsumerName": "related",
    "COMPONENT": "broad",
}
_AXES: Final = ("COMPONENT", "PROPERTY", "TIME_ASPCT", "SYSTEM", "SCALE_TYP", "METHOD_TYP")
_VARIANT: Final = re.compile(r"(?P<lang>[a-z]{2})(?P<region>[A-Z]{2})\d*LinguisticVariant\.csv(?:\.gz)?")
_RETIRED: Final = frozenset({"DEPRECATED", "INACTIVE"})


def _find(folder: Path, pattern: str) -> list[Path]:
    """Find files of a release in its folder, or in the folder that its archive unpacks to."""
    return sorted(path for above in ("", "*/") for path in folder.glob(above + pattern) if path.is_file())


def _main_table(folder: Path) -> Path | None:
    found = [*_find(folder, "Loinc.csv*"), *_find(folder, "LoincTable/Loinc.csv*")]
    return next((path for path in found if path.name in ("Loinc.csv", "Loinc.csv.gz")), None)


class _Loinc:
    """Collects the codes, names and parts of a release."""

    def __init__(self, options: ReadOptions, problems: Problems) -> None:
        self.builder = TableBuilder()
        self._languages = LanguageFilter(options)
        self._problems = problems
        self._versions: set[tuple[int, ...]] = set()

    def add_codes(self, path: Path, *, lang: str | None = None) -> None:
        """Add the codes of the main table, or their names in a language from a table of a linguistic variant."""
        lang = lang or self._languages.default
        for row in self._rows(path, "LOINC_NUM"):
            id_ = LOINC_PREFIX + row.get("LOINC_NUM")
            class_ = row.get("CLASS") if "STATUS" in row.values else ""
            self.builder.concept(
                id_,
                definition=row.get("DefinitionDescription"),
                semantic_types=[class_] if class_ else [],
                obsolete=row.get("STATUS").upper() in _RETIRED,
            )
            if re.fullmatch(r"\d+(?:\.\d+)*", changed := row.get("VersionLastChanged")):
                self._versions.add(tuple(map(int, changed.split("."))))
            axes = [row.get(axis) for axis in _AXES]
            self._name(id_, ":".join(axes).rstrip(":") if all(axes[:-1]) else "", lang, "exact")
            for header, kind in _KINDS.items():
                self._name(id_, row.get(header), lang, kind)
            for name in row.get("RELATEDNAMES2").split(";"):
                self._name(id_, name, lang, "related")

    def add_release(self, folder: Path) -> None:
        """Add what lies beside the main table: parts, replacements, consumers' names, hierarchy, translations."""
        for path in _find(folder, "AccessoryFiles/PartFile/Part.csv"):
            for row in self._rows(path, "PartNumber", "PartName"):
                id_, type_ = LOINC_PREFIX + row.get("PartNumber"), row.get("PartTypeName")
                retired = row.get("Status").upper() in _RETIRED
                self.builder.concept(id_, semantic_types=[type_] if type_ else [], obsolete=retired)
                self._name(id_, row.get("PartName"), self._languages.default, "preferred")
                self._name(id_, row.get("PartDisplayName"), self._languages.default, "exact")
        for path in _find(folder, "LoincTable/MapTo.csv"):
            for row in self._rows(path, "LOINC", "MAP_TO"):
                old, new = (LOINC_PREFIX + row.get(header) for header in ("LOINC", "MAP_TO"))
                if old in self.builder:
                    self.builder.concept(old, replaced_by=[new])
        for path in _find(folder, "AccessoryFiles/ConsumerName/ConsumerName.csv"):
            for row in self._rows(path, "LoincNumber", "ConsumerName"):
                self._known_name(row.get("LoincNumber"), row.get("ConsumerName"))
        for path in _find(folder, "AccessoryFiles/ComponentHierarchyBySystem/ComponentHierarchyBySystem.csv"):
            for row in self._rows(path, "CODE", "CODE_TEXT"):
                id_, parent = LOINC_PREFIX + row.get("CODE"), row.get("IMMEDIATE_PARENT")
                is_new = id_ not in self.builder
                self.builder.concept(id_, parents=[LOINC_PREFIX + parent] if parent else [])
                if is_new:
                    self._name(id_, row.get("CODE_TEXT"), self._languages.default, "preferred")
        for path in _find(folder, "AccessoryFiles/LinguisticVariants/*LinguisticVariant.csv"):
            lang = _variant_language(path)
            if lang and self._languages.wants(lang):
                self.add_codes(path, lang=lang)

    def build(self) -> Tables:
        self.builder.version = ".".join(map(str, max(self._versions))) if self._versions else None
        self.builder.licence = _LICENCE
        return self.builder.build()

    def _known_name(self, code: str, name: str) -> None:
        if LOINC_PREFIX + code in self.builder:
            self._name(LOINC_PREFIX + code, name, self._languages.default, "related")

    def _name(self, id_: str, text: str, lang: str, kind: str) -> None:
        if self._languages.wants(lang):
            self.builder.name(id_, text, lang=lang, kind=kind)

    def _rows(self, path: Path, *required: str) -> Iterator[Row]:
        lines = read_lines(path, self._problems)
        headers = header_cells([next((line for _, line in lines if line.strip()), "")])
        missing = [header for header in required if header not in headers]
        if missing:
            raise InputError(f"no column {missing[0]!r}: the first line must name it", path=path)
        return header_rows(lines, headers, delimiter=",", required=required, path=path, problems=self._problems)


def _variant_language(path: Path) -> str | None:
    match = _VARIANT.fullmatch(path.name)
    return normalise_language(f"{match['lang']}-{match['region']}") if match else None


def _recognises_loinc(path: Path, head: str) -> bool:
    if path.is_dir():
        return _main_table(path) is not None
    return set(header_cells([head.lstrip().partition("\n")[0]])) >= _NEEDED


def _read_loinc(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read a release folder, its main table alone, or the table of a linguistic variant."""
    table = _main_table(path) if path.is_dir() else path
    if table is None:
        raise InputError("no Loinc.csv here, nor in a sub-folder LoincTable", path=path)
    loinc = _Loinc(options, problems)
    loinc.add_codes(table, lang=_variant_language(table))
    if path.is_dir():
        loinc.add_release(path)
    if not len(loinc.builder):
        raise InputError("no row that could be used", path=table)
    return loinc.build()


LOINC: Final[VocabularyFormat] = Format(
    name="loinc",
    description="LOINC (its release folder, or Loinc.csv), with parts and linguistic variants",
    recognises=_recognises_loinc,
    read=_read_loinc,
)


NCIT_PREFIX: Final = "NCIT:"
_NCIT_ROW: Final = re.compile(r"C\d+\t[^\t\n]+\t(?:(?:C\d+(?:\|C\d+)*)|root_node)?\t[^\t\n]*\t[^\n]*")
_LINES_CHECKED: Final = 20
_NCIT_COLUMNS: Final = range(5, 10)
_NCIT_RETIRED: Final = frozenset({"Obsolete_Concept", "Retired_Concept"})


def _recognises_ncit(path: Path, head: str) -> bool:  # noqa: ARG001
    lines = [line.rstrip("\r") for line in head.split("\n") if line.strip()][:_LINES_CHECKED]
    return 2 * sum(_NCIT_ROW.fullmatch(line) is not None for line in lines) > len(lines)


def _read_ncit(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    languages = LanguageFilter(options)
    builder = TableBuilder()
    for number, line in read_lines(path, problems):
        if not line.strip() or (number == 1 and line.lower().startswith("code\t")):
            continue
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) not in _NCIT_COLUMNS or not re.fullmatch(r"C\d+", fields[0]):
            problems.reject(
                path, number, "not a row of the NCI Thesaurus: code, IRI, parents, synonyms, definition …"
            )
            continue
        code, name, parents, synonyms, definition, display, status, types, *_ = [*fields, "", "", ""]
        id_ = NCIT_PREFIX + code
        builder.concept(
            id_,
            definition=definition,
            semantic_types=_parts(types),
            parents=[NCIT_PREFIX + parent for parent in _parts(parents) if parent != "root_node"],
            obsolete=not _NCIT_RETIRED.isdisjoint(_parts(status)),
        )
        # The second column is the name in old releases.
        names = [*_parts(synonyms), *_parts(display)] or ([] if name.startswith("<") else [name.replace("_", " ")])
        for place, text in enumerate(names if languages.wants(languages.default) else []):
            builder.name(id_, text, lang=languages.default, kind="exact" if place else "preferred")
    if not len(builder):
        raise InputError("no row that could be used", path=path)
    return builder.build()


def _parts(field: str) -> list[str]:
    return [part for value in field.split("|") if (part := value.strip())]


NCIT: Final[VocabularyFormat] = Format(
    name="ncit",
    description="NCI Thesaurus, the flat file Thesaurus.txt",
    recognises=_recognises_ncit,
    read=_read_ncit,
)


ICD11_PREFIX: Final = "ICD11:"
_ICD11_HEADERS: Final = frozenset({"Code", "BlockId", "Title", "ClassKind", "ChapterNo"})
_ICD11_VERSION: Final = re.compile(r"Version:\s*(?P<version>.*\S)")
_DASHES: Final = re.compile(r"(?P<dashes>(?:-\s*)*)(?P<name>.*)", re.DOTALL)


def _icd11_headers(line: str) -> list[str]:
    return [header.strip().strip('"') for header in line.split("\t")]


def _recognises_icd11(path: Path, head: str) -> bool:  # noqa: ARG001
    return set(_icd11_headers(head.lstrip().partition("\n")[0])) >= _ICD11_HEADERS


def _read_icd11(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read chapters, blocks and categories; the dashes before a title are its depth, and give the parent.

    The id is the code, else the id of the block, else the number of the entity. The entity of the Foundation is an
    xref.
    """
    languages = LanguageFilter(options)
    builder = TableBuilder()
    lines = read_lines(path, problems)
    headers = _icd11_headers(next((line for _, line in lines if line.strip()), ""))
    if not set(headers) >= _ICD11_HEADERS:
        expected = ", ".join(sorted(_ICD11_HEADERS))
        raise InputError(f"not a simple tabulation of ICD-11: its first line must name {expected}", path=path)
    builder.version = next((match["version"] for match in map(_ICD11_VERSION.fullmatch, headers) if match), None)
    uri = next((header for header in headers if header.startswith("Linearization")), "")
    above: list[tuple[int, str]] = []
    # Rows end before the header that states the version.
    least = max(map(headers.index, _ICD11_HEADERS)) + 1
    for record in parse_records(lines, "\t"):
        if not least <= len(record.fields) <= len(headers):
            problems.reject(path, record.line, f"{len(record.fields)} columns instead of {len(headers)}")
            continue
        row = Row(record.line, dict(zip(headers, map(str.strip, record.fields), strict=False)))
        if not row.get("Title"):
            problems.reject(path, row.line, "Title is blank")
            continue
        entity = row.get(uri).partition("/mms/")[2] or row.get(uri).rpartition("/")[2]
        local = row.get("Code") or row.get("BlockId") or entity.replace("/", "-")
        if not local:
            problems.reject(path, row.line, "neither a code nor a block nor a linearization URI")
            continue
        id_ = ICD11_PREFIX + local
        match = _DASHES.fullmatch(row.get("Title"))
        dashes, title = (match["dashes"], match["name"]) if match else ("", row.get("Title"))
        depth = dashes.count("-")
        while above and above[-1][0] >= depth:
            above.pop()
        foundation, is_known = row.get("Foundation URI"), id_ in builder
        builder.concept(
            id_,
            semantic_types=[kind] if (kind := row.get("ClassKind")) else [],
            xrefs=[contract(foundation)] if foundation else [],
            parents=[parent for _, parent in above[-1:]],
        )
        above.append((depth, id_))
        if languages.wants(languages.default):
            builder.name(id_, title, lang=languages.default, kind="exact" if is_known else "preferred")
        english = _DASHES.fullmatch(row.get("TitleEN"))
        if english and languages.wants("en"):
            builder.name(id_, english["name"], lang="en", kind="preferred")
    if not len(builder):
        raise InputError("no row that could be used", path=path)
    return builder.build()


ICD11: Final[VocabularyFormat] = Format(
    name="icd11",
    description="ICD-11, the simple tabulation of the WHO (SimpleTabulation-ICD-11-MMS-en.txt)",
    recognises=_recognises_icd11,
    read=_read_icd11,
)
