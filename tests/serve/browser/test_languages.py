"""The pages in the language of the browser, or in one that the user chooses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.serve.browser.browsing import BrowserContext, Page, Site, expect

WORDS = {
    "de-DE": ("Eine Tabelle prüfen", "Begriffe (2)", "Sicherste annehmen …", "kein Konzept"),
    "es-MX": ("Revisar una tabla", "Términos (2)", "Aceptar los seguros …", "ningún concepto"),
    "fr-CA": ("Vérifier un tableau", "Termes (2)", "Accepter les sûrs …", "aucun concept"),
}


@pytest.mark.large
@pytest.mark.parametrize("locale", WORDS)
def test_a_review_in_the_language_of_the_browser(
    locale: str, site: Site, new_context: Callable[..., BrowserContext]
) -> None:
    title, terms, surest, none = WORDS[locale]
    site.new_project(locale, "finding\nheart attack\nmitral insufficiency\n")
    page = new_context(locale=locale).new_page()
    page.goto(f"{site.url}/table")
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    page.goto(f"{site.url}/table/{locale}")
    page.locator("#reviewer-name").fill("Anna")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=terms)).to_be_visible()
    page.keyboard.press("n")
    expect(page.locator("#status")).to_contain_text(none)
    page.get_by_role("button", name=surest).click()
    expect(page.locator("dialog h2")).to_have_text(surest.removesuffix(" …"))
    # No place of a value was left open, and no text was missing.
    for text in (page.locator("body").inner_text(), page.locator("dialog").inner_text()):
        assert "{" not in text
        assert "undefined" not in text


@pytest.mark.large
def test_another_language_is_chosen_and_remembered(site: Site, new_context: Callable[..., BrowserContext]) -> None:
    page: Page = new_context(locale="en-GB").new_page()
    page.goto(f"{site.url}/names?text=heart+attack")
    expect(page.get_by_text("1 name linked.")).to_be_visible()
    page.get_by_role("combobox", name="Language").select_option("Deutsch")
    expect(page.get_by_role("heading", name="Namen verknüpfen")).to_be_visible()
    expect(page.get_by_text("1 Name verknüpft.")).to_be_visible()
    page.goto(f"{site.url}/no/such/page")
    expect(page.get_by_role("link", name="Eine Tabelle prüfen oder ein Projekt öffnen")).to_be_visible()
    page.get_by_role("combobox", name="Sprache").select_option("English")
    expect(page.get_by_role("link", name="Review a table, or open a project")).to_be_visible()
