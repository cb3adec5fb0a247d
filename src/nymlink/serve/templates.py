"""Pages: templates that escape all values, the words of the pages in four languages, and static files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse

_FOLDER: Final = Path(__file__).parent / "pages"
STATIC: Final = _FOLDER / "static"

LANGUAGES: Final[Mapping[str, str]] = {"en": "English", "de": "Deutsch", "es": "Español", "fr": "Français"}
"""Languages of the pages, with their own names."""

LANGUAGE_COOKIE: Final = "nymlink_language"
"""Cookie with the language that a user chose on a page."""

_THOUSANDS: Final = {"en": ",", "de": ".", "es": ".", "fr": "\u202f"}

_TEMPLATES: Final = Environment(
    loader=FileSystemLoader(_FOLDER / "html"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


class Words:
    """The words of the pages in one language.

    Args:
        language: one of :data:`LANGUAGES`.

    Attributes:
        table: ``words``: key → text, or its forms for ``one`` and for ``other`` numbers; and ``languages``: code →
            name of a language.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self.table = json.loads((_FOLDER / "words" / f"{language}.json").read_text(encoding="utf-8"))

    def say(self, key: str, **values: Any) -> Markup:
        """Write a text with values in its places; ``n`` chooses the form."""
        text = self.table["words"][key]
        if isinstance(text, dict):
            number = values["n"]
            text = text["one" if number == 1 or (self.language == "fr" and number == 0) else "other"]
        shown = {name: self.number(value) if isinstance(value, int) else value for name, value in values.items()}
        return Markup(escape(text)).format(**shown)

    def number(self, value: int) -> str:
        """Write a number with separators of thousands."""
        return f"{value:,}".replace(",", _THOUSANDS[self.language])

    def name_language(self, code: str) -> str:
        """Write the name of a language: ``de`` → German, ``pt-BR`` → Portuguese (BR)."""
        primary, _, rest = code.partition("-")
        name = self.table["languages"].get(primary, primary)
        return f"{name} ({rest})" if rest else name


words_of: Final = cache(Words)


def choose_language(headers: Mapping[str, str]) -> str:
    """Choose the language of a page: the one of the cookie, else the best of ``Accept-Language``, else English."""
    chosen = cookie_parser(headers.get("cookie", "")).get(LANGUAGE_COOKIE)
    if chosen is not None and chosen in LANGUAGES:
        return chosen
    wanted = []
    for part in headers.get("accept-language", "").split(","):
        code, _, quality = part.partition(";")
        try:
            weight = float(quality.strip().removeprefix("q=") or 1)
        except ValueError:
            weight = 0.0
        wanted.append((-weight, code.strip().partition("-")[0].lower()))
    # The order of equal ones is that of the browser.
    known = [code for weight, code in sorted(wanted, key=lambda each: each[0]) if code in LANGUAGES and weight]
    return next(iter(known), "en")


def page(headers: Mapping[str, str], template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Fill a template, in the language of a request.

    Args:
        headers: headers of the request.
        template: name of the template.
        status: status of the answer.
        values: values of the template.
    """
    words = words_of(choose_language(headers))
    shown = _TEMPLATES.get_template(template).render(
        values, t=words.say, language=words.language, languages=LANGUAGES, words=words
    )
    return HTMLResponse(shown, status, {"Vary": "Accept-Language, Cookie", "Content-Language": words.language})
