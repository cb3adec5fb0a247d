"""Learning from decisions: names, order and confidences of a project, and forgetting them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Mention
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.project.acceptance import accept
from nymlink.project.add_file import add_table
from nymlink.project.decisions import decide, undo
from nymlink.project.forms import list_forms, split_forms
from nymlink.project.index_reference import IndexReference
from nymlink.project.learn import forget, learn, learn_from
from nymlink.project.learned import Learned, LearnedLinker
from nymlink.project.lessons import Decided, Lesson, Overlay, lessons, write_names
from nymlink.project.links import kept_link, link_values, link_waiting
from nymlink.project.project import Project
from nymlink.project.rows import NotSavedError, ProjectError, Target
from nymlink.project.summary import summary
from nymlink.project.terms import TermFilter, list_terms
from nymlink.rank.features import NAMES as FEATURES
from nymlink.rank.ranker import Ranker
from nymlink.rank.trees import Trees
from nymlink.vocabulary.read import read_vocabulary
from tests.index.small import many_names, vocabulary
from tests.linking.toy import CALIBRATION

GOUT, FEVER, HEART, ELSE = 1, 2, 3, 4


def relinked(project: Project, index: Index) -> dict[str, tuple[str | None, float | None]]:
    """Link what waits; the first candidate and the confidence of each term."""
    link_waiting(project, LearnedLinker(index, Learned.of(project)).link)
    listed = list_terms(project, TermFilter())["terms"]
    return {
        term["text"]: (
            None if term["nil"] or not term["candidates"] else term["candidates"][0]["id"],
            term["confidence"],
        )
        for term in listed
    }


def given(project: Project, term: int, *targets: Target, reviewer: str = "Ann") -> None:
    decide(project, reviewer=reviewer, term=term, verdict="concept" if targets else "nil", targets=targets)


def test_equal_and_similar_terms_of_the_next_table_are_linked_better(linked: Project, index: Index) -> None:
    given(linked, ELSE, Target("X:4"))
    given(linked, FEVER)
    report = learn(linked, index).report
    assert (report["terms"], report["names"], report["nil"], report["ranker"]) == (2, 1, 1, None)
    add_table(linked, b"finding\nQuite something ELSE!\nquite something else again\nFever.\ngout\n", "next.csv")
    assert [each["text"] for each in list_forms(linked)] == ["gout", "fever", "quite something else"]
    for form in list_forms(linked):
        split_forms(linked, form["id"])
    found = relinked(linked, index)
    assert found["Quite something ELSE!"] == ("X:4", pytest.approx(0.998, abs=0.01))
    assert found["quite something else again"][0] == "X:4"
    assert found["Fever."] == (None, pytest.approx(0.01))
    assert found["gout"][0] == "X:1"
    assert Linker(index).link("quite something else again").candidates[0].concept_id != "X:4"


def test_only_what_is_undecided_is_linked_again(linked: Project, index: Index) -> None:
    given(linked, GOUT, Target("X:1"))
    learn(linked, index)
    assert summary(linked)["states"] == {"waiting": 3, "linked": 1, "failed": 0}


def test_it_is_kept_in_the_file_and_forgotten_again(linked: Project, index: Index, path: Path) -> None:
    before = relinked(linked, index)
    given(linked, ELSE, Target("X:5"))
    assert summary(linked)["learned"] is None
    learn(linked, index)
    undo(linked, reviewer="Ann")
    linked.set_property("linking_stopped", False)
    with linked.writing() as connection:
        connection.execute("UPDATE term SET state = 'waiting'")
    assert relinked(linked, index)["quite something else"][0] == "X:5"
    with Project(path, writes=False) as read:
        learned = Learned.of(read)
        assert learned is not None
        assert learned.overlay.decided == (Decided("quite something else", "X:5", lang="en"),)
        report = summary(read)["learned"]
        assert report["last"] == 1
        assert report["at"] > read.created
    assert forget(linked)
    assert not forget(linked)
    assert relinked(linked, index) == before
    with pytest.raises(InputError, match="nothing is decided yet"):
        learn(linked, index)


def test_what_is_no_knowledge_teaches_nothing(linked: Project) -> None:
    given(linked, GOUT, Target("X:1"))
    given(linked, GOUT, Target("X:2"), reviewer="Bob")
    decide(linked, reviewer="Ann", term=FEVER, verdict="flag")
    given(linked, HEART, Target("X:3"), Target("X:4"))
    (heart,) = lessons(linked)
    assert Overlay.of([heart]).decided == ()
    accept(linked, reviewer="Ann", above=0.0)
    assert not any(
        lesson.looked_at for lesson in lessons(linked) if lesson is not heart and len(lesson.targets) < 2
    )


def test_terms_of_one_form_that_were_decided_differently_stay_as_they_are(index: Index) -> None:
    overlay = Overlay(
        [Decided("FIT", "X:5"), Decided("fit", "X:3"), Decided("gout.", "X:2"), Decided("Gout", "X:2")]
    )
    linker = LearnedLinker(index, Learned(overlay, None, None, "", {}))
    first, second = linker.link([Mention("FIT"), Mention("fit")])
    assert [first.candidates[0].concept_id, second.candidates[0].concept_id] == ["X:5", "X:3"]
    # What the vocabulary calls otherwise is what was decided; its own concept comes next.
    (gout,) = linker.link([Mention("GOUT")])
    assert [candidate.concept_id for candidate in gout.candidates[:1]] == ["X:2"]
    assert not gout.nil


def test_concepts_that_the_index_does_not_have_are_left_out(index: Index) -> None:
    overlay = Overlay([Decided("zonk", "Z:1"), Decided("zink", "X:2")])
    linker = LearnedLinker(index, Learned(overlay, None, None, "", {}))
    zonk, zink = linker.link([Mention("zonk"), Mention("zink")])
    assert [candidate.concept_id for candidate in zonk.candidates] != ["Z:1"]
    assert zink.candidates[0].concept_id == "X:2"


def test_kinds_and_languages_of_names(tmp_path: Path, linked: Project) -> None:
    given(linked, ELSE, Target("X:4", relation="broader"))
    given(linked, HEART, Target("X:3"))
    given(linked, FEVER)
    assert write_names(linked, tmp_path / "names.tsv") == 2
    assert (tmp_path / "names.tsv").read_text(encoding="utf-8").splitlines() == [
        "concept_id\tname\tlang\tkind\tsemantic_type\txrefs",
        "X:4\tquite something else\ten\tnarrow\t\t",
        "X:3\theart attak\ten\texact\t\t",
    ]
    read = read_vocabulary(tmp_path / "names.tsv")
    assert [(name.text, name.kind) for name in read.names("X:4")] == [("quite something else", "narrow")]


@pytest.mark.parametrize("damage", ['{"version": 1}', '{"version": 9}', "[1]", '{"version": 1, "decided": [[]]}'])
def test_what_is_damaged_is_said(linked: Project, damage: str) -> None:
    linked.set_property("learned", json.loads(damage))
    assert summary(linked)["learned"] is None
    with pytest.raises(ProjectError, match=r"has version 9|is damaged"):
        Learned.of(linked)


TEXTS = many_names(260, seed=3)
CONCEPTS = {f"Y:{number}": [TEXTS[number], f"{TEXTS[number]} disease"] for number in range(120)}
CONCEPTS |= {f"Z:{number}": [f"{TEXTS[number]} disease other"] for number in range(120)}


@pytest.fixture(scope="module")
def siblings() -> Index:
    """An index whose ranker takes the more similar sibling, which is never meant, and is far too sure."""
    stump = Trees(
        np.array([[FEATURES.index("place")]]), np.array([[0.5]], np.float32), np.array([[3, 0]], np.float32)
    )
    index = Index.build(vocabulary(CONCEPTS), encoder=None).with_ranker(Ranker(stump, "nothing").to_dict())
    return index.with_calibration(CALIBRATION.to_dict())


def taught(numbers: range) -> list[Lesson]:
    return [
        Lesson(Mention(f"other {TEXTS[number]} disease"), (Target(f"Y:{number}"),), True) for number in numbers
    ]


def test_order_and_confidence_are_learned_where_they_prove_better(siblings: Index) -> None:
    learned = learn_from(taught(range(80)), siblings)
    assert learned.report["ranker"]["taken"]
    assert learned.report["ranker"]["after"] > learned.report["ranker"]["before"] + 0.3
    mentions = [Mention(f"other {TEXTS[number]} disease") for number in range(80, 120)]
    right = {}
    for name, each in (("before", None), ("after", learned)):
        links = LearnedLinker(siblings, each).link(mentions)
        right[name] = sum(link.candidates[0].concept_id == f"Y:{80 + at}" for at, link in enumerate(links))
    assert right["after"] > right["before"] + 20
    # The same again: it is seeded.
    assert learn_from(taught(range(80)), siblings).to_dict()["trees"] == learned.to_dict()["trees"]
    # An index that was taught something else since has another order: only names are kept.
    other = siblings.with_ranker(None).with_calibration(CALIBRATION.to_dict())
    assert LearnedLinker(other, learned).index.ranker is None


def test_few_terms_and_those_accepted_in_bulk_change_names_only(siblings: Index) -> None:
    few = learn_from(taught(range(20)), siblings)
    assert (few.trees, few.calibration, few.report["ranker"]) == (None, None, None)
    bulk = [Lesson(lesson.mention, lesson.targets, looked_at=False) for lesson in taught(range(80))]
    assert learn_from(bulk, siblings).trees is None
    assert len(learn_from(bulk, siblings).overlay.decided) == 80


def test_terms_of_no_concept_lower_confidence(siblings: Index) -> None:
    nothing = [Lesson(Mention(f"{TEXTS[number]} diseases of old"), (), True) for number in range(60)]
    learned = learn_from(nothing, siblings)
    assert learned.calibration is not None
    (before,) = LearnedLinker(siblings, None).link([Mention(f"{TEXTS[100]} diseases of old")])
    (after,) = LearnedLinker(siblings, learned).link([Mention(f"{TEXTS[100]} diseases of old")])
    assert before.confidence is not None
    assert after.confidence is not None
    assert after.confidence < before.confidence / 2


def test_nothing_is_kept_where_the_disk_is_full(linked: Project, index: Index) -> None:
    for number in range(12):
        add_table(linked, f"finding\n{'long ' * 300}{number}\n".encode(), "long.csv")
        if number == 11:
            relinked(linked, index)
    with linked.reading() as connection:
        texts = [row[0] for row in connection.execute("SELECT id FROM term WHERE text LIKE 'long%'")]
    for term in texts:
        given(linked, term, Target("X:1"))
    with linked.reading() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(NotSavedError, match="the disk is full"):
        learn(linked, index)
    assert Learned.of(linked) is None


def test_an_empty_project_has_nothing_to_learn(project: Project, index: Index) -> None:
    assert IndexReference.of("toy", index).digest == project.index.digest
    with pytest.raises(InputError, match="decide some terms"):
        learn(project, index)


def test_what_is_said_of_a_first_candidate_goes_with_it(index: Index) -> None:
    [link] = Linker(index, top_k=2).link(["focal seizures today"])
    first, second = link.candidates
    link = replace(link, rival="gout (X:1)", former="X:0", foreign="German")
    assert kept_link(json.dumps(link_values(link)), link.mention) == link
    for concept in (first, second):
        recalled = Overlay((Decided(link.mention.text, concept.concept_id),)).recall(link, index.vocabulary, 0.9)
        assert recalled.candidates[0].concept_id == concept.concept_id
        assert (recalled.confidence, recalled.rival) == (0.9, None)
