"""Atoms of the UMLS and of RxNorm."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError
from nymlink.core.language_codes import normalise_language
from nymlink.core.problems import Problems
from nymlink.core.store.arrays import Array
from nymlink.vocabulary.concepts import KINDS, ReadOptions
from nymlink.vocabulary.readers.column_files import Numbering, map_distinct
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.readers.umls.release import Release, read_rrf

# "Abbreviations Used in Data Elements", TTY. Fully specified drugs (SBD …) are named by their brand.
_ABBREVIATIONS: Final = frozenset({"AA", "AB", "ACR", "MTH_ACR", "OA", "RAB", "VAB"})
_TRADENAMES: Final = frozenset({"BD", "BN", "BPCK", "BR", "FB", "FBD", "SBD", "SBDC", "SBDF", "SBDFP", "SBDG"})

# Prefixes as in other vocabularies; a translation (MSHSPA) has the codes of its original (MSH).
_PREFIXES: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"MSH([A-Z]{3})?"), "MESH"),
    (re.compile(r"MDR([A-Z]{3})?"), "MEDDRA"),
    (re.compile(r"LNC(-[A-Z]{2}-[A-Z]{2})?"), "LOINC"),
    (re.compile(r"NCI"), "NCIT"),
    (re.compile(r"NCBI"), "NCBITaxon"),
    (re.compile(r"HPO"), "HP"),
)


def language(lat: str, *, default: str) -> str:
    """Map a value of LAT to BCP 47: ``default`` if it is empty, lower-cased if it is not a language code."""
    return normalise_language(lat) or lat.lower() or default


def kind(tty: str) -> str:
    """Map a term type to a kind of name."""
    if tty in _ABBREVIATIONS:
        return "abbreviation"
    return "tradename" if tty in _TRADENAMES else "exact"


def prefix(sab: str) -> str:
    """Map a source abbreviation to the CURIE prefix of its codes."""
    return next((name for pattern, name in _PREFIXES if pattern.fullmatch(sab)), sab)


SUPPRESSED: Final = frozenset({"O", "E", "Y"})

# The white space of str.split(), to fold names as the other readers do.
_SPACE: Final = r"\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
_UNTIDY: Final = rf"^[{_SPACE}]|[{_SPACE}]$|[{_SPACE}]{{2}}|[{_SPACE.replace('x20', 'x1f')}]"


@dataclass(frozen=True, slots=True)
class Atoms:
    """Rows of MRCONSO whose concepts have at least one selected name.

    Attributes:
        ids: (n concepts) concept ids in order of first appearance; elsewhere a concept is its place in this array.
        concept, lang, kind, rank: (n names) concept; place in ``languages``; place in
            :data:`~nymlink.vocabulary.concepts.KINDS`; 0 (most preferred: TS=P, STT=PF, ISPREF=Y) to 7.
        text: (n names) large strings.
        languages: BCP 47.
        xref_concept, xref_prefix: (n references) concept; place in ``prefixes``.
        xref_code: (n references) large strings.
        prefixes: CURIE prefixes.
    """

    ids: pa.StringArray
    concept: Array
    lang: Array
    kind: Array
    rank: Array
    text: pa.LargeStringArray
    languages: list[str]
    xref_concept: Array
    xref_prefix: Array
    xref_code: pa.LargeStringArray
    prefixes: list[str]


RXNORM: Final = "RXNORM"
# RxNorm's own atoms name a concept best, but for its synonyms.
_RXNORM_SYNONYMS: Final = frozenset({"SY", "TMSY", "ET", "PSN"})


class _Collector:
    """Collects MRCONSO block by block."""

    def __init__(self, options: ReadOptions, *, is_rxnorm: bool) -> None:
        self._options = options
        self._is_rxnorm = is_rxnorm
        self._wanted_languages = LanguageFilter(options)
        self._languages, self._prefixes = Numbering(), Numbering()
        self._seen_languages, self._seen_sources, self._seen_types = Numbering(), Numbering(), Numbering()
        self._concepts: list[pa.DictionaryArray] = []
        self._text: list[pa.Array] = []
        self._code: list[pa.Array] = []
        self._numbers: dict[str, list[Array]] = {
            name: [] for name in ("has_name", "lang", "kind", "rank", "has_xref", "prefix")
        }

    def add(self, block: pa.Table) -> None:
        options = self._options

        def lang(lat: str) -> str:
            return language(lat, default=self._wanted_languages.default)

        map_distinct(block["LAT"], lambda lat: self._seen_languages[lang(lat)], np.int32)
        map_distinct(block["SAB"], self._seen_sources.__getitem__, np.int32)
        map_distinct(block["TTY"], self._seen_types.__getitem__, np.int32)
        keep = np.ones(len(block), bool)
        if not options.suppressed:
            keep &= map_distinct(block["SUPPRESS"], lambda flag: flag not in SUPPRESSED, bool)
        if options.sources is not None:
            keep &= map_distinct(block["SAB"], options.sources.__contains__, bool)
        if not keep.all():
            block = block.filter(pa.array(keep))
        if len(block) == 0:
            return
        has_name = np.ones(len(block), bool)
        if options.languages is not None:
            has_name &= map_distinct(block["LAT"], lambda lat: self._wanted_languages.wants(lang(lat)), bool)
        if options.term_types is not None:
            has_name &= map_distinct(block["TTY"], options.term_types.__contains__, bool)
        # The codes of RxNorm's own atoms are its concepts.
        own = {RXNORM} if self._is_rxnorm else {"MTH"}
        has_xref = map_distinct(block["SAB"], lambda sab: sab not in {*own, ""}, bool)
        has_xref &= ~pc.is_in(block["CODE"], pa.array(["", "NOCODE"])).to_numpy()
        self._concepts.append(block["CUI"].combine_chunks().dictionary_encode())
        self._text.append(_fold(block["STR"].filter(pa.array(has_name)).combine_chunks()))
        self._code.append(block["CODE"].filter(pa.array(has_xref)).combine_chunks())
        rank = 4 * map_distinct(block["TS"], lambda flag: flag != "P", np.int8)
        rank += 2 * map_distinct(block["STT"], lambda flag: flag != "PF", np.int8)
        rank += map_distinct(block["ISPREF"], lambda flag: flag != "Y", np.int8)
        if self._is_rxnorm:
            rank = 2 * map_distinct(block["SAB"], RXNORM.__ne__, np.int8)
            rank += map_distinct(block["TTY"], _RXNORM_SYNONYMS.__contains__, np.int8)
        for name, values in (
            ("has_name", has_name),
            ("lang", map_distinct(block["LAT"], lambda lat: self._languages[lang(lat)], np.int16)[has_name]),
            ("kind", map_distinct(block["TTY"], lambda tty: KINDS.index(kind(tty)), np.int8)[has_name]),
            ("rank", rank[has_name]),
            ("has_xref", has_xref),
            ("prefix", map_distinct(block["SAB"], lambda sab: self._prefixes[prefix(sab)], np.int16)[has_xref]),
        ):
            self._numbers[name].append(values)

    def check_options(self, path: Path) -> None:
        """Refuse options that name a language, source or term type that the file lacks."""
        options = self._options
        for noun, missing, seen in (
            ("language", self._wanted_languages.missing(self._seen_languages), self._seen_languages),
            ("source", sorted((options.sources or set()) - set(self._seen_sources)), self._seen_sources),
            ("term type", sorted((options.term_types or set()) - set(self._seen_types)), self._seen_types),
        ):
            if missing:
                known = ", ".join(sorted(seen))
                raise InputError(f"no row has the {noun} {', '.join(missing)}; there are: {known}", path=path)

    def finish(self) -> Atoms | None:
        """Build the atoms; ``None`` if no name was selected."""
        if not any(len(text) for text in self._text):
            return None
        encoded = pa.chunked_array(self._concepts).unify_dictionaries()
        self._concepts.clear()
        concept = np.concatenate([chunk.indices.to_numpy() for chunk in encoded.chunks])
        ids = encoded.chunk(0).dictionary
        del encoded
        numbers = {name: np.concatenate(self._numbers.pop(name)) for name in tuple(self._numbers)}
        present = np.zeros(len(ids), bool)
        present[concept[numbers["has_name"]]] = True
        place = np.cumsum(present, dtype=np.int32) - 1
        referring = numbers["has_xref"] & present[concept]
        known = present[concept[numbers["has_xref"]]]
        return Atoms(
            ids=ids.filter(pa.array(present)),
            concept=place[concept[numbers["has_name"]]],
            lang=numbers["lang"],
            kind=numbers["kind"],
            rank=numbers["rank"],
            text=_join(self._text),
            languages=list(self._languages),
            xref_concept=place[concept[referring]],
            xref_prefix=numbers["prefix"][known],
            xref_code=_join(self._code).filter(pa.array(known)),
            prefixes=list(self._prefixes),
        )


def read_atoms(release: Release, options: ReadOptions, problems: Problems) -> Atoms:
    """Read MRCONSO.

    Suppressed rows and rows of sources that are not selected are left out. A row in another language or of another
    term type gives no name, but its code is kept as a cross-reference.

    Raises:
        InputError: no row can be used, or the options name a language, source or term type that never occurs.
    """
    collector = _Collector(options, is_rxnorm=release.is_rxnorm)
    rows = 0
    for block in read_rrf(
        release,
        "MRCONSO",
        strings=("CUI", "STR", "CODE"),
        codes=("LAT", "TS", "STT", "ISPREF", "SAB", "TTY", "SUPPRESS"),
        required=("CUI", "STR"),
        problems=problems,
    ):
        collector.add(block)
        rows += len(block)
    path = release.parts["MRCONSO"][0]
    if not rows:
        raise InputError(
            f"no usable rows: is this an {'RXN' if release.is_rxnorm else 'MR'}CONSO file?", path=path
        )
    collector.check_options(path)
    atoms = collector.finish()
    if atoms is None:
        raise InputError(f"none of {rows} rows is selected: ask for more languages, sources or types", path=path)
    return atoms


def _fold(text: pa.Array) -> pa.Array:
    """Trim white space and fold runs of it, only in strings that have any to fold."""
    untidy = pc.match_substring_regex(text, _UNTIDY)
    if not pc.any(untidy).as_py():
        return text
    tidy = pc.replace_substring_regex(text.filter(untidy), f"[{_SPACE}]+", " ")
    return pc.replace_with_mask(text, untidy, pc.ascii_trim(tidy, " "))


def _join(chunks: list[pa.Array]) -> pa.LargeStringArray:
    """Join chunks into one array of large_string, because together they may hold more than 2 GiB."""
    joined = pa.chunked_array(chunks, pa.string()).cast(pa.large_string())
    chunks.clear()
    return joined.combine_chunks()
