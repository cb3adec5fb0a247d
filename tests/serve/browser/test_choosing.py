"""What Accept takes: what the reviewer sees and selected, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.serve.browser.browsing import Page, Route, Site, expect

TABLE = "finding,count\nheart attack,9\nmitral insufficiency,8\nfocal seizure,7\nunheard of,6\nn/a,5\n"


def go_to(page: Page, text: str) -> None:
    page.locator(".option", has=page.get_by_text(text, exact=True)).click()
    expect(page.locator("#term h2")).to_have_text(text)
    expect(page.locator("#term .choice[aria-current=true] .opened")).to_be_attached()


def decide(site: Site, project: str, reviewer: str, term: int, verdict: str, *concepts: str) -> None:
    targets = [{"concept_id": each} for each in concepts]
    body = {"reviewer": reviewer, "term": term, "verdict": verdict, "targets": targets}
    site.ask(f"/projects/{project}/decisions", body)


@pytest.mark.large
def test_enter_takes_what_was_found_for_the_present_text_only(site: Site, review: Callable[..., Page]) -> None:
    site.new_project("typed", TABLE)
    page = review("typed", "Anna")
    found = page.locator("#found")
    # "Heart disease" shows its narrower concepts, so the name must stand first.
    infarction = re.compile(r"^\s*Myocardial infarction")
    page.keyboard.press("/")
    page.keyboard.type("heart")
    expect(found.locator("[aria-selected=true]")).to_be_visible()
    # The results of the longer text are on their way when Enter comes; those of its beginning stay, and are pale.
    held: list[Route] = []
    page.route("**/search?q=heart+attack&*", lambda route: held.append(route))
    page.keyboard.type(" attac")
    expect(found.locator("[aria-selected=true]")).to_have_text(infarction)
    page.keyboard.type("k")
    for _ in range(3):
        page.keyboard.press("Enter")
        expect(page.get_by_role("status").first).to_contain_text("Press Enter again")
    expect(page.locator("#found[aria-busy=true] [aria-selected=true]")).to_have_text(infarction)
    assert site.decisions("typed", "Anna") == {}
    # Impatience does not ask again.
    assert len(held) == 1
    held[0].continue_()
    expect(page.locator("#found[aria-busy=false] [aria-selected=true]")).to_have_text(infarction)
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_contain_text("Anna: 1 decided")
    assert site.decisions("typed", "Anna") == {"heart attack": ("concept", ["T:3"])}


@pytest.mark.large
def test_a_second_pass_with_enter_keeps_what_was_decided(site: Site, review: Callable[..., Page]) -> None:
    site.new_project("again", TABLE)
    decide(site, "again", "Anna", 1, "concept", "T:7")
    decide(site, "again", "Anna", 2, "nil")
    decide(site, "again", "Anna", 3, "flag")
    before = site.decisions("again", "Anna")
    page = review("again", "Anna")
    page.get_by_label("Show").select_option("all")
    expect(page.get_by_role("heading", name="Terms (5)")).to_be_visible()
    page.locator(".option").first.click()
    for text in ("heart attack", "mitral insufficiency", "focal seizure"):
        expect(page.locator("#term h2")).to_have_text(text)
        page.keyboard.press("Enter")
        expect(page.get_by_role("status").first).to_contain_text(f"{text}: still")
    assert site.decisions("again", "Anna") == before
    # Another reviewer agrees with Enter, and differs by a choice.
    page = review("again", "Ben")
    page.get_by_label("Show").select_option("all")
    expect(page.get_by_role("heading", name="Terms (5)")).to_be_visible()
    page.locator(".option").first.click()
    expect(page.locator("#term .choice[aria-current=true]")).to_contain_text("Focal seizure")
    page.keyboard.press("Enter")
    expect(page.locator("#term h2")).to_have_text("mitral insufficiency")
    page.keyboard.press("1")
    expect(page.locator("#summary")).to_contain_text("Ben: 2 decided")
    assert site.decisions("again", "Ben") == {
        "heart attack": ("concept", ["T:7"]),
        "mitral insufficiency": ("concept", ["T:4"]),
    }


@pytest.mark.large
def test_cells_that_name_nothing_become_no_concept(site: Site, review: Callable[..., Page]) -> None:
    site.new_project("junk", "finding\nn/a\n-\n2021-03-04\nheart attack\n")
    # After learning, a term that was given no concept stays without one.
    decide(site, "junk", "Ben", 4, "nil")
    site.ask("/projects/junk/learn", {})
    site.ask("/projects/junk/files", b"finding\nHeart attack\n", **{"X-File-Name": "next.csv"})
    page = review("junk", "Anna")
    expect(page.get_by_role("progressbar")).to_be_hidden()
    page.get_by_label("Show").select_option("all")
    # "Heart attack" is another form of a term.
    expect(page.get_by_role("heading", name="Terms (4)")).to_be_visible()
    page.locator(".option").first.click()
    # The decision on the first term counts for both forms.
    for number in range(2, 6):
        expect(page.locator("#term .choice[aria-current=true]")).to_contain_text("No concept of the vocabulary")
        page.keyboard.press("Enter")
        expect(page.locator("#summary")).to_contain_text(f"Anna: {number} decided")
    assert {verdict for verdict, _ in site.decisions("junk", "Anna").values()} == {"nil"}


@pytest.mark.large
def test_all_candidates_are_in_view_and_keys_go_through_them(site: Site, review: Callable[..., Page]) -> None:
    long = "heart disease with seizure, everything and a finding " * 4
    site.new_project("view", f'finding\n"{long}"\n')
    page = review("view", "Anna", viewport={"width": 1280, "height": 800})
    lines = page.locator("#term .candidates .choice")
    expect(lines).not_to_have_count(0)
    in_view = (
        "(line) => line.getBoundingClientRect().top >= 0 && line.getBoundingClientRect().bottom <= innerHeight"
    )
    assert lines.count() > 3
    assert all(line.evaluate(in_view) for line in lines.all())
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    selected = page.locator("#term .choice[aria-current=true]")
    expect(selected.locator(".opened")).to_contain_text("Is a:")
    name = selected.locator(".name").inner_text()
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_contain_text("Anna: 1 decided")
    [decision] = site.terms("view")[0]["decisions"].values()
    assert decision["targets"][0]["name"] == name


@pytest.mark.large
def test_a_half_written_comment_is_there_after_a_reload(site: Site, review: Callable[..., Page]) -> None:
    site.new_project("draft", TABLE)
    page = review("draft", "Anna")
    page.keyboard.press("c")
    page.keyboard.type("ask the neuro")
    page.reload()
    comment = page.get_by_label("Comment")
    expect(comment).to_have_value("ask the neuro")
    # It goes with the decision, and not with the next term.
    page.keyboard.press("n")
    expect(page.locator("#summary")).to_contain_text("Anna: 1 decided")
    expect(comment).to_have_value("")
    [decision] = site.terms("draft", status="decided")[0]["decisions"].values()
    assert (decision["verdict"], decision["comment"]) == ("nil", "ask the neuro")


@pytest.mark.large
def test_many_are_accepted_as_filtered_found_again_and_undone(site: Site, review: Callable[..., Page]) -> None:
    site.new_project("many", TABLE + "MI,4\n")
    page = review("many", "Anna")
    expect(page.get_by_role("progressbar")).to_be_hidden()
    page.get_by_text("More filters").click()
    page.get_by_label("Text", exact=True).fill("heart")
    expect(page.get_by_role("heading", name="Terms (1)")).to_be_visible()
    page.get_by_role("button", name="Accept the surest").click()
    dialog = page.locator("dialog")
    page.get_by_label("Confidence", exact=True).fill("0.5")
    expect(dialog.get_by_role("row", name="heart attack")).to_contain_text("Myocardial infarction")
    dialog.get_by_role("button", name="Accept 1").click()
    # Behind an open dialog, nothing can be written.
    expect(dialog).to_have_count(0)
    page.get_by_label("Text", exact=True).fill("")
    expect(page.get_by_role("heading", name="Terms (5)")).to_be_visible()
    assert site.decisions("many", "Anna") == {"heart attack": ("concept", ["T:3"])}
    page.get_by_role("button", name="Accept the surest").click()
    page.get_by_label("Confidence", exact=True).fill("0.1")
    expect(dialog).to_contain_text("1 term with an abbreviation is left out")
    dialog.get_by_role("button", name="Accept 3").click()
    expect(page.get_by_role("heading", name="Terms (2)")).to_be_visible()
    page.get_by_label("Show").select_option("accepted with others")
    expect(page.get_by_role("heading", name="Terms (4)")).to_be_visible()
    expect(page.get_by_role("img", name="accepted with others")).to_have_count(4)
    # A look at one of them makes it an ordinary decision, which stays.
    go_to(page, "focal seizure")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Accept the surest").click()
    expect(dialog.get_by_role("listitem")).to_have_count(2)
    dialog.get_by_role("button", name="Undo 2 terms").click()
    expect(page.get_by_role("status").first).to_contain_text("undone")
    assert set(site.decisions("many", "Anna")) == {"heart attack", "focal seizure"}


@pytest.mark.large
def test_the_vocabulary_is_searched_in_all_ways_and_as_a_tree(site: Site, review: Callable[..., Page]) -> None:
    site.new_project("ways", TABLE)
    decide(site, "ways", "Ben", 4, "concept", "T:6")
    page = review("ways", "Anna")
    found = page.locator("#found")
    for typed, wanted in (
        ("farction", "Myocardial infarction"),
        ("siezure", "Seizure"),
        ("t_7", "Focal seizure"),
        ("7", "Focal seizure"),
        ("unheard", "Seizure"),
    ):
        page.get_by_label("Search the whole vocabulary").fill(typed)
        expect(found.get_by_role("option", name=wanted).first).to_be_visible()
    expect(found).to_contain_text("you named it: unheard of")
    page.get_by_label("Search in").select_option("disease")
    page.get_by_label("Search the whole vocabulary").fill("i")
    expect(found.get_by_role("option", name="Mitral insufficiency").last).to_be_visible()
    expect(found.get_by_role("option", name="Focal seizure")).to_have_count(0)
    page.keyboard.press("Escape")
    # The tree opens at the selected candidate; any concept of it can be taken.
    page.keyboard.press("t")
    tree = page.get_by_role("tree")
    expect(tree.get_by_role("treeitem", name="Everything")).to_be_visible()
    expect(tree.locator("[aria-selected=true]")).to_contain_text("Myocardial infarction")
    page.keyboard.press("ArrowLeft")
    expect(tree.locator("[aria-selected=true]")).to_contain_text("Heart disease")
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_contain_text("Anna: 1 decided")
    assert site.decisions("ways", "Anna") == {"heart attack": ("concept", ["T:2"])}
