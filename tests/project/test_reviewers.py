"""A blind second review, its disagreements, and the adjudicator who decides them."""

from __future__ import annotations

import io

import pytest

from nymlink.core.errors import InputError
from nymlink.project.acceptance import accept
from nymlink.project.decisions import decide, undo
from nymlink.project.export import export_project
from nymlink.project.lessons import lessons
from nymlink.project.project import Project
from nymlink.project.reviewers import adjudicator, disagreements, set_review
from nymlink.project.rows import Target
from nymlink.project.summary import agreements, changes_after, summary
from nymlink.project.terms import TermFilter, list_terms, term_details, terms_of_concept

GOUT, FEVER, SPELT, ELSE = 1, 2, 3, 4


@pytest.fixture
def blind(linked: Project) -> Project:
    """Ann and Bob agree on one term, and disagree on another; Cara is the adjudicator."""
    set_review(linked, blind=True, adjudicator="Cara")
    for reviewer in ("Ann", "Bob"):
        decide(linked, reviewer=reviewer, term=GOUT, verdict="concept", targets=[Target("X:1", "gout")])
    decide(linked, reviewer="Ann", term=FEVER, verdict="concept", targets=[Target("X:2", "fever")])
    decide(linked, reviewer="Bob", term=FEVER, verdict="nil")
    return linked


def test_a_blind_reviewer_sees_own_decisions_only(blind: Project) -> None:
    def open_terms(viewer: str | None) -> list[int]:
        return [term["id"] for term in list_terms(blind, TermFilter(status="open"), viewer=viewer)["terms"]]

    def seen(viewer: str | None) -> list[set[str]]:
        shown = (term_details(blind, term, viewer=viewer) for term in (GOUT, FEVER))
        return [{each["reviewer"] for each in term["history"]} | set(term["decisions"]) for term in shown]

    decide(blind, reviewer="Ann", term=SPELT, verdict="nil")
    assert (open_terms("Ann"), open_terms("Bob"), open_terms("Dan"), open_terms("")) == (
        [ELSE],
        [SPELT, ELSE],
        [GOUT, FEVER, SPELT, ELSE],
        [GOUT, FEVER, SPELT, ELSE],
    )
    assert seen("Ann") == [{"Ann"}, {"Ann"}]
    assert seen("") == [set(), set()]
    assert seen("Cara") == seen(None) == [{"Ann", "Bob"}, {"Ann", "Bob"}]
    assert list_terms(blind, TermFilter(status="disagreement"), viewer="Ann")["total"] == 0
    assert list_terms(blind, TermFilter(status="disagreement"), viewer="Cara")["total"] == 1
    changed = changes_after(blind, 0, viewer="Bob")["decisions"]
    assert {each["reviewer"] for each in changed} == {"Bob"}
    assert terms_of_concept(blind, "X:2", viewer="Bob") == []
    assert [term["id"] for term in terms_of_concept(blind, "X:2", viewer="Ann")] == [FEVER]
    set_review(blind, blind=False)
    assert seen("Ann") == [{"Ann", "Bob"}, {"Ann", "Bob"}]


def test_a_disagreement_is_open_until_the_adjudicator_decides(blind: Project) -> None:
    def codes() -> list[str]:
        out = io.StringIO()
        export_project(blind, out, format="sssom")
        return [line.split("\t")[1] for line in out.getvalue().splitlines() if line.startswith(("gout", "fever"))]

    [waiting] = disagreements(blind)
    assert (waiting["text"], {who: made["verdict"] for who, made in waiting["decisions"].items()}) == (
        "fever",
        {"Ann": "concept", "Bob": "nil"},
    )
    assert (summary(blind)["decided"], summary(blind)["disagreements"]) == (1, 1)
    assert len(codes()) == 2
    assert len(lessons(blind)) == 1
    decide(blind, reviewer="Cara", term=FEVER, verdict="concept", targets=[Target("X:2", "fever", "broader")])
    # A later decision of a reviewer changes nothing.
    ann = term_details(blind, FEVER)["decisions"]["Ann"]["id"]
    decide(blind, reviewer="Ann", term=FEVER, verdict="nil", expects=ann)
    assert disagreements(blind) == []
    assert (summary(blind)["decided"], summary(blind)["disagreements"]) == (2, 0)
    [fever] = [lesson for lesson in lessons(blind) if lesson.mention.text == "fever"]
    assert fever.targets == (Target("X:2", "fever", "broader"),)
    assert len(codes()) == 3
    undo(blind, reviewer="Cara")
    undo(blind, reviewer="Ann")
    assert [each["text"] for each in disagreements(blind)] == ["fever"]


def test_agreement_leaves_the_adjudicator_out(blind: Project) -> None:
    decide(blind, reviewer="Cara", term=FEVER, verdict="nil")
    [pair] = agreements(blind)
    # Both agree on one of two terms; by chance on 1/4.
    assert (pair["reviewers"], pair["terms"], pair["agree"]) == (["Ann", "Bob"], 2, 1)
    assert pair["kappa"] == pytest.approx((0.5 - 0.25) / (1 - 0.25))


def test_without_an_adjudicator_the_last_decision_counts(blind: Project) -> None:
    set_review(blind, adjudicator="")
    assert adjudicator(blind) == ""
    assert summary(blind)["decided"] == 2
    assert list_terms(blind, TermFilter(status="nil"))["total"] == 1


def test_accepting_in_a_blind_review_counts_own_decisions(blind: Project) -> None:
    assert accept(blind, reviewer="Dan", above=0.0, dry_run=True)["terms"] >= 2
    assert accept(blind, reviewer="Ann", above=0.0, dry_run=True)["terms"] <= 2


def test_an_adjudicator_needs_a_name(linked: Project) -> None:
    with pytest.raises(InputError, match="a reviewer needs a name"):
        set_review(linked, adjudicator="  ")
