"""The page to print about a review."""

from __future__ import annotations

import io
from pathlib import Path
from xml.etree import ElementTree

import pytest

from nymlink.project.decisions import decide
from nymlink.project.project import Project
from nymlink.project.report import reliability, speeds, write_report
from nymlink.project.reviewers import set_review
from nymlink.project.rows import Target

GOUT, FEVER, SPELT, ELSE = 1, 2, 3, 4


@pytest.fixture
def reviewed(linked: Project) -> Project:
    """Ann decides three terms, 10 and 20 s after each other; Bob disagrees on one. Two have a confidence."""
    set_review(linked, adjudicator="Cara")
    decide(linked, reviewer="Ann", term=GOUT, verdict="concept", targets=[Target("X:1", "gout")])
    decide(linked, reviewer="Ann", term=FEVER, verdict="concept", targets=[Target("X:2", "<fever>", "broader")])
    decide(linked, reviewer="Ann", term=SPELT, verdict="nil")
    decide(linked, reviewer="Bob", term=FEVER, verdict="nil")
    with linked.writing() as connection:
        connection.execute("UPDATE term SET confidence = 0.55 WHERE id IN (?, ?)", (GOUT, SPELT))
        for number, at in enumerate((0, 10_000, 30_000, 30_000 + 86_400_000), start=1):
            connection.execute("UPDATE decision SET at = ? WHERE id = ?", (1_700_000_000_000 + at, number))
    return linked


def test_confidences_are_compared_with_decisions(reviewed: Project) -> None:
    [found] = reliability(reviewed)
    # Gout is right, the misspelt term is not; fever is in dispute.
    assert (found["low"], found["terms"], found["right"]) == (0.5, 2, 0.5)
    assert found["confidence"] == pytest.approx(0.55)


def test_speed_leaves_pauses_out(reviewed: Project) -> None:
    decide(reviewed, reviewer="Ann", term=ELSE, verdict="nil")
    found = speeds(reviewed)
    assert (found["Ann"]["decisions"], found["Ann"]["seconds"]) == (4, 15.0)
    assert (found["Bob"]["decisions"], found["Bob"]["seconds"]) == (1, None)


def test_the_page_has_it_all(reviewed: Project, tmp_path: Path) -> None:
    write_report(reviewed, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    page = ElementTree.fromstring(text.replace("<!doctype html>", "").replace('<meta charset="utf-8">', ""))
    said = " ".join(" ".join(page.itertext()).split())
    for words in (
        "Review of Visits",
        "visits.csv · linked to toy",
        "terms 4 2 50.0 %",
        "rows 5 3 60.0 %",
        "occurrences (frequency) 70.0 %",
        "1 terms have a concept, 1 have none in the vocabulary (NIL) (50.0 % of the decided); 0 are flagged",
        "Disagreements are decided by Cara",
        "Ann 3 0 2023-11-14 2023-11-14 15",
        "Ann and Bob decision 1 0 0.0 % 0.00",
        "Ann and Bob verdict 1 0 0.0 % 0.00",
        "0.5–0.6 2 0.55 50.0 %",
        "Open disagreements (1)",
        "fever 2 Ann: <fever> (broader); Bob: no concept",
    ):
        assert words in said, words
    [bar] = page.iter("rect")
    assert float(bar.attrib["height"]) == 110


def test_a_page_of_nothing(project: Project) -> None:
    out = io.StringIO()
    write_report(project, out)
    assert "No term with a confidence has been decided by itself." in out.getvalue()
