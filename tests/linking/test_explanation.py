"""Why the first candidate is before the second."""

from __future__ import annotations

import math
from functools import cache

import pytest

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Document, Mention
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.rank.ranker import Ranking
from nymlink.rank.retrieval import Question
from tests.index.small import vocabulary
from tests.rank.toy import built_index, ranked

RULES = {"place": (0.5, -1, 1), "covering": (0.6, 0, 3), "extra": (0.5, 0.5, -0.5), "letters": (3, 0, 4)}


@cache
def index_of_rules() -> Index:
    return ranked(built_index(), RULES)


@cache
def built_linker() -> Linker:
    return Linker(index_of_rules())


def test_a_mention_is_explained_in_its_document() -> None:
    index = Index.build(vocabulary({"D:1": ["mitral insufficiency"], "D:2": ["MI"]}), encoder=None)
    text = "Mitral insufficiency (MI) is common. MI hurts."
    document = Document("1", text, (Mention("MI", 37, 39),))
    found = Linker(index).explain(document)
    [link] = Linker(index).link(document)
    assert found.first is not None
    assert link.best is not None
    assert found.first.concept_id == link.best.concept_id == "D:1"


def test_reasons_are_what_moved_the_candidates_apart() -> None:
    found = built_linker().explain("cancer of breast")
    link = Linker(index_of_rules(), top_k=2).link("cancer of breast")
    assert (found.first, found.second) == link.candidates
    assert (
        found.link == built_linker().link("cancer of breast") or found.link.candidates[:1] == link.candidates[:1]
    )
    moved = {reason.feature.name: reason for reason in found.reasons}
    # What is the same for both has moved neither.
    assert set(moved) <= set(RULES) - {"letters"}
    assert moved
    for name, reason in moved.items():
        threshold, below, above = RULES[name]

        def value(
            number: float, threshold: float = threshold, below: float = below, above: float = above
        ) -> float:
            return above if not math.isnan(number) and number > threshold else below

        assert reason.moved == pytest.approx(value(reason.first) - value(reason.second), abs=1e-5)
    sizes = [abs(reason.moved) for reason in found.reasons]
    assert sizes == sorted(sizes, reverse=True)
    # Together they are the difference of the log-odds.
    chances = Ranking(index_of_rules()).match([Question(link.query, "cancer of breast")], 2).probabilities[0]
    assert sum(reason.moved for reason in found.reasons) == pytest.approx(
        math.log(chances[0] / chances[1]), abs=1e-4
    )


def test_it_prints_a_reason_a_line() -> None:
    found = built_linker().explain("cancer of breast")
    first, second, *reasons = str(found).splitlines()
    assert first == str(found.link)
    assert second == f"  before {found.second}"
    assert not found.is_verbatim
    assert len(reasons) == min(len(found.reasons), 6)
    for line, reason in zip(reasons, found.reasons, strict=False):
        assert line.startswith(f"  {reason.moved:+.2f} {reason.feature.name}: ")
        assert line.endswith(f" ({reason.feature.meaning})")
        assert " against " in line


def test_a_missing_feature_is_said_to_be_none() -> None:
    index = ranked(
        Index.build(vocabulary({"X:1": ["mi"], "X:2": ["mi attack"]}), encoder=None), {"writing": (0.5, 0, 2)}
    )
    [reason] = Linker(index).explain("mi").reasons
    assert (reason.first, math.isnan(reason.second), reason.moved) == (1, True, 2)
    assert "+2.00 writing: 1 against none (" in str(Linker(index).explain("mi"))


@pytest.mark.parametrize(("mention", "verbatim"), [("MI", True), ("Mi", True), ("MI attack", False)])
def test_a_name_that_is_written_as_the_mention_is_said_to_be(mention: str, verbatim: bool) -> None:
    names = vocabulary({"X:1": ["Mi"], "X:2": ["MI"], "X:3": ["mi attacks"]})
    index = ranked(Index.build(names, encoder=None), {"exact": (0.99, 5, 0)})
    found = Linker(index).explain(mention)
    assert found.is_verbatim == verbatim
    assert ("its name equals the mention" in str(found)) == verbatim
    if verbatim:
        # The ranker alone would have it otherwise.
        assert found.first.matched.text == mention
        assert found.second.concept_id == "X:3"
        assert [reason.moved for reason in found.reasons] == [-5]


def test_without_a_ranker_the_scores_say_it() -> None:
    found = Linker(built_index()).explain("cancer of breast")
    assert found.reasons == ()
    assert found.second is not None
    assert str(found).splitlines()[-1] == "  by their scores alone: the index has no ranker"


@pytest.mark.parametrize("mention", ["zzzz", ""])
def test_of_what_is_not_found_there_is_nothing_to_say(mention: str) -> None:
    found = built_linker().explain(mention)
    assert (found.first, found.second, found.reasons) == (None, None, ())
    assert str(found) == str(found.link)


def test_one_concept_is_before_none() -> None:
    index = ranked(Index.build(vocabulary({"X:1": ["gout"]}), encoder=None), RULES)
    found = Linker(index).explain("gout")
    assert found.first is not None
    assert (found.second, found.reasons) == (None, ())
    assert len(str(found).splitlines()) == 1


def test_of_a_composite_mention_the_first_part_is_explained() -> None:
    found = built_linker().explain("breast and ovarian cancer")
    assert found.first.concept_name == "breast cancer"
    assert found.link.mention.text == "breast and ovarian cancer"


def test_what_is_no_mention_is_refused() -> None:
    with pytest.raises(InputError):
        built_linker().explain(3)
    with pytest.raises(InputError, match="language"):
        built_linker().explain("gout", language="xxxx")


def test_of_unsure_candidates_the_one_with_a_higher_score_is_noted() -> None:
    plain = Index.build(vocabulary({"X:1": ["heart failure"], "X:2": ["heart attack"]}), encoder=None)
    unsure, sure = (ranked(plain, {"place": (0.5, -9, value)}) for value in (-0.5, 5))
    for top_k in (1, 2):
        first, _ = links = Linker(unsure, top_k=top_k).link(["hearts failures", "heart attack"])
        assert [link.best.concept_id for link in links if link.best] == ["X:2", "X:2"]
        assert [link.rival for link in links] == ["heart failure (X:1)", None]
        assert "heart failure (X:1) scores higher" in first.notes
    for index in (sure, plain.with_ranker(None)):
        assert Linker(index).link("hearts failures").rival is None
    # The note is of the former first candidate.
    assert first.reordered(first.candidates).rival == first.rival
    assert first.reordered(first.candidates[::-1]).rival is None
