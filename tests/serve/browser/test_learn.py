"""The button that learns from decisions, and forgets again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.serve.browser.browsing import Page, Site, expect


@pytest.mark.large
def test_open_terms_link_better_once_decisions_are_learned(site: Site, review: Callable[..., Page]) -> None:
    site.new_project("learning", "finding\nthe big one\nfocal seizure\n")
    [term, _] = site.terms("learning", sort="order")
    targets = [{"concept_id": "T:3"}]
    decision = {"reviewer": "Anna", "term": term["id"], "verdict": "concept", "targets": targets}
    site.ask("/projects/learning/decisions", decision)
    page = review("learning", "Ben")
    page.get_by_role("button", name="Learn …").click()
    dialog = page.locator("dialog")
    expect(dialog).to_contain_text("Nothing is learned yet.")
    with page.expect_download() as saved:
        dialog.get_by_role("button", name="Save learned names").click()
    assert "the big one" in Path(saved.value.path()).read_text(encoding="utf-8")
    dialog.get_by_role("button", name="Learn", exact=True).click()
    expect(page.locator("#status")).to_contain_text("Learned from 1 term: 1 name.")
    site.ask("/projects/learning/files", b"finding\nbig one\n", **{"X-File-Name": "next.csv"})
    page.get_by_label("Show").select_option("all")
    row = page.locator(".option", has=page.get_by_text("big one", exact=True))
    expect(row).to_contain_text("Myocardial infarction")
    page.get_by_role("button", name="Learn …").click()
    expect(dialog).to_contain_text("0 decisions since")
    dialog.get_by_role("button", name="Forget").click()
    expect(page.locator("#status")).to_contain_text("are removed")
