"""Names of controls, focus, contrast, sizes and structure, in light and dark, on a desk and on a phone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.serve.browser.browsing import BrowserContext, Page, Site, expect

CHECKS = Path(__file__).with_name("accessibility.js").read_text(encoding="utf-8")
CONTROLS = {"button", "link", "textbox", "searchbox", "combobox", "checkbox", "spinbutton", "listbox", "option"}

LOOKS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 800}},
    "dark, on a phone": {"color_scheme": "dark", "viewport": {"width": 390, "height": 844}},
}

_FOCUSED = """() => {
  const element = document.activeElement;
  const style = getComputedStyle(element);
  return [element.outerHTML.slice(0, 80), style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2];
}"""


def problems_of(page: Page) -> list[str]:
    """What the checks say, and controls without a name, as the browser tells them to a screen reader."""
    problems: list[str] = page.evaluate(CHECKS)
    session = page.context.new_cdp_session(page)
    for node in session.send("Accessibility.getFullAXTree")["nodes"]:
        role = node.get("role", {}).get("value")
        if not node["ignored"] and role in CONTROLS and not node.get("name", {}).get("value", "").strip():
            problems.append(f"no name: {role}")
    session.detach()
    return problems


def check(page: Page) -> None:
    assert problems_of(page) == [], page.url


def focus_order(page: Page) -> list[str]:
    """Go through a page with the tab key until it begins again; what has the focus can be seen to."""
    page.locator(".skip").focus()
    order: list[str] = []
    while len(order) < 200:
        element, is_seen = page.evaluate(_FOCUSED)
        if element.startswith("<body") or element in order[:1]:
            break
        assert is_seen, element
        order.append(element)
        page.keyboard.press("Tab")
    return order


@pytest.fixture(scope="session")
def reviewed(site: Site) -> str:
    site.new_project("accessible", "code,finding\nA1,heart attack\nA2,mitral insufficiency\nA3,unheard of\n")
    for reviewer, term, verdict, comment in (("Ben", 1, "nil", "no"), ("Anna", 2, "flag", "ask")):
        decision = {"reviewer": reviewer, "term": term, "verdict": verdict, "comment": comment}
        site.ask("/projects/accessible/decisions", decision)
    return "accessible"


@pytest.mark.large
@pytest.mark.parametrize("look", LOOKS)
def test_pages_can_be_read_and_used_by_all(
    site: Site, reviewed: str, new_context: Callable[..., BrowserContext], look: str
) -> None:
    page = new_context(**LOOKS[look]).new_page()
    for path in ("/", "/names", "/concept/toy/T:3", "/concept/toy/T:99", "/docs", "/table"):
        page.goto(site.url + path)
        page.wait_for_load_state("networkidle")
        check(page)
    page.get_by_label("choose it").set_input_files(
        {"name": "findings.csv", "mimeType": "text/csv", "buffer": b"code,finding\nA1,heart attack\n"}
    )
    expect(page.get_by_role("button", name="Add and link")).to_be_focused()
    check(page)

    page.goto(f"{site.url}/table/{reviewed}")
    expect(page.get_by_label("Your name")).to_be_focused()
    check(page)
    page.keyboard.type("Anna")
    page.keyboard.press("Enter")
    page.get_by_label("Show").select_option("all")
    expect(page.get_by_role("heading", name="Terms (3)")).to_be_visible()
    for details in page.locator("main details").all():
        details.evaluate("(box) => { box.open = true; }")
    expect(page.locator("#term .candidates .choice").first).to_be_visible()
    page.get_by_label("Several targets").check()
    page.locator(".take").first.click()
    check(page)
    page.get_by_label("Search the whole vocabulary").fill("heart")
    expect(page.locator("#found [role=option]").first).to_be_visible()
    check(page)
    # The progress covers the buttons while it is open.
    page.locator("#summary details").evaluate_all("(boxes) => boxes.forEach((box) => { box.open = false; })")
    for name in ("Accept the surest", "Learn", "Assign", "Add a table", "Import", "Export", "Keys", "Reviewer:"):
        page.get_by_role("button", name=name).click()
        expect(page.locator("dialog")).to_be_visible()
        check(page)
        page.keyboard.press("Escape")
        expect(page.locator("dialog")).not_to_be_attached()


@pytest.mark.large
def test_everything_is_reached_by_the_tab_key_and_seen_to_be(reviewed: str, review: Callable[..., Page]) -> None:
    page = review(reviewed, "Ben")
    order = focus_order(page)
    wanted = (
        "skip",
        'href="/table"',
        "Accept the surest",
        'name="status"',
        'role="listbox"',
        'id="search"',
        "take",
        "Accept <kbd",
        "relation",
    )
    wanted = (*wanted, "several", 'id="comment"')
    missing = [part for part in wanted if not any(part in each for each in order)]
    assert not missing, "\n".join(order)
    places = [next(place for place, each in enumerate(order) if part in each) for part in wanted]
    assert places == sorted(places)
    # The focus does not leave a dialog, and comes back.
    page.get_by_role("button", name="Keys").focus()
    page.keyboard.press("Enter")
    inside = [page.evaluate("document.activeElement.closest('dialog') !== null") for _ in range(3)]
    assert all(inside)
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Keys")).to_be_focused()


@pytest.mark.large
def test_the_checks_find_what_is_wrong(site: Site, new_context: Callable[..., BrowserContext]) -> None:
    page = new_context().new_page()
    page.goto(f"{site.url}/table")
    check(page)
    page.evaluate(
        """() => {
          const grey = document.createElement('p');
          grey.textContent = 'hard to read';
          grey.style.color = '#999';
          const nameless = document.createElement('button');
          nameless.style.cssText = 'min-height: 0; padding: 0; border: 0';
          const wide = document.createElement('div');
          wide.style.width = '3000px';
          wide.textContent = 'wide';
          document.querySelector('main').append(grey, nameless, wide, document.createElement('h4'));
        }"""
    )
    found = " ".join(problems_of(page))
    for sign in (
        "contrast 2.85: p “hard to read”",
        "no name: button",
        "wider than the window: 3",
        "small: button",
    ):
        assert sign in found
