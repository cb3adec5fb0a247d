"""The pages that link names, and that find mentions in a text."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import quote

import pytest

from tests.serve.browser.browsing import BrowserContext, Site, expect


@pytest.mark.large
def test_names_are_linked_and_nothing_in_them_is_run(
    site: Site, new_context: Callable[..., BrowserContext]
) -> None:
    names = ["heart attack", "<img src=x onerror=alert(1)>", "<script>document.title='broken in'</script>", "MI"]
    page = new_context().new_page()
    page.goto(f"{site.url}/names?index=toy&text={quote(chr(10).join(names))}")
    expect(page.get_by_role("status")).to_have_text("4 names linked.")
    assert (
        page.get_by_role("link", name="Myocardial infarction").first.get_attribute("href") == "/concept/toy/T%3A3"
    )
    assert page.title() == "Names · nymlink"
    assert page.locator("main script, main img").count() == 0
    expect(page.get_by_text(names[1], exact=True)).to_be_visible()
    expect(page.locator(".doubt", has_text="of 2 concepts")).to_be_visible()


@pytest.mark.large
def test_mentions_are_highlighted_where_they_stand(site: Site, new_context: Callable[..., BrowserContext]) -> None:
    text = "𝔄 <b>patient</b> with a heart attack."
    page = new_context().new_page()
    page.goto(f"{site.url}/?index=toy&text={quote(text)}")
    expect(page.get_by_role("status")).to_have_text("1 mention found.")
    expect(page.locator("#found")).to_have_text(text)
    page.get_by_role("button", name="heart attack").focus()
    expect(page.locator("#why")).to_contain_text("Myocardial infarction")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as TSV").click()
    header, line = saved.value.path().read_text(encoding="utf-8").splitlines()
    assert line.split("\t")[:5] == ["24", "36", "heart attack", "T:3", "Myocardial infarction"]
    assert len(header.split("\t")) == len(line.split("\t"))
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as JSONL").click()
    [line] = saved.value.path().read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["mention"] == "heart attack"
