"""Mentions with an answer, as if there were none, and without one."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.evaluation.calibration_data import (
    LabelledMentions,
    draw_absent_names,
    label_absent_names,
    label_left_out,
    label_mentions,
)
from nymlink.index.index import Index
from nymlink.linking.calibration import DEPTH
from nymlink.linking.linker import Linker
from tests.index.small import many_names, vocabulary

NAMES = many_names(120, seed=9)
CONCEPTS = {f"X:{number}": NAMES[3 * number : 3 * number + 3] for number in range(40)}
KEPT = {**CONCEPTS, "Y:1": ["cough"], "Y:2": ["shared name"], "Y:3": ["shared name"], "Y:4": ["ovarian cancer"]}


@cache
def built_index() -> Index:
    return Index.build(vocabulary(KEPT), encoder=None)


SHARED = Mention("shared name", concept_ids=("Y:2", "Y:3"))
MENTIONS = (
    *(Mention(name, concept_ids=(f"X:{at // 3}",)) for at, name in enumerate(NAMES[:60])),
    SHARED,
    Mention("shared name", concept_ids=("Y:9",)),
    Mention("no cough", concept_ids=("Y:1",)),
    Mention("two", concept_ids=("X:1", "X:2"), parts=(NAMES[3], NAMES[6])),
    Mention("ovarain cancer", concept_ids=("Y:4",)),
    Mention("not annotated"),
)
CORPUS = Corpus("made up", tuple(Document(str(at), mentions=(one,)) for at, one in enumerate(MENTIONS)))


@pytest.fixture(scope="module")
def labelled() -> LabelledMentions:
    return label_mentions(built_index(), CORPUS)


def rows(*concept_ids: str) -> frozenset[int]:
    return frozenset(row for one in concept_ids if (row := built_index().vocabulary.row(one)) is not None)


def test_annotated_mentions_without_a_guess_are_judged(labelled: LabelledMentions) -> None:
    texts = [part.text for part in labelled.asked]
    assert texts == [*NAMES[:60], "shared name", "shared name", "no cough", NAMES[3], NAMES[6]]
    assert [labelled.gold[60], labelled.gold[61]] == [rows("Y:2", "Y:3"), frozenset()]
    assert labelled.right[:61].all()
    assert not labelled.right[61]
    assert len(labelled.starts) == len(texts) - 1
    assert labelled.factors[:62].tolist() == [1] * 62
    assert 0 < labelled.factors[62] < 0.3


def test_mentions_are_read_in_their_language() -> None:
    corpus = Corpus("plurals", (Document("1", mentions=(Mention("coughs", concept_ids=("Y:1",)),)),))
    texts = {
        code: label_mentions(built_index(), corpus, language=code).asked[0].text for code in (None, "en", "ja")
    }
    assert texts == {None: "cough", "en": "cough", "ja": "coughs"}
    with pytest.raises(InputError, match="'deutsch' is no language code"):
        label_mentions(built_index(), corpus, language="deutsch")


def test_what_is_left_out_never_comes_first(labelled: LabelledMentions) -> None:
    left = label_left_out(built_index(), labelled, 1000)
    # Each text once, those that are no part of another mention and have an answer.
    assert sorted(part.text for part in left.asked) == sorted({*NAMES[:60], "shared name", "no cough"})
    assert not left.right.any()
    assert left.gold == [frozenset()] * len(left.right)
    for mention, line in zip(left.mentions, left.features.tolist(), strict=True):
        others = {name: names for name, names in KEPT.items() if name not in mention.concept_ids}
        without = Index.build(vocabulary(others), encoder=None)
        match = without.match([mention.text], DEPTH)
        # The n-grams of what is left are a little rarer.
        assert np.nan_to_num(line[0]) == pytest.approx(float(match.scores[0, 0]), abs=0.1)
    few = label_left_out(built_index(), labelled, 10)
    assert len(few.right) == 10
    assert {part.text for part in few.asked} <= {part.text for part in left.asked}


def test_lacking_names_have_no_answer() -> None:
    names = draw_absent_names(built_index(), 200)
    assert len(set(names)) == len(names) == 200
    assert draw_absent_names(built_index(), 200) == names != draw_absent_names(built_index(), 200, seed=1)
    lacking = label_absent_names(built_index(), [*names, "", "ovarain cancer"])
    kept = [mention.text for mention in lacking.mentions]
    assert set(kept) <= set(names)
    # Some are numbers with a unit, which name nothing.
    assert len(kept) > 180
    assert not lacking.right.any()
    assert not any(lacking.gold)
    assert not np.any(lacking.features[:, 0] == 1)


def test_groups_of_joined_mentions_stay_apart(labelled: LabelledMentions) -> None:
    left, lacking = (
        label_left_out(built_index(), labelled, 20),
        label_absent_names(built_index(), ["zzzz", "12 mg"]),
    )
    joined = LabelledMentions.joined([labelled, left, lacking])
    sizes = [len(one.right) for one in (labelled, left, lacking)]
    first, second, third = np.split(joined.groups, np.cumsum(sizes)[:-1])
    for groups, one in zip((first, second, third), (labelled, left, lacking), strict=True):
        assert (groups - groups[0] == one.groups - one.groups[0]).all()
    assert first.max() < second.min() <= second.max() < third.min()
    starts = joined.starts.tolist()
    assert len(starts) == sum(len(one.starts) for one in (labelled, left, lacking))
    assert starts[-1] == sum(sizes) - 1
    told = joined.reliability(np.ones(sum(sizes)))
    assert told.right.sum() == sum(
        one.reliability(np.ones(len(one.right))).right.sum() for one in (labelled, left)
    )
    assert told.answerable.sum() == len(labelled.starts) - 1


def test_what_doubts_leave_is_what_a_linker_has_left(labelled: LabelledMentions) -> None:
    links = Linker(built_index()).link(MENTIONS[:63])
    doubted = [link.best.contradiction is not None or link.meanings > 1 or link.ordinary for link in links]
    assert doubted == (labelled.factors[:63] < 1).tolist()
