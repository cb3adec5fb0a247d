"""Tables in, decisions out and in again, and all that is done to many terms at once."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from tests.serve.browser.browsing import BrowserContext, Page, Site, expect

TABLE = "code,finding\nA1,heart attack\nA2,mitral insufficiency\nA3,focal seizure\nA4,unheard of\n"

_DROP = """
(zone, [name, bytes]) => {
  const dropped = new DataTransfer();
  dropped.items.add(new File([new Uint8Array(bytes)], name));
  for (const kind of ["dragenter", "dragover", "drop"]) {
    zone.dispatchEvent(new DragEvent(kind, { dataTransfer: dropped, bubbles: true, cancelable: true }));
  }
}
"""


@pytest.fixture
def start(site: Site, new_context: Callable[..., BrowserContext]) -> Page:
    page = new_context().new_page()
    page.goto(f"{site.url}/table")
    return page


def begin(page: Page) -> None:
    page.get_by_role("button", name="Add and link").click()
    page.get_by_label("Your name").fill("Anna")
    page.keyboard.press("Enter")
    expect(page.locator(".option").first).to_be_visible()


@pytest.mark.large
def test_a_dropped_table_is_shown_as_it_is_read_and_can_be_read_otherwise(site: Site, start: Page) -> None:
    table = "nr;Befund;n\n1;Müdigkeit;3\n2;Übelkeit, stark;1\n3;Krämpfe;2\n"
    start.locator(".drop").evaluate(_DROP, ["Befunde.csv", list(table.encode("cp1252"))])
    expect(start.get_by_role("heading", name="Befunde.csv: 3 rows")).to_be_visible()
    expect(start.get_by_label("Encoding")).to_have_value("windows-1252")
    expect(start.get_by_label("Delimiter")).to_have_value(";")
    expect(start.get_by_label("Column of terms")).to_have_value("Befund")
    expect(start.get_by_role("cell", name="Übelkeit, stark")).to_be_visible()
    start.get_by_label("Encoding").select_option("cp437")
    expect(start.get_by_role("cell", name="Müdigkeit")).not_to_be_attached()
    start.get_by_label("Encoding").select_option("windows-1252")
    expect(start.get_by_role("cell", name="Müdigkeit")).to_be_visible()
    start.get_by_label("Delimiter").select_option("comma")
    expect(start.get_by_role("columnheader", name="nr;Befund;n")).to_be_visible()
    start.get_by_label("Delimiter").select_option("semicolon")
    start.get_by_label("of frequencies").select_option("n")
    begin(start)
    assert [(term["text"], term["frequency"]) for term in site.terms("Befunde")] == [
        ("Müdigkeit", 3),
        ("Übelkeit, stark", 1),
        ("Krämpfe", 2),
    ]
    # Further tables are added to it; equal terms are one, and stay decided.
    start.keyboard.press("n")
    expect(start.locator("#summary")).to_contain_text("Anna: 1 decided")
    start.get_by_role("button", name="Add a table").click()
    start.get_by_text("Paste rows instead").click()
    start.get_by_label("Rows, as copied").fill("Müdigkeit\nheart attack")
    start.get_by_role("button", name="Use these rows").click()
    start.get_by_role("button", name="Add and link").click()
    expect(start.get_by_role("status").first).to_have_text("2 rows added, 1 new term, 1 term decided before.")
    assert len(site.terms("Befunde")) == 4
    start.get_by_label("Show").select_option("decided")
    expect(start.locator("#term")).to_contain_text("decision made for an earlier table")


@pytest.mark.large
def test_what_is_no_table_is_refused_with_a_reason(start: Page) -> None:
    start.get_by_label("choose it").set_input_files(
        {"name": "picture.png", "mimeType": "image/png", "buffer": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40}
    )
    expect(start.get_by_role("status")).to_contain_text("picture.png")
    expect(start.get_by_role("button", name="Add and link")).not_to_be_attached()
    # As the server answers to more than 64 MiB, which would take long.
    start.route("**/projects/preview*", lambda route: route.fulfill(status=413, json={}))
    start.get_by_label("choose it").set_input_files(
        {"name": "huge.csv", "mimeType": "text/csv", "buffer": b"finding\nheart attack\n"}
    )
    expect(start.get_by_role("status")).to_contain_text("huge.csv is too large for this page")


@pytest.mark.large
def test_what_was_decided_is_exported_and_imported_again(
    site: Site, review: Callable[..., Page], tmp_path: Path
) -> None:
    site.new_project("out", TABLE, code="code")
    page = review("out", "Anna")
    page.keyboard.press("1")
    page.keyboard.press("r")
    page.keyboard.press("1")
    page.keyboard.press("n")
    expect(page.locator("#summary")).to_contain_text("3 of 4 terms decided")
    page.get_by_role("button", name="Export").click()
    page.get_by_label("Format").select_option("sssom")
    with page.expect_download() as download:
        page.locator("dialog").get_by_role("button", name="Export").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    assert file.name.endswith(".sssom.tsv"), file.name
    expect(page.locator("dialog")).to_contain_text("is saved")

    site.new_project("in", TABLE, code="code")
    page = review("in", "Anna")
    page.get_by_role("button", name="Import").click()
    page.get_by_label("choose it").set_input_files(file)
    expect(page.get_by_role("status").first).to_contain_text("3 new decisions of 3 in the file")
    before, after = site.decisions("out", "Anna"), site.decisions("in", "Anna")
    assert after == before
    assert len(after) == 3


@pytest.mark.large
def test_formats_that_fit_the_vocabulary_are_offered(site: Site, review: Callable[..., Page]) -> None:
    site.new_project("formats", TABLE, code="code")
    page = review("formats", "Anna")
    page.get_by_role("button", name="Export").click()
    export = page.locator("dialog").get_by_role("button", name="Export")
    for format in ("csv", "jsonl", "xlsx", "parquet", "fhir-r5", "fhir-r4b"):
        page.get_by_label("Format").select_option(format)
        with page.expect_download() as download:
            export.click()
        assert download.value.path().stat().st_size > 100
    # Its concepts are not those of OMOP.
    offered = page.get_by_label("Format").locator("option").evaluate_all("(all) => all.map((one) => one.value)")
    assert "sssom" in offered
    assert not {"usagi", "source-to-concept-map"} & set(offered)


@pytest.mark.large
def test_the_surest_are_accepted_at_once_and_undone_at_once(site: Site, review: Callable[..., Page]) -> None:
    site.new_project("surest", TABLE)
    page = review("surest", "Anna")
    expect(page.get_by_role("progressbar")).to_be_hidden()
    page.get_by_role("button", name="Accept the surest").click()
    page.get_by_label("Confidence", exact=True).fill("0.99")
    dialog = page.locator("dialog")
    expect(dialog).to_contain_text("3 terms (3 rows): probably none of 3 will be wrong.")
    page.get_by_label("Confidence", exact=True).fill("0.1")
    expect(dialog).to_contain_text("4 terms (4 rows): about 1 of 4 will be wrong.")
    page.get_by_label("Confidence", exact=True).fill("0.99")
    dialog.get_by_role("button", name="Accept 3").click()
    expect(page.get_by_role("heading", name="Terms (1)")).to_be_visible()
    assert len(site.decisions("surest", "Anna")) == 3
    page.keyboard.press("u")
    expect(page.get_by_role("status").first).to_have_text("3 decisions undone.")
    assert site.decisions("surest", "Anna") == {}
    page.get_by_label("Show").select_option("all")
    expect(page.get_by_role("heading", name="Terms (4)")).to_be_visible()


@pytest.mark.large
def test_terms_are_assigned_and_each_has_a_queue(site: Site, review: Callable[..., Page]) -> None:
    site.new_project("assigned", TABLE)
    page = review("assigned", "Anna")
    for name in ("Anna", "Ben"):
        page.get_by_role("button", name="Assign").click()
        page.get_by_label("Reviewer", exact=True).fill(name)
        page.get_by_label("Share in %").fill("50")
        page.locator("dialog").get_by_role("button", name="Assign").click()
        expect(page.get_by_role("status").first).to_have_text(f"2 terms assigned to {name}.")
    page.get_by_label("Show").select_option("assigned to me")
    expect(page.get_by_role("heading", name="Terms (2)")).to_be_visible()
    mine = page.locator(".option .text").all_inner_texts()
    page.get_by_role("button", name="Reviewer: Anna").click()
    page.get_by_label("Your name").fill("Ben")
    page.keyboard.press("Enter")
    expect(page.locator(".option .text").first).not_to_have_text(mine[0])
    assert not set(mine) & set(page.locator(".option .text").all_inner_texts())
    expect(page.locator("#summary")).to_contain_text("Anna: 0 decided, 2 assigned")


@pytest.mark.large
def test_a_sheet_and_a_header_are_chosen_and_an_export_is_looked_at(site: Site, start: Page) -> None:
    book = openpyxl.Workbook()
    book.active.append(["about"])
    sheet = book.create_sheet("Data")
    for row in (["Clinic of today", None], ["finding", "n"], ["heart attack", 3]):
        sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    start.locator(".drop").evaluate(_DROP, ["sheets.xlsx", list(out.getvalue())])
    # The sheet with the table, and its header below a title, are found.
    sheets = start.get_by_role("combobox", name="Sheet")
    expect(sheets.locator("option:checked")).to_have_text("found by nymlink: Data")
    expect(start.get_by_label("Row of the header")).to_have_value("2")
    expect(start.get_by_label("Column of terms")).to_have_value("finding")
    sheets.select_option("Sheet")
    expect(start.get_by_role("columnheader", name="about")).to_be_visible()
    sheets.select_option("Data")
    expect(start.get_by_role("columnheader", name="finding")).to_be_visible()
    start.get_by_label("Row of the header").fill("1")
    start.get_by_label("Row of the header").press("Tab")
    expect(start.get_by_role("columnheader", name="Clinic of today")).to_be_visible()
    start.get_by_label("Row of the header").fill("2")
    start.get_by_label("Row of the header").press("Tab")
    expect(start.get_by_label("Column of terms")).to_have_value("finding")
    begin(start)
    assert [term["text"] for term in site.terms("sheets")] == ["heart attack"]
    start.keyboard.press("1")
    start.get_by_role("button", name="Export …").click()
    start.get_by_role("button", name="Show the beginning").click()
    expect(start.get_by_label("The beginning of the file")).to_contain_text("Myocardial infarction")
