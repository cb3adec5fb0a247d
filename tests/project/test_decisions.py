"""Terms are decided, undone, accepted and assigned; nothing that is decided is lost."""

from __future__ import annotations

import random
from itertools import count
from pathlib import Path
from typing import Any, get_args

import pytest
from sklearn.metrics import cohen_kappa_score

from nymlink.core.errors import InputError
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.project.acceptance import accept, accepted_batches, rests_on_abbreviation
from nymlink.project.add_file import add_table
from nymlink.project.decisions import decide, undo
from nymlink.project.links import count_progress, link_waiting
from nymlink.project.project import Project
from nymlink.project.rows import ConflictError, NotSavedError, ReadOnlyError, Target, UnknownTermError, Verdict
from nymlink.project.summary import agreements, changes_after, cohens_kappa, last_entry, summary
from nymlink.project.terms import Status, TermFilter, assign, list_terms, term_details, terms_of_concept
from tests.project.conftest import TABLE

GOUT, FEVER, SPELT, ELSE = 1, 2, 3, 4


def ids(project: Project, status: Status, reviewer: str = "", **more: Any) -> list[int]:
    found = list_terms(project, TermFilter(status=status, reviewer=reviewer, **more))
    assert found["total"] == len(found["terms"])
    return [term["id"] for term in found["terms"]]


def test_equal_terms_are_one(linked: Project) -> None:
    shown = list_terms(linked, TermFilter(), sort="frequency", descending=True)["terms"]
    found = [(term["text"], term["frequency"], term["language"]) for term in shown]
    assert found == [
        ("gout", 6, "en"),
        ("fever", 2, "en"),
        ("heart attak", 1, "en"),
        ("quite something else", 1, "en"),
    ]
    details = term_details(linked, GOUT)
    assert [(row["number"], row["code"]) for row in details["rows"]] == [(2, "A"), (5, "D")]
    assert details["rows"][0]["cells"] == ["A", "gout", "5", "en"]
    assert details["link"]["candidates"][0]["concept_id"] == "X:1"
    assert (details["row_count"], details["carried"]) == (2, False)


def test_terms_are_filtered_and_sorted(linked: Project) -> None:
    by_confidence = list_terms(linked, TermFilter(), sort="confidence")["terms"]
    confidences = [term["confidence"] for term in by_confidence]
    assert confidences == sorted(confidences)
    assert ids(linked, "all", min_confidence=confidences[-1]) == [
        term["id"]
        for term in sorted(by_confidence, key=lambda term: term["id"])
        if term["confidence"] == confidences[-1]
    ]
    assert by_confidence[0]["id"] in ids(linked, "all", max_confidence=confidences[0])
    assert ids(linked, "all", text="HEART ") == [SPELT]
    page = list_terms(linked, TermFilter(), limit=1, offset=2)
    assert (page["total"], [term["id"] for term in page["terms"]]) == (4, [3])


def test_each_decision_is_seen_in_its_status(linked: Project) -> None:
    decide(linked, reviewer="Ann", term=GOUT, verdict="concept", targets=[Target("X:1", "gout")])
    decide(linked, reviewer="Ann", term=FEVER, verdict="nil", comment="not meant")
    decide(linked, reviewer="Ann", term=SPELT, verdict="flag", targets=[Target("X:3")])
    assert [ids(linked, status) for status in get_args(Status)] == [
        *([1, 2, 3, 4], [4], [1, 2], [2], [3]),
        *([], [], [], [], []),
    ]
    assert ids(linked, "open", "Bob") == [1, 2, 3, 4]
    assert ids(linked, "decided", "Ann") == [1, 2]
    assert [term["id"] for term in terms_of_concept(linked, "X:1")] == [GOUT]
    found = summary(linked)
    assert found["verdicts"] == {"concept": 1, "nil": 1, "flag": 1, "open": 1}
    assert found["coverage"] == {"terms": 0.5, "rows": 3 / 5, "frequency": 8 / 10}
    assert found["reviewers"] == [{"name": "Ann", "decided": 3, "assigned": 0}]


