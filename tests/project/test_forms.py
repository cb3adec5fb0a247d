"""Forms of a term are decided together, carried over to later tables, and split by choice."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.project.acceptance import accept
from nymlink.project.add_file import add_table
from nymlink.project.decisions import decide, undo
from nymlink.project.forms import form_key, list_forms, split_forms
from nymlink.project.import_decisions import import_decisions
from nymlink.project.links import link_waiting
from nymlink.project.priorities import prioritise
from nymlink.project.project import Project, find_damage
from nymlink.project.rows import Target
from nymlink.project.summary import summary
from nymlink.project.terms import TermFilter, list_terms, term_details

SEIZURES = b"finding,n\nseizures,3\nSeizure,2\nSEIZURES,1\nfever,4\n"
SEIZURE = [Target("X:5", "seizure")]


def listed(project: Project, **which: Any) -> list[tuple[str, int, list[str]]]:
    terms = list_terms(project, TermFilter(**which))["terms"]
    return [(term["text"], term["frequency"], [form["text"] for form in term["forms"]]) for term in terms]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("seizures", "Seizure", True),
        ("SEIZURES", "seizure", True),
        ("heart-attack", "heart attack", True),
        ("HER2+", "HER2-", False),
        ("fever (+)", "fever (-)", False),
        ("IL-2", "IL 2", True),
        ("FIT", "fit", False),
        ("> 5 mm", "< 5 mm", False),
        ("left ear", "right ear", False),
        ("gout", "gout, left", False),
    ],
)
def test_forms_differ_in_number_capitals_and_punctuation_only(one: str, other: str, same: bool) -> None:
    assert (form_key(one) == form_key(other)) is same


@given(st.text(max_size=40))
def test_any_text_has_a_key(text: str) -> None:
    assert form_key(text) == form_key(text)


def test_forms_are_listed_once_and_decided_once(project: Project) -> None:
    add_table(project, SEIZURES, "a.csv")
    assert listed(project) == [("seizures", 6, ["Seizure", "SEIZURES"]), ("fever", 4, [])]
    assert listed(project, text="seizure ", min_frequency=5) == listed(project)[:1]
    assert [text for text, *_ in listed(project)] == [
        term["text"] for term in list_terms(project, TermFilter(), sort="frequency", descending=True)["terms"]
    ]
    made = decide(project, reviewer="Ann", term=1, verdict="concept", targets=SEIZURE, comment="all")
    assert summary(project)["verdicts"]["concept"] == 3
    history = term_details(project, 2)["history"]
    assert [(each["origin"], each["comment"], each["at"] == made.at) for each in history] == [
        ("form", "all", True)
    ]
    assert term_details(project, 1)["row_count"] == 3
    assert len(undo(project, reviewer="Ann")) == 3
    assert summary(project)["verdicts"]["concept"] == 0
    # The other forms know what the decision on one of them was.
    decide(project, reviewer="Ann", term=3, verdict="nil")
    assert summary(project)["verdicts"]["nil"] == 3
    assert find_damage(project.path) == []


def test_a_decision_is_carried_over_to_a_table_with_languages(project: Project) -> None:
    add_table(project, b"finding\nseizures\nfever\n", "a.csv")
    decide(project, reviewer="Ann", term=1, verdict="concept", targets=SEIZURE)
    added = add_table(project, b"finding,lang\nseizures,en\nSeizure,en\nfever,en\n", "b.csv")
    assert (added["terms"], added["new_terms"], added["decided"]) == (3, 3, 2)
    assert listed(project) == [("seizures", 3, ["seizures", "Seizure"]), ("fever", 2, ["fever"])]
    assert list_terms(project, TermFilter())["terms"][0]["carried"]
    assert len(undo(project, reviewer="Ann")) == 3


def test_languages_are_not_mixed(project: Project) -> None:
    add_table(project, b"finding,lang\nGift,de\ngift,en\ngift,\n", "a.csv")
    assert [forms for _, _, forms in listed(project)] == [[], [], []]


def test_forms_are_split_by_choice(project: Project) -> None:
    add_table(project, SEIZURES, "a.csv")
    made = decide(project, reviewer="Ann", term=1, verdict="concept", targets=SEIZURE)
    assert split_forms(project, 3) == [3]
    decide(project, reviewer="Ann", term=1, verdict="nil", expects=made.id)
    assert [term_details(project, term)["decisions"]["Ann"]["verdict"] for term in (1, 2, 3)] == [
        "nil",
        "nil",
        "concept",
    ]
    assert [each["text"] for each in list_forms(project)[0]["forms"]] == ["Seizure"]
    assert split_forms(project, 1) == [1, 2]
    # A later table does not join them again; a new form joins none of them.
    add_table(project, b"finding\nSEIZURES\n", "b.csv")
    assert [forms for _, _, forms in listed(project)] == [[], [], [], []]


def test_forms_with_different_imported_decisions_are_split(project: Project) -> None:
    add_table(project, SEIZURES, "a.csv")
    table = "finding,concept_id,decision,relation,reviewer,decided_at,comment\n"
    rows = "seizures,X:5,concept,exact,Bo,,\nSeizure,X:4,concept,exact,Bo,,\n"
    import_decisions(project, (table + rows).encode(), "d.csv", vocabulary=None)
    assert listed(project)[:2] == [("seizures", 4, ["SEIZURES"]), ("Seizure", 2, [])]
    decided = [list(term_details(project, term)["decisions"].values()) for term in (1, 2, 3)]
    assert [each["targets"][0]["concept_id"] for [each] in decided] == ["X:5", "X:4", "X:5"]


def test_an_imported_decision_on_one_form_splits_this_form(project: Project) -> None:
    add_table(project, SEIZURES, "a.csv")
    decide(project, reviewer="Bo", term=1, verdict="concept", targets=SEIZURE)
    table = "finding,concept_id,decision,relation,reviewer,decided_at,comment\nSeizure,X:4,concept,exact,Bo,,\n"
    import_decisions(project, table.encode(), "d.csv", vocabulary=None)
    assert listed(project)[:2] == [("seizures", 4, ["SEIZURES"]), ("Seizure", 2, [])]
    decide(project, reviewer="Cy", term=1, verdict="nil")
    assert "Cy" not in term_details(project, 2)["decisions"]


def test_a_new_form_has_the_decision_that_counts(project: Project) -> None:
    add_table(project, b"finding\nseizures\n", "a.csv")
    decide(project, reviewer="Zoe", term=1, verdict="concept", targets=SEIZURE)
    decide(project, reviewer="Ann", term=1, verdict="nil")
    add_table(project, b"finding\nSeizure\n", "b.csv")
    with project.reading() as connection:
        verdicts = connection.execute(
            "SELECT verdict FROM settled JOIN decision ON decision.id = settled.decision ORDER BY settled.term"
        ).fetchall()
    assert [verdict for (verdict,) in verdicts] == ["nil", "nil"]


def test_imported_decisions_of_two_reviewers_reach_all_forms(project: Project) -> None:
    add_table(project, SEIZURES, "a.csv")
    table = "finding,concept_id,decision,relation,reviewer,decided_at,comment\n"
    rows = "seizures,X:5,concept,exact,Bo,,\nseizures,X:4,concept,exact,Cy,,\n"
    import_decisions(project, (table + rows).encode(), "d.csv", vocabulary=None)
    assert [set(term_details(project, term)["decisions"]) for term in (1, 2, 3)] == [{"Bo", "Cy"}] * 3


def test_accepting_and_priorities_count_a_term_once(project: Project, index: Index) -> None:
    add_table(project, SEIZURES, "a.csv")
    link_waiting(project, Linker(index, top_k=10).link)
    first = {term["text"]: term["frequency"] for term in prioritise(project).terms}
    assert set(first) == {"seizures", "fever"}
    found = accept(project, reviewer="Ann", above=0.1)
    assert (found["terms"], found["rows"]) == (2, 4)
    assert summary(project)["decided"] == 4
    assert len(undo(project, reviewer="Ann")) == 4


def test_a_project_of_the_first_version_is_read_and_changed(linked: Project, path: Path, tmp_path: Path) -> None:
    decide(linked, reviewer="Ann", term=1, verdict="concept", targets=[Target("X:1", "gout")])
    before = list_terms(linked, TermFilter())
    linked.close()
    old = tmp_path / "old.nymlink"
    connection = sqlite3.connect(old)
    connection.executescript((Path(__file__).parent / "version_1.sql").read_text(encoding="utf-8"))
    connection.execute("ATTACH ? AS new", (str(path),))
    for (table,) in connection.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'").fetchall():
        if not table.startswith("sqlite_"):
            columns = ", ".join(row[1] for row in connection.execute(f"PRAGMA main.table_info({table})"))
            connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table}")
    connection.commit()
    connection.execute("PRAGMA application_id = 1853451628")
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    raw = old.read_bytes()
    with Project(old, writes=False) as project:
        assert list_terms(project, TermFilter()) == before
    assert old.read_bytes() == raw
    with Project(old) as project:
        assert list_terms(project, TermFilter()) == before
        add_table(project, b"finding\nGOUTS\n", "more.csv")
        assert listed(project)[0] == ("gout", 7, ["GOUTS"])
        assert decide(project, reviewer="Bob", term=2, verdict="nil").id == 3
    assert find_damage(old) == []
    with Project(old, writes=False) as project:
        assert summary(project)["decided"] == 3
