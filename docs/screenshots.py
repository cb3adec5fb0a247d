"""Take the pictures of the pages that the documentation shows: `make screenshots`."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

_ROOT: Final = Path(__file__).parents[1]
_IMAGES: Final = _ROOT / "docs" / "images"
_CHROMIUM: Final = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_DESK: Final = {"width": 1200, "height": 800}
_PHONE: Final = {"width": 400, "height": 860}
_PATIENCE: Final = 180_000
"""Milliseconds for a page of a server that still opens its index."""
_COLOURS: Final = 128
"""Of a picture: so that it is small."""


@contextmanager
def _server(folder: Path) -> Iterator[str]:
    """Serve the embedded default, and the example as a project; yield the address."""
    nymlink = (sys.executable, "-m", "nymlink")
    file = str(folder / "findings.nymlink")
    subprocess.run([*nymlink, "project", "new", file, "--title", "Findings of a clinic"], check=True)
    subprocess.run([*nymlink, "project", "add", file, str(_ROOT / "examples" / "findings.csv")], check=True)
    command = [*nymlink, "serve", "--port", "0", "--projects", str(folder), "--no-access-log"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                break
        try:
            yield found[0] if found else ""
        finally:
            process.terminate()


def _take(page: Page, name: str) -> None:
    file = _IMAGES / f"{name}.png"
    page.screenshot(path=file)
    with Image.open(file) as image:
        image.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)
    print(f"{file.relative_to(_ROOT)}: {file.stat().st_size // 1000} kB")


def _page(browser: Browser, reviewer: str, **options: Any) -> Page:
    context = browser.new_context(**options)
    context.set_default_timeout(_PATIENCE)
    context.add_init_script(f"localStorage.setItem('nymlink.reviewer', '\"{reviewer}\"')")
    return context.new_page()


def _review(page: Page, address: str, keys: str, show: str = "not decided") -> None:
    page.goto(f"{address}/table/findings")
    page.get_by_label("Show").select_option(show)
    page.wait_for_timeout(1500)
    page.locator("[role=listbox]").first.focus()
    for key in keys:
        page.keyboard.press({"e": "Enter", "v": "ArrowDown", "^": "Home"}.get(key, key))
    page.wait_for_timeout(3000)


def main() -> None:
    """Take them all."""
    names = quote((_ROOT / "examples" / "phenotypes.txt").read_text(encoding="utf-8"))
    with (
        tempfile.TemporaryDirectory() as folder,
        _server(Path(folder)) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=["--no-sandbox"])
        for suffix, options in (
            ("", {"viewport": {"width": 1000, "height": 740}}),
            ("_dark", {"viewport": {"width": 1000, "height": 740}, "color_scheme": "dark"}),
            ("_phone", {"viewport": _PHONE, "has_touch": True, "is_mobile": True}),
        ):
            page = _page(browser, "Anna", **options)
            page.goto(f"{address}/names?text={names}")
            page.get_by_text("names linked.").wait_for()
            _take(page, f"serve{suffix}")
        page = _page(browser, "Anna", viewport=_DESK)
        page.goto(f"{address}/table")
        page.get_by_label("choose it").set_input_files(_ROOT / "examples" / "findings.csv")
        page.get_by_role("button", name="Add and link").wait_for()
        _take(page, "table_new")
        _review(_page(browser, "Ben", viewport=_DESK), address, "eee2nee")
        page = _page(browser, "Anna", viewport=_DESK)
        _review(page, address, "^eeee2fveee", "all")
        _take(page, "table")
        page = _page(browser, "Anna", viewport=_DESK, color_scheme="dark")
        _review(page, address, "")
        page.keyboard.press("/")
        page.keyboard.type("septal def")
        page.wait_for_timeout(1500)
        _take(page, "table_dark")
        page = _page(browser, "Anna", viewport=_PHONE, has_touch=True, is_mobile=True)
        _review(page, address, "")
        page.locator("#terms").scroll_into_view_if_needed()
        page.evaluate("document.querySelector('.queue').scrollIntoView()")
        page.wait_for_timeout(500)
        _take(page, "table_phone")
        browser.close()


if __name__ == "__main__":
    main()
