"""Reasons why mentions were linked wrongly, from their ranks and the hierarchy."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from nymlink.corpus.model import Corpus, Mention
from nymlink.evaluation.gold import GoldResolver
from nymlink.evaluation.outcomes import Outcome
from nymlink.vocabulary.vocabulary import Vocabulary

_NAMES: Final = 10
"""The largest number of names shown of a concept."""

_BREAK: Final = re.compile(r"(?<=[.!?])\s+(?=[^\sa-z])|\n+")
"""A break between sentences, in nearly all cases."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One wrongly linked mention.

    Attributes:
        document_id: its document.
        mention: its surface form.
        query: what was searched; the parts of a composite joined by `` | ``.
        gold: gold ids and preferred names, joined by `` | ``.
        gold_names: the first ten names of each of these, joined by ``; ``.
        predicted: predicted ids and preferred names, joined by `` | ``.
        predicted_names: the first ten names of each of these, joined by ``; ``.
        matched: the names that matched, joined by `` | ``.
        why: the reason, one of a few phrases.
        context: the sentence of the mention, where the corpus has it.
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
        vocabulary: the vocabulary linked to.
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


def sample_mistakes(mistakes: Sequence[Mistake], count: int | None, *, seed: int) -> list[Mistake]:
    """Draw at most ``count`` mistakes at random, in their order; all if ``count`` is ``None``."""
    if count is None or count >= len(mistakes):
        return list(mistakes)
    places = random.Random(seed).sample(range(len(mistakes)), count)
    return [mistakes[place] for place in sorted(places)]


def concept_label(vocabulary: Vocabulary, concept_id: str, rows: Iterable[int]) -> str:
    """Write an id with the preferred names of its concepts."""
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
        gold_names=" | ".join(_names(vocabulary, rows) for rows in golds.values()),
        predicted=" | ".join(
            "nothing" if row is None else concept_label(vocabulary, vocabulary.concept_id(row), [row])
            for row in predicted
        ),
        predicted_names=" | ".join(_names(vocabulary, [] if row is None else [row]) for row in predicted),
        matched=" | ".join("" if row is None else vocabulary.name(row).text for row in matched),
        why=_why(vocabulary, outcome),
        context=sentence(text, query.mention),
    )


def _names(vocabulary: Vocabulary, rows: Sequence[int]) -> str:
    """Write the first names of some concepts; names that differ only in source or language are written once."""
    names = vocabulary.columns.names["text"]
    shown = []
    for row in rows:
        start, end = vocabulary.columns.name_offsets[row : row + 2].tolist()
        shown += list(dict.fromkeys(names.slice(start, end - start).to_pylist()))[:_NAMES]
    return "; ".join(shown)


def sentence(text: str, mention: Mention) -> str:
    """Return the sentence around a mention on one line; the whole text where the offsets are not known."""
    start, end = (0, len(text)) if mention.start is None or mention.end is None else (mention.start, mention.end)
    breaks = [match.span() for match in _BREAK.finditer(text)]
    left = max((after for _, after in breaks if after <= start), default=0)
    right = min((before for before, _ in breaks if before >= end), default=len(text))
    return " ".join(text[left:right].split())


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