def test_a_decision_on_what_is_no_longer_so_is_refused(linked: Project) -> None:
    first = decide(linked, reviewer="Ann", term=GOUT, verdict="nil")
    with pytest.raises(ConflictError) as caught:
        decide(linked, reviewer="Ann", term=GOUT, verdict="flag")
    assert caught.value.present == first.to_dict()
    # Others' decisions are theirs.
    decide(linked, reviewer="Bob", term=GOUT, verdict="flag")
    second = decide(linked, reviewer="Ann", term=GOUT, verdict="open", expects=first.id)
    assert second.id > first.id
    with pytest.raises(UnknownTermError):
        decide(linked, reviewer="Ann", term=99, verdict="nil")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"reviewer": " "}, "a reviewer needs a name"),
        ({"reviewer": "x" * 101}, "100 characters"),
        ({"reviewer": "a\0b"}, "invalid characters"),
        ({"verdict": "concept"}, "concept needs a target"),
        ({"targets": [Target("X:1")]}, "leave them out"),
        ({"verdict": "concept", "targets": [Target("X:1"), Target("X:1")]}, "distinct"),
        ({"verdict": "concept", "targets": [Target(" ")]}, "no concept_id"),
        ({"verdict": "maybe"}, "a verdict must be one of"),
        ({"comment": "x" * 10_001}, "a comment may have"),
    ],
)
def test_what_is_no_decision_is_refused(linked: Project, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        decide(linked, **{"reviewer": "Ann", "term": GOUT, "verdict": "nil", **wrong})
    assert last_entry(linked) == 0


def test_undo_goes_back_step_by_step_across_restarts(linked: Project, path: Path) -> None:
    first = decide(linked, reviewer="Ann", term=GOUT, verdict="nil")
    decide(linked, reviewer="Bob", term=GOUT, verdict="flag")
    decide(linked, reviewer="Ann", term=GOUT, verdict="flag", expects=first.id)
    decide(linked, reviewer="Ann", term=FEVER, verdict="nil")
    linked.close()
    with Project(path) as again:
        [undone] = undo(again, reviewer="Ann")
        assert (undone["term"], undone["decision"]) == (FEVER, None)
        [undone] = undo(again, reviewer="Ann")
        assert (undone["term"], undone["decision"]) == (GOUT, first.to_dict())
        [undone] = undo(again, reviewer="Ann")
        assert (undone["term"], undone["decision"]) == (GOUT, None)
        assert undo(again, reviewer="Ann") == []
        assert ids(again, "flagged") == [GOUT]
        # A term can be decided anew after all that.
        decide(again, reviewer="Ann", term=GOUT, verdict="nil")
        history = term_details(again, GOUT)["history"]
        assert [(entry["reviewer"], entry["undone"]) for entry in history] == [
            ("Ann", True),
            ("Bob", False),
            ("Ann", True),
            ("Ann", False),
        ]


def test_any_decisions_and_undos_are_those_of_a_list(linked: Project) -> None:
    random_ = random.Random(0)
    stacks: dict[str, list[tuple[int, str]]] = {"Ann": [], "Bob": []}
    for _ in range(150):
        who = random_.choice(["Ann", "Bob"])
        if random_.random() < 0.35:
            undone = undo(linked, reviewer=who)
            assert len(undone) == bool(stacks[who])
            if stacks[who]:
                assert undone[0]["term"] == stacks[who].pop()[0]
            continue
        term = random_.randint(1, 4)
        verdict: Verdict = random_.choice(["nil", "flag", "open"])
        present = term_details(linked, term)["decisions"].get(who)
        decide(linked, reviewer=who, term=term, verdict=verdict, expects=present and present["id"])
        stacks[who].append((term, verdict))
    for term in range(1, 5):
        found = {who: entry["verdict"] for who, entry in term_details(linked, term)["decisions"].items()}
        assert found == {who: dict(stack)[term] for who, stack in stacks.items() if term in dict(stack)}
    told = {(each["term"], each["reviewer"]): each["decision"] for each in changes_after(linked, 0)["decisions"]}
    for (term, who), entry in told.items():
        assert (entry and entry["verdict"]) == dict(stacks[who]).get(term)


def test_others_hear_of_what_changed(linked: Project) -> None:
    decide(linked, reviewer="Ann", term=GOUT, verdict="nil")
    first = changes_after(linked, 0)
    assert [(each["term"], each["decision"]["verdict"]) for each in first["decisions"]] == [(GOUT, "nil")]
    assert changes_after(linked, first["last"]) == {"last": first["last"], "decisions": []}
    undo(linked, reviewer="Ann")
    second = changes_after(linked, first["last"])
    assert second["decisions"] == [{"term": GOUT, "reviewer": "Ann", "decision": None}]
    assert changes_after(linked, 0, limit=1)["last"] == first["last"]


def test_what_is_sure_is_accepted_and_undone_at_once(linked: Project) -> None:
    decide(linked, reviewer="Bob", term=FEVER, verdict="nil")
    wanted = [term for term in list_terms(linked, TermFilter(status="open"))["terms"] if term["confidence"] >= 0.5]
    told = accept(linked, reviewer="Ann", above=0.5, dry_run=True)
    assert last_entry(linked) == 1
    made = accept(linked, reviewer="Ann", above=0.5)
    assert told == {**made, "batch": None}
    assert [batch["batch"] for batch in accepted_batches(linked)] == [made["batch"]]
    assert ids(linked, "accepted") == ids(linked, "accepted", "Ann") == [term["id"] for term in wanted]
    assert [each["confidence"] for each in told["sample"]] == sorted(term["confidence"] for term in wanted)
    assert told["terms"] == len(wanted)
    assert told["expected_wrong"] == pytest.approx(sum(1 - term["confidence"] for term in wanted))
    for term in wanted:
        [decision] = term_details(linked, term["id"])["decisions"].values()
        assert (decision["origin"], decision["targets"][0]["concept_id"]) == (
            "accept",
            term["candidates"][0]["id"],
        )
    assert accept(linked, reviewer="Ann", above=0.5)["terms"] == 0
    assert len(undo(linked, reviewer="Ann")) == len(wanted)
    assert ids(linked, "decided") == [FEVER]
    assert undo(linked, reviewer="Ann") == []


def test_what_is_filtered_is_accepted_and_an_earlier_batch_is_undone(linked: Project) -> None:
    made = accept(linked, reviewer="Ann", above=0.0, which=TermFilter(text="gout"))
    assert (made["terms"], ids(linked, "decided")) == (1, [GOUT])
    later = accept(linked, reviewer="Ann", above=0.0, which=TermFilter(text="FEV"))
    decide(linked, reviewer="Ann", term=SPELT, verdict="nil")
    assert [each["term"] for each in undo(linked, reviewer="Ann", batch=made["batch"])] == [GOUT]
    assert undo(linked, reviewer="Ann", batch=made["batch"]) == []
    assert undo(linked, reviewer="Bob", batch=later["batch"]) == []
    assert ids(linked, "decided") == [FEVER, SPELT]
    # A later decision on a term of the batch stays.
    present = term_details(linked, FEVER)["decisions"]["Ann"]["id"]
    decide(linked, reviewer="Ann", term=FEVER, verdict="nil", expects=present)
    undo(linked, reviewer="Ann", batch=later["batch"])
    assert ids(linked, "nil") == [FEVER, SPELT]


@pytest.mark.parametrize(
    ("text", "query", "name", "expected"),
    [
        ("ID (moderate)", "intellectual disability moderate", "Intellectual disability, moderate", True),
        ("VSD", "vsd", "Ventricular septal defect", True),
        ("sob", "shortness of breath", "Dyspnea", True),
        ("GAIT DISTURBANCE", "gait disturbance", "Gait disturbance", False),
        ("EEG abnormality", "eeg abnormality", "EEG abnormality", False),
        ("short stature", "short stature", "Short stature", False),
    ],
)
def test_abbreviations_are_told_from_words(text: str, query: str, name: str, expected: bool) -> None:
    assert rests_on_abbreviation(text, query, name) is expected


def test_without_confidences_nothing_is_accepted(project: Project, index: Index) -> None:
    add_table(project, TABLE.encode(), "visits.csv")
    assert accept(project, reviewer="Ann", above=0)["terms"] == 0
    plain = Index.build(index.vocabulary, encoder=None).with_ranker(None)
    link_waiting(project, Linker(plain, top_k=10).link)
    with pytest.raises(InputError, match="not calibrated"):
        accept(project, reviewer="Ann", above=0)


def test_two_halves_are_a_whole(linked: Project) -> None:
    everything = TermFilter()
    assert assign(linked, reviewer="Ann", terms=everything, share=0.5) == 2
    assert assign(linked, reviewer="Bob", terms=everything, share=0.5) == 2
    assert sorted(ids(linked, "mine", "Ann") + ids(linked, "mine", "Bob")) == [1, 2, 3, 4]
    assert assign(linked, reviewer="Cem", terms=[GOUT, 99]) == 1
    decide(linked, reviewer="Cem", term=GOUT, verdict="nil")
    assert ids(linked, "mine", "Cem") == []
    assert ids(linked, "all", assigned="Cem") == [GOUT]
    assert assign(linked, reviewer="Ann", terms=everything, share=0) == 0
    assert ids(linked, "mine", "Ann") == []


def test_disagreement_is_a_queue(linked: Project) -> None:
    gout, fever = Target("X:1"), Target("X:2")
    for who, targets in (("Ann", [gout, fever]), ("Bob", [fever, gout])):
        decide(linked, reviewer=who, term=GOUT, verdict="concept", targets=targets)
    decide(linked, reviewer="Ann", term=FEVER, verdict="concept", targets=[fever])
    other = decide(linked, reviewer="Bob", term=FEVER, verdict="concept", targets=[Target("X:2", "", "broader")])
    assert ids(linked, "disagreement") == [FEVER]
    [pair] = agreements(linked)
    assert (pair["reviewers"], pair["terms"], pair["agree"]) == (["Ann", "Bob"], 2, 1)
    parts = {on: (part["terms"], part["agree"], part["kappa"]) for on, part in pair["parts"].items()}
    assert parts == {"verdict": (2, 2, None), "concept": (2, 2, 1.0), "relation": (2, 1, pytest.approx(1 / 3))}
    other = decide(linked, reviewer="Bob", term=FEVER, verdict="nil", expects=other.id)
    [pair] = agreements(linked)
    parts = {on: (part["terms"], part["agree"], part["kappa"]) for on, part in pair["parts"].items()}
    assert parts == {"verdict": (2, 1, 0.0), "concept": (1, 1, None), "relation": (1, 1, None)}
    decide(linked, reviewer="Bob", term=FEVER, verdict="open", expects=other.id)
    assert ids(linked, "disagreement") == []


def test_kappa_is_that_of_others() -> None:
    random_ = random.Random(1)
    for _ in range(20):
        labels = [(random_.choice("abc"), random_.choice("abcd")) for _ in range(random_.randint(2, 30))]
        expected = cohen_kappa_score(*zip(*labels, strict=True))
        assert cohens_kappa(labels) == pytest.approx(expected, nan_ok=True)
    assert cohens_kappa([("a", "a"), ("a", "a")]) is None


def test_earlier_decisions_are_carried_over_to_a_new_table(linked: Project, index: Index) -> None:
    decide(linked, reviewer="Ann", term=GOUT, verdict="nil")
    raw = b"finding,tongue\ngout,en\npyrexia,English\ngout,de\n"
    added = add_table(linked, raw, "more.csv", columns={"language": "tongue"})
    assert "'English' is no language code" in added["problems"]["first"][0]["message"]
    assert (added["terms"], added["new_terms"], added["decided"]) == (3, 2, 1)
    assert term_details(linked, GOUT)["carried"] is True
    assert count_progress(linked).state == "waiting"
    seen: list[str] = []
    linker = Linker(index, top_k=10)
    link_waiting(linked, lambda mentions: [seen.append(each.text) or linker.link(each.text) for each in mentions])
    # What is decided, or linked, is not linked anew.
    assert seen == ["pyrexia", "gout"]
    decide(linked, reviewer="Ann", term=5, verdict="nil")
    assert term_details(linked, 5)["carried"] is False


def test_a_full_disk_loses_nothing(linked: Project, path: Path) -> None:
    first = decide(linked, reviewer="Ann", term=GOUT, verdict="nil")
    with linked.reading() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
    for number in count():
        try:
            decide(linked, reviewer=f"Bob {number}", term=FEVER, verdict="flag", comment="x" * 5000)
        except NotSavedError:
            break
    saved = last_entry(linked)
    with pytest.raises(NotSavedError, match="the disk is full"):
        add_table(linked, "\n".join(f"term {number}" for number in range(5000)).encode(), "more.txt")
    assert (last_entry(linked), summary(linked)["terms"]) == (saved, 4)
    with linked.reading() as connection:
        connection.execute("PRAGMA max_page_count = 1000000")
    assert decide(linked, reviewer="Ann", term=FEVER, verdict="nil").id == saved + 1
    linked.close()
    with Project(path, writes=False) as again:
        assert term_details(again, GOUT)["decisions"]["Ann"] == first.to_dict()
        with pytest.raises(ReadOnlyError):
            decide(again, reviewer="Ann", term=SPELT, verdict="nil")


def test_what_cannot_be_linked_is_said(project: Project, index: Index) -> None:
    add_table(project, b"good\nbad\nfever\n", "terms.txt")
    linker = Linker(index, top_k=10)

    def link(mentions: Any) -> Any:
        if any(mention.text == "bad" for mention in mentions):
            raise InputError("no")
        return linker.link(mentions)

    link_waiting(project, link)
    progress = count_progress(project)
    assert (progress.done, progress.total, progress.failed, progress.state) == (3, 3, 1, "done")
    assert [term["text"] for term in list_terms(project, TermFilter(status="failed"))["terms"]] == ["bad"]
