"""The review of a table by keyboard, through whatever happens meanwhile."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.serve.browser.browsing import BrowserContext, Page, Site, expect

WORDS = ("acute", "old", "first", "second", "left", "right", "mild", "severe", "sudden", "late")
NAMES = ("heart attack", "mitral insufficiency", "focal seizure", "heart disease", "epileptic seizure")


def table(rows: int) -> str:
    """Rows of which some have the same term."""
    terms = [name if word is None else f"{word} {name}" for name in NAMES for word in (None, *WORDS)]
    return "id,finding\n" + "".join(f"P{row},{terms[row % len(terms)]}\n" for row in range(rows))


def shown(page: Page) -> str:
    return page.locator("#term h2").inner_text()


def decide_all(page: Page, keys: str, limit: int | None = None) -> dict[str, str]:
    """Decide one term after the other; return which key decided each."""
    decided: dict[str, str] = {}
    while limit is None or len(decided) < limit:
        term = shown(page)
        if term in decided:
            break
        decided[term] = keys[len(decided) % len(keys)]
        page.keyboard.press({"e": "Enter"}.get(decided[term], decided[term]))
    return decided


@pytest.mark.large
def test_a_table_of_200_rows_is_reviewed_by_keyboard_whatever_happens(
    index: Path, tmp_path: Path, new_context: Callable[..., BrowserContext]
) -> None:
    site = Site(index, tmp_path / "projects")
    try:
        file = tmp_path / "findings.csv"
        file.write_text(table(200), encoding="utf-8")
        context = new_context()
        page = context.new_page()
        page.goto(f"{site.url}/table")
        page.get_by_label("choose it").set_input_files(file)
        expect(page.get_by_label("Column of terms")).to_have_value("finding")
        page.keyboard.press("Enter")
        page.get_by_label("Your name").fill("Anna")
        page.keyboard.press("Enter")
        expect(page.locator("#summary")).to_contain_text(re.compile(r"0 of \d+ terms decided"))
        expect(page.get_by_role("progressbar")).to_be_hidden()
        total = len(site.terms("findings"))
        assert total == 55

        decided = decide_all(page, "e1n2f", 22)
        page.reload()
        # What was on its way is not lost, and it goes on where it was.
        expect(page.locator("#summary")).to_contain_text("Anna: 22 decided")
        # Keys are heard when the page has been drawn.
        expect(page.locator("#term .candidates")).to_be_visible()
        decided |= decide_all(page, "e1n2f", 11)

        expect(page.locator("#summary")).to_contain_text("Anna: 33 decided")
        site.kill()
        # What is decided while the server is away waits for it, even when the browser is closed meanwhile.
        decided |= decide_all(page, "n1", 5)
        expect(page.get_by_role("alert")).to_contain_text("5 decisions are not saved yet")
        page.close()
        site.start()
        page = context.new_page()
        page.goto(f"{site.url}/table/findings")
        expect(page.locator("#summary")).to_contain_text("Anna: 38 decided")
        assert site.terms("findings", status="open", sort="frequency", descending="true")[0]["text"] not in decided

        # Undo reaches back before all that.
        last = list(decided)[-1]
        page.keyboard.press("u")
        expect(page.get_by_role("status").first).to_have_text("Undone.")
        assert last not in site.decisions("findings", "Anna")
        page.get_by_label("Show").select_option("not decided")
        page.reload()
        expect(page.get_by_role("heading", name=f"Terms ({total - 37})")).to_be_visible()
        expect(page.locator("#term .candidates")).to_be_visible()
        decided.pop(last)

        decided |= decide_all(page, "1en")
        expect(page.locator("#summary")).to_contain_text(f"Anna: {total} decided")
        assert len(decided) == total

        saved = site.decisions("findings", "Anna")
        candidates = {term["text"]: [each["id"] for each in term["candidates"]] for term in site.terms("findings")}
        for term, key in decided.items():
            if key in "e1":
                assert saved[term] == ("concept", candidates[term][:1]), term
            elif key == "2":
                assert saved[term] == ("concept", candidates[term][1:2]), term
            else:
                assert saved[term] == ({"n": "nil", "f": "flag"}[key], []), term
    finally:
        site.kill()


@pytest.mark.large
def test_each_key_does_what_the_list_of_keys_says(site: Site, review: Callable[..., Page]) -> None:
    rows = "\n".join(f"{name},{10 - place}" for place, name in enumerate((*NAMES, "late seizure", "old seizure")))
    site.new_project("keys", f"finding,count\n{rows}\n")
    page = review("keys", "Anna")
    status, found = page.get_by_role("status").first, page.locator("#found")
    expect(page.locator("#term .candidates .choice")).not_to_have_count(0)
    assert shown(page) == "heart attack"
    # Moving, and not beyond the ends.
    page.keyboard.press("ArrowUp")
    assert shown(page) == "heart attack"
    page.keyboard.press("ArrowDown")
    assert shown(page) == "mitral insufficiency"
    page.keyboard.press("ArrowUp")
    # A relation, and back to exact with the next term.
    page.keyboard.press("r")
    expect(status).to_have_text("The concept is broader than the term.")
    page.keyboard.press("Enter")
    expect(status).to_contain_text("(broader)")
    expect(page.get_by_label("The concept is")).to_have_value("exact")
    # Several targets.
    assert shown(page) == "mitral insufficiency"
    expect(page.locator("#term .candidates .choice")).not_to_have_count(0)
    page.keyboard.press("s")
    page.keyboard.press("1")
    page.keyboard.press("/")
    page.keyboard.type("seiz")
    expect(found.get_by_role("option", name="Seizure T:6")).to_be_visible()
    page.keyboard.press("Enter")
    page.get_by_label("Relation of Seizure").select_option("related")
    page.locator("[role=listbox]").first.focus()
    page.keyboard.press("Enter")
    # The whole vocabulary, by a name in another language, and by an id.
    assert shown(page) == "focal seizure"
    page.keyboard.press("/")
    page.keyboard.type("infarto")
    expect(found.get_by_role("option", name="Myocardial infarction")).to_be_visible()
    page.keyboard.press("Enter")
    assert shown(page) == "heart disease"
    page.keyboard.press("/")
    page.keyboard.type("T:7")
    expect(found.get_by_role("option", name="Focal seizure T:7")).to_be_visible()
    page.keyboard.press("Escape")
    # A comment stays with the term, and comes with its decision.
    page.keyboard.press("c")
    page.keyboard.type("ask Ben")
    page.keyboard.press("Enter")
    page.keyboard.press("f")
    assert shown(page) == "epileptic seizure"
    page.keyboard.press("n")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("x")
    expect(page.locator("#summary")).to_contain_text("Anna: 4 decided")
    decided = {term["text"]: term["decisions"].get("Anna") for term in site.terms("keys")}
    assert decided["heart attack"]["targets"][0]["relation"] == "broader"
    targets = decided["mitral insufficiency"]["targets"]
    assert [(target["concept_id"], target["relation"]) for target in targets] == [
        ("T:4", "exact"),
        ("T:6", "related"),
    ]
    assert [target["concept_id"] for target in decided["focal seizure"]["targets"]] == ["T:3"]
    assert (decided["heart disease"]["verdict"], decided["heart disease"]["comment"]) == ("flag", "ask Ben")


@pytest.mark.large
def test_keys_can_be_others_and_none(site: Site, review: Callable[..., Page]) -> None:
    site.new_project("remapped", "finding\nheart attack\nfocal seizure\nlate seizure\n")
    page = review("remapped", "Anna")
    page.keyboard.press("?")
    page.get_by_role("button", name="No concept of the vocabulary:").click()
    page.keyboard.press("z")
    expect(page.locator("dialog")).to_contain_text("The key is now z.")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="No concept z")).to_be_visible()
    page.keyboard.press("n")
    page.keyboard.press("z")
    expect(page.locator("#summary")).to_contain_text("1 no concept")
    # The browser remembers it; and keys can do nothing.
    page.reload()
    expect(page.get_by_role("button", name="No concept z")).to_be_visible()
    page.keyboard.press("?")
    page.get_by_label("Use single keys").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("z")
    page.keyboard.press("1")
    page.get_by_role("button", name="No concept z").click()
    expect(page.locator("#summary")).to_contain_text("2 no concept")
    assert len(site.decisions("remapped", "Anna")) == 2
