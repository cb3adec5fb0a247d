"""Questions that a ranker learns from: their answers are right, and what is left out is not found."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.index.index import Index
from nymlink.rank.features import NAMES
from nymlink.rank.retrieval import CANDIDATES, Question
from nymlink.train.ranking.boosting import BoostingSettings
from nymlink.train.ranking.labelled import (
    LEFT_OUT,
    LabelledQuestions,
    annotated_questions,
    learn_trees,
    unanswerable_questions,
)
from nymlink.train.ranking.left_out import left_out_questions, names_elsewhere
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.index.small import many_names, vocabulary

TEXTS = many_names(240, seed=21)


@cache
def built_index() -> Index:
    return Index.build(
        vocabulary(
            {f"X:{number}": TEXTS[4 * number : 4 * number + 4] for number in range(60)},
            redirects={"OLD:1": "X:1"},
        ),
        encoder=None,
    )


def column(labelled: LabelledQuestions, name: str) -> np.ndarray:
    return labelled.described[:, :, NAMES.index(name)]


def corpus(*mentions: Mention) -> Corpus:
    return Corpus("made up", (Document("1", mentions=mentions),))


class TestLabelled:
    def test_right_are_the_candidates_that_are_answers(self) -> None:
        asked = [Question(TEXTS[0]), Question(TEXTS[5]), Question(TEXTS[9]), Question("zzzz")]
        answers = [frozenset({0}), frozenset({1, 2}), frozenset[int](), frozenset({3})]
        labelled = LabelledQuestions.of(built_index(), asked, answers, weight=0.5)
        found = built_index().match([question.text for question in asked], CANDIDATES)
        assert labelled.described.shape == (4, CANDIDATES, len(NAMES))
        expected = [
            [row in own for row in rows] for rows, own in zip(found.concepts.tolist(), answers, strict=True)
        ]
        assert labelled.right.tolist() == expected
        assert labelled.right.sum(axis=1).tolist()[2:] == [0, 0]
        assert labelled.weights.tolist() == [0.5] * 4
        assert labelled.weighted(2).weights.tolist() == [2] * 4

    def test_they_are_chosen_and_joined(self) -> None:
        labelled = LabelledQuestions.of(
            built_index(), [Question(text) for text in TEXTS[:6]], [frozenset({0})] * 6
        )
        even = np.arange(6) % 2 == 0
        again = LabelledQuestions.joined([labelled.chosen(even), labelled.chosen(~even)])
        order = [0, 2, 4, 1, 3, 5]
        np.testing.assert_array_equal(again.described, labelled.described[order])
        np.testing.assert_array_equal(again.right, labelled.right[order])

    def test_none(self) -> None:
        none = LabelledQuestions.of(built_index(), [], [])
        assert (none.described.shape, none.right.shape) == ((0, CANDIDATES, len(NAMES)), (0, CANDIDATES))

    def test_questions_without_candidates_teach_nothing(self) -> None:
        asked = [Question(text) for text in TEXTS[:60]]
        answers = [frozenset({number // 4}) for number in range(60)]
        settings = BoostingSettings(trees=3, depth=2, features=1, questions=1)
        plain = LabelledQuestions.of(built_index(), asked, answers)
        with_none = LabelledQuestions.of(
            built_index(),
            [asked[0], Question("zzzz"), *asked[1:], Question("")],
            [answers[0], frozenset({1}), *answers[1:], frozenset()],
        )
        assert learn_trees(with_none, settings).to_dict() == learn_trees(plain, settings).to_dict()


class TestAnnotated:
    def test_gold_ids_are_the_answers_and_some_are_asked_without(self) -> None:
        asked = [Mention(TEXTS[at], concept_ids=(f"X:{at // 4}",), type="Disease") for at in range(0, 200, 2)]
        labelled = annotated_questions(built_index(), corpus(*asked))
        count = len(asked)
        assert count < len(labelled.right) < count * (1 + 3 * LEFT_OUT)
        assert labelled.right[:count, 0].mean() > 0.95
        # What is left out is not there to be found.
        assert not labelled.right[count:].any()
        assert (np.nan_to_num(column(labelled, "exact"))[count:] < 1).all()
        again, other = (annotated_questions(built_index(), corpus(*asked), seed=seed) for seed in (0, 1))
        np.testing.assert_array_equal(again.described, labelled.described)
        assert len(other.right) != len(labelled.right) or not np.array_equal(
            other.described[count:], labelled.described[count:], equal_nan=True
        )

    def test_ids_that_are_not_there_are_left_out_and_old_ones_are_followed(self) -> None:
        mentions = (
            Mention(TEXTS[4], concept_ids=("OLD:1",), type="Disease"),
            Mention(TEXTS[8], concept_ids=("X:2",), type="Chemical"),
            Mention(TEXTS[12], concept_ids=("Q:9",), type="Disease"),
            Mention(TEXTS[16], type="Disease"),
        )
        diseases = annotated_questions(built_index(), corpus(*mentions), types=["Disease"])
        assert diseases.right[0, 0]
        assert len(diseases.right) <= 2
        with pytest.raises(InputError, match="no mention of made up has a gold id that the index has"):
            annotated_questions(built_index(), corpus(mentions[2]))

    def test_parts_of_a_composite_have_an_answer_each(self) -> None:
        whole = Mention("both", concept_ids=("X:1", "X:2"), parts=(TEXTS[4], TEXTS[8]))
        labelled = annotated_questions(built_index(), corpus(whole))
        assert labelled.right[:2, 0].all()

    def test_names_of_nothing_have_no_answer(self) -> None:
        labelled = unanswerable_questions(built_index(), [*TEXTS[:3], "zzzz"], weight=0.25)
        assert not labelled.right.any()
        assert labelled.weights.tolist() == [0.25] * 4


class TestLeftOut:
    def test_a_third_stands_a_third_is_changed_a_third_is_absent(self) -> None:
        labelled = left_out_questions(built_index(), 90, seed=3)
        assert len(labelled.right) == 90
        exact = np.nan_to_num(column(labelled, "exact")).max(axis=1) == 1
        # Of the changed and absent names none is found as it stands.
        assert 0.2 < exact.mean() < 0.5
        assert labelled.right[exact].any(axis=1).all()
        assert 0.3 < labelled.right[~exact].any(axis=1).mean() < 1

    def test_what_the_draw_decides_is_not_to_be_learned(self) -> None:
        labelled = left_out_questions(built_index(), 30)
        for name in ("names", "names_found", "share_found", "references"):
            assert np.isnan(column(labelled, name)).all()

    def test_the_same_seed_asks_the_same(self) -> None:
        one, same, other = (left_out_questions(built_index(), 30, seed=seed).described for seed in (0, 0, 1))
        np.testing.assert_array_equal(one, same)
        assert not np.array_equal(one, other, equal_nan=True)

    def test_of_concepts_with_one_name_an_absent_name_has_no_answer(self) -> None:
        single = Index.build(
            vocabulary({f"X:{number}": [text] for number, text in enumerate(TEXTS[:40])}), encoder=None
        )
        labelled = left_out_questions(single, 60)
        exact = np.nan_to_num(column(labelled, "exact")).max(axis=1) == 1
        assert labelled.right[exact].any(axis=1).all()
        assert not labelled.right[~exact].any(axis=1).all()

    @pytest.mark.parametrize("names", [{"X:1": ["gout"]}, {f"X:{n}": ["gout"] for n in range(9)}])
    def test_what_has_hardly_a_name_asks_for_what_it_can(self, names: dict[str, list[str]]) -> None:
        labelled = left_out_questions(Index.build(vocabulary(names), encoder=None), 12)
        assert len(labelled.right) <= 12
        assert labelled.weights.shape == (len(labelled.right),)


class TestNamesElsewhere:
    @staticmethod
    def table(source: str, concepts: dict[str, list[tuple[str, str]]], redirects: dict[str, str]) -> Vocabulary:
        builder = TableBuilder()
        for concept_id, names in concepts.items():
            builder.concept(concept_id)
            for place, (text, kind) in enumerate(names):
                builder.name(concept_id, text, lang="en", kind=kind if place else "preferred")
        for old, new in redirects.items():
            builder.redirect(old, new)
        return Vocabulary.of((Source(source, "test"), builder.build()))

    def test_they_ask_for_the_concepts_that_are_merged_with_them(self) -> None:
        own = self.table("own", {"O:1": [("gout", ""), ("gouty arthritis", "exact")], "O:2": [("asthma", "")]}, {})
        merged = self.table(
            "other",
            {
                "M:1": [("podagra gout", ""), ("gouts", "exact"), ("gout disorder", "broad")],
                "O:2": [("bronchial asthma", "")],
                "M:3": [("asthma of another", "")],
            },
            {"O:1": "M:1"},
        )
        index = Index.build(own, encoder=None)
        labelled = names_elsewhere(index, merged, 100, weight=0.5)
        # A broad name, and one of a concept that the index lacks, are not asked.
        assert len(labelled.right) == 3
        assert labelled.right.any(axis=1).all()
        assert labelled.weights.tolist() == [0.5] * 3
        assert len(names_elsewhere(index, merged, 2).right) == 2

    def test_names_of_the_index_itself_are_not_asked(self) -> None:
        own = self.table("own", {"O:1": [("gout", "")]}, {})
        with pytest.raises(
            InputError, match="no other source of the merged vocabulary names a concept of the index"
        ):
            names_elsewhere(Index.build(own, encoder=None), own, 10)
