"""Expand abbreviations, in a mention or in a whole text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from nymlink.text.abbreviations import Definition
from nymlink.text.normalise import normalise
from nymlink.text.rewriting import Replacement, Rewritten, brackets, rewrite

_CLAUSE_END: Final = re.compile(r"[;,]")
_LOOK: Final = 4  # characters on either side that tell whether a short form stands alone
_COMPOUND_BEFORE: Final = re.compile(r"[^\W\d_]{3}-$")
_COMPOUND_AFTER: Final = re.compile(r"-[^\W\d_]{3}")
_GREEK_PLURALS: Final = ("boses", "choses", "ectases", "eses", "hoses", "noses", "roses", "stases", "yses")
"""Ends of plurals of words in -sis: "metastases", "psychoses"; not "diseases", "reductases", "doses"."""
_CONSONANT_Y: Final = re.compile(r"[^\W\d_aeiou]y$")


def expand(mention: str, definitions: Iterable[Definition], *, tokens_only: bool = False) -> str:
    """Replace the short forms in a mention by their long forms.

    "APC tumour" → "adenomatous polyposis coli tumour". Short forms inside a long form are replaced too, each once
    for a short form of the mention, so that definitions in a circle come to an end.

    Args:
        mention: the surface form.
        definitions: of one short form the last counts; see :func:`in_force`.
        tokens_only: replace a short form of one word only, and only where white space, a slash or a comma delimits
            it, as the published queries of BioSyn do. Otherwise also in a compound ("APC-related") and in the
            plural ("RCCs"), and a bracket is left out that only repeats what stands before it ("adenomatous
            polyposis coli (APC)").

    Returns:
        The mention written out.
    """
    long_forms = {
        definition.short: definition.long
        for definition in definitions
        if not (tokens_only and " " in definition.short)
    }
    if not any(short.removesuffix("s") in mention for short in long_forms):
        return mention
    if not tokens_only:
        mention = _without_glosses(mention, long_forms)
        long_forms = _both_numbers(long_forms)
    return _expand(mention, long_forms, tokens_only=tokens_only)


def expand_text(text: str, definitions: Iterable[Definition]) -> Rewritten:
    """Replace all short forms in a document's text, each by the definition in force at its place.

    The short form in a definition itself is replaced too, so that every mention in the new text is written out.

    Args:
        text: the text that the definitions' offsets count in.
        definitions: as :func:`~nymlink.text.abbreviations.find_definitions` gives them.

    Returns:
        The new text, which maps offsets of the old one.
    """
    known = tuple(definitions)
    shorts = _both_numbers({definition.short: definition.long for definition in known})
    replacements = []
    for match in _occurrences(text, shorts, tokens_only=False):
        valid = in_force(known, match.end())
        replacements.append(Replacement(match.start(), match.end(), expand(match[0], valid)))
    return rewrite(text, replacements)


def in_force(definitions: Iterable[Definition], offset: int) -> tuple[Definition, ...]:
    """Choose for each short form the last definition that starts before ``offset``, else its first one."""
    chosen: dict[str, Definition] = {}
    for definition in definitions:
        if definition.short not in chosen or min(definition.short_start, definition.long_start) < offset:
            chosen[definition.short] = definition
    return tuple(chosen.values())


def _expand(text: str, long_forms: Mapping[str, str], *, tokens_only: bool, done: set[str] | None = None) -> str:
    """Replace short forms, those in long forms too.

    Args:
        text: a mention, or the long form of a short form in it.
        long_forms: short form → long form.
        tokens_only: see :func:`expand`.
        done: short forms already replaced on the way here; ``None`` for the mention itself.
    """
    pieces, end = [], 0
    for match in _occurrences(text, long_forms, tokens_only=tokens_only):
        short = match[0]
        inner = set() if done is None else done
        if short in inner:
            continue
        inner.add(short)
        pieces += [
            text[end : match.start()],
            _expand(long_forms[short], long_forms, tokens_only=tokens_only, done=inner),
        ]
        end = match.end()
    return "".join(pieces) + text[end:]


def _occurrences(text: str, shorts: Iterable[str], *, tokens_only: bool) -> list[re.Match[str]]:
    """Find short forms; a single letter only where it is all of the text: "T cell" is no testosterone cell."""
    present = sorted(
        (short for short in shorts if short in text and (len(short) > 1 or short == text)), key=len, reverse=True
    )
    if not present:
        return []
    matches = re.finditer(r"(?<!\w)(?:" + "|".join(map(re.escape, present)) + r")(?!\w)", text)
    stands_alone = _is_token if tokens_only else _is_word
    return [
        match
        for match in matches
        if stands_alone(
            text[max(0, match.start() - _LOOK) : match.start()], text[match.end() : match.end() + _LOOK]
        )
    ]


def _is_token(before: str, after: str) -> bool:
    return (not before or before[-1].isspace() or before[-1] == "/") and (
        not after or after[0].isspace() or after[0] == "/" or (after[0] == "," and not after[1:2].strip())
    )


def _is_word(before: str, after: str) -> bool:
    """Whether a short form is not part of a longer symbol, as HIV in "HIV-1" or ALD in "X-ALD"."""
    if before.endswith("-") and not _COMPOUND_BEFORE.search(before):
        return False
    if after.startswith("-") and after[1:2].strip() and not _COMPOUND_AFTER.match(after):
        return False
    return not after.startswith("+")


def _both_numbers(long_forms: Mapping[str, str]) -> dict[str, str]:
    """Add the missing number, singular or plural, of each short form.

    Of two letters with an "s" no singular is made: "arsenic (As)" says nothing of the A in "hepatitis A".
    """
    added: dict[str, str] = {}
    for short, long in long_forms.items():
        if short.endswith("s") and short[-2:-1].isupper():
            if len(short) > 2 and (singular := _singular(long)) != long:
                added[short[:-1]] = singular
        elif short[-1].isupper():
            added[short + "s"] = _plural(long)
    return added | dict(long_forms)


def _singular(name: str) -> str:
    """Singularise a name; one that is no plural ("sepsis", "lupus", "abscess") stays."""
    if name.endswith("ies"):
        return name.removesuffix("ies") + "y"
    if name.endswith(_GREEK_PLURALS):
        return name.removesuffix("es") + "is"
    if name.endswith(("sses", "viruses")):
        return name.removesuffix("es")
    return name if name.endswith(("is", "us", "ss")) else name.removesuffix("s")


def _plural(name: str) -> str:
    if name.endswith("s"):
        return name
    return name[:-1] + "ies" if _CONSONANT_Y.search(name) else name + "s"


def _without_glosses(mention: str, long_forms: Mapping[str, str]) -> str:
    """Remove glosses: brackets that give the short form after the long one, or the long after the short."""
    for bracket in reversed(brackets(mention)):
        before = f" {normalise(mention[: bracket.opening])}"
        inside = _CLAUSE_END.split(mention[bracket.opening + 1 : bracket.closing])[0].strip()
        if any(
            (inside == short and before.endswith(f" {normalise(long)}"))
            or (before.endswith(f" {normalise(short)}") and normalise(inside) == normalise(long))
            for short, long in long_forms.items()
        ):
            mention = mention[: bracket.opening].rstrip() + mention[bracket.closing + 1 :]
    return mention
