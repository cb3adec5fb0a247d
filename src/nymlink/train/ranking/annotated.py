"""Questions from annotated mentions, and mentions that have no answer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np

from nymlink.core.errors import InputError
from nymlink.corpus.model import Corpus, Document, Mention
from nymlink.evaluation.gold import GoldResolver
from nymlink.index.index import Index
from nymlink.linking.queries import queries
from nymlink.train.ranking.labelled import LabelledQuestions

LEFT_OUT: Final = 0.1
"""Share of the annotated mentions that are asked once more, as if the vocabulary lacked their concepts."""


def annotated_questions(
    index: Index,
    corpus: Corpus,
    *,
    types: Collection[str] | None = None,
    language: str | None = None,
    seed: int = 0,
) -> LabelledQuestions:
    """Ask for the annotated mentions of a corpus, for :data:`LEFT_OUT` of them also without their concepts.

    Mentions whose gold ids the vocabulary does not hold are left out: what is nearest may well be right.

    Args:
        index: to search.
        corpus: documents with gold ids.
        types: mentions of these types only.
        language: code of the language of mentions that state none; ``None`` where it is unknown.
        seed: of the draw of mentions without an answer.

    Raises:
        InputError: no mention has a gold id that the index has.
    """
    resolver = GoldResolver(index.vocabulary)
    asked = [
        (part, answer)
        for document in corpus.documents
        for mention, parts in zip(
            document.mentions,
            queries(document, index.entries, language=language, composites="gold"),
            strict=True,
        )
        if (types is None or mention.type in types) and (answer := resolver.rows(mention.concept_ids))
        for part in parts
    ]
    if not asked:
        raise InputError(f"no mention of {corpus.name} has a gold id that the index has: nothing can be learned")
    questions = [part.question for part, _ in asked]
    answers = [answer for _, answer in asked]
    drawn = np.flatnonzero(np.random.default_rng(seed).random(len(asked)) < LEFT_OUT).tolist()
    lacking = LabelledQuestions.of(
        index,
        [questions[place] for place in drawn],
        [frozenset()] * len(drawn),
        without=[index.entries_of(answers[place]) for place in drawn],
    )
    return LabelledQuestions.joined([LabelledQuestions.of(index, questions, answers), lacking])


def unanswerable_questions(index: Index, names: Sequence[str], *, weight: float = 1.0) -> LabelledQuestions:
    """Ask for names that mean no concept of an index."""
    document = Document("", mentions=tuple(Mention(name) for name in names))
    questions = [part.question for parts in queries(document, index.entries) for part in parts]
    return LabelledQuestions.of(index, questions, [frozenset()] * len(questions), weight=weight)
