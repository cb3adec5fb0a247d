"""Mentions with an answer, as if there were none, and without one."""

from __future__ import annotations

import numpy as np
import pytest

from nymlink.corpus.model import Corpus, Document, Mention
from nymlink.evaluate.judged import Judged, judge, judge_lacking, judge_left_out
from nymlink.evaluate.unanswerable import lacking_names
from nymlink.index.index import Index
from nymlink.link.evidence import DEPTH
from nymlink.link.linker import Linker
from tests.index.small import many_names, vocabulary

NAMES = many_names(120, seed=9)
CONCEPTS = {f"X:{number}": NAMES[3 * number : 3 * number + 3] for number in range(40)}
KEPT = {**CONCEPTS, "Y:1": ["cough"], "Y:2": ["shared name"], "Y:3": ["shared name"], "Y:4": ["ovarian cancer"]}
INDEX = Index.build(vocabulary(KEPT))
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
def judged() -> Judged:
    return judge(INDEX, CORPUS)


def rows(*concept_ids: str) -> frozenset[int]:
    return frozenset(row for one in concept_ids if (row := INDEX.vocabulary.row(one)) is not None)


def test_annotated_mentions_without_a_guess_are_judged(judged: Judged) -> None:
    texts = [part.text for part in judged.asked]
    assert texts == [*NAMES[:60], "shared name", "shared name", "no cough", NAMES[3], NAMES[6]]
    assert [judged.gold[60], judged.gold[61]] == [rows("Y:2", "Y:3"), frozenset()]
    assert judged.right[:61].all()
    assert not judged.right[61]
    assert len(judged.starts) == len(texts) - 1
    assert judged.factors[:62].tolist() == [1] * 62
    assert 0 < judged.factors[62] < 0.3


def test_what_is_left_out_never_comes_first(judged: Judged) -> None:
    left = judge_left_out(INDEX, judged, 1000)
    # Each text once, those that are no part of another mention and have an answer.
    assert sorted(part.text for part in left.asked) == sorted({*NAMES[:60], "shared name", "no cough"})
    assert not left.right.any()
    assert left.gold == [frozenset()] * len(left.right)
    for mention, line in zip(left.mentions, left.features.tolist(), strict=True):
        others = {name: names for name, names in KEPT.items() if name not in mention.concept_ids}
        without = Index.build(vocabulary(others))
        match = without.match([mention.text], DEPTH)
        # The n-grams of what is left are a little rarer.
        assert np.nan_to_num(line[0]) == pytest.approx(float(match.scores[0, 0]), abs=0.1)
    few = judge_left_out(INDEX, judged, 10)
    assert len(few.right) == 10
    assert {part.text for part in few.asked} <= {part.text for part in left.asked}


def test_lacking_names_have_no_answer() -> None:
    names = lacking_names(INDEX, 200)
    assert len(set(names)) == len(names) == 200
    assert lacking_names(INDEX, 200) == names != lacking_names(INDEX, 200, seed=1)
    lacking = judge_lacking(INDEX, [*names, "", "ovarain cancer"])
    kept = [mention.text for mention in lacking.mentions]
    assert set(kept) <= set(names)
    assert len(kept) > 190
    assert not lacking.right.any()
    assert not any(lacking.gold)
    assert not np.any(lacking.features[:, 0] == 1)


def test_groups_of_joined_mentions_stay_apart(judged: Judged) -> None:
    left, lacking = judge_left_out(INDEX, judged, 20), judge_lacking(INDEX, ["zzzz", "12 mg"])
    joined = Judged.joined([judged, left, lacking])
    sizes = [len(one.right) for one in (judged, left, lacking)]
    first, second, third = np.split(joined.groups, np.cumsum(sizes)[:-1])
    for groups, one in zip((first, second, third), (judged, left, lacking), strict=True):
        assert (groups - groups[0] == one.groups - one.groups[0]).all()
    assert first.max() < second.min() <= second.max() < third.min()
    starts = joined.starts.tolist()
    assert len(starts) == sum(len(one.starts) for one in (judged, left, lacking))
    assert starts[-1] == sum(sizes) - 1
    told = joined.reliability(np.ones(sum(sizes)))
    assert told.right.sum() == sum(one.reliability(np.ones(len(one.right))).right.sum() for one in (judged, left))
    assert told.answerable.sum() == len(judged.starts) - 1


def test_what_doubts_leave_is_what_a_linker_has_left(judged: Judged) -> None:
    links = Linker(INDEX).link(MENTIONS[:63])
    doubted = [link.best.contradiction is not None or link.meanings > 1 or link.ordinary for link in links]
    assert doubted == (judged.factors[:63] < 1).tolist()
