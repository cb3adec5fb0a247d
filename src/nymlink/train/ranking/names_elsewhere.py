"""Questions without annotations: what other vocabularies call the concepts of an index.

Curators of one ontology name things otherwise than those of another, much as authors do. Where a merged vocabulary
says which concepts are the same, each name that another source has is a question whose answer is known.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError
from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.corpus.model import Document, Mention
from nymlink.index.index import Index
from nymlink.linking.queries import queries
from nymlink.rank.question import Question
from nymlink.train.ranking.labelled import LabelledQuestions
from nymlink.vocabulary.model import SYNONYM_KINDS
from nymlink.vocabulary.vocabulary import Vocabulary


def names_elsewhere(
    index: Index, merged: Vocabulary, count: int, *, seed: int = 0, weight: float = 1.0
) -> LabelledQuestions:
    """Ask for names that other sources of a merged vocabulary give the concepts of an index.

    Args:
        index: to search; the names of its own sources are not asked.
        merged: a vocabulary whose concepts have the ids of the index among their ids, present or old.
        count: how many questions at most, drawn at random.
        seed: of the draw.
        weight: of each question.

    Raises:
        InputError: no other source names any of the concepts.
    """
    questions, answers = draw_names_elsewhere(index, merged, count, seed=seed)
    return LabelledQuestions.of(index, questions, answers, weight=weight)


def draw_names_elsewhere(
    index: Index, merged: Vocabulary, count: int, *, seed: int = 0
) -> tuple[list[Question], list[frozenset[int]]]:
    """Draw the questions of :func:`names_elsewhere`, and the rows of the concepts that are right for each.

    Raises:
        InputError: no other source names any of the concepts.
    """
    answers = _answers(index.vocabulary, merged)
    names = merged.columns.names
    own = {source.name for source in index.vocabulary.sources}
    languages = set(index.vocabulary.counts("lang")) | {UNKNOWN_LANGUAGE}
    wanted = (
        np.isin(names["concept"].to_numpy(), list(answers))
        & ~_is_in(names["source"], own)
        & _is_in(names["kind"], set(SYNONYM_KINDS))
        & _is_in(names["lang"], languages)
    )
    rows = np.flatnonzero(wanted)
    if not len(rows):
        raise InputError("no other source of the merged vocabulary names a concept of the index")
    drawn = np.random.default_rng(seed).permutation(rows)[:count]
    texts = names["text"].take(pa.array(drawn)).to_pylist()
    concepts = names["concept"].to_numpy()[drawn].tolist()
    asked = queries(Document("", mentions=tuple(map(Mention, texts))), index.entries)
    single = [
        (parts[0].question, answers[concept])
        for parts, concept in zip(asked, concepts, strict=True)
        if len(parts) == 1
    ]
    return [question for question, _ in single], [answer for _, answer in single]


def _answers(vocabulary: Vocabulary, merged: Vocabulary) -> dict[int, frozenset[int]]:
    """Find the concepts of a vocabulary that each concept of a merged one stands for, by their rows."""
    found: dict[int, set[int]] = {}
    redirects = merged.columns.redirects
    ids = merged.columns.concepts["id"].to_pylist()
    pairs = [
        *zip(ids, ids, strict=True),
        *zip(redirects["old"].to_pylist(), redirects["new"].to_pylist(), strict=True),
    ]
    for old, new in pairs:
        row, place = vocabulary.row(old), merged.row(new)
        if row is not None and place is not None:
            found.setdefault(place, set()).add(row)
    return {place: frozenset(rows) for place, rows in found.items()}


def _is_in(column: pa.ChunkedArray, values: set[str]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    labels = column.combine_chunks().cast(pa.string())
    chosen: np.ndarray[tuple[int], np.dtype[np.bool_]] = pc.is_in(
        labels, value_set=pa.array(sorted(values), pa.string())
    ).to_numpy(zero_copy_only=False)
    return chosen
