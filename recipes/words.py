"""Collect words that are spelt right, from vocabularies whose licence allows it.

    python recipes/words.py [--data DATA] [--tokenizer FILE]

Writes into ``src/nymlink/text/english/data``, a word a line, sorted: ``words.txt.gz``, the words of English and
medical names; ``product_words.txt.gz``, those of them that name chemicals, drugs, genes, proteins, organisms,
cell lines or other products, which often differ by a letter; ``clinical_words.txt.gz``, those that by themselves
name a disease, a symptom or a finding; ``ordinary_words.txt.gz``, those of general language; and
``common_words.txt.gz``, common words of English: the whole words among the tokens of BERT's uncased vocabulary.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from nymlink.core.store.atomic import atomic_file
from nymlink.encode.model.folder import MINI, installed
from nymlink.text.english.words import CLINICAL, COMMON, FOLDER, ORDINARY, PRODUCTS, SHORTEST, WORDS
from nymlink.text.normalise import normalise

SHARE_ALIKE: Final = ("drugcentral", "pharmgkb_drug")
"""Tables left out for their licence; their drugs, which no list has seen, also check the lists."""

GENERAL: Final = ("agrovoc", "wordnet_bio_open", "yso_fi_sv_en")
"""Tables of general language."""

PRODUCT_TABLES: Final = frozenset(
    "cellosaurus_human chebi clo complexportal cvx ec famplex hgnc hgnc_genegroup ncbigene_human ncbitaxon pr "
    "psimod pubchem_subset vo".split()
)
PRODUCT_TYPES: Final = frozenset(
    "chemical;Chemicals and Drugs;supplementary concept;medication;enzyme;gene;protein;protein family;hormone;"
    "therapeutic agent".split(";")
)
CLINICAL_TABLES: Final = frozenset("doid gard hpo icd10cm mondo mpath nando oae ordo symp".split())
CLINICAL_TYPES: Final = frozenset(("Diseases", "Diseases; Psychiatry and Psychology"))


def main() -> None:
    """Collect and write the word lists."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data"), help="folder with vocabularies/ and multilingual/"
    )
    parser.add_argument(
        "--tokenizer",
        type=Path,
        default=installed(MINI) / "tokenizer.json",
        help="tokenizer.json of a model with BERT's uncased vocabulary; by default that of nymlink-mini",
    )
    arguments = parser.parse_args()
    data: Path = arguments.data
    tables = [path for path in sorted((data / "vocabularies").glob("*.tsv.gz")) if stem(path) not in SHARE_ALIKE]
    tables += [data / "multilingual" / f"{name}.tsv.gz" for name in GENERAL]
    words: set[str] = set()
    # Words of names other than products', and products named by one word.
    other: set[str] = set()
    products: set[str] = set()
    clinical: set[str] = set()
    ordinary: set[str] = set()
    for path in tables:
        for name, kind in names(path):
            name, original = normalise(name), name
            name_words = {word for word in name.split(" ") if is_word(word)}
            words |= name_words
            single_word = name_words if " " not in name else set()
            if kind == "product":
                products |= single_word
            else:
                other |= name_words
            if kind == "clinical":
                clinical |= single_word
            if stem(path) in GENERAL:
                # In the case in which they are written: names of people and abbreviations are no ordinary words.
                ordinary.update(filter(is_word, original.split(" ")))
    write(WORDS, words)
    write(PRODUCTS, products | words - other)
    write(CLINICAL, clinical)
    write(ORDINARY, ordinary)
    write(COMMON, common(arguments.tokenizer))


def names(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the English names of a table, each with its kind."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["lang"] in ("en", ""):
                yield row["name"], kind_of(row["name"], stem(path), row["semantic_type"])


def common(tokenizer: Path) -> set[str]:
    """Read the whole words among the tokens of a tokenizer."""
    tokens = json.loads(tokenizer.read_text(encoding="utf-8"))["model"]["vocab"]
    return {token for token in tokens if token.isascii() and token.isalpha()}


def kind_of(name: str, table: str, semantic_type: str) -> str:
    """Tell names of products, clinical names and others apart."""
    if table in PRODUCT_TABLES or semantic_type in PRODUCT_TYPES:
        return "product"
    clinical = table in CLINICAL_TABLES or semantic_type in CLINICAL_TYPES
    # Abbreviations are no words.
    return "clinical" if clinical and not name.isupper() else "other"


def stem(path: Path) -> str:
    """Get the name of a table from its path."""
    return path.name.removesuffix(".tsv.gz")


def is_word(word: str) -> bool:
    """Whether a word may be misspelt, or be the correction of one."""
    return len(word) >= SHORTEST and word.isascii() and word.isalpha() and word.islower()


def write(name: str, words: set[str]) -> None:
    """Write words, reproducibly byte for byte."""
    text = "".join(f"{word}\n" for word in sorted(words))
    with atomic_file(FOLDER / name) as partial:
        partial.write_bytes(gzip.compress(text.encode("ascii"), mtime=0))
    print(f"{name}: {len(words):,} words, {(FOLDER / name).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
