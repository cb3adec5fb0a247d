"""The names that nymlink-xl-mini learns from: allowed tables, merged, and pairs of their names."""

from __future__ import annotations

import gzip
import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nymlink.core.files import sha256
from nymlink.core.store.atomic import atomic_file
from nymlink.pairs.pairs import PAIRS
from nymlink.text.normalise import normalise
from nymlink.vocabulary.concepts import SYNONYM_KINDS
from nymlink.vocabulary.mappings import Mapping, MappingSet, read_mappings
from nymlink.vocabulary.merge.merge import merge
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.vocabulary import Vocabulary
from recipes import mixture
from recipes.xl_mini.held_out import Names, held_out_concepts, held_out_names, rows

GENERAL: Final = ("wordnet_bio_open", "yso_fi_sv_en", "agrovoc")
"""Tables of general language: their names serve as word translations."""

BIOMEDICAL: Final = (
    "icd10_fi_thl",
    "nomesco_fi_thl",
    "icd8_fi",
    "tico19_terms",
    "wikidata_health_eticaai",
    "who_eml_wikipedia_titles",
)

TABLES: Final = (
    *(f"vocabularies/{table}" for table in mixture.TABLES),
    *(f"multilingual/{table}" for table in (*BIOMEDICAL, *GENERAL)),
)
"""Tables under CC0, CC BY, WordNet-type licences, the HPO licence or in the public domain."""

SURFACE_FORMS: Final = "multilingual/manbyo_ja"
"""Japanese clinical surface forms, by their standard names. Its cross-references lead to broader concepts, so
that it gives synonyms, and no translations."""

WIKIDATA: Final = "multilingual/wikidata_xrefs"
"""Cross-references of concepts of Wikidata."""

LANGUAGES: Final = frozenset(
    "ar bg ca cs da de el es fa fi fr gl he hr hu id it ja ko la nb nl pl pt ro ru sv th tr uk vi zh".split()
)
"""The languages learned beside English."""

DRAWN: Final = 1
"""English synonyms that a name is paired with beside the preferred English name."""

SYNONYMS: Final = 10
"""Pairs of names in one language that a concept gives at most."""

ENGLISH: Final = 200_000
"""English names that keep their own vectors."""

WORDS: Final = "bitext"
"""What translations of words from elsewhere have as their table."""

Concept = tuple[str, list[tuple[str, str, str]]]
"""Id, and of each name: normal form, language, table."""

