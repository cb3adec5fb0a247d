"""Flat files with a two-letter code before each line: UniProt's ``.dat`` and Cellosaurus.

An entry ends at ``//``.

UniProt: https://web.expasy.org/docs/userman.html. Mnemonics are alternate ids, like secondary accessions. Names
of chains and domains (``Contains:``, ``Includes:``) are narrow, names of genes related.

Cellosaurus: ``cellosaurus.txt``, described in its first lines. Cross-references lead to the same cell line in
other catalogues.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.files import read_lines
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.tables import TableBuilder, Tables

_CODED: Final = re.compile(r"(?P<code>[A-Z]{2})   (?P<text>.*\S)\s*")
_TAXON: Final = re.compile(r"NCBI_TaxID=(?P<number>\d+)(?:.*?! (?P<name>.*))?")


@dataclass(slots=True)
class Entry:
    """An entry of a flat file.

    Attributes:
        line: number of its first line.
        values: code → texts of its lines.
    """

    line: int
    values: dict[str, list[str]] = field(default_factory=dict)

    def first(self, code: str) -> str:
        """Get the text of the first line with a line code (``DE``); empty if there is none."""
        return next(iter(self.values.get(code, ())), "")

    def split(self, code: str) -> list[str]:
        """Split the texts of a code, which are joined by semicolons."""
        return [value for text in self.values.get(code, ()) for part in text.split(";") if (value := part.strip())]


AddEntry = Callable[[Entry, TableBuilder, str | None], str | None]
"""Add the concept of an entry, with names in a language (``None``: without them); return why it cannot be used."""


def _entries(path: Path, problems: Problems) -> Iterator[Entry]:
    entry: Entry | None = None
    for number, line in read_lines(path, problems):
        if line.startswith("//"):
            if entry is not None:
                yield entry
            entry = None
        elif match := _CODED.fullmatch(line):
            entry = entry or Entry(number)
            entry.values.setdefault(match["code"], []).append(match["text"])
    if entry is not None:
        yield entry


def _reader(add: AddEntry) -> Callable[..., Tables]:
    def read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
        languages = LanguageFilter(options)
        lang = languages.default if languages.wants(languages.default) else None
        builder = TableBuilder()
        for entry in _entries(path, problems):
            if (fault := add(entry, builder, lang)) is not None:
                problems.reject(path, entry.line, fault)
        if not len(builder):
            raise InputError("no entry that could be used", path=path)
        return builder.build()

    return read


_UNIPROT_ID: Final = re.compile(r"^ID   \w+ +(?:Reviewed|Unreviewed|STANDARD|PRELIMINARY);", re.MULTILINE)
_EVIDENCE: Final = re.compile(r"\s*\{[^{}]*\}")
_NAME: Final = re.compile(r"(?:(?P<category>RecName|AltName|SubName): )?(?P<what>[\w ]+)=(?P<text>.*)")
_SAME: Final = {
    "HGNC": "",
    "GeneID": "NCBIGene:",
    "PRO": "",
    "PIR": "PIR:",
    "ChEMBL": "ChEMBL:",
    "PharmGKB": "PharmGKB:",
}
"""Databases with an entry for the same protein or its gene, and the prefix of their ids."""
_PROTEIN: Final = "UniProtKB:"


def _add_protein(entry: Entry, builder: TableBuilder, lang: str | None) -> str | None:
    accessions = entry.split("AC")
    if not accessions or not entry.first("ID"):
        return "an entry without ID or AC"
    id_, *others = (_PROTEIN + accession for accession in accessions)
    taxon = _TAXON.match(entry.first("OX"))
    organism = _EVIDENCE.sub("", " ".join(entry.values.get("OS", ()))).removesuffix(".")
    names = list(_protein_names(entry))
    builder.concept(
        id_,
        definition=_function(entry),
        semantic_types=[*filter(None, [organism, taxon and f"NCBITaxon:{taxon['number']}"])],
        xrefs=[*(f"EC:{text}" for text, kind in names if kind == "ec"), *_same(entry)],
    )
    for alternate in (_PROTEIN + entry.first("ID").split()[0], *others):
        builder.redirect(alternate, id_)
    if lang is not None:
        for text, kind in names:
            if kind != "ec":
                builder.name(id_, text, lang=lang, kind=kind)
        for text in _gene_names(entry):
            builder.name(id_, text, lang=lang, kind="related")
    return None


def _protein_names(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield names with their kinds, and EC numbers as the kind ``ec``."""
    has_preferred = is_part = False
    category = ""
    for line in entry.values.get("DE", ()):
        if line in ("Contains:", "Includes:"):
            is_part = True
            continue
        match = _NAME.match(_EVIDENCE.sub("", line).strip().rstrip(";"))
        if match is None:
            continue
        category = match["category"] or category
        what, text = match["what"], match["text"]
        if what == "EC":
            if not is_part:
                yield text, "ec"
        elif is_part:
            yield text, "narrow"
        elif what == "Short":
            yield text, "abbreviation"
        elif what == "Full" and category in ("RecName", "SubName") and not has_preferred:
            has_preferred = True
            yield text, "preferred"
        else:
            yield text, "exact"


