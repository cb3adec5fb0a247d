"""Terminologies in layouts of their own: ICD-10-CM, CTD.

Columns of ICD-10-CM, from the ``icd10OrderFiles.pdf`` of CMS, counted from 1: 1-5 order number, 7-13 code, 15
billable code (1) or header (0), 17-76 short description, from 78 on long description.

Columns of CTD: https://ctdbase.org/downloads/. The diseases (MEDIC) are those of Davis et al., "MEDIC: a practical
disease vocabulary used at the Comparative Toxicogenomics Database" (Database 2012): MeSH and OMIM joined, each
concept under one id with the others as alternates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.files import read_head, read_lines
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.core.xml_files import read_records, root_name, text_at
from nymlink.tables.delimited import guess_delimiter
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.readers.tables.header_rows import Row, header_rows
from nymlink.vocabulary.tables import TableBuilder, Tables

PREFIX: Final = "ICD10CM:"
_LINE: Final = re.compile(r"\d{5} (?P<code>[A-Z][0-9][0-9A-Z ]{5}) [01] (?P<short>.{60}) (?P<long>\s*\S.*)")
_LINES_CHECKED: Final = 20
_CATEGORY: Final = 3


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


_KINDS: Final = ("Disease", "Chemical")
_OWN: Final = re.compile(r"(MESH|OMIM):\S+")
_CTD_XREFS: Final = {
    "CasRN": "CAS:",
    "PubChemCID": "PUBCHEM.COMPOUND:",
    "PubChemSID": "PUBCHEM.SUBSTANCE:",
    "DTXSID": "DTXSID:",
    "InChIKey": "INCHIKEY:",
}
_XML_ROW: Final = re.compile(r"<Row>\s*<(Disease|Chemical)Name>")
_ROOTS: Final = ("Results",)


class _Concepts:
    """Collects the concepts of one file."""

    def __init__(self, options: ReadOptions) -> None:
        self.builder = TableBuilder()
        self._languages = LanguageFilter(options)
        self._alternates: list[tuple[str, str]] = []

    def add(self, row: Row, kind: str) -> None:
        id_ = _without_doubled_prefix(row.get(f"{kind}ID"))
        alternates = [_without_doubled_prefix(value) for value in row.split(f"Alt{kind}IDs")]
        # MEDIC's alternates are MeSH and OMIM ids, since 2015 also ids of other vocabularies.
        self._alternates += [(alternate, id_) for alternate in alternates if _OWN.fullmatch(alternate)]
        xrefs = [alternate for alternate in alternates if not _OWN.fullmatch(alternate)]
        for header, prefix in _CTD_XREFS.items():
            xrefs += [value if ":" in value else prefix + value for value in row.split(header)]
        trees = [tree[0] for tree in row.split("TreeNumbers")]
        self.builder.concept(
            id_,
            definition=row.get("Definition"),
            semantic_types=row.split("SlimMappings") or trees,
            xrefs=xrefs,
            parents=[_without_doubled_prefix(value) for value in row.split("ParentIDs")],
        )
        lang = self._languages.default
        if self._languages.wants(lang):
            self.builder.name(id_, row.get(f"{kind}Name"), lang=lang, kind="preferred")
            for synonym in row.split("Synonyms"):
                self.builder.name(id_, synonym, lang=lang)

    def finish(self) -> Tables:
        for alternate, id_ in self._alternates:
            if alternate not in self.builder:
                self.builder.redirect(alternate, id_)
        return self.builder.build()


def _without_doubled_prefix(value: str) -> str:
    """Drop a doubled prefix: ``DO:DOID:0050776`` → ``DOID:0050776``."""
    return value.removeprefix("DO:") if value.startswith("DO:DOID:") else value


def _fields(line: str) -> tuple[str, list[str], str] | None:
    """Parse a header line into delimiter, headers, and Disease or Chemical; ``None`` for other lines."""
    text = line.lstrip("# ").strip()
    delimiter = guess_delimiter(text)
    headers = [header.strip().strip('"') for header in text.split(delimiter)]
    kind = _kind(headers)
    return None if kind is None else (delimiter, headers, kind)


def _kind(headers: list[str]) -> str | None:
    """Distinguish diseases and chemicals by headers; ``None`` for associations, which have no synonyms."""
    kinds = [kind for kind in _KINDS if {f"{kind}Name", f"{kind}ID"} <= set(headers)]
    return kinds[0] if len(kinds) == 1 and "Synonyms" in headers else None


def _recognises_ctd(path: Path, head: str) -> bool:  # noqa: ARG001
    if root_name(head) in _ROOTS:
        return _XML_ROW.search(head) is not None
    return any(_fields(line) for line in head.splitlines())


def _read_ctd(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read the diseases or the chemicals.

    Alternate ids of diseases redirect to the current id. Alternate ids in other vocabularies become xrefs, as do
    CAS numbers. The semantic types of diseases are their slim categories, those of chemicals the letters of their
    trees.
    """
    concepts = _Concepts(options)
    is_xml = read_head(path).lstrip().startswith("<")
    for row, kind in _xml_rows(path, problems) if is_xml else _table_rows(path, problems):
        concepts.add(row, kind)
    if not len(concepts.builder):
        raise InputError("no row that could be used", path=path)
    return concepts.finish()


def _table_rows(path: Path, problems: Problems) -> Iterator[tuple[Row, str]]:
    lines = read_lines(path, problems)
    header = next((fields for _, line in lines if (fields := _fields(line))), None)
    if header is None:
        raise InputError(
            "no line names the columns: # DiseaseName,DiseaseID,… or # ChemicalName,ChemicalID,…", path=path
        )
    delimiter, headers, kind = header
    data = ((number, line) for number, line in lines if not line.startswith("#"))
    required = (f"{kind}Name", f"{kind}ID")
    for row in header_rows(data, headers, delimiter=delimiter, required=required, path=path, problems=problems):
        yield row, kind


def _xml_rows(path: Path, problems: Problems) -> Iterator[tuple[Row, str]]:
    for record in read_records(path, roots=_ROOTS, tags=("Row",), problems=problems):
        values: dict[str, str] = {}
        for field in record.element:
            # Several values of a field are joined by bars, or are elements within it, or repeated fields.
            texts = [*map(text_at, field)] if len(field) else [text_at(field)]
            values[field.tag] = "|".join(filter(None, [values.get(field.tag, ""), *texts]))
        kind = next((kind for kind in _KINDS if values.get(f"{kind}Name") and values.get(f"{kind}ID")), None)
        if kind is not None:
            yield Row(record.line, values), kind
        elif record.element.tag == "Row":
            problems.reject(path, record.line, "a row without name or id")


CTD: Final[VocabularyFormat] = Format(
    name="ctd",
    description="Comparative Toxicogenomics Database: diseases (MEDIC) or chemicals, CSV, TSV or XML",
    recognises=_recognises_ctd,
    read=_read_ctd,
)
