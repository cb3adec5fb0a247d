"""Terminologies in one table with known columns: HGNC, NCBI Gene, UniProt, OMIM, DrugBank, ATC.

A terminology is declared as headers and what a cell under each states. Sources of the columns:

- HGNC: https://www.genenames.org/help/statistics-and-downloads/, also the custom downloads, whose lists are joined
  by commas, and the list of withdrawn symbols.
- NCBI Gene: ``gene_info`` of https://ftp.ncbi.nlm.nih.gov/gene/DATA/README.
- UniProt: https://www.uniprot.org/help/return_fields. A name in parentheses is an alternative; chains and
  domains in square brackets are parts of the protein, and become narrow names.
- OMIM: ``mimTitles.txt`` (https://omim.org/downloads). Included titles are related.
- DrugBank: the open vocabulary (https://go.drugbank.com/releases/latest#open-data).
- ATC: the index of the WHO Collaborating Centre (https://atcddd.fhi.no).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.files import read_lines
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.tables.delimited import guess_delimiter, parse_records
from nymlink.vocabulary.concepts import KINDS, ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.readers.tables.header_rows import Row, header_rows
from nymlink.vocabulary.tables import TableBuilder, Tables

Facts = Iterable[tuple[str, str]]
"""What a cell states: pairs of a role and a value. Roles are the kinds of names, ``id``, ``alternate`` (id),
``type``, ``xref``, ``parent``, ``definition``, ``obsolete`` and ``replaced_by``."""
ReadCell = Callable[[str], Facts]


@dataclass(frozen=True, slots=True)
class Terminology:
    """A terminology in a table.

    Attributes:
        columns: header, as :func:`_key` writes it → what a cell under it states.
        needed: sets of headers; a table that has all of one set is of this terminology.
        nulls: cells without a value.
        is_ragged: whether rows leave out empty cells at their end.
    """

    columns: Mapping[str, ReadCell]
    needed: tuple[frozenset[str], ...]
    nulls: frozenset[str] = frozenset()
    is_ragged: bool = False

    def header(self, line: str) -> tuple[str, list[str]] | None:
        """Parse a header line into delimiter and headers; ``None`` for a line of another kind."""
        text = line.lstrip("# ").rstrip("\r")
        delimiter = guess_delimiter(text)
        record = next(parse_records([(1, text)], delimiter), None)
        headers = [header.strip() for header in record.fields] if record else []
        keys = set(map(_key, headers))
        return (delimiter, headers) if any(needed <= keys for needed in self.needed) else None

    def read(self, path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
        """Read the concepts, row by row.

        Raises:
            InputError: the table has no such header, or no row that can be used.
        """
        lines = read_lines(path, problems)
        header = next((found for _, line in lines if (found := self.header(line))), None)
        if header is None:
            expected = " or ".join(", ".join(sorted(needed)) for needed in self.needed)
            raise InputError(f"no line names the columns that this format has ({expected})", path=path)
        delimiter, headers = header
        keys = {header: _key(header) for header in headers}
        ids = [header for header, key in keys.items() if any(role == "id" for role, _ in self._states(key, "1"))]
        data = ((number, line) for number, line in lines if not line.startswith("#"))
        if self.is_ragged:
            data = (
                (
                    number,
                    line + delimiter * (len(headers) - 1 - line.count(delimiter)) if delimiter in line else line,
                )
                for number, line in data
            )
        languages = LanguageFilter(options)
        concepts = _Concepts(languages.default if languages.wants(languages.default) else None)
        for row in header_rows(data, headers, delimiter=delimiter, required=ids, path=path, problems=problems):
            if not concepts.add(self._facts(row, keys)):
                problems.reject(path, row.line, "no id")
        if not len(concepts.builder):
            raise InputError("no row that could be used", path=path)
        return concepts.finish()

    def _facts(self, row: Row, keys: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        for header, cell in row.values.items():
            if cell not in self.nulls:
                yield from self._states(keys[header], cell)

    def _states(self, key: str, cell: str) -> Facts:
        return self.columns[key](cell) if key in self.columns else ()


def _format(name: str, description: str, terminology: Terminology) -> VocabularyFormat:
    return Format(
        name=name,
        description=description,
        recognises=lambda _, head: any(map(terminology.header, head.splitlines())),
        read=terminology.read,
    )


class _Concepts:
    """Collects concepts from the facts of rows."""

    def __init__(self, lang: str | None) -> None:
        self.builder = TableBuilder()
        self._lang = lang
        self._alternates: list[tuple[str, str]] = []
        self._named: set[str] = set()

    def add(self, facts: Facts) -> bool:
        """Add the concept that facts describe; return whether they have an id."""
        values: dict[str, list[str]] = {}
        names: list[tuple[str, str]] = []
        for role, value in facts:
            if role in KINDS:
                names.append((value, role))
            else:
                values.setdefault(role, []).append(value)
        id_ = next(iter(values.get("id", ())), None)
        if id_ is None:
            return False
        self.builder.concept(
            id_,
            definition=next(iter(values.get("definition", ())), None),
            semantic_types=values.get("type", ()),
            xrefs=values.get("xref", ()),
            parents=values.get("parent", ()),
            obsolete="obsolete" in values,
            replaced_by=values.get("replaced_by", ()),
        )
        self._alternates += [(alternate, id_) for alternate in values.get("alternate", ())]
        if self._lang is not None:
            for name, kind in names:
                # The first preferred name wins, also among several rows of a concept.
                is_second = kind == "preferred" and id_ in self._named
                self.builder.name(id_, name, lang=self._lang, kind="exact" if is_second else kind)
                if kind == "preferred":
                    self._named.add(id_)
        return True

    def finish(self) -> Tables:
        for alternate, id_ in self._alternates:
            if alternate not in self.builder:
                self.builder.redirect(alternate, id_)
        return self.builder.build()


def _key(header: str) -> str:
    """Write a header in one form: ``Ensembl ID(supplied by Ensembl)`` → ``ensembl_id``."""
    return re.sub(r"\W+", "_", header.lower().partition("(supplied")[0]).strip("_")


def _one(role: str, prefix: str = "") -> ReadCell:
    """Read a cell with one value, and write the prefix before it where it is not there."""
    return lambda cell: [(role, cell if cell.startswith(prefix) else prefix + cell)]


def _all(role: str, separator: str, prefix: str = "") -> ReadCell:
    """Read a cell with several values."""
    one = _one(role, prefix)
    return lambda cell: [fact for part in cell.split(separator) if (value := part.strip()) for fact in one(value)]


def _listed(role: str, prefix: str = "") -> ReadCell:
    """Read a list of HGNC: values joined by bars in the complete set, by commas in custom downloads."""
    return lambda cell: _all(role, "|" if "|" in cell else ",", prefix)(cell)


def _listed_names(cell: str) -> Facts:
    """Read a list of names of HGNC, which hold commas: joined by bars, or each in quotation marks."""
    parts = cell.split("|") if "|" in cell else _QUOTED.findall(cell) or [cell]
    return [("exact", name) for part in parts if (name := part.strip())]


_QUOTED: Final = re.compile(r'"([^"]+)"')
_WITHDRAWN: Final = re.compile(r"(?:symbol|entry) withdrawn", re.IGNORECASE)
_GONE: Final = re.compile("withdrawn|merged", re.IGNORECASE)
_HGNC_ID: Final = re.compile(r"HGNC:\d+")


def _hgnc_name(cell: str) -> Facts:
    """Read the name of a gene; that of a withdrawn one says which gene replaces it."""
    if _WITHDRAWN.match(cell):
        return [("obsolete", "yes"), *(("replaced_by", id_) for id_ in dict.fromkeys(_HGNC_ID.findall(cell)))]
    return [("exact", cell)]


def _hgnc_symbol(cell: str) -> Facts:
    return [("preferred", cell.removesuffix("~withdrawn"))]


_SYMBOLS: Final = _listed("exact")
HGNC: Final[VocabularyFormat] = _format(
    "hgnc",
    "HGNC human gene names: the complete set, custom downloads, withdrawn symbols",
    Terminology(
        needed=(
            frozenset({"hgnc_id", "symbol", "name", "alias_symbol", "prev_symbol"}),
            frozenset({"hgnc_id", "approved_symbol"}),
            frozenset({"hgnc_id", "withdrawn_symbol"}),
        ),
        columns={
            "hgnc_id": _one("id", "HGNC:"),
            **dict.fromkeys(("symbol", "approved_symbol", "withdrawn_symbol"), _hgnc_symbol),
            **dict.fromkeys(("name", "approved_name"), _hgnc_name),
            **dict.fromkeys(("alias_symbol", "alias_symbols", "synonyms"), _SYMBOLS),
            **dict.fromkeys(("alias_name", "alias_names", "name_synonyms"), _listed_names),
            **dict.fromkeys(("prev_symbol", "previous_symbol", "previous_symbols"), _SYMBOLS),
            **dict.fromkeys(("prev_name", "previous_name", "previous_names"), _listed_names),
            "locus_type": _one("type"),
            "status": lambda cell: [("obsolete", cell)] if _GONE.search(cell) else [],
            "merged_into_report_s_i_e_hgnc_id_symbol_status": lambda cell: [
                ("replaced_by", id_) for id_ in _HGNC_ID.findall(cell)
            ],
            **dict.fromkeys(("entrez_id", "ncbi_gene_id", "entrez_gene_id"), _listed("xref", "NCBIGene:")),
            **dict.fromkeys(("ensembl_gene_id", "ensembl_id"), _listed("xref", "ENSEMBL:")),
            "omim_id": _listed("xref", "OMIM:"),
            **dict.fromkeys(("uniprot_ids", "uniprot_id"), _listed("xref", "UniProtKB:")),
        },
    ),
)

_NO_GENE: Final = "Record to support submission of GeneRIFs"
_SAME_XREFS: Final = {"MIM": "OMIM", "Ensembl": "ENSEMBL"}


def _gene_xrefs(cell: str) -> Facts:
    """Read cross-references of NCBI Gene: ``MIM:138670|HGNC:HGNC:5``."""
    for xref in filter(None, map(str.strip, cell.split("|"))):
        database, _, id_ = xref.partition(":")
        prefix = _SAME_XREFS.get(database, database)
        yield "xref", id_ if id_.startswith(f"{database}:") else f"{prefix}:{id_}"


NCBI_GENE: Final[VocabularyFormat] = _format(
    "ncbi-gene",
    "NCBI Gene, gene_info",
    Terminology(
        needed=(frozenset({"tax_id", "geneid", "symbol", "synonyms"}),),
        nulls=frozenset({"-"}),
        columns={
            "geneid": _one("id", "NCBIGene:"),
            # Records of papers on genes that have none yet.
            "symbol": lambda cell: [("preferred", cell)] if cell != "NEWENTRY" else [],
            "symbol_from_nomenclature_authority": _one("exact"),
            "full_name_from_nomenclature_authority": _one("exact"),
            "description": lambda cell: [("exact", cell)] if not cell.startswith(_NO_GENE) else [],
            "synonyms": _all("exact", "|"),
            "locustag": _one("exact"),
            "other_designations": _all("related", "|"),
            "dbxrefs": _gene_xrefs,
            "type_of_gene": _one("type"),
            "tax_id": _one("type", "NCBITaxon:"),
        },
    ),
)

_PARTS: Final = re.compile(r" ?\[(?:Cleaved into|Includes|Contains): ")
_FRAGMENT: Final = re.compile(r"Fragments?")


def protein_names(cell: str) -> Facts:
    """Read the names of a protein: ``Name (Other name) (EC 1.1.1.1) [Cleaved into: Part (P); Other part]``."""
    whole, *sections = _PARTS.split(cell)
    yield from _protein_facts(whole, "preferred", "exact")
    for section in sections:
        for part in section.rstrip().removesuffix("]").split("; "):
            yield from _protein_facts(part, "narrow", "narrow")


def _protein_facts(text: str, first: str, other: str) -> Facts:
    names = _alternatives(text.strip())
    for place, name in enumerate(names):
        if name.startswith("EC "):
            if first == "preferred":
                yield "xref", "EC:" + name.removeprefix("EC ").strip()
        elif not _FRAGMENT.fullmatch(name):
            yield other if place else first, name


def _alternatives(text: str) -> list[str]:
    """Divide ``Name (Other (x)) (Third)`` into its names; parentheses within a word stay."""
    found: list[str] = []
    while text.endswith(")"):
        depth = 0
        place = len(text)
        while place and (depth or place == len(text)):
            place -= 1
            depth += (text[place] == ")") - (text[place] == "(")
        if depth or not place or text[place - 1] != " ":
            break
        found.append(text[place + 1 : -1].strip())
        text = text[:place].rstrip()
    return [name for name in [text, *reversed(found)] if name]


UNIPROT: Final[VocabularyFormat] = _format(
    "uniprot-tsv",
    "UniProt, a table of its website (TSV)",
    Terminology(
        needed=(frozenset({"entry", "protein_names"}), frozenset({"entry", "entry_name", "gene_names"})),
        columns={
            "entry": _one("id", "UniProtKB:"),
            "entry_name": _one("alternate", "UniProtKB:"),
            "protein_names": protein_names,
            **dict.fromkeys(
                ("gene_names", "gene_names_primary", "gene_names_synonym"),
                lambda cell: [("related", name) for name in re.split(r"[;\s]+", cell) if name],
            ),
            "organism": _one("type"),
            "organism_id": _one("type", "NCBITaxon:"),
            "function_cc": lambda cell: [("definition", cell.removeprefix("FUNCTION: "))],
            "hgnc": _all("xref", ";", "HGNC:"),
            "geneid": _all("xref", ";", "NCBIGene:"),
        },
    ),
)

_MIM_TYPES: Final = {
    "Asterisk": "gene",
    "Plus": "gene and phenotype",
    "Number Sign": "phenotype, molecular basis known",
    "Percent": "phenotype or locus, molecular basis unknown",
    "NULL": "other, mainly phenotypes",
}
_MIM_NUMBER: Final = re.compile(r"\d{6}")
_MIM_GONE: Final = re.compile(r"MOVED TO|REMOVED FROM DATABASE")


def _mim_titles(kind: str) -> ReadCell:
    """Read titles with their symbols: ``TITLE; SYM;; OTHER TITLE, INCLUDED; OT``."""

    def read(cell: str) -> Facts:
        if _MIM_GONE.match(cell):
            yield "obsolete", cell
            yield from (("replaced_by", f"OMIM:{number}") for number in _MIM_NUMBER.findall(cell))
            return
        for place, title in enumerate(filter(None, map(str.strip, cell.split(";;")))):
            name, *symbols = filter(None, (part.strip().removesuffix(", INCLUDED") for part in title.split(";")))
            yield "exact" if place and kind == "preferred" else kind, name
            yield from (("abbreviation" if kind != "related" else kind, symbol) for symbol in symbols)

    return read


OMIM: Final[VocabularyFormat] = _format(
    "omim",
    "OMIM, mimTitles.txt",
    Terminology(
        needed=(frozenset({"prefix", "mim_number", "preferred_title_symbol"}),),
        is_ragged=True,
        columns={
            "mim_number": _one("id", "OMIM:"),
            "prefix": lambda cell: [("type", _MIM_TYPES[cell])] if cell in _MIM_TYPES else [],
            "preferred_title_symbol": _mim_titles("preferred"),
            "alternative_title_s_symbol_s": _mim_titles("exact"),
            "included_title_s_symbols": _mim_titles("related"),
        },
    ),
)

DRUGBANK: Final[VocabularyFormat] = _format(
    "drugbank",
    "DrugBank's open vocabulary (CSV)",
    Terminology(
        needed=(frozenset({"drugbank_id", "common_name"}),),
        columns={
            "drugbank_id": _one("id", "DRUGBANK:"),
            "accession_numbers": _all("alternate", "|", "DRUGBANK:"),
            "common_name": _one("preferred"),
            "synonyms": _all("exact", "|"),
            **dict.fromkeys(("cas", "cas_number"), _one("xref", "CAS:")),
            "unii": _one("xref", "UNII:"),
            "standard_inchi_key": _one("xref", "INCHIKEY:"),
        },
    ),
)

_ATC_LEVELS: Final = {
    1: "anatomical main group",
    3: "therapeutic subgroup",
    4: "pharmacological subgroup",
    5: "chemical subgroup",
    7: "chemical substance",
}
"""Levels of ATC by the length of their codes."""


def _atc_code(cell: str) -> Facts:
    yield "id", f"ATC:{cell}"
    if len(cell) in _ATC_LEVELS:
        yield "type", _ATC_LEVELS[len(cell)]
        shorter = [length for length in _ATC_LEVELS if length < len(cell)]
        yield from (("parent", f"ATC:{cell[:length]}") for length in shorter[-1:])


ATC: Final[VocabularyFormat] = _format(
    "atc",
    "ATC, the index of the WHO Collaborating Centre as a table",
    Terminology(
        needed=(frozenset({"atc_code", "atc_level_name"}), frozenset({"atc_code", "atc_name"})),
        columns={"atc_code": _atc_code, **dict.fromkeys(("atc_level_name", "atc_name"), _one("preferred"))},
    ),
)
