"""Split cells that list several findings: "fever, cough and rash", "no fever; ataxia", "fever (+), cough (-)".

A part that the cell denies begins with "no".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Final

from nymlink.corpus.documents import Mention
from nymlink.index.entries.entries import Entries
from nymlink.linking.context import contexts_of
from nymlink.text.drugs import read_drugs
from nymlink.text.languages import LanguageRules, recognise_language, rules_of
from nymlink.text.normalise import normalise

DENIED: Final = "no "
"""Beginning of a denied part."""

_LONGEST: Final = 1000
"""Characters of the longest cell that is split."""
_MOST_WORDS: Final = 10
"""Words of the longest item of a list with a line or a number for each."""
_ITEM: Final = re.compile(r"\s*(?:[\r\n\t]+\s*|(?:^|(?<=[\s,;]))(?:\(?\d{1,2}[.)]|[-*•·])\s+)+\s*")
"""Separator of a list with a line, a number or a bullet for each item."""
_AND: Final = "and|or|but|und|et|ou|oder|aber|pero|mais"
_SHORT_AND: Final = {"es": "y|e|o|u", "it": "e|o", "pt": "e"}
"""Conjunctions of one letter, in small letters, by language: "hepatitis E" is English."""
_SIGN: Final = r"[(\[]\s?[-+–−xX ]\s?[)\]]"
_SIGNED: Final = re.compile(rf"^\s*{_SIGN}\s|\s{_SIGN}\s*$")
"""Sign beside a finding: "fever (-)"; but not "NAD(+)"."""
_BEFORE: Final = re.compile(
    r"(?:(?:no|not|without|denie[sd]|denying|never|(?:neg|negative|pos|positive) for|neg|ha[sd]|have|with|reports"
    rf"|shows|is|was|any|(?:signs?|evidence|history|absence|complaints?) of)\b[\s:]*|{_SIGN}\s*)+",
    re.IGNORECASE,
)
"""Words before a finding that state or deny it."""
_AFTER: Final = re.compile(
    r"\s*(?:(?:[:=–—-]\s*|[(\[]\s*|(?<=\s))(?:no|none|nil|(?:not )?present|absent|neg|negative|yes|positive|pos)"
    rf"\s*[)\]]?|{_SIGN})$",
    re.IGNORECASE,
)
"""Value after a finding."""


@cache
def _separator(code: str | None) -> re.Pattern[str]:
    """Compile the separator of the names of a list in a language."""
    words = rf"{_AND}|(?-i:{_SHORT_AND[code]})" if code in _SHORT_AND else _AND
    return re.compile(
        rf"\s*(?:[,;/&]|(?<=\s)\+(?=\s)|\b(?:{words})\b|(?=\b(?:without|ohne|sin|sans)\b))+\s*", re.IGNORECASE
    )


def split_mention(mention: Mention, entries: Entries, language: str | None = None) -> Mention:
    """Split a mention into parts: at its separators if each part is a name, else by the rule of its language.

    A cell of one finding that is denied has one part.

    Args:
        mention: a mention; one with parts stays as it is, as does a name of the index.
        entries: entries of the index.
        language: code of the language, if the mention states none; ``None`` if unknown.
    """
    text = mention.text
    if mention.parts or mention.prepared or len(text) > _LONGEST:
        return mention
    # The normal form has no signs: "fever (-)".
    if entries.find(normalise(text)) is not None and not _SIGNED.search(text):
        return mention
    drugs = read_drugs(text)
    if any(drug.is_dosed for drug in drugs):
        # One drug is one part: no rule may split "100 units/ml".
        return replace(mention, parts=tuple(drug.written for drug in drugs) if len(drugs) > 1 else (text,))
    code = recognise_language(normalise(text), mention.language or language)
    rules = rules_of(code)
    items = list(_pieces(text, 0, len(text), _ITEM))
    if any(len(text[start:end].split()) > _MOST_WORDS for start, end in items):
        # Lines of prose.
        items = [(0, len(text))]
    spans = [span for item in items for span in _names_in(text, *item, entries, rules, _separator(code))]
    findings = [Mention(text[start:end], start, end) for start, end in spans]
    denied = [context.negated is not None for context in contexts_of(text, findings, ("negated",), code)]
    if len(findings) > 1 or any(denied):
        parts = tuple(
            f"{DENIED}{finding.text}" if is_denied else finding.text
            for finding, is_denied in zip(findings, denied, strict=True)
        )
    else:
        parts = rules.split_composite(text)
    return replace(mention, parts=parts) if len(parts) > 1 or any(denied) else mention


def _names_in(
    text: str, start: int, end: int, entries: Entries, rules: LanguageRules, separator: re.Pattern[str]
) -> list[tuple[int, int]]:
    """Find the names that an item lists; the whole item if one of them is no name."""
    whole = _bare(text, start, end)
    if _is_name(text[slice(*whole)], entries, rules):
        return [whole]
    spans = [_bare(text, *piece) for piece in _pieces(text, start, end, separator)]
    if all(_is_name(text[slice(*span)], entries, rules) for span in spans):
        return spans
    return [whole]


def _pieces(text: str, start: int, end: int, separator: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield the spans between separators, without blank ones."""
    for match in separator.finditer(text, start, end):
        if text[start : match.start()].strip():
            yield start, match.start()
        start = match.end()
    if text[start:end].strip():
        yield start, end


def _bare(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of a finding without the words that state or deny it."""
    if match := _BEFORE.match(text, start, end):
        start = match.end()
    value = _AFTER.search(text[start:end])
    if value is not None:
        end = start + value.start()
    own = text[start:end]
    return start + len(own) - len(own.lstrip()), end - len(own) + len(own.rstrip(" ,;.\n\r\t"))


def _is_name(part: str, entries: Entries, rules: LanguageRules) -> bool:
    """Whether a part, or another form of it, is a name."""
    text = normalise(part)
    return bool(text) and any(entries.find(form) is not None for form in (text, *rules.forms(text)))
