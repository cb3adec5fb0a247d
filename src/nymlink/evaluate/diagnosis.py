"""Why a mention was linked wrongly, as far as it can be told from the ranks and the hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from nymlink.evaluate.gold import GoldResolver
from nymlink.evaluate.outcomes import Outcome
from nymlink.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Mistake:
    """One wrongly linked mention.

    Attributes:
        document_id: its document.
        mention: its surface form.
        query: what was searched; the parts of a composite joined by `` | ``.
        gold: gold ids and names, joined by `` | ``.
        predicted: predicted ids and names, joined by `` | ``.
        matched: the names that matched, joined by `` | ``.
        why: the reason, one of a few phrases.
    """

    document_id: str
    mention: str
    query: str
    gold: str
    predicted: str
    matched: str
    why: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def mistakes(vocabulary: Vocabulary, outcomes: Sequence[Outcome], resolver: GoldResolver) -> list[Mistake]:
    """The outcomes whose first concept is not right, each with the reason."""
    return [_mistake(vocabulary, outcome, resolver) for outcome in outcomes if outcome.concept_rank != 0]


def _mistake(vocabulary: Vocabulary, outcome: Outcome, resolver: GoldResolver) -> Mistake:
    query = outcome.query
    names = {
        gold_id: ", ".join(vocabulary.preferred_name(row) for row in sorted(resolver.rows([gold_id])))
        for gold_id in query.mention.concept_ids
    }
    predicted = [None if first is None else first[0] for first in outcome.predicted]
    matched = [None if first is None else first[1] for first in outcome.predicted]
    return Mistake(
        document_id=query.document_id,
        mention=query.mention.text,
        query=" | ".join(query.parts),
        gold=" | ".join(f"{gold_id} {name}".strip() for gold_id, name in names.items()),
        predicted=" | ".join(
            "nothing" if row is None else f"{vocabulary.concept_id(row)} {vocabulary.preferred_name(row)}"
            for row in predicted
        ),
        matched=" | ".join("" if row is None else vocabulary.name(row).text for row in matched),
        why=_why(vocabulary, outcome),
    )


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
