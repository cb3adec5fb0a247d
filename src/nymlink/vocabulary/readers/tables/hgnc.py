"""HGNC: the complete set of approved human gene names (``hgnc_complete_set.txt``, tab-separated).

Columns: https://www.genenames.org/help/statistics-and-downloads/.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.files import read_lines
from nymlink.core.formats import Format
from nymlink.core.problems import Problems
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.readers.tables.header_rows import header_rows
from nymlink.vocabulary.tables import TableBuilder, Tables

_NEEDED: Final = frozenset({"hgnc_id", "symbol", "name", "alias_symbol", "prev_symbol"})
_NAMES: Final = ("name", "alias_symbol", "alias_name", "prev_symbol", "prev_name")
_XREFS: Final = {
    "entrez_id": "NCBIGene:",
    "ensembl_gene_id": "ENSEMBL:",
    "omim_id": "OMIM:",
    "uniprot_ids": "UniProtKB:",
}


def _headers(line: str) -> list[str]:
    return [header.strip() for header in line.split("\t")]


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    return set(_headers(head.lstrip().partition("\n")[0])) >= _NEEDED


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read the genes: symbols are preferred names; names, former symbols and aliases synonyms."""
    lines = read_lines(path, problems)
    headers = _headers(next((line for _, line in lines if line.strip()), ""))
    if not set(headers) >= _NEEDED:
        expected = ", ".join(sorted(_NEEDED))
        raise InputError(f"not HGNC's complete set: its first line must name the columns {expected}", path=path)
    languages = LanguageFilter(options)
    builder = TableBuilder()
    required = ("hgnc_id", "symbol")
    for row in header_rows(lines, headers, delimiter="\t", required=required, path=path, problems=problems):
        id_ = row.get("hgnc_id")
        builder.concept(
            id_,
            semantic_types=[row.get("locus_type")] if row.get("locus_type") else [],
            xrefs=[prefix + value for header, prefix in _XREFS.items() for value in row.split(header)],
            obsolete="withdrawn" in row.get("status").lower(),
        )
        lang = languages.default
        if languages.wants(lang):
            builder.name(id_, row.get("symbol"), lang=lang, kind="preferred")
            for header in _NAMES:
                for name in [row.get(header)] if header == "name" else row.split(header):
                    builder.name(id_, name, lang=lang)
    if not len(builder):
        raise InputError("no row that could be used", path=path)
    return builder.build()


FORMAT: Final[VocabularyFormat] = Format(
    name="hgnc",
    description="HGNC human gene names (hgnc_complete_set.txt)",
    recognises=_recognises,
    read=_read,
)
