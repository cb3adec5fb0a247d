"""Evaluation measures the links that a linker gives."""

from __future__ import annotations

import pytest

from nymlink.annotation.annotator import Annotator
from nymlink.annotation.annotator_settings import GIVEN_DETECTOR, AnnotatorSettings
from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.evaluation.annotation import evaluate_annotation
from nymlink.evaluation.evaluation import evaluate
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

NAMES = {
    "G:1": ["THOC7", "AKT", "tho complex 7"],
    "G:2": ["AKT serine kinase", "AKT", "protein kinase B"],
    "G:3": ["ESR1", "estrogen receptor", "ER"],
    "C:1": ["endoplasmic reticulum", "ER"],
    "D:1": ["heart attack", "myocardial infarction"],
    "D:2": ["heart failure"],
}

TEXTS = [
    ("protein kinase B is active, and AKT too", {"AKT": "G:2"}),
    ("AKT binds the tho complex 7", {"AKT": "G:1"}),
    ("AKT is active", {"AKT": "G:1"}),
    ("ER stress of the endoplasmic reticulum", {"ER": "C:1", "endoplasmic reticulum": "C:1"}),
    ("ESR1 is high, and ER is seen", {"ER": "G:3", "ESR1": "G:3"}),
    ("a heart attak, then heart failures", {"heart attak": "D:1", "heart failures": "D:2"}),
]


@pytest.fixture(scope="module")
def index() -> Index:
    builder = TableBuilder()
    for concept_id, names in NAMES.items():
        builder.concept(concept_id, semantic_types=["gene"])
        for place, name in enumerate(names):
            builder.name(concept_id, name, lang="en", kind="exact" if place else "preferred")
    return Index.build(Vocabulary.of((Source("names", "test"), builder.build())), encoder=None)


def corpus(*, of_type: str = "") -> Corpus:
    documents = []
    for number, (text, golds) in enumerate(TEXTS):
        mentions = tuple(
            Mention(said, text.index(said), text.index(said) + len(said), of_type, (gold,))
            for said, gold in golds.items()
        )
        documents.append(Document(str(number), text, mentions))
    return Corpus("texts", tuple(documents))


@pytest.mark.parametrize("top_k", [1, 5, 12])
def test_the_first_concepts_are_those_of_the_links(index: Index, top_k: int) -> None:
    linker = Linker(index, top_k=top_k)
    given = corpus()
    linked = [
        index.vocabulary.row(link.candidates[0].concept_id)
        for links in linker.link_documents(given.documents)
        for link in links
    ]
    measured = [outcome.predicted[0] for outcome in evaluate(linker, given).outcomes]
    assert [first and first[0] for first in measured] == linked


def test_a_tie_that_the_document_settles_counts_as_right(index: Index) -> None:
    text = "protein kinase B is active, and AKT too"
    start = text.index("AKT")
    document = Document("1", text, (Mention("AKT", start, start + 3, "", ("G:2",)),))
    assert Linker(index).link(document)[0].best.concept_id == "G:2"  # type: ignore[union-attr]
    assert evaluate(index, Corpus("one", (document,))).figures["concept_acc@1"] == 1
    # The text says nothing of the published queries.
    published = evaluate(index, Corpus("one", (document,)), as_published=True)
    assert published.figures["concept_acc@1"] == 0


def test_mentions_that_do_not_count_settle_ties_too(index: Index) -> None:
    text = "thoc7 activates AKT"
    mentions = (Mention("thoc7", 0, 5, "other", ("G:1",)), Mention("AKT", 16, 19, "gene", ("G:1",)))
    document = Document("1", text, mentions)
    evaluation = evaluate(index, Corpus("one", (document,)), types=["gene"])
    [link] = [link for link in Linker(index).link(document) if link.mention.type == "gene"]
    assert link.settled
    assert evaluation.figures["concept_acc@1"] == 1


def test_annotation_is_measured_as_it_links(index: Index) -> None:
    given, annotator = corpus(), Annotator(index)
    found = {
        (document.id, link.mention.start, link.mention.end): link.candidates[0].concept_id
        for document, links in annotator.annotate_documents(given.documents)
        for link in links
    }
    right = sum(
        found.get((document.id, mention.start, mention.end)) == mention.concept_ids[0]
        for document in given.documents
        for mention in document.mentions
    )
    assert 0 < right == evaluate_annotation(annotator, given).exact_mentions.recovered


def test_given_mentions_are_annotated_as_they_are_linked(index: Index) -> None:
    documents = corpus().documents
    annotator = Annotator(index, AnnotatorSettings(detector=GIVEN_DETECTOR, min_confidence=0.0))
    annotated = [links for _, links in annotator.annotate_documents(documents)]
    linked = Linker(index, language="en").link_documents(documents)
    for own, links in zip(annotated, linked, strict=True):
        assert [link.candidates for link in own] == [link.candidates for link in links]
