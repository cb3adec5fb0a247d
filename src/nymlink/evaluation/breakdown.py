"""Accuracies of groups of mentions, and reasons of mistakes."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pyarrow as pa

from nymlink.corpus.documents import Corpus
from nymlink.evaluation.outcomes import GoldResolver, Outcome, accuracy, as_array
from nymlink.index.index import Index
from nymlink.linking.context import sentence
from nymlink.vocabulary.columns import normalise_all
from nymlink.vocabulary.vocabulary import Vocabulary

_NAMES: Final = 10
"""Largest number of names of a concept that are shown."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A wrongly linked mention.

    Attributes:
        document_id: its document.
        mention: its surface form.
        query: the query. The parts of a composite mention are joined by `` | ``.
        gold: gold ids with preferred names, joined by `` | ``.
        gold_names: the first ten names of each gold concept, joined by ``; ``.
        predicted: predicted ids with preferred names, joined by `` | ``.
        predicted_names: the first ten names of each predicted concept, joined by ``; ``.
        matched: the names that matched, joined by `` | ``.
        why: the reason of the mistake, one of a few phrases.
        context: the sentence of the mention, if the corpus has texts.
    """

    document_id: str
    mention: str
    query: str
    gold: str
    gold_names: str
    predicted: str
    predicted_names: str
    matched: str
    why: str
    context: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def mistakes(
    vocabulary: Vocabulary, outcomes: Sequence[Outcome], resolver: GoldResolver, corpus: Corpus
) -> list[Mistake]:
    """Find the wrongly linked mentions, each with the reason.

    Args:
        vocabulary: the vocabulary to which the mentions were linked.
        outcomes: the outcomes of the mentions.
        resolver: finds the concepts of gold ids.
        corpus: the corpus of the mentions.
    """
    texts = {document.id: document.text for document in corpus.documents}
    return [
        _mistake(vocabulary, outcome, resolver, texts[outcome.query.document_id])
        for outcome in outcomes
        if outcome.concept_rank != 0
    ]


def shuffled(mistakes: Sequence[Mistake]) -> list[Mistake]:
    """Put mistakes into a random order, which is always the same. So the first mistakes are a sample."""
    return random.Random(0).sample(mistakes, len(mistakes))


def concept_label(vocabulary: Vocabulary, concept_id: str, rows: Iterable[int]) -> str:
    """Format an id with the preferred names of its concepts."""
    return f"{concept_id} {', '.join(map(vocabulary.preferred_name, rows))}".strip()


def _mistake(vocabulary: Vocabulary, outcome: Outcome, resolver: GoldResolver, text: str) -> Mistake:
    query = outcome.query
    golds = {gold_id: sorted(resolver.rows([gold_id])) for gold_id in query.mention.concept_ids}
    predicted = [None if first is None else first[0] for first in outcome.predicted]
    matched = [None if first is None else first[1] for first in outcome.predicted]
    return Mistake(
        document_id=query.document_id,
        mention=query.mention.text,
        query=" | ".join(query.parts),
        gold=" | ".join(concept_label(vocabulary, gold_id, rows) for gold_id, rows in golds.items()),
        gold_names=" | ".join(_matching_names(vocabulary, rows) for rows in golds.values()),
        predicted=" | ".join(
            "nothing" if row is None else concept_label(vocabulary, vocabulary.concept_id(row), [row])
            for row in predicted
        ),
        predicted_names=" | ".join(_matching_names(vocabulary, [] if row is None else [row]) for row in predicted),
        matched=" | ".join("" if row is None else vocabulary.name(row).text for row in matched),
        why=_why(vocabulary, outcome),
        context=sentence(text, query.mention),
    )


def _matching_names(vocabulary: Vocabulary, rows: Sequence[int]) -> str:
    """Write the first names of some concepts. Equal names of different sources or languages are written once."""
    names = vocabulary.columns.names["text"]
    shown = []
    for row in rows:
        start, end = vocabulary.columns.name_offsets[row : row + 2].tolist()
        shown += list(dict.fromkeys(names.slice(start, end - start).to_pylist()))[:_NAMES]
    return "; ".join(shown)


def _why(vocabulary: Vocabulary, outcome: Outcome) -> str:
    if not outcome.gold:
        return "gold concept is not in the vocabulary"
    if all(vocabulary.concept(row).obsolete for row in outcome.gold):
        return "gold concept is obsolete and not replaced"
    if not any(outcome.query.parts):
        return "nothing left of the mention when prepared"
    if outcome.name_rank == 0:
        return "name is shared with the gold concept"
    wrong = [first for first in outcome.predicted if first is None or first[0] not in outcome.gold]
    if None in wrong:
        return "no name is like the mention"
    rows = [first[0] for first in wrong if first is not None]
    gold_ids = {vocabulary.concept_id(row) for row in outcome.gold}
    if any(gold_ids & set(vocabulary.ancestors(vocabulary.concept_id(row))) for row in rows):
        return "predicted concept is narrower than gold"
    predicted_ids = {vocabulary.concept_id(row) for row in rows}
    if any(predicted_ids & set(vocabulary.ancestors(gold_id)) for gold_id in gold_ids):
        return "predicted concept is broader than gold"
    if len(outcome.query.parts) > 1:
        return "part of a composite mention is wrong"
    if outcome.concept_rank is None:
        return "gold concept is not among the first candidates"
    return "gold concept is ranked lower" if outcome.concept_rank < 5 else "gold concept is ranked far lower"


FORM: Final = "prepared form"
WORDS: Final = "words"
LIKENESS: Final = "likeness to a gold name"
SHARED: Final = "concepts of that name"
TRAINING: Final = "training mentions of gold"

SEEN: Final = "a name of the dictionary"
UNSEEN: Final = "in no dictionary name"
_ABSENT: Final = "gold not in the dictionary"

LABELS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        FORM: (SEEN, UNSEEN),
        SHARED: ("one", "several"),
        LIKENESS: ("equal", "0.8 and more", "0.5 to 0.8", "below 0.5", _ABSENT),
        WORDS: ("0", "1", "2", "3", "4 and more"),
        TRAINING: ("0", "1 or 2", "3 to 10", "more than 10", _ABSENT),
    }
)
"""Group → its labels, in the order of the report."""


@dataclass(frozen=True, slots=True)
class BreakdownRow:
    """The accuracies of one group of mentions.

    Attributes:
        group: the property that mentions are grouped by, a key of :data:`LABELS`.
        label: the label that all these mentions have in the group.
        n: the number of mentions, at least 1.
        acc_1: share of the mentions whose first name is right (by name, lenient: one of its concepts is gold).
        acc_5: share of the mentions with a right name among the first five.
    """

    group: str
    label: str
    n: int
    acc_1: float
    acc_5: float

    def to_dict(self) -> dict[str, Any]:
        return {"group": self.group, "label": self.label, "n": self.n, "acc@1": self.acc_1, "acc@5": self.acc_5}


def breakdown(
    index: Index, outcomes: Sequence[Outcome], resolver: GoldResolver, *, training: Sequence[Corpus] = ()
) -> list[BreakdownRow]:
    """Group mentions by how difficult they are, and compute the accuracy of each group.

    - Prepared form: whether it is a name of the dictionary. For a composite mention: whether each part is.
    - Concepts of that name, if the form is a name: one or several. For a composite mention, the part with most
      concepts counts.
    - Likeness: the Dice coefficient (see :func:`dice`) with the most similar name of the gold concepts. For a
      composite mention, the part with the lowest coefficient counts.
    - Words: the number of words of the prepared form, in all parts together.
    - Training mentions, only if ``training`` is given: how often the gold concept occurs there. Of several gold
      ids, the most frequent counts; for a composite mention, the rarest.

    Labels without mentions are left out.

    Args:
        index: the dictionary, whose entries are the names.
        outcomes: the scored mentions.
        resolver: finds the concepts of gold ids.
        training: corpora whose gold concepts are counted.
    """
    labels: dict[str, Sequence[str | None]] = {
        **_forms(index, outcomes),
        LIKENESS: _likeness(index, outcomes),
        WORDS: [_words(outcome.query.prepared) for outcome in outcomes],
    }
    if training:
        labels[TRAINING] = _frequency(outcomes, resolver, training)
    ranks = as_array([outcome.name_rank for outcome in outcomes])
    rows = []
    for group, known in LABELS.items():
        for label in known if group in labels else ():
            own = ranks[[value == label for value in labels[group]]]
            if len(own):
                rows.append(BreakdownRow(group, label, len(own), accuracy(own, 1), accuracy(own, 5)))
    return rows


def dice(left: frozenset[str], right: frozenset[str]) -> float:
    """Compute Dice's coefficient of two sets: 2 |A ∩ B| / (|A| + |B|). Here, they are sets of letter pairs.

    The coefficient of two empty sets is 0. Dice, "Measures of the amount of ecologic association between species"
    (1945); for letter pairs of words, Adamson & Boreham, "The use of an association measure based on character
    structure" (1974).
    """
    size = len(left) + len(right)
    return 2 * len(left & right) / size if size else 0.0


def letter_pairs(text: str) -> frozenset[str]:
    """Return the distinct pairs of neighbouring characters, spaces included."""
    return frozenset(map("".join, pairwise(text)))


def _forms(index: Index, outcomes: Sequence[Outcome]) -> dict[str, Sequence[str | None]]:
    """Label each mention: is its prepared form a name, and if so, is it a name of one or of several concepts?"""
    named = cache(index.concepts_named)
    concepts = [[len(named(part)) for part in outcome.query.prepared] for outcome in outcomes]
    return {
        FORM: [SEEN if all(counts) else UNSEEN for counts in concepts],
        SHARED: [None if not all(counts) else "one" if max(counts) == 1 else "several" for counts in concepts],
    }


def _words(parts: Iterable[str]) -> str:
    count = sum(len(part.split()) for part in parts)
    return str(count) if count < 4 else "4 and more"


def _likeness(index: Index, outcomes: Sequence[Outcome]) -> list[str]:
    names = _names(index, sorted({row for outcome in outcomes for row in outcome.gold}))
    pairs = cache(letter_pairs)

    @cache
    def likeness(part: str, gold: frozenset[int]) -> float:
        """Return the Dice coefficient with the most similar gold name. It is infinite if a gold name is equal."""
        own = pairs(part)
        return max(
            float("inf") if name == part else dice(own, pairs(name)) for row in gold for name in names.get(row, ())
        )

    def label(outcome: Outcome) -> str:
        if not any(row in names for row in outcome.gold):
            return _ABSENT
        least = min(likeness(part, outcome.gold) for part in outcome.query.prepared)
        if least == float("inf"):
            return "equal"
        return "0.8 and more" if least >= 0.8 else "0.5 to 0.8" if least >= 0.5 else "below 0.5"

    return [label(outcome) for outcome in outcomes]


def _names(index: Index, concepts: Sequence[int]) -> dict[int, list[str]]:
    """Return a mapping from concept row to prepared names. Concepts without names are left out."""
    columns = index.vocabulary.columns.names
    owners = columns["concept"].to_numpy()[index.entries.names]
    chosen = np.isin(owners, np.array(concepts, owners.dtype))
    texts = normalise_all(columns["text"].take(pa.array(index.entries.names[chosen]))).to_pylist()
    names: defaultdict[int, list[str]] = defaultdict(list)
    for concept, text in zip(owners[chosen].tolist(), texts, strict=True):
        names[concept].append(text)
    return dict(names)


def _frequency(outcomes: Sequence[Outcome], resolver: GoldResolver, training: Iterable[Corpus]) -> list[str]:
    counts = Counter(
        row
        for corpus in training
        for _, mention in corpus.mentions()
        for row in resolver.rows(mention.concept_ids)
    )

    def label(outcome: Outcome) -> str:
        if not outcome.gold:
            return _ABSENT
        golds = map(resolver.rows, ([gold_id] for gold_id in outcome.query.mention.concept_ids))
        frequencies = [max(counts[row] for row in gold) for gold in golds if gold]
        count = min(frequencies) if len(outcome.query.parts) > 1 else max(frequencies)
        if count < 3:
            return "1 or 2" if count else "0"
        return "3 to 10" if count <= 10 else "more than 10"

    return [label(outcome) for outcome in outcomes]
