"""Accuracy broken down by what makes a mention hard."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pyarrow as pa

from nymlink.corpus.model import Corpus
from nymlink.evaluation.gold import GoldResolver
from nymlink.evaluation.metrics import accuracy, as_array
from nymlink.evaluation.outcomes import Outcome
from nymlink.index.index import Index
from nymlink.vocabulary.keys import normalise_all

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
"""The groups and their labels, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class BreakdownRow:
    """The accuracies of one group of mentions.

    Attributes:
        group: the property that mentions are grouped by, a key of :data:`LABELS`.
        label: the value that these mentions have, one of its labels.
        n: the number of mentions, at least 1.
        acc_1: share of the mentions whose first name is right (by name, lenient).
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
    """Compute the accuracies of groups of mentions that differ in how hard they are.

    - Prepared form: whether it is a name of the dictionary; for a composite, whether each part is.
    - Concepts of that name, where it is one: one or several; for a composite, the largest number of any part.
    - Likeness: the Dice coefficient (see :func:`dice`) with the most similar name of the gold concepts; for a
      composite, the least of its parts.
    - Words: the number of words of the prepared form, of all parts together.
    - Training mentions: how often the gold concept occurs in ``training``; the most frequent of several gold ids,
      for a composite the rarest. Only where ``training`` is given.

    A label that no mention has is left out.

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
    """Compute Dice's coefficient of two sets, here of letter pairs of two names: 2 |A ∩ B| / (|A| + |B|).

    Dice, "Measures of the amount of ecologic association between species" (1945); on letter pairs of words Adamson
    & Boreham, "The use of an association measure based on character structure" (1974). It is 0 for two empty sets.
    """
    size = len(left) + len(right)
    return 2 * len(left & right) / size if size else 0.0


def letter_pairs(text: str) -> frozenset[str]:
    """Return the distinct pairs of neighbouring characters, spaces included."""
    return frozenset(map("".join, pairwise(text)))


def _forms(index: Index, outcomes: Sequence[Outcome]) -> dict[str, Sequence[str | None]]:
    """Label each mention by whether its form is a name, and if so by whether several concepts share it."""
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
        """Return the Dice coefficient with the most similar gold name; infinite where they are equal."""
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
    """Return concept row → prepared names; concepts without names are left out."""
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
