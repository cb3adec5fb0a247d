"""Another release of the vocabulary: what became of the concepts that terms were given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nymlink.index.index import Index
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.serve.browser.browsing import BrowserContext, Site, expect


def next_release(folder: Path) -> Path:
    """A concept less, which another stands for."""
    builder = TableBuilder()
    builder.concept("T:6")
    builder.name("T:6", "Seizure", lang="en", kind="preferred")
    builder.concept("T:9")
    builder.name("T:9", "Heart attack", lang="en", kind="preferred")
    builder.concept("T:3", obsolete=True, replaced_by=["T:9"])
    builder.name("T:3", "Myocardial infarction", lang="en", kind="preferred")
    Index.build(Vocabulary.of((Source("toy", "table", version="2"), builder.build())), encoder=None).save(folder)
    return folder


@pytest.mark.large
def test_decisions_are_applied_to_another_release_and_what_changed_is_shown(
    index: Path, tmp_path: Path, new_context: Callable[..., BrowserContext]
) -> None:
    site = Site(index, tmp_path / "projects")
    try:
        site.new_project("release", "finding\nheart attack\nseizure\n")
        for term, concept in ((1, "T:3"), (2, "T:6")):
            targets = [{"concept_id": concept}]
            decision = {"reviewer": "Anna", "term": term, "verdict": "concept", "targets": targets}
            site.ask("/projects/release/decisions", decision)
        site.kill()
        site.start(next_release(tmp_path / "next"))
        page = new_context().new_page()
        page.goto(f"{site.url}/table/release")
        page.get_by_label("Your name").fill("Anna")
        page.keyboard.press("Enter")
        page.get_by_label("Show").select_option("all")
        # Nothing is decided with one vocabulary on what was linked to another.
        expect(page.locator("#term h2")).to_have_text("heart attack")
        page.locator("[role=listbox]").first.focus()
        page.keyboard.press("n")
        expect(page.get_by_role("alert")).to_contain_text("was not saved")
        expect(page.locator(".option").first).to_contain_text("Myocardial infarction")
        page.get_by_role("button", name="Apply to another release").click()
        expect(page.locator("dialog")).to_contain_text("toy 1")
        page.locator("dialog").get_by_role("button", name="Apply").click()
        expect(page.get_by_role("heading", name="Terms (1)")).to_be_visible()
        expect(page.locator("#term")).to_contain_text(
            "Myocardial infarction (T:3) is replaced: Heart attack (T:9)"
        )
        expect(page.locator("#summary")).to_contain_text("1 changed by a release")
        assert site.decisions("release", "Anna")["heart attack"] == ("concept", ["T:9"])
    finally:
        site.kill()