TRANSLATIONS: Final = pa.schema(
    [
        pa.field("concept", pa.string(), nullable=False),
        pa.field("english", pa.string(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("language", pa.string(), nullable=False),
        pa.field("table", pa.string(), nullable=False),
    ]
)
"""The columns of translations: concept id, English name, its translation, the language and table of that."""


def make(data: Path, folder: Path, *, seed: int, tables: Iterable[str] = TABLES) -> None:
    """Write ``translations.parquet``, ``synonyms.parquet`` and ``english.parquet``, each unless it is there."""
    wanted = {name: folder / f"{name}.parquet" for name in ("translations", "synonyms", "english")}
    if all(path.exists() for path in wanted.values()):
        return
    vocabulary = merged(data, folder, tables)
    phenotypes, codes = held_out_concepts(data)
    kept_out = held_out_names(data, phenotypes | codes)
    groups = concepts(vocabulary, kept_out)
    pairs = translations(groups, seed=seed)
    write(wanted["synonyms"], synonyms([*groups, *surface_forms(data, kept_out)], seed=seed))
    write(wanted["english"], pa.table({"name": english(groups, pairs["english"].to_pylist(), seed=seed)}))
    write(wanted["translations"], pairs)


def merged(data: Path, folder: Path, tables: Iterable[str] = TABLES) -> Vocabulary:
    """Merge tables along all mappings whose licence allows it, once."""
    kept = folder / "merged"
    if not kept.exists():
        vocabularies = [read_vocabulary(path) for path in _paths(data, tables)]
        merge(vocabularies, mappings(data)).vocabulary.save(kept)
    return Vocabulary.load(kept)


def mappings(data: Path) -> list[MappingSet]:
    """Read the mappings whose licence allows it, and those of Wikidata to MeSH and the Disease Ontology."""
    sets = [
        read_mappings(path)
        for path in sorted(data.glob("native/**/*.sssom.tsv.gz"))
        if "pharmgkb" not in path.name
    ]
    for path in _paths(data, [WIKIDATA]):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            _, *lines = (line.rstrip("\n").split("\t") for line in file)
        statements = (
            Mapping(concept, "oboInOwl:hasDbXref", xref) for concept, xrefs in lines for xref in xrefs.split("|")
        )
        sets.append(MappingSet(path.name, tuple(statements), sha256(path)))
    return sets


def concepts(vocabulary: Vocabulary, kept_out: Names) -> list[Concept]:
    """List the concepts of a merged vocabulary, each with its names: normal forms, preferred ones first.

    Pieces of names and loose synonyms are left out, and names that are kept out of training.
    """
    columns = vocabulary.columns
    texts, languages, kinds, tables = (
        columns.names[name].to_pylist() for name in ("text", "lang", "kind", "source")
    )
    pieces = mixture.fragments(vocabulary)
    ids, obsolete = columns.concepts["id"].to_pylist(), columns.concepts["obsolete"].to_numpy()
    offsets = columns.name_offsets.tolist()
    groups = []
    for row in np.flatnonzero(~obsolete).tolist():
        names = {}
        for at in range(offsets[row], offsets[row + 1]):
            language = languages[at].split("-")[0]
            if kinds[at] in SYNONYM_KINDS and not pieces[at] and (language == "en" or language in LANGUAGES):
                names.setdefault((normalise(texts[at]), language), tables[at])
        kept = [
            (name, language, table)
            for (name, language), table in names.items()
            if name and (language, name) not in kept_out
        ]
        groups.append((ids[row], kept))
    return groups


def surface_forms(data: Path, kept_out: Names) -> list[Concept]:
    """Read the groups of :data:`SURFACE_FORMS`."""
    groups = defaultdict[str, dict[str, None]](dict)
    for concept, language, name in rows(data, [SURFACE_FORMS]):
        form = normalise(name)
        if form and (language, form) not in kept_out:
            groups[concept][form] = None
    return [(concept, [(form, "ja", SURFACE_FORMS) for form in forms]) for concept, forms in groups.items()]


def translations(groups: Iterable[Concept], *, seed: int) -> pa.Table:
    """Pair each name in another language with the preferred English name of its concept, and with others drawn.

    Args:
        groups: concepts with their names.
        seed: of what is drawn.

    Returns:
        Distinct pairs, with the columns of :data:`TRANSLATIONS`.
    """
    draw = random.Random(seed)
    pairs = dict[tuple[str, str, str], tuple[str, str]]()
    for concept, names in groups:
        own = [name for name, language, _ in names if language == "en"]
        for name, language, table in names if own else ():
            if language != "en":
                for one in (own[0], *draw.sample(own[1:], min(DRAWN, len(own) - 1))):
                    pairs.setdefault((one, name, language), (concept, table))
    lines = [(concept, *pair, table) for pair, (concept, table) in pairs.items()]
    return _table(lines, TRANSLATIONS)


def synonyms(groups: Iterable[Concept], *, seed: int) -> pa.Table:
    """Pair names of one concept in one language, English left out, with the columns of :data:`PAIRS`."""
    draw = random.Random(seed)
    lines = []
    for concept, names in groups:
        by_language = defaultdict[str, list[str]](list)
        for name, language, _ in names:
            if language != "en":
                by_language[language].append(name)
        for own in by_language.values():
            pairs = list(combinations(own, 2))
            lines += [(concept, *pair) for pair in draw.sample(pairs, min(SYNONYMS, len(pairs)))]
    return _table(lines, PAIRS)


def english(groups: Iterable[Concept], known: Iterable[str], *, seed: int) -> list[str]:
    """Draw English names that are in no translation."""
    names = {name for _, names in groups for name, language, _ in names if language == "en"}
    rest = sorted(names.difference(known))
    return random.Random(seed).sample(rest, min(ENGLISH, len(rest)))


def is_general(table: str) -> bool:
    """Whether names of a table serve as word translations."""
    return table in (*GENERAL, "wordnet_bio_sa", WORDS)


def counts(data: Path, folder: Path) -> dict[str, Any]:
    """Count what is learned, by language and by licence."""
    pairs = pq.read_table(folder / "translations.parquet")
    tables = dict(Counter(pairs["table"].to_pylist()).most_common())
    groups = map(is_general, pairs["table"].to_pylist())
    by_language = Counter(zip(pairs["language"].to_pylist(), groups, strict=True))
    known = licences(data)
    by_licence = Counter[str]()
    for table, count in tables.items():
        by_licence[known[table]] += count
    languages = {language for language, _ in by_language}
    return {
        "translations": [
            {
                "language": language,
                "biomedical": by_language[language, False],
                "general": by_language[language, True],
            }
            for language in sorted(languages, key=lambda code: -by_language[code, False])
        ],
        "tables": [{"table": table, "licence": known[table], "translations": n} for table, n in tables.items()],
        "licences": dict(by_licence.most_common()),
        "synonyms": pq.read_metadata(folder / "synonyms.parquet").num_rows,
        "english": pq.read_metadata(folder / "english.parquet").num_rows,
    }


def licences(data: Path) -> dict[str, str]:
    """Read the licence of each table from the lists of sources."""
    found = dict[str, str]()
    for path, column in ((data / "SOURCES.tsv", "licence"), (data / "multilingual/SOURCES.tsv", "licence_class")):
        header, *lines = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
        place = header.index(column)
        # Remarks on where a licence is stated come in brackets.
        found |= {line[0].removesuffix(".tsv.gz"): line[place].partition(" [")[0] for line in lines}
    return found


def _paths(data: Path, tables: Iterable[str]) -> list[Path]:
    """List the existing files of tables."""
    return [path for table in tables if (path := data / f"{table}.tsv.gz").exists()]


def _table(lines: list[tuple[str, ...]], schema: pa.Schema) -> pa.Table:
    return pa.table([list(column) for column in zip(*lines, strict=True)] or [[] for _ in schema], schema=schema)


def write(path: Path, table: pa.Table) -> None:
    """Write a table, whole or not at all."""
    with atomic_file(path) as partial:
        pq.write_table(table, partial)
