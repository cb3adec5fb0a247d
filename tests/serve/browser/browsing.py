"""A browser, and a server of the toy index that can be killed and started again."""

from __future__ import annotations

import json
import shutil
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect, sync_playwright

from tests.serve.running import Server

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

if CHROMIUM is None:
    pytest.skip("chromium is not installed", allow_module_level=True)

__all__ = ["BrowserContext", "Locator", "Page", "Route", "Site", "expect"]

# On a busy machine a page takes its time; a test that is right never waits for it.
expect.set_options(timeout=60_000)


class Site:
    """A server and its projects.

    Attributes:
        url: where it is, also after it was started again.
    """

    def __init__(self, index: Path, projects: Path) -> None:
        self._index, self._projects = index, projects
        self._server = Server.of(index, "--projects", str(projects), "--no-access-log")
        self._port = self._server.port
        self.url = f"http://127.0.0.1:{self._port}"

    def kill(self) -> None:
        self._server.process.kill()
        self._server.process.wait()

    def start(self, index: Path | None = None) -> None:
        """Start it again, with another index perhaps."""
        self._server = Server.of(
            index or self._index, "--port", str(self._port), "--projects", str(self._projects), "--no-access-log"
        )

    def ask(self, path: str, body: bytes | dict[str, Any] | None = None, **headers: str) -> Any:
        kind = {"Content-Type": "application/json"} if isinstance(body, dict) else {}
        content = json.dumps(body).encode() if isinstance(body, dict) else body
        request = urllib.request.Request(self.url + path, content, {**kind, **headers})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def new_project(self, name: str, table: str, **how: str) -> None:
        """Make a project of a table of CSV."""
        self.ask("/projects", {"name": name, "index": "toy"})
        query = "&".join(f"{key}={quote(value)}" for key, value in how.items())
        self.ask(f"/projects/{name}/files?{query}", table.encode(), **{"X-File-Name": "table.csv"})

    def terms(self, project: str, **filters: str) -> list[dict[str, Any]]:
        query = "&".join(f"{key}={quote(value)}" for key, value in filters.items())
        found: list[dict[str, Any]] = self.ask(f"/projects/{project}/terms?limit=1000&{query}")["terms"]
        return found

    def decisions(self, project: str, reviewer: str) -> dict[str, tuple[str, list[str]]]:
        """What a reviewer has decided: the verdict and the concepts of each term."""
        return {
            term["text"]: (
                term["decisions"][reviewer]["verdict"],
                [target["concept_id"] for target in term["decisions"][reviewer]["targets"]],
            )
            for term in self.terms(project)
            if reviewer in term["decisions"]
        }


@pytest.fixture(scope="session")
def site(index: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server that the tests of a worker share."""
    site = Site(index, tmp_path_factory.mktemp("projects"))
    yield site
    site.kill()


# Closed after these tests: while it is open, an event loop runs that others cannot share.
@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def new_context(chromium: Browser) -> Iterator[Callable[..., BrowserContext]]:
    """Opens a browser with a memory of its own; what fails in its pages, or opens a dialog, fails the test."""
    contexts: list[BrowserContext] = []
    failures: list[str] = []

    def opened(**options: Any) -> BrowserContext:
        context = chromium.new_context(**options)
        context.on("weberror", lambda error: failures.append(str(error.error)))
        context.on("dialog", lambda dialog: failures.append(f"dialog: {dialog.message}"))
        context.on("console", lambda said: failures.append(said.text) if "Security Policy" in said.text else None)
        contexts.append(context)
        return context

    yield opened
    for context in contexts:
        context.close()
    assert failures == []


@pytest.fixture
def review(site: Site, new_context: Callable[..., BrowserContext]) -> Callable[..., Page]:
    """Opens a project as a reviewer, in a browser of its own or in one that there is."""

    def opened(project: str, reviewer: str, context: BrowserContext | None = None, **options: Any) -> Page:
        page = (context or new_context(**options)).new_page()
        page.goto(f"{site.url}/table/{project}")
        if context is None:
            page.get_by_label("Your name").fill(reviewer)
            page.keyboard.press("Enter")
        expect(page.locator(".option").first).to_be_visible()
        return page

    return opened
