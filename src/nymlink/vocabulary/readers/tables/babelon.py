"""Translated names of existing concepts: Babelon tables, HPO's translated synonyms, translations of DO.

Babelon is a TSV with one translation per row (https://github.com/monarch-initiative/babelon). HPO's synonym tables
have a ROBOT template as second row, which states predicate and language (``AL oboInOwl:hasExactSynonym@fr``). The
table of the Disease Ontology has Babelon's columns under other names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.files import read_lines
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.readers.tables.header_rows import header_rows
from nymlink.vocabulary.readers.tables.table import kind_of
from nymlink.vocabulary.tables import TableBuilder, Tables

_TEMPLATE: Final = re.compile(r"\s*AL?\s+(?P<predicate>\S+?)@(?P<lang>[A-Za-z-]+)\s*")
_NOT_A_NAME: Final = frozenset({"", "NA", "N/A"})
_NOT_TRANSLATED: Final = "NOT_TRANSLATED"
_ABBREVIATION: Final = "OMO_0003012"


@dataclass(frozen=True, slots=True)
class _Headers:
    """Names of the columns in one family of tables; empty for a column that the family lacks."""

    id: str
    text: str
    predicate: str
    lang: str
    statuses: tuple[str, ...]

    @property
    def needed(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.id, self.text, self.predicate, self.lang)))


_FAMILIES: Final = (
    _Headers("subject_id", "translation_value", "predicate_id", "translation_language", ("translation_status",)),
    _Headers("source_id", "translation_text", "predicate", "translation_lang", ("status",)),
    # Some of these tables have the status in the comment column.
    _Headers("subject_id", "translation_value", "", "", ("Status", "comment")),
)


def _family(line: str) -> _Headers | None:
    headers = line.strip().split("\t")
    return next((family for family in _FAMILIES if set(family.needed) <= set(headers)), None)


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    header, _, rest = head.lstrip().partition("\n")
    family = _family(header)
    if family is None or family.predicate:
        return family is not None
    # Without a column of predicates, only a template row distinguishes a table of translations from other tables.
    return any(map(_TEMPLATE.fullmatch, rest.partition("\n")[0].split("\t")))


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read the translated names; skip rows without translation and translations of definitions."""
    lines = read_lines(path, problems)
    header = next((line for _, line in lines if line.strip()), "")
    family = _family(header)
    if family is None:
        raise InputError(
            "not a table of translations: the first line must name its columns (subject_id, translation_value)",
            path=path,
        )
    headers = [name.strip() for name in header.split("\t")]
    template: Mapping[str, str] = {}
    if not family.predicate:
        number, line = next(lines, (2, ""))
        fields = line.split("\t")
        at = headers.index(family.text)
        match = _TEMPLATE.fullmatch(fields[at]) if at < len(fields) else None
        if match is None:
            message = (
                "the second line must give predicate and language, for example AL oboInOwl:hasExactSynonym@fr"
            )
            raise InputError(message, path=path, line=number)
        template = match.groupdict()
    languages = LanguageFilter(options)
    builder = TableBuilder()
    rows = header_rows(lines, headers, delimiter="\t", required=(family.id,), path=path, problems=problems)
    for row in rows:
        if row.get(family.text) in _NOT_A_NAME or any(row.get(at) == _NOT_TRANSLATED for at in family.statuses):
            continue
        predicate = template.get("predicate") or row.get(family.predicate)
        kind = kind_of(predicate)
        if kind is None:
            continue
        builder.concept(row.get(family.id))
        lang = languages.normalise(template.get("lang") or row.get(family.lang), path, row.line, problems)
        if languages.wants(lang):
            is_short = _ABBREVIATION in row.get("synonym_type") and kind == "exact"
            builder.name(
                row.get(family.id), row.get(family.text), lang=lang, kind="abbreviation" if is_short else kind
            )
    if not len(builder):
        raise InputError("no translation that could be used", path=path)
    return builder.build()


FORMAT: Final[VocabularyFormat] = Format(
    name="babelon",
    description="translated names: Babelon, HPO's synonym tables, Disease Ontology's translations (TSV)",
    recognises=_recognises,
    read=_read,
)
