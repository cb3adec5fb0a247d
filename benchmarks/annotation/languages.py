"""Measure annotation of clinical sentences in Spanish, French, German, Italian, Portuguese and Dutch.

    python benchmarks/annotation/languages.py [--half even] [--mistakes] [--json FILE]

``languages.tsv`` has 60 sentences a language, written for nymlink before its rules of these languages. Rules were
mended on the sentences with even numbers; those with odd numbers were measured once. The names are those of HPO in
the language. A finding is right if it overlaps one of the same concept. Flags are measured by F1 over the findings
that are right. Beside the rules stand exact names, and the matcher without rules of the language.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchmarks.annotation.clinical_texts import Gold, figures, read_text, show
from benchmarks.common import report
from benchmarks.common.inputs import data_root
from benchmarks.peers.annotators.plain_matcher import PlainMatcher
from nymlink.annotation.annotator import Annotator
from nymlink.annotation.annotator_settings import AnnotatorSettings
from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.corpus.documents import Document
from nymlink.index.index import Index
from nymlink.text.word_tables import read_rows
from nymlink.vocabulary.read import read_vocabulary

SENTENCES: Final = Path(__file__).with_suffix(".tsv")
LANGUAGES: Final = ("es", "fr", "de", "it", "pt", "nl")
HALVES: Final = ("even", "odd")


def read_sentences(language: str, half: str) -> list[tuple[str, list[Gold]]]:
    """Read the sentences of a language with even or odd numbers, and their findings."""
    return [
        read_text(row["text"])
        for row in read_rows(SENTENCES)
        if row["language"] == language and HALVES[int(row["number"]) % 2] == half
    ]


def build_index(folder: Path, language: str) -> Index:
    """Index the names of HPO in a language; they state no language, so that every matcher finds them."""
    with gzip.open(data_root() / "vocabularies" / "hpo.tsv.gz", "rt", encoding="utf-8", newline="") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    place = lines[0].index("lang")
    kept = [line for line in lines[1:] if line[place] == language]
    for line in kept:
        line[place] = UNKNOWN_LANGUAGE
    path = folder / f"{language}.tsv"
    path.write_text("".join("\t".join(line) + "\n" for line in [lines[0], *kept]), encoding="utf-8")
    return Index.build(read_vocabulary(path), encoder=None)


def measure(folder: Path, language: str, halves: Sequence[str], *, mistakes: bool) -> Iterator[dict[str, Any]]:
    """Annotate the sentences of a language with exact names, without and with rules of the language."""
    index = build_index(folder, language)
    for name, contender in (
        ("exact names", PlainMatcher(index.vocabulary)),
        ("no rules", Annotator(index, AnnotatorSettings(language=UNKNOWN_LANGUAGE))),
        ("rules", Annotator(index, AnnotatorSettings(language=language))),
    ):
        for half in halves:
            texts = read_sentences(language, half)
            found = [links for _, links in contender.annotate_documents([Document("", text) for text, _ in texts])]
            told = {key: f"{100 * value:.1f}" for key, value in figures(texts, found).items()}
            count = sum(len(gold) for _, gold in texts)
            yield {"half": half, "language": language, "annotator": name, "findings": count, **told}
            if mistakes and half == "even" and name == "rules":
                show(texts, found)


def summary(rows: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """Put the figures of a language into one row: F1 of findings by each annotator, and of denials."""
    lines: dict[str, dict[str, str]] = {}
    for row in rows:
        line = lines.setdefault(row["language"], {"language": row["language"]})
        line[f"{row['half']}: {row['annotator']}"] = row["f1"]
        if row["annotator"] == "rules":
            line[f"{row['half']}: negated"] = row["negated"]
    return list(lines.values())


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", choices=LANGUAGES, action="append", help="only this; repeatable")
    parser.add_argument("--half", choices=HALVES, action="append", help="only this; repeatable")
    parser.add_argument("--mistakes", action="store_true", help="show what is wrong, of the even half only")
    parser.add_argument("--json", type=Path, help="file to write")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        rows = [
            row
            for language in options.language or LANGUAGES
            for row in measure(Path(folder), language, options.half or HALVES, mistakes=options.mistakes)
        ]
    rows.sort(key=lambda row: HALVES.index(row["half"]))
    print(report.table(list(rows[0]), [[str(cell) for cell in row.values()] for row in rows]))
    lines = summary(rows)
    report.publish(
        options.json,
        report.table(list(lines[0]), [list(line.values()) for line in lines]),
        ["found"],
        figures=rows,
        data="360 clinical sentences written for nymlink",
        split="rules were mended on the even half",
        dictionary="HPO's names in the language",
        seed=None,
        note="percent",
    )


if __name__ == "__main__":
    main()