def _gene_names(entry: Entry) -> Iterator[str]:
    joined = _EVIDENCE.sub("", " ".join(line for line in entry.values.get("GN", ()) if line != "and"))
    for part in filter(None, map(str.strip, joined.split(";"))):
        _, _, names = part.partition("=")
        yield from filter(None, map(str.strip, names.split(",")))


def _same(entry: Entry) -> Iterator[str]:
    for line in entry.values.get("DR", ()):
        database, _, rest = line.partition("; ")
        if database in _SAME:
            yield _SAME[database] + rest.partition(";")[0].strip()


def _function(entry: Entry) -> str | None:
    """Return the comment on the function of a protein, without its references to evidence."""
    text = ""
    is_function = False
    for line in entry.values.get("CC", ()):
        if line.startswith(("-!-", "----")):
            is_function = not text and line.startswith("-!- FUNCTION:")
            line = line.removeprefix("-!- FUNCTION:")
        if is_function:
            text += f" {line.strip()}"
    return _EVIDENCE.sub("", text).strip().replace("..", ".") or None


UNIPROT: Final[VocabularyFormat] = Format(
    name="uniprot-dat",
    description="UniProt, flat file (.dat, .txt)",
    recognises=lambda _, head: _UNIPROT_ID.search(head) is not None,
    read=_reader(_add_protein),
)


_LINES: Final = "Cellosaurus:"
_CELL_LINE: Final = re.compile(
    r"^AC   CVCL_\w+\s*$| Cellosaurus: a knowledge resource on cell lines", re.MULTILINE
)
_OBO_ID: Final = re.compile(r"[A-Z]+_\d+")
# Cell lines taken from the same person are siblings, diseases are not the same as the line.
_PARENTS: Final = "HI"


def _add_cell_line(entry: Entry, builder: TableBuilder, lang: str | None) -> str | None:
    accession, name = entry.first("AC"), entry.first("ID")
    if not accession:
        return "an entry without AC" if name else None
    id_ = _LINES + accession
    taxa = [taxon for line in entry.values.get("OX", ()) if (taxon := _TAXON.match(line))]
    builder.concept(
        id_,
        semantic_types=[
            *entry.values.get("CA", ()),
            *(value for taxon in taxa for value in (taxon["name"], f"NCBITaxon:{taxon['number']}") if value),
        ],
        xrefs=map(_catalogue_id, entry.values.get("DR", ())),
        parents=(_LINES + line.partition("!")[0].strip() for line in entry.values.get(_PARENTS, ())),
    )
    for alternate in entry.split("AS"):
        builder.redirect(_LINES + alternate, id_)
    if lang is not None:
        builder.name(id_, name, lang=lang, kind="preferred")  # ignored if it is blank
        for synonym in entry.split("SY"):
            builder.name(id_, synonym, lang=lang)
    return None


def _catalogue_id(line: str) -> str:
    """Write a cross-reference as a CURIE: ``CLO; CLO_0003684`` → ``CLO:0003684``."""
    database, _, id_ = line.partition("; ")
    return id_.replace("_", ":", 1) if _OBO_ID.fullmatch(id_) and id_.startswith(database) else f"{database}:{id_}"


CELLOSAURUS: Final[VocabularyFormat] = Format(
    name="cellosaurus",
    description="Cellosaurus, cellosaurus.txt",
    recognises=lambda _, head: _CELL_LINE.search(head) is not None,
    read=_reader(_add_cell_line),
)
