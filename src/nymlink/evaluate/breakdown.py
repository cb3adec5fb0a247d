"""The figures of a run broken down by what makes a mention hard."""

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
from nymlink.evaluate.gold import GoldResolver
from nymlink.evaluate.metrics import accuracy, as_array
from nymlink.evaluate.outcomes import Outcome
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
    """The mentions that are alike in one respect.

    Attributes:
        group: the respect, one of :data:`LABELS`.
        label: which of its labels.
        n: how many mentions, at least 1.
        acc_1: share of them whose first name is right (by name, lenient).
        acc_5: share of them with a right name among the first five.
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
    """The accuracies of mentions that differ in how hard they are, group after group.

    - Prepared form: whether it is a name of the dictionary; a composite's is where each of its parts is.
    - Concepts of that name, where it is one: whether several share it; a composite's, whether they share any part.
    - Likeness: the Dice coefficient (see :func:`dice`) with that name of the gold concepts that is most like it;
      of a composite the part counts for which that is least.
    - Words of the prepared form, of all parts together.
    - Training mentions: how often the gold concept occurs in ``training``. Of several gold ids the most frequent
      counts, of a composite the rarest. Only where ``training`` is given.

    A label that no mention has is left out.

    Args:
        index: the dictionary: the names of its entries are the names.
        outcomes: the scored mentions.
        resolver: from ids to concepts.
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
    found = []
    for group, known in LABELS.items():
        for label in known if group in labels else ():
            own = ranks[[one == label for one in labels[group]]]
            if len(own):
                found.append(BreakdownRow(group, label, len(own), accuracy(own, 1), accuracy(own, 5)))
    return found


def dice(one: frozenset[str], other: frozenset[str]) -> float:
    """Dice's coefficient of two sets, here of the letter pairs of two names: 2 |A ∩ B| / (|A| + |B|).

    Dice, "Measures of the amount of ecologic association between species" (1945); on letter pairs of words Adamson
    & Boreham, "The use of an association measure based on character structure" (1974). 0 of two empty sets.
    """
    size = len(one) + len(other)
    return 2 * len(one & other) / size if size else 0.0


def letter_pairs(text: str) -> frozenset[str]:
    """The distinct pairs of neighbouring characters, spaces among them."""
    return frozenset(map("".join, pairwise(text)))


def _forms(index: Index, outcomes: Sequence[Outcome]) -> dict[str, Sequence[str | None]]:
    """Whether each prepared form is a name, and if so whether of several concepts (else ``None``)."""
    named = cache(index.named)
    found = [[len(named(part)) for part in outcome.query.prepared] for outcome in outcomes]
    return {
        FORM: [SEEN if all(counts) else UNSEEN for counts in found],
        SHARED: [None if not all(counts) else "one" if max(counts) == 1 else "several" for counts in found],
    }


def _words(parts: Iterable[str]) -> str:
    count = sum(len(part.split()) for part in parts)
    return str(count) if count < 4 else "4 and more"


def _likeness(index: Index, outcomes: Sequence[Outcome]) -> list[str]:
    names = _names(index, sorted({row for outcome in outcomes for row in outcome.gold}))
    pairs = cache(letter_pairs)

    @cache
    def likeness(part: str, gold: frozenset[int]) -> float:
        """Of a part to the most alike name of the gold concepts; infinite where it is one of them."""
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
    """The prepared names of some concepts; a concept without any is not there."""
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
        found = [max(counts[row] for row in gold) for gold in golds if gold]
        count = min(found) if len(outcome.query.parts) > 1 else max(found)
        if count < 3:
            return "1 or 2" if count else "0"
        return "3 to 10" if count <= 10 else "more than 10"

    return [label(outcome) for outcome in outcomes]
