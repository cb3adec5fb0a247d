"""A blind review on the page, and terms with several forms or findings."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.serve.browser.browsing import Page, Site, expect

TABLE = "finding\nheart attack\nmitral insufficiency\n"


@pytest.mark.large
def test_blind_reviewers_and_an_adjudicator(site: Site, review: Callable[..., Page]) -> None:
    site.new_project("blind", TABLE)
    anna = review("blind", "Anna")
    # Nothing is said of linking that has ended, also to screen readers.
    expect(anna.locator(".linking")).to_be_hidden()
    expect(anna.locator(".linking span")).to_have_text("")
    anna.get_by_role("button", name="Reviewers …").click()
    anna.get_by_label("Blind").check()
    anna.get_by_label("Adjudicator").fill("Cara")
    anna.get_by_role("button", name="Save").click()
    expect(anna.locator("#status")).to_contain_text("The way of reviewing is saved.")
    anna.keyboard.press("1")
    anna.keyboard.press("1")
    ben = review("blind", "Ben")
    expect(ben.get_by_role("heading", name="Terms (2)")).to_be_visible()
    expect(ben.locator("#terms")).not_to_contain_text("Anna")
    ben.keyboard.press("1")
    ben.keyboard.press("n")
    expect(ben.locator("#summary")).to_contain_text("Anna and Ben agree on 1 of 2 terms")
    cara = review("blind", "Cara")
    cara.get_by_label("Show").select_option("disagreements")
    expect(cara.get_by_role("heading", name="Terms (1)")).to_be_visible()
    expect(cara.locator("#term .decided")).to_contain_text("Anna: Mitral insufficiency")
    expect(cara.locator("#term .decided")).to_contain_text("Ben: no concept")
    # Enter takes no side.
    expect(cara.locator("#term")).to_contain_text("Reviewers disagree, so no candidate is selected.")
    expect(cara.locator(".candidates [aria-current=true]")).to_have_count(0)
    cara.keyboard.press("Enter")
    expect(cara.locator("#status")).to_contain_text("No candidate is selected.")
    assert site.decisions("blind", "Cara") == {}
    cara.keyboard.press("n")
    expect(cara.locator("#summary")).to_contain_text("1 no concept")
    with cara.expect_popup() as opened:
        cara.get_by_role("link", name="Report").click()
    expect(opened.value.get_by_role("heading", name="Open disagreements (0)")).to_be_visible()


@pytest.mark.large
def test_forms_and_findings(site: Site, review: Callable[..., Page]) -> None:
    site.new_project(
        "forms", 'finding\nfocal seizure\nFocal seizures\n"heart attack; no focal seizure"\n', composites="always"
    )
    page = review("forms", "Anna")
    expect(page.get_by_role("heading", name="Terms (2)")).to_be_visible()
    expect(page.locator("#term .forms")).to_contain_text("Decided together with: Focal seizures")
    page.keyboard.press("1")
    expect(page.locator("#term .parts")).to_contain_text("2 findings in one term: heart attack · no focal seizure")
    expect(page.locator(".chosen-targets li")).to_have_count(2)
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_contain_text("3 of 3 terms decided")
    [decision] = [
        term["decisions"]["Anna"]
        for term in site.terms("forms", viewer="Anna")
        if term["text"].startswith("heart")
    ]
    assert [(each["relation"], each.get("denied", False)) for each in decision["targets"]] == [
        ("part", False),
        ("part", True),
    ]
    page.get_by_label("Show").select_option("decided")
    page.locator(".option").get_by_text("focal seizure", exact=True).first.click()
    page.get_by_role("button", name="Decide separately").click()
    expect(page.get_by_role("heading", name="Terms (3)")).to_be_visible()


@pytest.mark.large
def test_a_concept_that_the_vocabulary_lacks_is_added(site: Site, review: Callable[..., Page]) -> None:
    site.new_project("lacks", TABLE + "broken heart\n")
    page = review("lacks", "Anna")
    page.locator(".option").get_by_text("broken heart", exact=True).click()
    expect(page.locator("#term h2")).to_have_text("broken heart")
    page.keyboard.press("a")
    dialog = page.locator("dialog")
    # What is wrong is said, and what was written stays.
    dialog.get_by_label("Broader concept").fill("T:99")
    dialog.get_by_label("Other names").fill("grief of the heart\n")
    page.get_by_role("button", name="Add and decide").click()
    expect(dialog.get_by_role("status")).to_contain_text("the parent 'T:99' is no concept")
    # A name typed finds ids to choose from.
    dialog.get_by_label("Broader concept").fill("heart dis")
    expect(dialog.locator("option[value='T:2']")).to_be_attached()
    dialog.get_by_label("Broader concept").fill("T:2")
    expect(dialog).to_contain_text("Heart disease")
    dialog.get_by_label("Definition").fill("A heart that suffers.")
    dialog.get_by_label("Definition").press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_contain_text("Anna: 1 decided")
    assert site.decisions("lacks", "Anna") == {"broken heart": ("concept", ["LOCAL:0000001"])}
    [own] = site.ask("/projects/lacks/concepts")["concepts"]
    assert (own["name"], own["parents"], own["synonyms"]) == ("broken heart", ["T:2"], ["grief of the heart"])
    assert (own["definition"], own["reviewer"]) == ("A heart that suffers.", "Anna")
    # Another term is given it by search, and the maintainers are asked for it.
    page.keyboard.press("/")
    page.keyboard.type("grief")
    expect(page.locator("#found [aria-selected=true]")).to_contain_text("added to the project: grief of the heart")
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_contain_text("Anna: 2 decided")
    page.get_by_role("button", name="Export …").click()
    with page.expect_download() as saved:
        dialog.get_by_role("link", name="texts of issues").click()
    assert "broken heart" in saved.value.path().read_text(encoding="utf-8")
