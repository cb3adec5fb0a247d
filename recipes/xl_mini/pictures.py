"""The pictures of the documentation: accuracies by language, retrieval across languages, names in space."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from nymlink.encode.encoder import Encoder
from nymlink.plot.figure import save_figure
from nymlink.plot.languages import draw_languages
from nymlink.plot.retrieval import draw_retrieval, sample_translations
from nymlink.plot.sample import sample_chosen
from nymlink.plot.space import draw_space
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from recipes.xl_mini.held_out import HPO, held_out_concepts, rows

FOLDER: Final = Path(__file__).parents[2] / "docs" / "images"

CONCEPT: Final = "HP:0000822"
"""Hypertension: one of the concepts that are held out, with names in all languages."""


def draw_stages(figures: Iterable[Mapping[str, str]], stages: Iterable[str], target: Path) -> None:
    """Draw the Acc@1 of stages by language.

    Args:
        figures: rows of :func:`recipes.xl_mini.evaluate.table`.
        stages: those to draw, in this order.
        target: the picture.
    """
    by_stage = {
        row["stage"]: {language: float(value) / 100 for language, value in row.items() if language != "stage"}
        for row in figures
    }
    shown = {stage: by_stage[stage] for stage in stages if stage in by_stage}
    save_figure(draw_languages(shown, measure="Acc@1 of held-out names"), target)


def draw_names(data: Path, encoders: Mapping[str, str | Path], retrieval: Path, space: Path, *, seed: int) -> None:
    """Draw how names of held-out concepts of HPO find each other, and those of one concept in space."""
    vocabulary = held_out_vocabulary(data)
    loaded = {title: Encoder.load(place) for title, place in encoders.items()}
    translations = sample_translations(vocabulary, concepts=200, seed=seed)
    views = {title: encoder.encode(translations.texts) for title, encoder in loaded.items()}
    save_figure(draw_retrieval(translations, views), retrieval)
    chosen = sample_chosen(vocabulary, [CONCEPT], concepts=15, names=12, seed=seed)
    save_figure(draw_space(chosen, {t: e.encode(chosen.texts) for t, e in loaded.items()}, seed=seed), space)


def held_out_vocabulary(data: Path) -> Vocabulary:
    """Make a vocabulary of the held-out concepts of HPO, with their names in all languages."""
    held_out, _ = held_out_concepts(data)
    builder = TableBuilder()
    known = set[str]()
    for concept, language, name in rows(data, HPO):
        # The French table has lists of names in one cell.
        if concept in held_out and "|" not in name:
            if concept not in known:
                builder.concept(concept)
                known.add(concept)
            builder.name(concept, name, lang=language)
    return Vocabulary.of((Source(name="hpo", format="table"), builder.build()))
