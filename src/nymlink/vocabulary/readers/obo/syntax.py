"""Parse values of OBO lines: escapes, quotation marks, trailing qualifiers and comments.

Source: OBO Flat File Format 1.4, https://owlcollab.github.io/oboformat/doc/obo-syntax.html.
"""

from __future__ import annotations

import re
from typing import Final

from nymlink.core.language_codes import normalise_language
from nymlink.vocabulary.readers.obo.oboinowl import Synonym

_ESCAPE: Final = re.compile(r"\\(.)")
_SPECIAL: Final = {"n": "\n", "t": "\t", "W": " "}
# Possessive quantifiers (``*+``), since backtracking over a line of white space would take for ever.
_INSIDE_QUOTES: Final = r'[^"\\]*+(?:\\.[^"\\]*+)*+'
_QUOTED: Final = re.compile(rf'"({_INSIDE_QUOTES})"')
_QUALIFIER: Final = rf'[^\s{{}}",=]++\s*+=\s*+"{_INSIDE_QUOTES}"\s*+'
_QUALIFIERS: Final = re.compile(rf"(?:^|\s)\{{\s*+(?:{_QUALIFIER}(?:,\s*+{_QUALIFIER})*+)?\}}\s*+(?:!.*)?$")
# White space is required around the mark: unescaped ones occur in names ("Yippee!", "Wnt!").
_COMMENT: Final = re.compile(r"(?:^|\s)!(?:\s|$)")
_AFTER_SYNONYM: Final = re.compile(
    r"(?:@(?P<lang>[A-Za-z0-9-]++))?"
    r"(?:\s++(?P<scope>EXACT|RELATED|NARROW|BROAD)(?![^\s\[{!]))?"
    r'(?:\s++(?P<type>[^\s"\[\]{}!]++(?:\s++[^\s"\[\]{}!]++)*+))?'
    r"\s*+(?:[\[{!].*)?",
    re.IGNORECASE,
)


def unescape(text: str) -> str:
    r"""Undo escapes: ``\n``, ``\t`` and ``\W`` are white space, any other character is itself."""
    return _ESCAPE.sub(lambda match: _SPECIAL.get(match[1], match[1]), text) if "\\" in text else text


def unquoted(value: str) -> str:
    """Strip trailing qualifiers ``{source="…"}`` and comment ``! …`` from a value, and unescape it."""
    if "{" in value:
        value = _QUALIFIERS.sub("", value)
    if "!" in value:
        value = _COMMENT.split(value, maxsplit=1)[0]
    return unescape(value).strip()


def quoted(value: str) -> tuple[str, str] | None:
    """Split a value into the quoted text that it begins with, unescaped, and the rest.

    Returns:
        ``None`` when the value does not begin with a text in quotation marks.
    """
    match = _QUOTED.match(value)
    return (unescape(match[1]), value[match.end() :]) if match else None


def reference(value: str) -> str:
    """Get the id that a value begins with, unescaped, without qualifiers, quoted description and comment."""
    if '"' in value:
        value = value.partition(' "')[0]
    return unquoted(value)


def parse_synonym(value: str, *, scope: str | None = None) -> Synonym | None:
    """Read the value of a synonym line: ``"text" SCOPE TYPE [xrefs] {qualifiers} ! comment``.

    Args:
        value: the line after the tag. All but the text may be missing; the default scope is RELATED.
        scope: the scope where the tag gives it (``exact_synonym``).

    Returns:
        ``None`` when it is not of that form.
    """
    parsed = quoted(value)
    after = _AFTER_SYNONYM.fullmatch(parsed[1]) if parsed else None
    if parsed is None or after is None:
        return None
    return Synonym(
        text=parsed[0],
        scope=scope or (after["scope"] or "RELATED").upper(),
        type=unescape(after["type"]) if after["type"] else None,
        lang=normalise_language(after["lang"]) if after["lang"] else None,
    )
