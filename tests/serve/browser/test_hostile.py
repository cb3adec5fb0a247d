"""What is in tables, names and comments is shown as it is, and never run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.serve.browser.browsing import BrowserContext, Site, expect

BAD = "<script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.mark.large
def test_nothing_in_a_table_is_run(site: Site, new_context: Callable[..., BrowserContext], tmp_path: Path) -> None:
    file = tmp_path / f"{BAD.replace('/', '')}.csv"
    file.write_text(f"id,{BAD},kind\n1,{BAD},{BAD}\n2,heart attack,{BAD}\n", encoding="utf-8")
    page = new_context().new_page()
    page.goto(f"{site.url}/table")
    page.get_by_label("Title").fill(BAD)
    page.get_by_label("choose it").set_input_files(file)
    page.get_by_label("Column of terms").select_option(BAD)
    page.get_by_label("of types").select_option("kind")
    page.get_by_role("button", name="Add and link").click()
    page.get_by_label("Your name").fill(BAD)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text(BAD)
    expect(page.locator("#term h2")).to_have_text(BAD)
    page.keyboard.press("c")
    page.keyboard.type(BAD)
    page.keyboard.press("Enter")
    page.keyboard.press("/")
    page.keyboard.type("infarction")
    page.locator("#found .take").first.click()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#term .decided")).to_contain_text(BAD)
    page.get_by_text("Rows with this term").click()
    page.get_by_text("History").click()
    expect(page.locator("#summary")).to_contain_text(f"{BAD}: 1 decided")
    assert page.locator("main script, main img").count() == 0
    page.goto(f"{site.url}/table")
    expect(page.get_by_role("link", name=BAD)).to_be_visible()
    assert page.locator("main script, main img").count() == 0
    page.goto(f"{site.url}/concept/toy/T:3")
    expect(page.get_by_role("heading", name="Used in projects")).to_be_visible()
    expect(page.locator("#uses")).to_contain_text(BAD)
    assert page.locator("main script, main img").count() == 0
