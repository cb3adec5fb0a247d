"""Learning the order of a re-ranker, with a scorer that is a table: against linking with what was learned."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.evaluation.reranking import evaluate_reranking
from nymlink.index.index import Index
from nymlink.rerank.reranker import Reranker
from nymlink.train.ranking.boosting import BoostingSettings
from nymlink.train.ranking.fit_reranking import RerankingFit, fit_reranking
from tests.evaluation.words import Words, document, two_of_one_name

SETTINGS = BoostingSettings(trees=20, depth=2, questions=1, features=1)
Said = tuple[str, str, str]


@pytest.fixture(scope="module")
def index() -> Index:
    return two_of_one_name()


def corpus(*kinds: tuple[Said, ...], each: int = 40) -> Corpus:
    """Documents of some kinds, all of one kind one after the other, so that both halves have each."""
    said = [kind for kind in kinds for _ in range(each)]
    return Corpus("dev", tuple(document(number, *one) for number, one in enumerate(said)))


def fitted(index: Index, scorer: Words, given: Corpus) -> RerankingFit:
    """Fit, and compare what is said of index and context with linking."""
    found = fit_reranking(index, Reranker(scorer, index.vocabulary), given, settings=SETTINGS)
    assert scorer.scored == sum(1 for _ in given.mentions())
    alone = evaluate_reranking(index, Reranker(scorer, index.vocabulary), given).figures["all"]
    assert (alone.before[0], alone.after[0]) == (found.figures["index"], found.figures["context"])
    assert alone.recall == found.recall
    ordered = Reranker(scorer, index.vocabulary, order=found.order)
    # What is the same in all documents of a kind is learned from either half.
    assert evaluate_reranking(index, ordered, given).figures["all"].after[0] == found.figures["all evidence"]
    return found


def test_where_the_context_is_right_it_is_followed(index: Index) -> None:
    scorer = Words(valve=(1, 0, 0), heart=(0, 1, 0))
    found = fitted(index, scorer, corpus((("valve", "MI", "X:0"), ("heart", "MI", "X:1")), each=60))
    assert found.figures == {"index": 0.5, "context": 1, "all evidence": 1}
    assert (found.mentions, found.recall, found.order.learned_from) == (120, 1, "120 mentions")


def test_what_the_index_says_is_used_where_it_helps(index: Index) -> None:
    scorer = Words(small=(0.5, 0, 0), valve=(1, 0, 0))
    said = ("small", "myocardial infarction", "X:1"), ("valve", "mitral insufficiency", "X:0")
    found = fitted(index, scorer, corpus(said, each=60))
    assert found.figures == {"index": 1, "context": 0.5, "all evidence": 1}


def test_what_cannot_be_right_is_wrong(index: Index) -> None:
    scorer = Words(a=(0, 1, 0))
    told = corpus((("a", "MI", "X:1"), ("a", "MI", "X:2"), ("a", "MI", "Y:1"), ("a", "qqqq", "X:1")), each=110)
    # A composite mention is wrong where a part of it is; what has another type, or no gold id, does not count.
    both = Mention("so", parts=("seizure", "seizure"), type="Disease", concept_ids=("X:2",))
    half = Mention("so", parts=("seizure", "qqqq"), type="Disease", concept_ids=("X:2",))
    gene = Mention("seizure", type="Gene", concept_ids=("X:2",))
    others = both, half, gene, Mention("MI", type="Disease")
    first, *rest = told.documents
    given = replace(
        told, documents=(replace(first, mentions=(*first.mentions, *others)), *rest, Document("x", "T."))
    )
    found = fit_reranking(index, Reranker(scorer, index.vocabulary), given, types={"Disease"}, settings=SETTINGS)
    assert found.mentions == 4 * 110 + 2
    assert found.recall == pytest.approx((2 * 110 + 1) / 442)
    assert found.figures["context"] == pytest.approx((110 + 1) / 442)
    assert found.figures["index"] == pytest.approx(1 / 442)


def test_the_same_mentions_give_the_same_order(index: Index) -> None:
    scorer = Words(valve=(1, 0, 0), heart=(0, 1, 0))
    given = corpus((("valve", "MI", "X:0"), ("heart", "MI", "X:1")), each=30)
    one, other = (fit_reranking(index, Reranker(scorer, index.vocabulary), given).order for _ in range(2))
    assert one.to_dict() == other.to_dict()
    assert len(one.trees.values) == BoostingSettings().trees


@pytest.mark.parametrize("gold", ["Y:1", ""])
def test_nothing_to_be_right_is_said(index: Index, gold: str) -> None:
    with pytest.raises(InputError, match="no mention has a gold id that the index has"):
        fit_reranking(
            index, Reranker(Words(a=(0, 1, 0)), index.vocabulary), Corpus("dev", (document(1, ("a", "MI", gold)),))
        )


def test_a_corpus_without_texts_is_said(index: Index) -> None:
    listed = tuple(Document(str(at), mentions=(Mention("MI", concept_ids=("X:1",)),)) for at in range(200))
    with pytest.raises(
        InputError, match="0 mentions with a right candidate and a context are too few: it takes 50"
    ):
        fit_reranking(index, Reranker(Words(a=(0, 1, 0)), index.vocabulary), Corpus("dev", listed))


def test_one_document_is_not_enough_to_measure(index: Index) -> None:
    given = Corpus("dev", (document(1, *[("a", "MI", "X:1")] * 100),))
    with pytest.raises(InputError, match="in one half of the documents"):
        fit_reranking(index, Reranker(Words(a=(0, 1, 0)), index.vocabulary), given)


def test_nothing_to_put_in_order_is_said(index: Index) -> None:
    with pytest.raises(InputError, match="no mention of the corpus has a candidate"):
        fit_reranking(
            index, Reranker(Words(), index.vocabulary), Corpus("dev", (document(1, ("a", "qqqq", "X:1")),))
        )
