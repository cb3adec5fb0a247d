"""Concepts of a project's own: candidates of later terms, kept through releases, and requests for them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest

from nymlink.core.errors import InputError
from nymlink.index.index import Index
from nymlink.project.add_file import add_table
from nymlink.project.decisions import decide
from nymlink.project.import_decisions import import_decisions
from nymlink.project.index_reference import IndexReference
from nymlink.project.learned import Learned, LearnedLinker
from nymlink.project.links import link_waiting
from nymlink.project.own_concepts import add_concept, own_concepts, request_text
from nymlink.project.project import Project
from nymlink.project.rebase import rebase
from nymlink.project.rows import Target
from nymlink.project.terms import TermFilter, list_terms, term_details
from tests.project.conftest import NAMES, vocabulary

Make = Callable[..., Project]


def link(project: Project, index: Index) -> None:
    link_waiting(project, LearnedLinker(index, Learned.of(project)).link)


def candidates(project: Project, text: str) -> list[str]:
    [found] = [each for each in list_terms(project, TermFilter())["terms"] if each["text"] == text]
    return [each["concept_id"] for each in term_details(project, found["id"])["link"]["candidates"]]


@pytest.fixture
def project(index: Index, tmp_path_factory: pytest.TempPathFactory) -> Project:
    path = tmp_path_factory.mktemp("own") / "own.nymlink"
    made = Project.create(path, index=IndexReference.of("toy", index))
    add_table(made, b"finding,n\nquite something else,4\ngout,1\n", "first.csv", columns={"frequency": "n"})
    link(made, index)
    return made


def test_a_concept_is_a_candidate_of_later_terms(project: Project, index: Index) -> None:
    with project:
        assert own_concepts(project) == []
        added = add_concept(
            project, index.vocabulary, " Blue  nail beds", parents=["X:2"], synonyms=["blue nails"], reviewer="Ann"
        )
        assert (added.id, added.name, added.parents) == ("LOCAL:0000001", "Blue nail beds", ("X:2",))
        other = add_concept(project, index.vocabulary, "Blue toe", parents=[added.id])
        assert other.id == "LOCAL:0000002"
        assert own_concepts(project) == [added, other]
        add_table(project, b"finding,n\nblue nails,1\nblue tone,1\nleft blue nail beds,1\nfever,2\n", "second.csv")
        link(project, index)
        assert candidates(project, "blue nails")[0] == added.id
        assert added.id in candidates(project, "left blue nail beds")
        assert candidates(project, "fever")[0] == "X:2"
        # Few words are no reason to take another for misspelt.
        assert candidates(project, "blue tone")[0] != other.id
        # A rule takes "seizures" for "seizure".
        plural = add_concept(project, index.vocabulary, "Seizures")
        add_table(project, b"finding,n\nseizures,1\n", "third.csv")
        link(project, index)
        assert candidates(project, "seizures")[:2] == [plural.id, "X:5"]
        [term] = [each for each in list_terms(project, TermFilter())["terms"] if each["text"] == "blue nails"]
        assert (term["nil"], term["confidence"]) == (False, None)


@pytest.mark.parametrize(
    ("name", "parents", "wrong"),
    [
        ("  ", [], "needs a name"),
        ("Podagra", [], "X:1 of the vocabulary has the name"),
        ("own Concept", [], "LOCAL:0000001 of the project has the name"),
        ("the same", [], "LOCAL:0000001 of the project has the name"),
        ("new", ["X:99"], "the parent 'X:99' is no concept"),
        ("n" * 1001, [], "at most 1,000 characters"),
    ],
)
def test_what_is_wrong_is_refused(
    project: Project, index: Index, name: str, parents: list[str], wrong: str
) -> None:
    with project:
        first = add_concept(project, index.vocabulary, "Own concept", synonyms=["The same"])
        with pytest.raises(InputError, match=wrong):
            add_concept(project, index.vocabulary, name, parents=parents)
        assert own_concepts(project) == [first]


def test_a_concept_is_kept_through_a_release(project: Project, index: Index) -> None:
    with project:
        added = add_concept(project, index.vocabulary, "Something else")
        decide(project, reviewer="Ann", term=1, verdict="concept", targets=[Target(added.id, added.name)])
        decide(project, reviewer="Ann", term=2, verdict="concept", targets=[Target("X:1", "gout")])
        names = {key: value for key, value in NAMES.items() if key != "X:1"}
        later = Index.build(vocabulary(names, version="2"), encoder=None)
        changed = rebase(project, IndexReference.of("toy", later), later.vocabulary)
        assert {kind: count for kind, count in changed.items() if count} == {"gone": 1}
        terms = list_terms(project, TermFilter())["terms"]
        assert terms[0]["decisions"]["Ann"]["targets"][0]["concept_id"] == added.id
        assert own_concepts(project) == [added]
        link(project, later)
        assert added.id in candidates(project, "quite something else")


def test_requests_for_the_vocabulary(project: Project, index: Index) -> None:
    with project:
        added = add_concept(
            project,
            index.vocabulary,
            'A "new" thing',
            parents=["X:2", "X:5"],
            synonyms=["thing, new", "thing"],
            definition="What is\tnew.",
            reviewer="Ann",
        )
        decide(project, reviewer="Ann", term=1, verdict="concept", targets=[Target(added.id, added.name)])
        table = list(csv.reader(io.StringIO(request_text(project, index.vocabulary, "robot")), delimiter="\t"))
        assert table[0] == ["ID", "Label", "Parent", "Synonym", "Definition"]
        assert table[1][:3] == ["ID", "LABEL", "SC % SPLIT=|"]
        assert table[2] == ["LOCAL:0000001", 'A "new" thing', "X:2|X:5", "thing, new|thing", "What is new."]
        issue = request_text(project, index.vocabulary, "issue")
        assert issue.startswith('# New term request: A "new" thing\n')
        assert "- **Parent:** X:2 (fever); X:5 (seizure)\n" in issue
        assert '- **Terms in our data, with their frequency:** "quite something else" (4)\n' in issue
        assert "X:2; X:5\n" in request_text(project, None, "issue")
        with pytest.raises(InputError, match="there are robot, issue"):
            request_text(project, None, "letter")


def test_another_project_uses_the_same_id_for_another_concept(
    project: Project, index: Index, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("other") / "other.nymlink"
    with Project.create(path, index=IndexReference.of("toy", index)) as other:
        add_table(other, b"finding,n\ngout,1\n", "first.csv", columns={"frequency": "n"})
        theirs = add_concept(other, index.vocabulary, "Tophus of an ear")
        [term] = list_terms(other, TermFilter())["terms"]
        decide(other, reviewer="Bo", term=term["id"], verdict="concept", targets=[Target(theirs.id, theirs.name)])
    with project:
        assert add_concept(project, index.vocabulary, "Blue nail beds").id == theirs.id

        def add() -> dict[str, Any]:
            return import_decisions(project, path.read_bytes(), "other.nymlink", vocabulary=index.vocabulary)

        refused = add()
        assert refused["new"] == 0
        assert "is 'Tophus of an ear' there and 'Blue nail beds' in this project" in str(refused["problems"])
        added = add_concept(project, index.vocabulary, "tophus of an ear")
        assert add()["new"] == 1
        [decided] = [each for each in list_terms(project, TermFilter())["terms"] if each["text"] == "gout"]
        assert [each["concept_id"] for each in decided["decisions"]["Bo"]["targets"]] == [added.id]
