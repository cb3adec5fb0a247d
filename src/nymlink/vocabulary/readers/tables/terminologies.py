"""Terminologies in layouts of their own: Orphanet, CTD.

Orphanet: Orphadata, product 1 (https://www.orphadata.com/alignments/).

Columns of CTD: https://ctdbase.org/downloads/. The diseases (MEDIC) are those of Davis et al., "MEDIC: a practical
disease vocabulary used at the Comparative Toxicogenomics Database" (Database 2012): MeSH and OMIM joined, each
concept under one id with the others as alternates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

from nymlink.core.errors import InputError
from nymlink.core.files import read_head, read_lines
from nymlink.core.language_codes import normalise_language
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.core.xml_files import read_records, root_name, text_at
from nymlink.tables.delimited import guess_delimiter
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.readers.tables.header_rows import Row, header_rows
from nymlink.vocabulary.tables import TableBuilder, Tables

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


_KINDS: Final = ("Disease", "Chemical")
_OWN: Final = re.compile(r"(MESH|OMIM):\S+")
_CTD_XREFS: Final = {
    "CasRN": "CAS:",
    "PubChemCID": "PUBCHEM.COMPOUND:",
    "PubChemSID": "PUBCHEM.SUBSTANCE:",
    "DTXSID": "DTXSID:",
    "InChIKey": "INCHIKEY:",
}
_CTD_SYNONYMS: Final = ("Synonyms", "MESHSynonyms", "CTDCuratedSynonyms")
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
            # PubChem's ids are written as "CID:2836600" since 2026.
            values = (value.removeprefix("CID:").removeprefix("SID:") for value in row.split(header))
            xrefs += [value if ":" in value else prefix + value for value in values]
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
            for synonym in dict.fromkeys(chain.from_iterable(map(row.split, _CTD_SYNONYMS))):
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
    return kinds[0] if len(kinds) == 1 and not set(headers).isdisjoint(_CTD_SYNONYMS) else None


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
