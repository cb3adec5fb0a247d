"""Small dumps of a Wikipedia in the real format."""

from __future__ import annotations

import bz2
from collections.abc import Iterable
from html import escape
from itertools import count
from pathlib import Path
from typing import Final

HEAD: Final = """\
<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="{language}">
  <siteinfo>
    <sitename>Wikipedia</sitename>
    <dbname>{language}wiki</dbname>
    <generator>MediaWiki 1.44.0</generator>
    <case>first-letter</case>
    <namespaces>
      <namespace key="-2" case="first-letter">Media</namespace>
      <namespace key="0" case="first-letter" />
      <namespace key="1" case="first-letter">Talk</namespace>
      <namespace key="2" case="first-letter">Benutzer</namespace>
      <namespace key="6" case="first-letter">Datei</namespace>
      <namespace key="10" case="first-letter">Template</namespace>
      <namespace key="14" case="first-letter">Kategorie</namespace>
    </namespaces>
  </siteinfo>
"""
FOOT: Final = "</mediawiki>\n"

_NUMBERS: Final = count(1)


def page(title: str, text: str, *, namespace: int = 0, redirect: str | None = None) -> str:
    """Write a page as a dump has it."""
    number = next(_NUMBERS)
    leads = "" if redirect is None else f'    <redirect title="{escape(redirect)}" />\n'
    return (
        f"  <page>\n    <title>{escape(title, quote=False)}</title>\n    <ns>{namespace}</ns>\n"
        f"    <id>{number}</id>\n"
        f"{leads}    <revision>\n      <id>{number}</id>\n      <timestamp>2026-11-01T00:00:00Z</timestamp>\n"
        f"      <contributor>\n        <username>A</username>\n        <id>1</id>\n      </contributor>\n"
        f"      <comment>see [[Gicht]] &lt;/page&gt;</comment>\n      <model>wikitext</model>\n"
        f'      <text bytes="{len(text.encode())}" xml:space="preserve">{escape(text)}</text>\n'
        "      <sha1>0</sha1>\n    </revision>\n  </page>\n"
    )


def redirect(title: str, target: str) -> str:
    """Write a page that redirects."""
    return page(title, f"#REDIRECT [[{target}]]", redirect=target)


def streams(pages: Iterable[str], *, language: str = "en", size: int = 2) -> list[bytes]:
    """Make the streams of a multistream dump, a few pages in each, head and foot in their own."""
    pages = list(pages)
    parts = ["".join(pages[start : start + size]) for start in range(0, len(pages), size)]
    return [bz2.compress(part.encode()) for part in (HEAD.format(language=language), *parts, FOOT)]


def write(path: Path, pages: Iterable[str], *, language: str = "en") -> Path:
    """Write a multistream dump."""
    path.write_bytes(b"".join(streams(pages, language=language)))
    return path
