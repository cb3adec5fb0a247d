"""Candidates in the order of a ranker: which come first, how many there are, how sure it is of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from nymlink.index.fusion import EXACT_MATCH
from nymlink.index.hits import NONE
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.rank.ranker import RankedMatches, Ranking
from nymlink.rank.retrieval import CANDIDATES, Question
from tests.index.small import many_names, vocabulary
from tests.rank.toy import LAST_FIRST, built_index, ranked

NAMES = many_names(150, seed=3)


@cache
def many_index() -> Index:
    return Index.build(
        vocabulary({f"X:{number}": NAMES[3 * number : 3 * number + 3] for number in range(50)}), encoder=None
    ).with_ranker(None)


@cache
def ranked_index() -> Index:
    return ranked(many_index(), LAST_FIRST)


QUESTIONS = [Question(text) for text in (NAMES[0], NAMES[7][1:], f"{NAMES[20]} {NAMES[40]}", "zzzz", "")]


def ids(index: Index, found: RankedMatches, place: int = 0) -> list[str]:
    rows = found.matches.concepts[place].tolist()
    return [index.vocabulary.concept_id(row) for row in rows if row != NONE]


def matched(index: Index, found: RankedMatches, place: int) -> list[str]:
    return [index.vocabulary.name(row).text for row in found.matches.names[place].tolist() if row != NONE]


def test_without_a_ranker_the_order_is_that_of_the_index() -> None:
    found = Ranking(many_index()).match(QUESTIONS, 5)
    expected = many_index().match([question.text for question in QUESTIONS], 5)
    assert found.probabilities is None
    assert np.array_equal(found.matches.concepts, expected.concepts)
    assert np.array_equal(found.matches.scores, expected.scores)


def test_the_ranker_changes_the_order_and_nothing_else() -> None:
    plain, other = (
        Ranking(many_index()).match(QUESTIONS, CANDIDATES),
        Ranking(ranked_index()).match(QUESTIONS, CANDIDATES),
    )
    assert not np.array_equal(plain.matches.concepts, other.matches.concepts)
    for place in range(len(QUESTIONS)):

        def candidates(found: RankedMatches, place: int = place) -> list[tuple[float, ...]]:
            matches = found.matches
            arrays = (matches.concepts, matches.names, matches.scores, *matches.parts.values())
            return sorted(zip(*(values[place].tolist() for values in arrays), strict=True))

        assert candidates(plain) == candidates(other)


def test_probabilities_fall_and_leave_something_to_no_answer() -> None:
    found = Ranking(ranked_index()).match(QUESTIONS, CANDIDATES)
    chances = found.probabilities
    assert chances.shape == (len(QUESTIONS), CANDIDATES)
    # The only name that equals a question is first whatever the ranker says.
    equal = found.matches.parts[EXACT_MATCH][:, 0] == 1
    assert equal.any()
    assert not equal.all()
    assert (np.diff(chances, axis=1)[~equal] <= 0).all()
    assert (np.diff(chances[:, 1:], axis=1) <= 0).all()
    assert (chances.sum(axis=1) < 1).all()
    assert ((chances > 0) == (found.matches.concepts != NONE)).all()


@pytest.mark.parametrize("made", [many_index, ranked_index])
@pytest.mark.parametrize("k", [1, 2, 19, 20, 21, 60])
def test_the_first_do_not_depend_on_how_many_are_asked_for(made: Callable[[], Index], k: int) -> None:
    index = made()
    whole, some = Ranking(index).match(QUESTIONS, 70), Ranking(index).match(QUESTIONS, k)
    assert some.matches.concepts.shape == (len(QUESTIONS), k)
    assert np.array_equal(some.matches.concepts, whole.matches.concepts[:, :k])
    assert np.array_equal(some.matches.names, whole.matches.names[:, :k])
    if some.probabilities is not None:
        assert np.array_equal(some.probabilities, whole.probabilities[:, :k])


def test_behind_those_that_are_ranked_others_follow_in_the_order_of_the_index() -> None:
    deep = Ranking(ranked_index()).match(QUESTIONS, 50)
    plain = many_index().match([question.text for question in QUESTIONS], 50)
    assert not deep.probabilities[:, CANDIDATES:].any()
    for rows, expected in zip(deep.matches.concepts.tolist(), plain.concepts.tolist(), strict=True):
        assert rows[CANDIDATES:] == expected[CANDIDATES:]
        assert sorted(rows[:CANDIDATES]) == sorted(expected[:CANDIDATES])
        found = [row for row in rows if row != NONE]
        assert len(set(found)) == len(found)


def test_questions_are_answered_alike_alone_and_together() -> None:
    ranking = Ranking(ranked_index())
    together = ranking.match(QUESTIONS * 150, 3)
    for place, question in enumerate(QUESTIONS):
        alone = ranking.match([question], 3)
        for at in (place, place + 149 * len(QUESTIONS)):
            assert np.array_equal(together.matches.concepts[at], alone.matches.concepts[0])
            assert np.array_equal(together.probabilities[at], alone.probabilities[0])


def test_no_questions() -> None:
    for index in (many_index(), ranked_index()):
        assert Ranking(index).match([], 4).matches.concepts.shape == (0, 4)
    assert Ranking(ranked_index()).match([], 4).probabilities.shape == (0, 4)


@pytest.mark.parametrize("text", ["", "zzzz"])
@pytest.mark.parametrize("k", [1, 30])
def test_a_question_that_is_like_no_name_has_no_candidate(text: str, k: int) -> None:
    found = Ranking(ranked_index()).match([Question(text)], k)
    assert ids(ranked_index(), found) == []
    assert found.probabilities.tolist() == [[0] * k]
    assert Ranking(ranked_index()).explain(Question(text)) == ()


def test_a_name_written_as_the_mention_comes_first_whatever_the_ranker_says() -> None:
    names = vocabulary({"X:1": ["Mi"], "X:2": ["MI"], "X:3": ["mI"], "X:4": ["mi attack"]})
    rules = {"place": (0.5, -3, 3), "exact": (0.99, 5, 0)}
    index = ranked(Index.build(names, encoder=None), rules)
    ranking = Ranking(index)
    for surface, expected in (("Mi", "X:1"), ("MI", "X:2"), ("mI", "X:3")):
        found = ranking.match([Question("mi", surface)], 4)
        assert ids(index, found)[0] == expected
        assert sorted(ids(index, found)) == ["X:1", "X:2", "X:3", "X:4"]
    # What is not known to be written so is where the ranker puts it.
    assert ids(index, ranking.match([Question("mi")], 4))[0] == "X:4"


@pytest.mark.parametrize("k", [1, 5, 25])
def test_a_vocabulary_of_one_concept(k: int) -> None:
    index = ranked(Index.build(vocabulary({"X:1": ["heart attack", "infarction"]}), encoder=None), LAST_FIRST)
    found = Ranking(index).match([Question("heart attack"), Question("attack")], k)
    assert [ids(index, found, place) for place in (0, 1)] == [["X:1"], ["X:1"]]
    assert ((found.probabilities[:, 0] > 0) & (found.probabilities[:, 0] < 1)).all()
    assert Ranking(index).explain(Question("heart attack")) == ()


def test_a_vocabulary_whose_names_are_all_equal() -> None:
    names = vocabulary({f"X:{number:02}": ["attack"] for number in range(40)})
    index = ranked(Index.build(names, encoder=None), LAST_FIRST)
    for k in (1, 20, 40):
        found = Ranking(index).match([Question("attack")], k)
        assert ids(index, found) == [f"X:{number:02}" for number in range(k)]
    # Each of the first is as likely.
    chances = found.probabilities[0]
    assert len(set(chances[:CANDIDATES].tolist())) == 1
    assert not chances[CANDIDATES:].any()
    assert Ranking(index).explain(Question("attack")) == ()


class TestWithout:
    def test_absent_names_are_not_found(self) -> None:
        for index in (built_index(), ranked(built_index(), LAST_FIRST)):
            row = index.entries.find("heart attack")
            found = Ranking(index).match([Question("heart attack")] * 2, 6, without=[[row], []])
            gone, there = (matched(index, found, place) for place in (0, 1))
            assert "heart attack" not in gone
            assert "heart attack" in there
            assert set(gone) & set(there)

    def test_a_concept_without_names_is_not_found(self) -> None:
        for index in (built_index(), ranked(built_index(), LAST_FIRST)):
            row = index.vocabulary.row("D:3")
            absent = index.entries_of([row])
            texts = sorted(index.entries.text(entry) for entry in absent)
            assert texts == ["heart attack", "mi", "myocardial infarction"]
            found = Ranking(index).match([Question("heart attack"), Question("mi")], 6, without=[absent, absent])
            assert "D:3" not in ids(index, found, 0) + ids(index, found, 1)
            # The name that it shares is absent for the other concept, too.
            assert "D:4" in ids(index, found, 1)
            assert "MI" not in matched(index, found, 1)

    def test_it_is_as_if_the_vocabulary_lacked_them(self) -> None:
        less = Index.build(
            vocabulary({f"X:{number}": NAMES[3 * number : 3 * number + 3] for number in range(1, 50)}),
            encoder=None,
        )
        asked = Question(NAMES[7][1:])
        absent = many_index().entries_of([many_index().vocabulary.row("X:0")])
        left = Ranking(many_index()).match([asked], 1, without=[absent])
        assert ids(many_index(), left) == ids(less, Ranking(less).match([asked], 1))


def test_candidates_say_how_probable_they_are() -> None:
    index = ranked(built_index(), {"place": (0.5, 2, -1), "score": (0.99, 0, 1)})
    [link] = Linker(index, top_k=3).link(["hart attack"])
    found = Ranking(index).match([Question(link.query)], 3)
    assert [candidate.parts["ranked"] for candidate in link.candidates] == pytest.approx(
        [chance for chance in found.probabilities[0].tolist() if chance], abs=1e-6
    )
    [plain] = Linker(built_index(), top_k=3).link(["hart attack"])
    assert all("ranked" not in candidate.parts for candidate in plain.candidates)
    assert [candidate.score for candidate in link.candidates] == [
        candidate.score for candidate in plain.candidates
    ]
