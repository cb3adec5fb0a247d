"""A re-ranker goes by the probability that the ranker of the index gives, where it has one."""

from __future__ import annotations

import math

import pytest

from nymlink.corpus.model import Document, Mention
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.rerank.folder import score_settings
from nymlink.rerank.log_linear import EvidenceWeights
from nymlink.rerank.reranker import Reranker
from tests.index.small import vocabulary
from tests.rank.toy import ranked
from tests.rerank.test_consistency import Told

INDEX = Index.build(
    vocabulary({"X:0": ["mitral insufficiency"], "X:1": ["mitral valve insufficiency"]}), encoder=None
)
RULES = {"place": (0.5, 0, 2)}
"""The second of the index is e² times as probable as the first."""

TEXT = "A mitral insufficiency of the valve."
DOCUMENT = Document("1", TEXT, (Mention("mitral insufficiency of the valve", 2, 35),))


def first(index: Index, *, retrieval: float, context: tuple[float, float]) -> str:
    links = Linker(index, top_k=5).link(DOCUMENT)
    reranker = Reranker(Told(*context), index.vocabulary, weights=EvidenceWeights(retrieval=retrieval))
    [found] = reranker.rerank(DOCUMENT, links)
    return found.candidates[0].concept_id


def test_the_logarithm_of_the_probability_is_the_score_of_retrieval() -> None:
    index = ranked(INDEX, RULES)
    [link] = Linker(index, top_k=5).link(DOCUMENT)
    one, other = link.candidates
    chances = [candidate.parts["ranked"] for candidate in (one, other)]
    assert math.log(chances[0] / chances[1]) == pytest.approx(2, abs=1e-3)
    gap = math.log(0.001 + chances[0]) - math.log(0.001 + chances[1])
    # The context says the contrary, by 1.
    context = (0.0, 1.0) if other.concept_id == "X:1" else (1.0, 0.0)
    for weight, expected in ((0.9 / gap, other), (1.1 / gap, one)):
        assert first(index, retrieval=weight, context=context) == expected.concept_id


def test_without_a_ranker_it_is_the_score_of_the_index() -> None:
    [link] = Linker(INDEX, top_k=5).link(DOCUMENT)
    one, other = link.candidates
    gap = one.score - other.score
    context = (0.0, 1.0) if other.concept_id == "X:1" else (1.0, 0.0)
    for weight, expected in ((0.9 / gap, other), (1.1 / gap, one)):
        assert first(INDEX, retrieval=weight, context=context) == expected.concept_id


def test_weights_are_of_one_ranker() -> None:
    assert score_settings(INDEX)["ranker"] is None
    assert score_settings(ranked(INDEX, RULES)) == score_settings(INDEX) | {"ranker": "made by hand"}
