"""Measure how many inflected mentions become a name by the rules of their language.

    python benchmarks/linking/inflection.py [LANGUAGE]... [--json FILE]

The distinct mentions of XL-BEL's test queries in a language, and its names in all tables of $NYMLINK_DATA (or
../shared/data): how many mentions have the folded form of a name as they stand, and how many others are one in
another form (:meth:`nymlink.text.languages.LanguageRules.forms`). Whether it is a name of the gold concept is not
said: few of these tables have UMLS's ids.
"""

from __future__ import annotations

import argparse
import gzip
from collections import defaultdict
from pathlib import Path
from typing import Final

from benchmarks.common import report
from benchmarks.common.inputs import data_root
from nymlink.corpus.read import read_corpus
from nymlink.text.languages import rules_of
from nymlink.text.normalise import fold, normalise

LANGUAGES: Final = ("de", "es", "fi", "ru", "tr")
TABLES: Final = ("vocabularies/*.tsv.gz", "multilingual/*.tsv.gz")
QUERIES: Final = "corpora/xlbel/v0.0/{language}_1k_test_query.txt.gz"


def names_by_language(root: Path, languages: tuple[str, ...]) -> dict[str, set[str]]:
    """Collect the folded names of all tables in each language."""
    names = defaultdict(set)
    for path in (path for pattern in TABLES for path in sorted(root.glob(pattern))):
        with gzip.open(path, "rt", encoding="utf-8") as rows:
            if next(rows).split("\t")[1:3] != ["name", "lang"]:
                continue
            for row in rows:
                _, name, language = row.split("\t", 3)[:3]
                if language in languages:
                    names[language].add(fold(normalise(name)))
    return names


def count(language: str, names: set[str], mentions: set[str]) -> dict[str, int]:
    """Count the mentions that are a name as they stand, and those that are one in another form."""
    equal = {mention for mention in mentions if fold(mention) in names}
    rules = rules_of(language)
    inflected = [
        mention for mention in mentions - equal if any(fold(form) in names for form in rules.forms(mention))
    ]
    return {"names": len(names), "mentions": len(mentions), "equal": len(equal), "inflected": len(inflected)}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", default=LANGUAGES, metavar="LANGUAGE")
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    arguments = parser.parse_args()
    languages = tuple(arguments.languages)
    names = names_by_language(data_root(), languages)
    counts = {}
    for language in languages:
        corpus = read_corpus(data_root() / QUERIES.format(language=language))
        mentions = {normalise(mention.text) for _, mention in corpus.mentions()}
        counts[language] = count(language, names[language], mentions)
    header = ["language", "names", "mentions", "equal a name", "in another form"]
    rows = [[language, *(f"{value:,}" for value in row.values())] for language, row in counts.items()]
    text = report.table(header, rows)
    print(text)
    report.publish(
        arguments.json,
        text,
        ["inflection"],
        data="XL-BEL, distinct mentions",
        split="test queries",
        dictionary="names of all tables in the language",
        seed=None,
    )


if __name__ == "__main__":
    main()
