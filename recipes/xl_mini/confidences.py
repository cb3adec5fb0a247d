"""Calibrate nymlink-xl-mini on mentions of many languages, and measure its confidences language by language.

    python -m recipes.xl_mini.confidences FOLDER [--encoder MODEL] [--data DATA] [--json FILE] [--ship]

Mentions are held-out names of HPO (searched among its English names) and of ICD-10. The names of one half of the
concepts teach, those of the other half measure. English mentions are those of NCBI disease and BC5CDR disease. In
each language some mentions have no answer: general words, and mentions whose concepts are hidden. The same is done
in indexes of 10, 100 and 1,000 concepts. Each language is measured with the calibration that ships, and with one
that was fitted without this language. Links across languages have a calibration of their own. FOLDER is that of
the other stages.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final
from zlib import crc32

import pyarrow.csv as pv

from benchmarks.common.report import publish, table
from benchmarks.confidence.across import foreign_names
from nymlink.core.store.atomic import atomic_file
from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.encode.cached_vectors import EmbeddingCache
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.folder import XL_MINI, calibration_file
from nymlink.evaluation.calibration_data import (
    LabelledMentions,
    label_absent_names,
    label_left_out,
    label_mentions,
)
from nymlink.evaluation.fit_calibration import fit_weights, reliability_of, with_unanswerable
from nymlink.index.index import Index
from nymlink.linking.calibration import Calibration
from nymlink.text.normalise import normalise
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.vocabulary import Vocabulary
from recipes.diseases import MEDIC, annotated
from recipes.xl_mini.evaluate import held_out_corpora

MENTIONS: Final = 1600
"""Largest number of mentions of a language in each of the two vocabularies."""

SMALL: Final = {10: 12, 100: 4, 1000: 1}
"""Concepts of small indexes, and their number of each vocabulary."""

WORDNETS: Final = ("wordnet_bio_open", "wordnet_bio_sa")
WORDS: Final = frozenset({"act or procedure", "animal", "attribute", "food", "plant", "substance"})
"""Kinds of general words that mean no concept of HPO or ICD-10."""

SAMPLED: Final = 4000
"""Number of general words of a language that are drawn from."""

UNANSWERABLE: Final = 0.15
"""Share of each of two kinds of mentions without an answer among all of a language."""

Parts = dict[str, LabelledMentions]
"""Language, or size of the index → its mentions; ``en`` is one of them."""


def main() -> None:
    """Fit, measure and print; write the calibration with --ship."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the recipe")
    parser.add_argument("--encoder", default=XL_MINI, help="the encoder")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the data")
    parser.add_argument("--json", type=Path, help="file of the figures")
    parser.add_argument("--ship", action="store_true", help="write the calibration beside the installed encoder")
    arguments = parser.parse_args()
    encoder, cache = Encoder.load(arguments.encoder), EmbeddingCache(arguments.folder / "vectors")
    teaching, measuring = labelled(arguments.folder, arguments.data, encoder, cache)
    shipped = fitted(teaching)
    body = []
    for language, own in measuring.items():
        others = fitted({other: part for other, part in teaching.items() if other != language})
        ways = [reliability_of(calibration, own) for calibration in (shipped, others)]
        body.append(
            [
                language,
                f"{len(own.right):,}",
                f"{100 * ways[0].accuracy:.1f}",
                *(f"{value:.3f}" for way in ways for value in (way.expected_error, way.answerable_auroc)),
            ]
        )
    header = ["language", "mentions", "right, %", "error", "AUROC", "error, left out", "AUROC, left out"]
    text = table(header, body)
    print(text)
    publish(
        arguments.json,
        text,
        ["confidences"],
        data="held-out names of HPO and ICD-10; English: NCBI disease and BC5CDR disease in MEDIC",
        split="half of the mentions; English: training and development parts, which also teach",
        dictionary="English names",
        counting="error: expected calibration error; AUROC: answerable against unanswerable",
        encoder=Path(arguments.encoder).name,
        seed=0,
    )
    if arguments.ship:
        content = {"fingerprint": encoder.fingerprint, "calibration": shipped.to_dict()}
        with atomic_file(calibration_file(arguments.encoder)) as partial:
            partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def fitted(parts: Parts) -> Calibration:
    """Fit a calibration to English mentions if there are any, and one of links across languages to the others."""
    foreign = _weights([own for language, own in parts.items() if language != "en"])
    return replace(_weights([parts["en"]]) if "en" in parts else foreign, across=foreign)


def _weights(parts: list[LabelledMentions]) -> Calibration:
    whole = LabelledMentions.joined(parts)
    fit = fit_weights(whole.features, whole.right, doubted=whole.factors < 1)
    reliability = whole.reliability(fit.confidence(whole.features) * whole.factors)
    return replace(fit, curve=reliability.curve(), fitted_to=f"mentions in {len(parts)} languages")


