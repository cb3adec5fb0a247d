"""Collect words of names in other languages that are evidence against a text being English.

    python recipes/foreign_words.py [--data DATA]

Writes ``foreign_words.txt.gz`` into ``src/nymlink/text/english/data``, a word a line, sorted, without accents:

- words that are neither in English nor in its medical names, and occur in several names in other languages, or are
  one slip away from an English word ("artritis"), which would be guessed for them;
- words of the lists of English that are far commoner in other languages ("syndrom", "mano").

Run ``recipes/words.py`` first. Other languages are those of the tables in Latin letters whose licence allows it.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from nymlink.text.english.words import FOREIGN, common_words, known_words, stop_words, without_accents
from nymlink.text.normalise import normalise
from nymlink.text.spelling import is_slip, may_be_misspelt
from recipes.words import GENERAL, write

TABLES: Final = (
    *("vocabularies/hpo", "vocabularies/wikidata_medical"),
    *(f"multilingual/{name}" for name in GENERAL),
    *(
        f"multilingual/{name}"
        for name in (
            "hpo_extra icd10_de_gm icd10_fi_thl icd10_nb icd10_pt_datasus icd8_fi nomesco_fi_thl "
            "wikidata_health_eticaai"
        ).split()
    ),
)

SEVERAL: Final = 3
"""Least number of names with a word that is not English."""

SHORT: Final = 3
VERY_MANY: Final = 100
"""Most letters of words that are mostly abbreviations, in any language ("qt", "xy"), and least number of names
with one of the others ("de", "und")."""

MANY: Final = 10
FAR_COMMONER: Final = 20
"""Least number of foreign names with a word of the English lists, and least ratio to its share in English ones."""


def main() -> None:
    """Collect and write the words."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data"), help="folder with vocabularies/ and multilingual/"
    )
    data: Path = parser.parse_args().data
    english, foreign = counts(data / f"{table}.tsv.gz" for table in TABLES)
    known = known_words() | common_words() | set(stop_words())
    slips = slips_of(known_words(), (word for word in foreign if word not in known))
    scale = FAR_COMMONER * foreign.total() / english.total()
    commoner = {
        word
        for word, count in foreign.items()
        if count >= MANY and word in known and word not in stop_words() and count > scale * english[word]
    }
    several = {word for word, count in foreign.items() if count >= SEVERAL and word not in known}
    words = commoner | several | slips
    write(FOREIGN, {word for word in words if len(word) > SHORT or foreign[word] >= VERY_MANY})


def counts(tables: Iterable[Path]) -> tuple[Counter[str], Counter[str]]:
    """Count the English and the foreign names with each word; words with letters other than Latin are left out."""
    english: Counter[str] = Counter()
    foreign: Counter[str] = Counter()
    for path in tables:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                words = {without_accents(word) for word in normalise(row["name"]).split(" ")}
                if row["lang"] in ("en", ""):
                    english.update(words)
                elif row["lang"] != "la":
                    foreign.update(word for word in words if word.isascii() and word.isalpha())
    return english, foreign


def slips_of(words: Iterable[str], candidates: Iterable[str]) -> set[str]:
    """Select the candidates that would be taken for misspelt words."""
    near: defaultdict[str, list[str]] = defaultdict(list)
    for word in words:
        for shortened in shortened_forms(word):
            near[shortened].append(word)
    return {
        word
        for word in candidates
        if may_be_misspelt(word)
        and any(is_slip(word, right) for shortened in shortened_forms(word) for right in near.get(shortened, ()))
    }


def shortened_forms(word: str) -> set[str]:
    """List a word and the word without each of its letters; words one slip apart have one of these in common."""
    return {word, *(word[:place] + word[place + 1 :] for place in range(len(word)))}


if __name__ == "__main__":
    main()
