"""The questions that rankers of other encoders learn from, and those that they are measured on."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.common.tasks import Task, load
from benchmarks.confidence.across import foreign_names
from nymlink.corpus.documents import Corpus, Mention
from nymlink.encode.model.folder import MINI
from nymlink.evaluation.outcomes import GoldResolver
from nymlink.index.index import Index
from nymlink.linking.pipeline import Pipeline
from nymlink.train.ranking.left_out import draw_names_elsewhere
from nymlink.vocabulary.vocabulary import Vocabulary
from recipes.asked import Asked, Questions, kept
from recipes.ranker import ANNOTATED, ELSEWHERE, NAMES_WEIGHT, Made, mondo, ncbi

SHARE: Final = 3
"""One in this many of the names elsewhere and of foreign names that the shipped ranker learned from is asked."""


def development(task: Task, data: Path, encoder: str = MINI) -> Asked:
    """Ask an index with an encoder for the gold mentions of a task."""
    vocabulary, (corpus, *_) = load(task, data)
    index = Index.build(vocabulary, encoder=encoder, languages=task.languages)
    return Asked.of(index, _of_corpus(index, corpus))


def training(folder: Path, own: Path, data: Path, encoder: str = MINI) -> list[tuple[Asked, float]]:
    """Ask what the shipped ranker learned from; of names a third. Each part comes with its weight.

    Args:
        folder: that of ``recipes/ranker.py``.
        own: folder that keeps the questions, and the indexes of another encoder.
        data: folder of the corpora and vocabularies.
        encoder: of the indexes.
    """
    index = Made(folder if encoder == MINI else own, data, encoder).index

    def annotated(corpus: str, name: str) -> Asked:
        opened = index(name)
        return Asked.of(opened, _answerable(_of_corpus(opened, corpora[corpus])))

    def elsewhere(name: str, count: int) -> Asked:
        opened = index(name)
        questions, answers = draw_names_elsewhere(opened, merged, count // SHARE)
        return Asked.of(opened, (questions, answers, range(len(questions))))

    def foreign() -> Asked:
        opened = index("diseases")
        names = list(map(Mention, foreign_names(opened, data)[::SHARE]))
        questions = [part.question for parts in Pipeline(opened).queries_of(names) for part in parts]
        return Asked.of(opened, (questions, [frozenset()] * len(questions), range(len(questions))))

    corpora = {"ncbi": ncbi(data), "mondo": mondo(data)}
    merged = Vocabulary.load(folder / "merged")
    parts = [
        (kept(own / f"{corpus}@{name}.npz", partial(annotated, corpus, name)), weight)
        for (corpus, name), weight in ANNOTATED.items()
    ]
    parts += [
        (kept(own / f"elsewhere@{name}.npz", partial(elsewhere, name, count)), NAMES_WEIGHT * SHARE)
        for name, count in ELSEWHERE.items()
    ]
    return [*parts, (kept(own / "foreign@diseases.npz", foreign), NAMES_WEIGHT * SHARE)]


def _of_corpus(index: Index, corpus: Corpus) -> Questions:
    """Ask for the gold mentions of a corpus, each part of a composite one by itself."""
    resolver, found, number = GoldResolver(index.vocabulary), [], 0
    pipeline = Pipeline(index, composites="gold")
    for document in corpus.documents:
        prepared = pipeline.queries(document)
        for mention, parts in zip(document.mentions, prepared, strict=True):
            if mention.concept_ids:
                found += [(part.question, resolver.rows(mention.concept_ids), number) for part in parts]
                number += 1
    questions, answers, mentions = zip(*found, strict=True)
    return questions, answers, mentions


def _answerable(asked: Questions) -> Questions:
    """Leave out questions whose gold ids the vocabulary does not hold: what is nearest may well be right."""
    questions, answers, mentions = zip(*(each for each in zip(*asked, strict=True) if each[1]), strict=True)
    return questions, answers, mentions
