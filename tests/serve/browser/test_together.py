"""Two browsers on one project: they see each other's decisions, and overwrite none."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.serve.browser.browsing import Locator, Page, Site, expect

TABLE = "finding\nheart attack\nmitral insufficiency\nfocal seizure\nheart disease\n"


def row(page: Page, text: str) -> Locator:
    return page.locator(".option", has=page.get_by_text(text, exact=True))


@pytest.mark.large
def test_two_reviewers_see_each_other_and_their_disagreements(site: Site, review: Callable[..., Page]) -> None:
    site.new_project("together", TABLE)
    anna, ben = review("together", "Anna"), review("together", "Ben")
    anna.keyboard.press("1")
    anna.keyboard.press("1")
    expect(row(ben, "heart attack")).to_contain_text("Anna")
    expect(row(ben, "mitral insufficiency")).to_contain_text("Anna")
    # Ben decides them too: one alike, one not.
    row(ben, "heart attack").click()
    ben.keyboard.press("1")
    row(ben, "mitral insufficiency").click()
    ben.keyboard.press("n")
    expect(row(anna, "mitral insufficiency")).to_contain_text("≠ Ben")
    expect(row(anna, "heart attack")).not_to_contain_text("≠")
    expect(anna.locator("#summary")).to_contain_text(
        re.compile(r"Anna and Ben agree on 1 of 2 terms \(kappa -?\d\.\d\d\)")
    )
    ben.get_by_label("Show").select_option("disagreements")
    expect(ben.get_by_role("heading", name="Terms (1)")).to_be_visible()
    expect(ben.locator("#term h2")).to_have_text("mitral insufficiency")
    expect(ben.locator("#term .decided")).to_contain_text("Anna: Mitral insufficiency")
    # One gives in.
    ben.locator(".take").first.click()
    expect(row(anna, "mitral insufficiency")).not_to_contain_text("≠")
    expect(anna.locator("#summary")).to_contain_text("agree on 2 of 2 terms")


@pytest.mark.large
def test_what_was_decided_meanwhile_is_shown_and_not_overwritten(site: Site, review: Callable[..., Page]) -> None:
    site.new_project("conflict", TABLE)
    desk, phone = review("conflict", "Anna"), review("conflict", "Anna")
    # The second hears nothing of the first.
    phone.route("**/changes*", lambda route: route.abort())
    desk.keyboard.press("n")
    expect(desk.locator("#summary")).to_contain_text("1 no concept")
    phone.keyboard.press("1")
    alert = phone.get_by_role("alert")
    expect(alert).to_contain_text("“heart attack” was not saved")
    expect(alert).to_contain_text("decided in the meantime")
    alert.get_by_role("button", name="Show the term").click()
    expect(phone.locator("#term h2")).to_have_text("heart attack")
    expect(phone.locator("#term .decided")).to_contain_text("You: no concept")
    assert site.decisions("conflict", "Anna")["heart attack"] == ("nil", [])
    # Now that it was seen it may be changed.
    phone.keyboard.press("1")
    expect(row(desk, "heart attack")).to_contain_text("Myocardial infarction")
    assert site.decisions("conflict", "Anna")["heart attack"] == ("concept", ["T:3"])


@pytest.mark.large
def test_terms_are_filtered_and_sorted(site: Site, review: Callable[..., Page]) -> None:
    site.new_project("filtered", "finding,count\nheart attack,1\nunheard of,5\nfocal seizure,3\nhart attak,2\n")
    page = review("filtered", "Anna")

    def texts() -> list[str]:
        return page.locator(".option .text").all_inner_texts()

    assert texts() == ["unheard of", "focal seizure", "hart attak", "heart attack"]
    page.get_by_label("sorted by").select_option("text")
    page.get_by_label("largest first").uncheck()
    expect(page.locator(".option .text").first).to_have_text("focal seizure")
    assert texts() == ["focal seizure", "hart attak", "heart attack", "unheard of"]
    page.get_by_text("More filters").click()
    page.get_by_label("Text", exact=True).fill("ATTA")
    expect(page.get_by_role("heading", name="Terms (2)")).to_be_visible()
    page.get_by_label("Confidence from").fill("0.95")
    expect(page.get_by_role("heading", name="Terms (1)")).to_be_visible()
    assert texts() == ["heart attack"]
    page.get_by_label("Confidence from").fill("")
    page.get_by_label("Frequency at least").fill("2")
    expect(page.locator(".option .text").first).to_have_text("hart attak")
    page.get_by_label("Text", exact=True).fill("nothing like it")
    expect(page.locator("#term")).to_contain_text("No term is in this list")
    page.keyboard.press("Tab")
    # Filters are remembered.
    page.reload()
    expect(page.locator("#term")).to_contain_text("No term is in this list")


@pytest.mark.large
def test_an_answer_that_cannot_be_read_holds_up_no_decision(site: Site, review: Callable[..., Page]) -> None:
    site.new_project("garbled", TABLE)
    page = review("garbled", "Anna")
    # As a proxy in between answers, once.
    page.route("**/decisions", lambda route: route.fulfill(status=200, body="<p>Welcome!</p>"), times=1)
    page.keyboard.press("n")
    expect(page.locator("#summary")).to_contain_text("1 no concept")
    page.keyboard.press("n")
    expect(page.locator("#summary")).to_contain_text("2 no concept")
    assert len(site.decisions("garbled", "Anna")) == 2
