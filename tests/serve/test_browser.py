"""The page in a real browser, where Chromium is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.serve.running import Server

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


def opened(server: Server, path: str, profile: Path) -> tuple[str, str]:
    """Open a page; return what it has become when nothing more happens, and what the console says."""
    assert CHROMIUM is not None
    command = [
        *(CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000"),
        *("--enable-logging=stderr", "--v=0", f"--user-data-dir={profile}", "--dump-dom"),
        f"http://127.0.0.1:{server.port}{path}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    console = "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
    return done.stdout, console


@pytest.mark.slow
def test_names_are_linked_and_nothing_in_them_is_run(server: Server, tmp_path: Path) -> None:
    names = ["heart attack", "<img src=x onerror=alert(1)>", "<script>document.title='broken in'</script>", "MI"]
    page, console = opened(server, f"/names?index=toy&text={quote(chr(10).join(names))}", tmp_path)
    assert console == ""
    assert "4 names linked." in page
    assert re.search(r'<a href="/concept/toy/T%3A3">Myocardial infarction</a>', page)
    assert "<title>Names · nymlink</title>" in page
    assert page.count("<script") == 1
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "a name of 2 concepts" in page or "abbreviation of 2 concepts" in page
    # Every field has a label, and the table its caption and headers.
    for field in re.findall(r"<(?:select|textarea|input)[^>]* id=\"(\w+)\"", page):
        assert f'<label for="{field}">' in page
    assert "<caption>" in page
    assert page.count('scope="col"') == 3


@pytest.mark.slow
def test_mentions_are_highlighted_where_they_stand(server: Server, tmp_path: Path) -> None:
    text = "𝔄 <b>patient</b> with a heart attack."
    page, console = opened(server, f"/?index=toy&text={quote(text)}", tmp_path)
    assert console == ""
    assert "1 mention found." in page
    assert re.search(r"𝔄 &lt;b&gt;patient&lt;/b&gt; with a <button[^>]*>heart attack</button>\.", page)
