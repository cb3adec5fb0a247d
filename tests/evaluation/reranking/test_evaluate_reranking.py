"""What a re-ranker is worth, with a scorer that is a table: against counting by hand."""

from __future__ import annotations

import pytest

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.evaluation.reranking import RerankingEvaluation, evaluate_reranking
from nymlink.index.index import Index
from nymlink.rerank.reranker import Reranker
from tests.evaluation.words import Words, document, two_of_one_name
from tests.index.small import vocabulary


@pytest.fixture(scope="module")
def index() -> Index:
    return two_of_one_name()


@pytest.fixture
def scorer() -> Words:
    return Words(valve=(1, 0, 0), heart=(0, 1, 0), small=(0, 1, 0))


@pytest.fixture
def corpus() -> Corpus:
    one = document(7, ("valve", "MI", "X:0"), ("heart", "MI", "X:1"), ("small", "MI", "X:0"), ("heart", "MI", ""))
    both = Mention("so", parts=("seizure", "MI"), type="Disease", concept_ids=("X:2", "X:1"))
    others = (
        both,
        Mention("qqqq", type="Disease", concept_ids=("X:1",)),
        Mention("seizure", concept_ids=("Y:1",)),
    )
    return Corpus("test", (one, Document("8", mentions=others)))


def evaluated(
    index: Index, scorer: Words, corpus: Corpus, *, candidates: int = 64, **how: object
) -> RerankingEvaluation:
    reranker = Reranker(scorer, index.vocabulary, candidates=candidates)
    return evaluate_reranking(index, reranker, corpus, **how)  # type: ignore[arg-type]


def test_mentions_are_read_in_their_language(scorer: Words) -> None:
    index = Index.build(vocabulary({"X:1": ["liver failure"], "X:2": ["hepatic fissure"]}), encoder=None)
    corpus = Corpus("test", (Document("1", mentions=(Mention("hepatic failure", concept_ids=("X:1",)),)),))
    ranks = {
        code: evaluated(index, scorer, corpus, language=code).mentions[0].before for code in (None, "en", "ja")
    }
    assert ranks == {None: 0, "en": 0, "ja": 1}


def test_mentions_are_ranked_before_and_after(index: Index, scorer: Words, corpus: Corpus) -> None:
    found = evaluated(index, scorer, corpus)
    # The fourth has no gold id. A composite one and one without context stay as they are.
    assert [(one.before, one.after) for one in found.mentions] == [
        (0, 0),
        (1, 0),
        (0, 1),
        (1, 1),
        (None, None),
        (None, None),
    ]
    assert [one.ambiguous for one in found.mentions] == [True] * 4 + [False] * 2
    assert [one.first_before for one in found.mentions] == [("X:0",)] * 3 + [("X:2", "X:0"), (None,), ("X:2",)]
    assert [one.mention.start for one in found.changed] == [17, 28]
    assert [one.first_after for one in found.changed] == [("X:1",)] * 2
    assert found.changed[0].sentence == "valve MI . heart MI . small MI . heart MI ."


def test_figures_are_those_of_groups(index: Index, scorer: Words, corpus: Corpus) -> None:
    found = evaluated(index, scorer, corpus)
    assert list(found.figures) == ["all", "ambiguous"]
    one = found.figures["all"]
    assert (one.n, one.before, one.after, one.recall) == (6, (2 / 6, 4 / 6), (2 / 6, 4 / 6), 4 / 6)
    assert found.figures["ambiguous"].n == 4
    assert (found.test.only_first, found.test.only_second, found.test.p_value) == (1, 1, 1)
    training = Corpus("train", (document(1, ("valve", "MI", "X:0")), Document("2", mentions=(Mention("a"),))))
    seen = evaluated(index, scorer, corpus, training=[training])
    assert [one.seen for one in seen.mentions] == [True, False, True, False, False, False]
    assert {name: group.n for name, group in seen.figures.items()} == {
        "all": 6,
        "ambiguous": 4,
        "seen": 2,
        "unseen": 4,
    }
    assert seen.to_dict()["figures"]["seen"] == {
        "n": 2,
        "before@1": 1,
        "before@5": 1,
        "after@1": 0.5,
        "after@5": 1,
        "recall": 1,
    }


def test_what_was_seen_is_a_concept_however_its_id_is_written(index: Index, scorer: Words, corpus: Corpus) -> None:
    unknown = Mention("a", concept_ids=("Y:1",))
    training = Corpus("train", (document(1, ("valve", "MI", "0")), Document("2", mentions=(unknown,))))
    found = evaluated(index, scorer, corpus, training=[training])
    assert [one.seen for one in found.mentions] == [True, False, True, False, False, True]
    with pytest.raises(InputError, match="no mention of the training corpora has a gold id"):
        evaluated(index, scorer, corpus, training=[Corpus("train", (Document("3"),))])


def test_only_what_is_asked_for_counts(index: Index, scorer: Words, corpus: Corpus) -> None:
    found = evaluated(index, scorer, corpus, types={"Disease"})
    assert [one.mention.text for one in found.mentions] == ["MI", "MI", "MI", "so", "qqqq"]
    alone = evaluated(index, scorer, corpus, candidates=1)
    assert alone.changed == []
    assert alone.figures["all"].recall == alone.figures["all"].before[0] == 2 / 6
    with pytest.raises(InputError, match="no mention has a gold id that the index has"):
        evaluated(index, scorer, corpus, types={"Gene"})
