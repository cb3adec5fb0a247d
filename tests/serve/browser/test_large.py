"""Ten thousand rows: the page stays quick."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.serve.browser.browsing import BrowserContext, Site, expect

ROWS = 10_000
LONGEST = 1_000
"""Milliseconds in which the page may not answer. Drawing all rows takes seconds; the machine may be busy."""

_WATCH = """
window.longest = 0;
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) window.longest = Math.max(window.longest, task.duration);
}).observe({ type: "longtask", buffered: true });
"""

_IN_VIEW = """(share) => [...document.querySelectorAll('.option')].some(
  (row) => Math.abs(row.dataset.place - share * 9990) < 30 && row.getBoundingClientRect().top > 0)"""
"""Whether the terms at a place of the list are there."""


@pytest.mark.large
def test_ten_thousand_terms_do_not_freeze_the_page(
    site: Site, new_context: Callable[..., BrowserContext], record_property: Callable[[str, object], None]
) -> None:
    rows = "\n".join(f"heart attack of patient {number},{number % 7}" for number in range(ROWS))
    site.new_project("large", f"finding,count\n{rows}\n")
    page = new_context().new_page()
    page.add_init_script(_WATCH)
    page.goto(f"{site.url}/table/large")
    page.get_by_label("Your name").fill("Anna")
    page.keyboard.press("Enter")
    # It is reviewed while most is not linked yet.
    expect(page.get_by_role("progressbar")).to_be_visible()
    expect(page.get_by_role("heading", name=f"Terms ({ROWS:,})")).to_be_visible()
    terms = page.locator("#terms [role=listbox]")
    for _ in range(10):
        page.keyboard.press("n")
    for share in (0.1, 0.5, 0.9, 1.0, 0.0):
        terms.evaluate("(list, share) => { list.scrollTop = share * list.scrollHeight; }", share)
        page.wait_for_function(_IN_VIEW, arg=share)
        assert page.locator(".option").count() < 60
    page.get_by_label("sorted by").select_option("text")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#summary")).to_contain_text("stopped")
    terms.focus()
    for _ in range(50):
        page.keyboard.press("ArrowDown")
    expect(page.locator("#summary")).to_contain_text("Anna: 10 decided")
    longest = page.evaluate("window.longest")
    record_property("longest_task_ms", longest)
    assert longest < LONGEST
    # What would freeze it is noticed.
    page.evaluate("setTimeout(() => { for (const end = performance.now() + 300; performance.now() < end; ); })")
    page.wait_for_function("() => window.longest > 290")
