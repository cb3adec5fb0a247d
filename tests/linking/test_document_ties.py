"""A name of several concepts means the one that its document calls by another name."""

from __future__ import annotations

from functools import cache
from math import log, sqrt

import pytest

from nymlink.corpus.documents import Document, Mention
from nymlink.index.index import Index
from nymlink.linking import ties
from nymlink.linking.link import Link
from nymlink.linking.linker import Linker
from nymlink.text.normalise import normalise
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

NAMES = {
    "G:1": ("gene", ["AKT1", "AKT", "RAC", "protein kinase B alpha"]),
    "G:2": ("gene", ["AKT2"]),
    "F:1": ("protein family", ["AKT", "AKT family", "Akt kinases"]),
    "G:3": ("gene", ["ESR1", "estrogen receptor", "ER"]),
    "G:4": ("gene", ["EREG", "ER", "REST"]),
    "C:1": ("cellular component", ["endoplasmic reticulum", "ER"]),
}


def vocabulary() -> Vocabulary:
    builder = TableBuilder()
    for concept_id, (semantic_type, names) in NAMES.items():
        builder.concept(concept_id, semantic_types=[semantic_type])
        for place, name in enumerate(names):
            builder.name(concept_id, name, lang="en", kind="exact" if place else "preferred")
    return Vocabulary.of((Source("names", "test"), builder.build()))


@cache
def built_linker() -> Linker:
    return Linker(Index.build(vocabulary(), encoder=None))


def link_last(text: str, mention: str, *others: str) -> Link:
    """Link the last occurrence of a mention in a text, beside the first of other mentions."""
    places = [(text.rindex(mention), mention), *((text.index(other), other) for other in others)]
    mentions = tuple(Mention(said, start, start + len(said)) for start, said in places)
    return built_linker().link(Document("1", text, mentions))[0]


@pytest.mark.parametrize(
    ("text", "mention", "concept_id"),
    [
        ("The estrogen receptor (ER) was seen. ER was lost.", "ER", "G:3"),
        ("Stress of the endoplasmic reticulum (ER) was seen. ER was lost.", "ER", "C:1"),
        ("ER stress was seen. The endoplasmic reticulum swells.", "ER", "C:1"),
        ("ESR1 is high, and ER is seen.", "ER", "G:3"),
        ("The AKT family has three members. AKT is active.", "AKT", "F:1"),
        ("AKT1 was mutated. AKT is active.", "AKT", "G:1"),
        ("Protein kinase B alpha: AKT is active.", "AKT", "G:1"),
    ],
)
def test_the_document_settles_it(text: str, mention: str, concept_id: str) -> None:
    link = link_last(text, mention)
    assert link.candidates[0].concept_id == concept_id
    assert len(link.candidates) == 1
    assert link.tied == 1 or "settled by the document" in link.notes


def test_another_mention_settles_it() -> None:
    # No name is written so.
    assert link_last("The mutant AKT-1 was seen; AKT is active.", "AKT", "AKT-1").candidates[0].concept_id == "G:1"


@pytest.mark.parametrize(
    "text",
    [
        "AKT is active.",
        "AKT1 and AKT2 were seen, and AKT is active.",
        "AKT1 of the AKT family: AKT is active.",
    ],
    ids=["nothing else", "other members", "both"],
)
def test_what_speaks_for_none_or_for_several_settles_nothing(text: str) -> None:
    link = link_last(text, "AKT")
    assert (link.candidates[0].concept_id, link.settled, link.tied) == ("F:1", False, 2)


@pytest.mark.parametrize(
    ("text", "mention", "concept_id"),
    [
        ("Estrogen raises ER.", "ER", "G:3"),
        ("ER stress: its reticulum swells.", "ER", "C:1"),
    ],
)
def test_words_of_other_names_settle_it(text: str, mention: str, concept_id: str) -> None:
    link = link_last(text, mention)
    assert (link.candidates[0].concept_id, link.settled) == (concept_id, True)


def test_words_of_two_concepts_settle_nothing() -> None:
    assert not link_last("Estrogen and the reticulum raise ER.", "ER").settled


def test_words_do_not_put_a_synonym_before_a_preferred_name() -> None:
    assert not link_last("AKT is a protein: the alpha form.", "AKT").settled


def test_shared_words_are_weighed_like_one_by_one() -> None:
    index = built_linker().index
    text, names = "A kinase B of protein and alpha", ["protein kinase B alpha", "Akt kinases", "RAC"]
    occurrences = [word for text in index.entries.texts.to_pylist() for word in text.split(" ")]
    best = 0.0
    for name in names:
        words = {word for word in normalise(name).split(" ") if word != "akt"}
        if len(name.split(" ")) > 1:
            shared = [word for word in words if len(word) > 1 and word in normalise(text).split(" ")]
            rarities = [log((len(index.entries) + 1) / max(occurrences.count(word), 1)) for word in shared]
            best = max(best, sum(rarities) / sqrt(1 + len(words)))
    assert ties._shared(ties._Text(text), names, "akt", index) == pytest.approx(best, rel=1e-5)


def test_ordinary_words_are_no_names_in_capitals() -> None:
    link = link_last("The rest was seen, and ER is active.", "ER")
    assert not link.settled


def test_the_confidence_stays_that_of_a_tie() -> None:
    from tests.linking.toy import CALIBRATION

    linker = Linker(built_linker().index.with_calibration(CALIBRATION.to_dict()))
    alone, settled = (
        linker.link(Document("1", text, (Mention("AKT", 0, 3),)))[0]
        for text in ("AKT is active.", "AKT is active, as AKT1 is.")
    )
    assert settled.settled
    assert settled.confidence == alone.confidence


def test_mentions_of_a_list_are_of_no_document() -> None:
    _, link = built_linker().link(["AKT1", "AKT"])
    assert not link.settled


def test_there_are_as_many_candidates_as_asked_for() -> None:
    linker = Linker(built_linker().index, top_k=2)
    [link] = linker.link(Document("1", "ER and ESR1", (Mention("ER", 0, 2),)))
    assert link.candidates[0].concept_id == "G:3"
    assert len(link.candidates) == 2
    assert link.tied == 3
