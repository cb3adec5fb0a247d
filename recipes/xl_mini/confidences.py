"""Calibrate nymlink-xl-mini on mentions of many languages, and measure its confidences language by language.

    python -m recipes.xl_mini.confidences FOLDER [--encoder MODEL] [--data DATA] [--json FILE] [--ship]

Mentions are held-out names of HPO (searched among its English names) and of ICD-10; half of them teach, the other
half measures. English mentions are those of ``recipes/calibration.py``. In each language some mentions have no
answer: general words, and mentions whose concepts are hidden. Each language is measured with the calibration that
ships, and with one that was fitted without this language. Links across languages have a calibration of their own.
FOLDER is that of the other stages.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Final

from benchmarks.common.report import publish, table
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
from recipes.calibration import MEDIC, annotated, foreign_names
from recipes.xl_mini.data import GENERAL
from recipes.xl_mini.evaluate import held_out_corpora
from recipes.xl_mini.held_out import rows

UNANSWERABLE: Final = 0.15
"""Share of each of two kinds of mentions without an answer among all of a language."""

Parts = dict[str, LabelledMentions]
"""Language → its mentions; ``en`` is one of them."""


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
    """Label the mentions that teach and those that measure, by language."""
    medic = _index(data / MEDIC, encoder, cache)
    english = with_unanswerable(medic, label_mentions(medic, annotated(data)), foreign_names(medic, data))
    words = defaultdict[str, set[str]](set)
    for _, language, name in rows(data, [f"multilingual/{each}" for each in GENERAL]):
        words[language].add(name)
    halves_of: list[dict[str, list[LabelledMentions]]] = [defaultdict(list), defaultdict(list)]
    indexes: dict[str, Index] = {}
    for name, corpus in held_out_corpora(data, folder / "held_out", seed=0).items():
        language = name.split()[1]
        if corpus.dictionary not in indexes:
            indexes[corpus.dictionary] = _index(Path(corpus.dictionary), encoder, cache)
        index = indexes[corpus.dictionary]
        lines = [line.split("\t") for line in Path(corpus.corpus).read_text(encoding="utf-8").splitlines()[1:]]
        general = sorted(word for word in words[language] if index.entries.find(normalise(word)) is None)
        random.Random(0).shuffle(general)
        for half, parts in enumerate(halves_of):
            parts[language].append(_labelled(index, lines[half::2], general[half::2], language))
    halves = [
        {"en": english, **{language: LabelledMentions.joined(own) for language, own in sorted(half.items())}}
        for half in halves_of
    ]
    return halves[0], halves[1]


def _labelled(index: Index, lines: list[list[str]], general: list[str], language: str) -> LabelledMentions:
    """Label mentions, and others without an answer: general words, and some of the same with hidden concepts."""
    mentions = tuple(Mention(text, concept_ids=(concept,)) for text, concept in lines)
    corpus = Corpus(language, tuple(Document(str(place), mentions=(each,)) for place, each in enumerate(mentions)))
    own = label_mentions(index, corpus, language=language)
    count = round(len(own.starts) * UNANSWERABLE / (1 - 2 * UNANSWERABLE))
    others = [label_left_out(index, own, count), label_absent_names(index, general[:count])]
    return LabelledMentions.joined([own, *(other for other in others if len(other.right))])


def _index(dictionary: Path, encoder: Encoder, cache: EmbeddingCache) -> Index:
    return Index.build(read_vocabulary(dictionary), encoder=encoder, cache=cache)


if __name__ == "__main__":
    main()