def labelled(folder: Path, data: Path, encoder: Encoder, cache: EmbeddingCache) -> tuple[Parts, Parts]:
    """Label the mentions that teach, by language, and those that measure, by language and by size of the index.

    Mentions of one concept are all in the same half.
    """
    medic = _index(data / MEDIC, encoder, cache)
    english = with_unanswerable(medic, label_mentions(medic, annotated(data)), foreign_names(medic, data))
    general = _general_words(data)
    asked = defaultdict[str, dict[str, list[tuple[str, str]]]](dict)
    for name, corpus in held_out_corpora(data, folder / "confidences", seed=0, count=MENTIONS).items():
        _, *lines = Path(corpus.corpus).read_text(encoding="utf-8").splitlines()
        mentions = [(mention, concept) for mention, _, concept in (line.partition("\t") for line in lines)]
        asked[corpus.dictionary][name.split()[1]] = mentions
    teaching, measuring = (
        defaultdict[str, list[LabelledMentions]](list),
        defaultdict[str, list[LabelledMentions]](list),
    )
    for dictionary, of_language in asked.items():
        for size, vocabulary in _vocabularies(Path(dictionary), of_language, folder):
            index = Index.build(vocabulary, encoder=encoder, cache=cache)
            for language, mentions in of_language.items():
                # Filter a sample only: wordnets are large.
                words = [
                    word
                    for word, forms in general[language][:SAMPLED]
                    if all(index.entries.find(form) is None for form in forms)
                ]
                halves = [
                    [mention for mention in mentions if crc32(mention[1].encode()) % 2 == half] for half in (0, 1)
                ]
                teaching[language] += _labelled(index, halves[0], words[::2], language)
                measuring[f"{size:,} concepts" if size else language] += _labelled(
                    index, halves[1], words[1::2], language
                )
    parts = [
        {key: LabelledMentions.joined(own) for key, own in sorted(half.items())} for half in (teaching, measuring)
    ]
    return {"en": english, **parts[0]}, {"en": english, **parts[1]}


def _vocabularies(
    dictionary: Path, asked: Mapping[str, Collection[tuple[str, str]]], folder: Path
) -> Iterator[tuple[int | None, Vocabulary]]:
    """Read the whole vocabulary, and draw small ones of some concepts asked: number of concepts, vocabulary."""
    yield None, read_vocabulary(dictionary)
    header, *lines = dictionary.read_text(encoding="utf-8").splitlines()
    concepts = sorted({concept for mentions in asked.values() for _, concept in mentions})
    rng, path = random.Random(0), folder / "small.tsv"
    for size, times in SMALL.items():
        for _ in range(times):
            drawn = frozenset(rng.sample(concepts, min(size, len(concepts))))
            kept = [line for line in lines if line.partition("\t")[0] in drawn]
            path.write_text("\n".join([header, *kept]) + "\n", encoding="utf-8")
            yield size, read_vocabulary(path)


def _general_words(data: Path) -> dict[str, list[tuple[str, set[str]]]]:
    """Read words for animals, plants and the like, by language, in random order.

    Each word has the normal forms of itself and of its English translations.
    """
    columns = ["concept_id", "lang", "name", "semantic_type"]
    options = pv.ParseOptions(delimiter="\t", quote_char=False)
    names = [
        row
        for table in WORDNETS
        for row in pv.read_csv(data / f"multilingual/{table}.tsv.gz", parse_options=options)
        .select(columns)
        .to_pylist()
        if row["semantic_type"] in WORDS and row["name"]
    ]
    english = defaultdict[str, set[str]](set)
    for row in names:
        if row["lang"] == "en":
            english[row["concept_id"]].add(normalise(row["name"]))
    found = defaultdict[str, dict[str, set[str]]](dict)
    for row in names:
        found[row["lang"]].setdefault(row["name"], {normalise(row["name"])}).update(english[row["concept_id"]])
    rng = random.Random(0)
    return {language: rng.sample(sorted(own.items()), len(own)) for language, own in found.items()}


def _labelled(
    index: Index, mentions: list[tuple[str, str]], general: list[str], language: str
) -> list[LabelledMentions]:
    """Label mentions, and others without an answer: general words, and names of concepts that the index lacks.

    If the index has the concepts of all mentions, those of some are hidden.
    """
    there = [mention for mention in mentions if mention[1] in index.vocabulary]
    if not there:
        return []
    documents = tuple(
        Document(str(place), mentions=(Mention(text, concept_ids=(concept,)),))
        for place, (text, concept) in enumerate(there)
    )
    own = label_mentions(index, Corpus(language, documents), language=language)
    count = round(len(own.starts) * UNANSWERABLE / (1 - 2 * UNANSWERABLE))
    lacking = [text for text, concept in mentions if concept not in index.vocabulary]
    random.Random(0).shuffle(lacking)
    others = [
        label_absent_names(index, lacking[:count], language=language)
        if lacking
        else label_left_out(index, own, count),
        label_absent_names(index, general[:count], language=language),
    ]
    return [own, *(other for other in others if len(other.right))]


def _index(dictionary: Path, encoder: Encoder, cache: EmbeddingCache) -> Index:
    return Index.build(read_vocabulary(dictionary), encoder=encoder, cache=cache)


if __name__ == "__main__":
    main()
