"""Fitting what counts beside the context, with a scorer that is a table: against linking with what was fitted."""

from __future__ import annotations

import pytest

from nymlink.core.errors import InputError
from nymlink.corpus.model import Corpus, Document, Mention
from nymlink.evaluation.reranking.fit_reranking import RerankingFit, fit_reranking
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.rerank.log_linear import EvidenceWeights
from nymlink.rerank.reranker import Reranker
from tests.evaluation.words import Words, document, two_of_one_name


@pytest.fixture(scope="module")
def index() -> Index:
    return two_of_one_name()


def linked(index: Index, reranker: Reranker, corpus: Corpus) -> float:
    """Acc@1, by linking."""
    found = [link for one in corpus.documents for link in Linker(index, rerank=reranker).link(one)]
    judged = [link for link in found if link.mention.concept_ids]
    return sum(
        link.candidates[:1] != () and link.candidates[0].concept_id in link.mention.concept_ids for link in judged
    ) / len(judged)


def fitted(index: Index, scorer: Words, corpus: Corpus) -> RerankingFit:
    found = fit_reranking(index, Reranker(scorer, index.vocabulary), corpus)
    assert scorer.scored == sum(1 for _ in corpus.mentions())
    for name, weights in (
        ("context", EvidenceWeights(context=found.weights.context)),
        ("context, retrieval, document", found.weights),
    ):
        again = linked(index, Reranker(scorer, index.vocabulary, weights=weights), corpus)
        assert found.figures[name] == again
    return found


def test_where_the_context_is_right_nothing_else_counts(index: Index) -> None:
    scorer = Words(valve=(1, 0, 0), heart=(0, 1, 0))
    corpus = Corpus("dev", (document(1, ("valve", "MI", "X:0"), ("heart", "MI", "X:1")),))
    found = fitted(index, scorer, corpus)
    assert (found.weights.retrieval, found.weights.document) == (0, 0)
    assert found.figures == {
        "retrieval": 0.5,
        "context": 1,
        "context, retrieval": 1,
        "context, document": 1,
        "context, retrieval, document": 1,
    }
    assert (found.mentions, found.recall) == (2, 1)


def test_what_the_document_says_is_used_where_it_helps(index: Index) -> None:
    scorer = Words(heart=(0, 4, 0), small=(0.5, 0, 0), valve=(4, 0, 0), large=(0, 0.5, 0))
    documents = [
        document(1, ("heart", "MI", "X:1"), ("small", "MI", "X:1")),
        document(2, ("valve", "MI", "X:0"), ("large", "MI", "X:0")),
    ]
    found = fitted(index, scorer, Corpus("dev", tuple(documents)))
    assert found.weights.document > 0 == found.weights.retrieval
    assert (found.figures["context"], found.figures["context, retrieval"]) == (0.5, 0.5)
    assert found.figures["context, document"] == 1


def test_what_the_index_says_is_used_where_it_helps(index: Index) -> None:
    scorer = Words(small=(0.5, 0, 0), valve=(1, 0, 0))
    said = ("small", "myocardial infarction", "X:1"), ("valve", "mitral insufficiency", "X:0")
    found = fitted(index, scorer, Corpus("dev", (document(1, *said),)))
    assert found.weights.retrieval > 0 == found.weights.document
    assert (found.figures["retrieval"], found.figures["context"], found.figures["context, retrieval"]) == (
        1,
        0.5,
        1,
    )


def test_what_cannot_be_right_is_wrong(index: Index) -> None:
    scorer = Words(a=(0, 1, 0))
    said = ("a", "MI", "X:1"), ("a", "MI", "X:2"), ("a", "MI", "Y:1"), ("a", "qqqq", "X:1"), ("a", "MI", "")
    one = document(1, *said)
    both = Mention("so", parts=("seizure", "seizure"), type="Disease", concept_ids=("X:2",))
    half = Mention("so", parts=("seizure", "qqqq"), type="Disease", concept_ids=("X:2",))
    gene = Mention("seizure", type="Gene", concept_ids=("X:2",))
    given = Corpus(
        "dev", (Document("1", one.text, (*one.mentions, both, half, gene)), Document("2"), Document("3", "Text."))
    )
    found = fit_reranking(index, Reranker(scorer, index.vocabulary), given, types={"Disease"})
    assert found.mentions == 6
    assert found.recall == pytest.approx(3 / 6)
    assert found.figures["context"] == pytest.approx(2 / 6)
    assert found.figures["retrieval"] == pytest.approx(1 / 6)


@pytest.mark.parametrize("gold", ["Y:1", ""])
def test_nothing_to_be_right_is_said(index: Index, gold: str) -> None:
    with pytest.raises(InputError, match="no mention has a gold id that the index has"):
        fit_reranking(
            index, Reranker(Words(a=(0, 1, 0)), index.vocabulary), Corpus("dev", (document(1, ("a", "MI", gold)),))
        )


def test_a_corpus_without_texts_is_said(index: Index) -> None:
    """By it any weight of the context would be as good as any other."""
    listed = Document("1", mentions=(Mention("MI", concept_ids=("X:1",)),))
    with pytest.raises(InputError, match="no mention with a right candidate has a context"):
        fit_reranking(index, Reranker(Words(a=(0, 1, 0)), index.vocabulary), Corpus("dev", (listed,)))


def test_nothing_to_put_in_order_is_said(index: Index) -> None:
    with pytest.raises(InputError, match="no mention of the corpus has a candidate"):
        fit_reranking(
            index, Reranker(Words(), index.vocabulary), Corpus("dev", (document(1, ("a", "qqqq", "X:1")),))
        )
