"""Questions without annotations, from the names of a vocabulary.

A third of the questions are unchanged names. A third are changed names, with an added or missing word, another
order of words, plural and singular exchanged, or a misspelling. A third are names that are hidden from the search,
together with all names of the same words. Their concept can be found only by its other names, if it has any.

Different ontologies use different names for a concept, as different authors do. A merged vocabulary knows which
concepts of its sources are equal. So the names in other sources are questions with known answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.errors import InputError
from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.corpus.documents import Mention
from nymlink.index.index import Index
from nymlink.linking.pipeline import Pipeline
from nymlink.rank.features import NAMES
from nymlink.rank.retrieval import Question
from nymlink.train.ranking.labelled import LabelledQuestions
from nymlink.vocabulary.concepts import SYNONYM_KINDS
from nymlink.vocabulary.vocabulary import Vocabulary

_MOST_CONCEPTS: Final = 4
"""Largest number of concepts that a name in a question may have."""

_STEM: Final = 5
"""Number of first letters: two words that share them count as forms of one word."""

_BIASED: Final = ("names", "names_found", "share_found", "references")
"""Features that depend more on how the questions are drawn than on whether a candidate is right."""

_Change = Callable[[list[str], Sequence[str], np.random.Generator], list[str] | None]


def left_out_questions(index: Index, count: int, *, seed: int = 0, weight: float = 1.0) -> LabelledQuestions:
    """Sample ``count`` concepts, and make a question from one name of each. Each question gets this ``weight``."""
    rng = np.random.default_rng(seed)
    entries = index.entries
    concepts = np.unique(index.owners[entries.names])
    drawn = entries.texts.take(np.sort(rng.choice(len(entries), min(len(entries), 5000), replace=False)))
    words = [word for text in drawn.to_pylist() for word in text.split(" ")]
    questions: list[Question] = []
    answers: list[frozenset[int]] = []
    absent: list[list[int]] = []
    tries = 0
    while len(questions) < count and tries < 20 * count:
        tries += 1
        own = index.entries_of([int(rng.choice(concepts))])
        row = int(rng.choice(own))
        answer = index.concepts_of(row)
        if len(answer) > _MOST_CONCEPTS:
            continue
        text, gone = entries.text(row), list[int]()
        way = tries % 3
        if way == 1:
            changed = _change(text, words, rng)
            if changed is None or entries.find(changed) is not None:
                continue
            text = changed
        elif way == 2:
            alike = [other for other in own if _stems(entries.text(other)) == _stems(text)]
            gone = [row, *alike, *entries.compact.find(text)]
        questions.append(Question(text))
        answers.append(answer)
        absent.append(gone)
    labelled = LabelledQuestions.of(index, questions, answers, without=absent, weight=weight)
    for name in _BIASED:
        labelled.described[:, :, NAMES.index(name)] = np.nan
    return labelled


def _change(text: str, words: Sequence[str], rng: np.random.Generator) -> str | None:
    """Change a name at random, in a way in which mentions differ from names.

    Return ``None`` if the change drawn cannot be applied to the name.
    """
    changed = _CHANGES[int(rng.integers(len(_CHANGES)))](text.split(" "), words, rng)
    return " ".join(changed) if changed else None


def _drop(words: list[str], _: Sequence[str], rng: np.random.Generator) -> list[str] | None:
    place = int(rng.integers(len(words)))
    return words[:place] + words[place + 1 :]


def _add_before(words: list[str], others: Sequence[str], rng: np.random.Generator) -> list[str] | None:
    return [others[int(rng.integers(len(others)))], *words]


def _add_after(words: list[str], others: Sequence[str], rng: np.random.Generator) -> list[str] | None:
    return [*words, others[int(rng.integers(len(others)))]]


def _turn_round(words: list[str], _: Sequence[str], rng: np.random.Generator) -> list[str] | None:
    if len(words) < 2:
        return None
    place = int(rng.integers(1, len(words)))
    return words[place:] + words[:place]


def _slip(words: list[str], _: Sequence[str], rng: np.random.Generator) -> list[str] | None:
    place = max(range(len(words)), key=lambda each: len(words[each]))
    word = words[place]
    if len(word) < _STEM:
        return None
    at = int(rng.integers(1, len(word) - 1))
    kinds = (
        word[:at] + word[at + 1 :],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        word[:at] + word[at:][0] + word[at:],
    )
    return [*words[:place], kinds[int(rng.integers(len(kinds)))], *words[place + 1 :]]


def _other_number(words: list[str], _: Sequence[str], __: np.random.Generator) -> list[str] | None:
    last = words[-1]
    return [*words[:-1], last[:-1] if last.endswith("s") else f"{last}s"]


_CHANGES: Final[tuple[_Change, ...]] = (_drop, _drop, _add_before, _add_after, _turn_round, _slip, _other_number)


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:_STEM] for word in text.split(" "))


def names_elsewhere(
    index: Index, merged: Vocabulary, count: int, *, seed: int = 0, weight: float = 1.0
) -> LabelledQuestions:
    """Make questions from names that other sources of a merged vocabulary give to the concepts of an index.

    Args:
        index: the index to search; names of its own sources are left out.
        merged: the merged vocabulary. It has the ids of the index, as present or as old ids.
        count: most questions, sampled at random.
        seed: seed of the sample.
        weight: weight of each question.

    Raises:
        InputError: no other source names any of the concepts.
    """
    questions, answers = draw_names_elsewhere(index, merged, count, seed=seed)
    return LabelledQuestions.of(index, questions, answers, weight=weight)


def draw_names_elsewhere(
    index: Index, merged: Vocabulary, count: int, *, seed: int = 0
) -> tuple[list[Question], list[frozenset[int]]]:
    """Draw the questions of :func:`names_elsewhere`, and the rows of their right concepts.

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
    asked = Pipeline(index).queries_of(list(map(Mention, texts)))
    single = [
        (parts[0].question, answers[concept])
        for parts, concept in zip(asked, concepts, strict=True)
        if len(parts) == 1
    ]
    return [question for question, _ in single], [answer for _, answer in single]


def _answers(vocabulary: Vocabulary, merged: Vocabulary) -> dict[int, frozenset[int]]:
    """Map each row of a merged vocabulary to the rows of the equal concepts in another vocabulary."""
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
