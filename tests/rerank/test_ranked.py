"""A re-ranker goes by the probability that the ranker of the index gives, where it has one."""

from __future__ import annotations

import math
from functools import cache

import pytest

from nymlink.corpus.documents import Document, Mention
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.rerank.folder import score_settings
from nymlink.rerank.reranker import Reranker
from tests.index.small import vocabulary
from tests.rank.toy import ranked
from tests.rerank.orders import Rules, order
from tests.rerank.test_consistency import Told


@cache
def built_index() -> Index:
    return Index.build(
        vocabulary({"X:0": ["mitral insufficiency"], "X:1": ["mitral valve insufficiency"]}), encoder=None
    ).with_ranker(None)


RULES = {"place": (0.5, 0, 2)}
"""The second of the index is e² times as probable as the first."""

TEXT = "A mitral insufficiency of the valve."
DOCUMENT = Document("1", TEXT, (Mention("mitral insufficiency of the valve", 2, 35),))


def first(index: Index, rules: Rules) -> str:
    links = Linker(index, top_k=5).link(DOCUMENT)
    [found] = Reranker(Told(0.0, 0.0), index.vocabulary, order=order(rules)).rerank(DOCUMENT, links)
    return found.candidates[0].concept_id


def test_the_logarithm_of_the_probability_is_evidence() -> None:
    index = ranked(built_index(), RULES)
    [link] = Linker(index, top_k=5).link(DOCUMENT)
    one, other = link.candidates
    gap = math.log(0.001 + one.parts["ranked"]) - math.log(0.001 + other.parts["ranked"])
    assert gap == pytest.approx(2, abs=0.1)
    # It is what the order begins with, so that trees have to outweigh it,
    assert first(index, {"place": (0, 0, gap - 0.01)}) == one.concept_id
    assert first(index, {"place": (0, 0, gap + 0.01)}) == other.concept_id
    # and what they may ask for.
    assert first(index, {"ahead_ranked": (gap - 0.01, 9, 0)}) == other.concept_id
    assert first(index, {"ahead_ranked": (gap + 0.01, 9, 0)}) == one.concept_id


def test_without_a_ranker_it_is_missing() -> None:
    [link] = Linker(built_index(), top_k=5).link(DOCUMENT)
    one, other = link.candidates
    assert first(built_index(), {"ranked": (-100, 0, 1), "place": (0, 0, 0.5)}) == other.concept_id
    assert first(built_index(), {"behind_score": (-0.001, 0, 1), "place": (0, 0, 0.5)}) == one.concept_id


def test_an_order_is_of_one_ranker() -> None:
    assert score_settings(built_index())["ranker"] is None
    assert score_settings(ranked(built_index(), RULES)) == score_settings(built_index()) | {
        "ranker": "made by hand"
    }
