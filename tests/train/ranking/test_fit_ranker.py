"""A ranker fitted to an index, measured on questions that it did not learn from."""

from __future__ import annotations

import random
from functools import cache

import pytest

from nymlink.core.errors import InputError
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.rank.ranker import Ranking
from nymlink.rank.retrieval import Question
from nymlink.train.ranking.boosting import BoostingSettings
from nymlink.train.ranking.fit_ranker import RankerFit, fit_ranker
from nymlink.train.ranking.labelled import LabelledQuestions
from nymlink.train.ranking.left_out import left_out_questions
from tests.index.small import many_names, vocabulary

TEXTS = many_names(300, seed=8)
CONCEPTS = {f"X:{number}": [TEXTS[number], f"{TEXTS[number]} disease"] for number in range(150)}
# Siblings with a word more, which is never meant.
CONCEPTS |= {f"Y:{number}": [f"{TEXTS[number]} disease other"] for number in range(150)}


@cache
def built_index() -> Index:
    return Index.build(vocabulary(CONCEPTS), encoder=None)


SETTINGS = BoostingSettings(trees=20, depth=3, rate=0.3)


def asked(count: int, *, seed: int) -> LabelledQuestions:
    """Names with "other" in the wrong place: the index finds the sibling, which is not meant."""
    draw = random.Random(seed)
    drawn = [draw.randrange(150) for _ in range(count)]
    rows = [built_index().vocabulary.row(f"X:{number}") for number in drawn]
    questions = [Question(f"other {TEXTS[number]} disease") for number in drawn]
    return LabelledQuestions.of(built_index(), questions, [frozenset({row}) for row in rows if row is not None])


@pytest.fixture(scope="module")
def fitted() -> RankerFit:
    return fit_ranker(
        {"of siblings": asked(400, seed=0), "left out": left_out_questions(built_index(), 120)}, SETTINGS
    )


def test_more_first_candidates_are_right_of_questions_held_out(fitted: RankerFit) -> None:
    assert fitted.before["of siblings"] < 0.3
    assert fitted.after["of siblings"] > 0.9
    assert fitted.counts == {"of siblings": 400, "left out": 120}
    assert fitted.ranker.learned_from == "400 of siblings; 120 left out"


def test_an_index_with_it_puts_them_in_that_order(fitted: RankerFit) -> None:
    index = built_index().with_ranker(fitted.ranker.to_dict())
    right = {}
    for name, each in (("plain", built_index()), ("ranked", index)):
        links = Linker(each).link([f"other {text} disease" for text in TEXTS[:100]])
        right[name] = sum(link.candidates[0].concept_id == f"X:{at}" for at, link in enumerate(links))
    assert right["plain"] < 50
    assert right["ranked"] > 85
    # The probability says how often it is so.
    found = Ranking(index).match([Question(f"other {text} disease") for text in TEXTS[100:150]], 1)
    assert found.probabilities.mean() > 0.7


def test_it_is_the_same_each_time() -> None:
    questions = {"of siblings": asked(250, seed=1)}
    one, other = (fit_ranker(questions, SETTINGS) for _ in range(2))
    assert one.ranker.to_dict() == other.ranker.to_dict()
    assert one.after == other.after


def test_too_few_questions_are_refused() -> None:
    few = asked(199, seed=0)
    with pytest.raises(InputError, match="199 questions with a right candidate are too few: it takes 200"):
        fit_ranker({"few": few}, SETTINGS)
    nothing = LabelledQuestions.of(built_index(), [Question("zzzz")] * 300, [frozenset({0})] * 300)
    with pytest.raises(InputError, match="199 questions"):
        fit_ranker({"few": few, "nothing": nothing}, SETTINGS)
    with pytest.raises(InputError, match="0 questions"):
        fit_ranker({}, SETTINGS)
