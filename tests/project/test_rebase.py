"""Decisions are applied to another release of the vocabulary, and what that changed is shown."""

from __future__ import annotations

from typing import Any

import pytest

from nymlink.core.errors import InputError
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.project.add_file import add_table
from nymlink.project.decisions import decide, undo
from nymlink.project.index_reference import IndexReference
from nymlink.project.links import link_waiting
from nymlink.project.project import Project
from nymlink.project.rebase import count_changes, rebase
from nymlink.project.rows import Target, Verdict
from nymlink.project.summary import changes_after, last_entry
from nymlink.project.terms import TermFilter, list_terms, term_details
from tests.project.conftest import index_of

GOUT, FEVER, SPELT, ELSE = 1, 2, 3, 4

NEXT = {
    "X:1": ("gout, acute", "gout"),
    "X:6": ("cardiac infarction",),
    "X:7": ("something else", "quite something else"),
}
"""X:1 has another name, X:2 is gone, X:3 is replaced by X:6, X:4 by two, X:7 is new."""


@pytest.fixture(scope="module")
def later() -> Index:
    return index_of(NEXT, version="2", X_3="X:6", X_4="X:1 X:6", X_5="")


def given(project: Project, term: int, *ids: str, verdict: Verdict = "concept") -> None:
    targets = [Target(concept_id, f"name of {concept_id}", "broader") for concept_id in ids]
    decide(project, reviewer="Ann", term=term, verdict=verdict, targets=targets, comment="mine")


def now(project: Project, term: int) -> tuple[str, list[tuple[str, str, str]], str]:
    made = term_details(project, term)["decisions"]["Ann"]
    targets = [(each["concept_id"], each["name"], each["relation"]) for each in made["targets"]]
    return made["verdict"], targets, made["origin"]


def changes(project: Project, term: int) -> list[tuple[str, str, list[str]]]:
    found: list[dict[str, Any]] = term_details(project, term)["changed"]
    return [(each["kind"], each["concept_id"], [other["concept_id"] for other in each["now"]]) for each in found]


def test_what_changed_is_shown(linked: Project, later: Index) -> None:
    given(linked, GOUT, "X:1", "X:3")
    given(linked, FEVER, "X:2")
    given(linked, SPELT, "X:4")
    decide(linked, reviewer="Ann", term=ELSE, verdict="nil")
    before = last_entry(linked)
    counts = rebase(linked, IndexReference.of("toy-2", later), later.vocabulary)
    assert counts == {"gone": 1, "obsolete": 1, "replaced": 1, "renamed": 1, "better": 0}
    assert now(linked, GOUT) == (
        "concept",
        [("X:1", "gout, acute", "broader"), ("X:6", "cardiac infarction", "broader")],
        "release",
    )
    assert now(linked, FEVER) == ("flag", [("X:2", "name of X:2", "broader")], "release")
    assert now(linked, SPELT)[0] == "flag"
    assert now(linked, ELSE) == ("nil", [], "review")
    assert changes(linked, GOUT) == [("renamed", "X:1", ["X:1"]), ("replaced", "X:3", ["X:6"])]
    assert changes(linked, FEVER) == [("gone", "X:2", [])]
    assert changes(linked, SPELT) == [("obsolete", "X:4", ["X:1", "X:6"])]
    assert len(changes_after(linked, before)["decisions"]) == 3
    assert linked.index.name == "toy-2"

    link_waiting(linked, Linker(later, top_k=10).link)
    assert count_changes(linked)["better"] == 1
    assert changes(linked, ELSE) == [("better", "", ["X:7"])]
    found = list_terms(linked, TermFilter(status="changed"))["terms"]
    assert [term["id"] for term in found] == [GOUT, FEVER, SPELT, ELSE]

    # What is decided anew is done with.
    made = term_details(linked, ELSE)["decisions"]["Ann"]
    decide(linked, reviewer="Ann", term=ELSE, verdict="concept", targets=[Target("X:7", "x")], expects=made["id"])
    assert changes(linked, ELSE) == []
    # The same release once more changes nothing.
    assert not any(rebase(linked, linked.index, later.vocabulary)[kind] for kind in ("replaced", "renamed"))


def test_what_did_not_change_stays(linked: Project, index: Index) -> None:
    decide(linked, reviewer="Ann", term=GOUT, verdict="concept", targets=[Target("X:1", "gout")])
    before = last_entry(linked)
    assert not any(rebase(linked, linked.index, index.vocabulary).values())
    link_waiting(linked, Linker(index, top_k=10).link)
    assert not any(count_changes(linked).values())
    assert last_entry(linked) == before


def test_with_a_decision_what_a_release_made_of_it_is_undone(linked: Project, later: Index) -> None:
    given(linked, GOUT, "X:3")
    rebase(linked, IndexReference.of("toy-2", later), later.vocabulary)
    assert len(undo(linked, reviewer="Ann")) == 2
    assert term_details(linked, GOUT)["decisions"] == {}


def settled(project: Project, term: int) -> str:
    with project.reading() as connection:
        [(number,)] = connection.execute("SELECT decision FROM settled WHERE term = ?", (term,))
        [(reviewer,)] = connection.execute("SELECT reviewer FROM decision WHERE id = ?", (number,))
    return str(reviewer)


@pytest.mark.parametrize("verdict", ["nil", "concept"])
def test_the_decision_that_counted_counts_after_a_release(linked: Project, later: Index, verdict: Verdict) -> None:
    given(linked, GOUT, "X:1")
    targets = [Target("X:7")] if verdict == "concept" else []
    decide(linked, reviewer="Bob", term=GOUT, verdict=verdict, targets=targets)
    assert settled(linked, GOUT) == "Bob"
    rebase(linked, IndexReference.of("toy-2", later), later.vocabulary)
    assert now(linked, GOUT)[2] == "release"
    assert settled(linked, GOUT) == "Bob"
    undo(linked, reviewer="Bob")
    assert settled(linked, GOUT) == "Ann"


def test_what_several_releases_and_forms_made_of_a_decision_is_undone(project: Project) -> None:
    add_table(project, b"finding\ngouts\nGout\n", "a.csv")
    decide(project, reviewer="Ann", term=1, verdict="concept", targets=[Target("X:1", "gout")])
    for version, name in (("2", "gout, acute"), ("3", "acute gout")):
        renamed = index_of({"X:1": (name,)}, version=version)
        rebase(project, IndexReference.of("toy", renamed), renamed.vocabulary)
    assert len(undo(project, reviewer="Ann")) == 6
    assert [term_details(project, term)["decisions"] for term in (1, 2)] == [{}, {}]
    assert undo(project, reviewer="Ann") == []


def test_there_is_always_a_title(project: Project) -> None:
    with pytest.raises(InputError, match="a title may have"):
        Project.create(project.path.with_name("b.nymlink"), index=project.index, title="x" * 301)
