"""What to decide first, how much is left, and when to stop."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Mention
from nymlink.linking.link import Candidate, Link
from nymlink.project.add_file import add_table
from nymlink.project.decisions import decide
from nymlink.project.index_reference import IndexReference
from nymlink.project.links import store_links
from nymlink.project.priorities import prioritise
from nymlink.project.project import Project
from nymlink.project.rows import Target
from nymlink.vocabulary.concepts import Name


def project_of(path: Path, terms: list[tuple[str, int, str, float | None]]) -> Project:
    """A project of terms, each with its frequency, its first candidate, and the confidence in it."""
    project = Project.create(path / "p.nymlink", index=IndexReference("i", "", "0", "s"))
    table = "term,n\n" + "".join(f"{text},{count}\n" for text, count, *_ in terms)
    add_table(project, table.encode(), "t.csv", columns={"mention": "term", "frequency": "n"})
    store_links(project, [(n, link_of(*term)) for n, term in enumerate(terms, start=1)])
    return project


def link_of(text: str, _: int, concept_id: str, confidence: float | None) -> Link:
    name = Name(text=text, concept_id=concept_id, lang="en", kind="exact", source="s")
    return Link(Mention(text), text, (Candidate(concept_id, text, name, 1.0, {}),), confidence=confidence)


def test_uncertain_frequent_and_different_terms_come_first(tmp_path: Path) -> None:
    terms = [
        ("sure", 100, "X:1", 0.999),
        ("doubtful", 10, "X:2", 0.5),
        ("doubtfull", 9, "X:2", 0.5),
        ("rare", 1, "X:3", 0.1),
        ("other", 6, "X:4", 0.5),
    ]
    with project_of(tmp_path, terms) as project:
        found = prioritise(project, limit=3)
        assert [term["text"] for term in found.terms] == ["doubtful", "other", "doubtfull"]
        assert [term["gain"] for term in found.terms] == [5.0, 3.0, 4.5]
        json.dumps(found.to_dict())
        for term, concept in ((2, "X:2"), (3, "X:2"), (4, "X:3"), (5, "X:4")):
            decide(project, reviewer="Ann", term=term, verdict="concept", targets=[Target(concept, "")])
        after = prioritise(project)
        assert (after.stop, after.left, after.decided) == (True, (0, 0, 0), 4)


def test_the_intervals_hold_what_is_so(tmp_path: Path) -> None:
    draw = np.random.default_rng(5)
    chances = draw.uniform(0.5, 1, 400)
    right = draw.random(400) < chances
    terms = [(f"term {n}", 1, f"X:{n}", float(chance)) for n, chance in enumerate(chances)]
    with project_of(tmp_path, terms) as project:
        for n in range(60):
            targets = [Target(f"X:{n}" if right[n] else "Y:1", "")]
            decide(project, reviewer="Ann", term=n + 1, verdict="concept", targets=targets)
        found = prioritise(project)
    true_share = (60 + right[60:].sum()) / 400
    assert found.right[1] <= true_share <= found.right[2]
    assert found.right[2] - found.right[1] < 0.2
    wrong = ~right[np.argsort(chances[60:], kind="stable") + 60]
    true_left = int(np.searchsorted(np.cumsum(wrong), wrong.sum() - 0.05 * 400 - 1e-9) + 1)
    assert found.left[1] <= true_left <= found.left[2]
    assert not found.stop


def test_confidences_that_promise_too_much_are_corrected(tmp_path: Path) -> None:
    terms: list[tuple[str, int, str, float | None]] = [(f"term {n}", 1, f"X:{n}", 0.97) for n in range(200)]
    with project_of(tmp_path, terms) as project:
        before = prioritise(project)
        for n in range(40):
            targets = [Target("Y:1" if n % 2 else f"X:{n}", "")]
            decide(project, reviewer="Ann", term=n + 1, verdict="concept", targets=targets)
        after = prioritise(project)
    assert before.right[0] > 0.9 > 0.75 > after.right[0]


def test_without_confidences_nothing_is_advised(tmp_path: Path) -> None:
    with (
        project_of(tmp_path, [("a", 1, "X:1", None)]) as project,
        pytest.raises(InputError, match="not calibrated"),
    ):
        prioritise(project)
