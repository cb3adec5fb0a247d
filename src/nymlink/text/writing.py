"""Compare how names with the same letters are written: signs, then small marks, then capitals.

Normal forms leave out what often differs by chance, and sometimes tells names apart: "(+)-carvone" and
"(-)-carvone", "CD4+" and "CD4-", "3-hydroxy" and "3'-hydroxy", "CAT" and "cat".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

from nymlink.text.compact import spell_greek

_RUN: Final = re.compile(r"[^\W_]+")
_ALIKE: Final = str.maketrans(
    {**dict.fromkeys("‐‑‒–—−", "-"), **dict.fromkeys("′’‘ʹ`´", "'"), "\u2033": "''", "\u00a0": " "}
)
"""Dashes and primes that are typeset in several ways."""

_MINUS: Final = re.compile(r"-(?=[)\]}])")
_JOINTS: Final = frozenset({"", " ", "-", ", ", ",", " - ", "/", "_"})
"""What stands between the words of names, and says nothing."""

_SIGN, _MARK, _TYPESETTING, _CAPITALS = 2.0, 0.5, 0.05, 0.1
"""Costs of a sign that differs, of another mark, of typesetting or the first capital alone, and of any capital."""

ALIKE: Final = 1 / (1 + _CAPITALS)
"""Least likeness of names that are written alike but for typesetting and the capital of a sentence."""


def writing_likeness(text: str, name: str) -> float:
    """Compute how alike two names with the same letters and digits are written.

    Args:
        text: a mention, as it was written.
        name: a name, as its vocabulary writes it.

    Returns:
        1 for verbatim names; above :data:`ALIKE` where typesetting or the capital of a sentence differs; above 0.6
        where capitals alone do; less, above 0, where signs do.
    """
    if text == name:
        return 1.0
    ours, theirs = spell_greek(_canonical(text)), spell_greek(_canonical(name))
    return 1 / (1 + _TYPESETTING + _cost_of_signs(ours, theirs) + _cost_of_capitals(ours, theirs))


def normalise_signs(text: str) -> str:
    """Write the signs of a text as words among its others: "CD4+" as "CD4 +", "3'-hydroxy" as "3 ' hydroxy".

    Signs are plus, minus (in brackets, or at an end) and primes after a digit or a single letter: charges,
    rotation and places, which tell chemicals and cells apart. A hyphen or an apostrophe between letters is none.

    Returns:
        Words and signs, single spaces between them, in the case of the text.
    """
    words = []
    for _, signs, run in _pieces(_canonical(text)):
        words += [*signs, run]
    return " ".join(filter(None, words))


def _canonical(text: str) -> str:
    # U+2033 first: NFKC takes it apart.
    return unicodedata.normalize("NFKC", text.translate(_ALIKE)).translate(_ALIKE).strip()


def _pieces(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield what stands before each run of letters and digits, the signs in it, and the run; at the end none."""
    before, end = "", 0
    for match in _RUN.finditer(text):
        gap = text[end : match.start()]
        yield gap, _signs(gap, before, match.group()), match.group()
        before, end = match.group(), match.end()
    yield text[end:], _signs(text[end:], before, ""), ""


def _signs(gap: str, before: str, after: str) -> str:
    """Select the signs between two runs, the one before empty at the start of a text, the other at its end."""
    if gap in _JOINTS and before and after:
        return ""
    primes = len(gap) - len(gap.lstrip("'"))
    if not before[-1:].isdigit() and (len(before) != 1 or (primes == len(gap) and after)):
        # An apostrophe: "Crohn's", "l'artère"; but "N,N'-dimethyl".
        primes = 0
    minus = _MINUS.search(gap) is not None or ("-" in gap and not after) or (gap.startswith("-") and not before)
    minus = minus or (gap == "- " and before[-1:].isdigit())
    return "'" * primes + "+" * gap.count("+") + "-" * minus


def _cost_of_signs(text: str, name: str) -> float:
    """Compare what stands at each place, which is counted in letters: words may be written together."""
    ours, theirs = _places(text), _places(name)
    none = ("", "")
    pairs = [(ours.get(place, none), theirs.get(place, none)) for place in ours.keys() | theirs.keys()]
    signs = sum(one[1] != other[1] for one, other in pairs)
    marks = sum(one[0] != other[0] and one[1] == other[1] for one, other in pairs)
    return _SIGN * signs + _MARK * marks


def _places(text: str) -> dict[int, tuple[str, str]]:
    """Map the number of letters before each gap of a text to the gap and the signs in it."""
    places, letters = {}, 0
    for gap, signs, run in _pieces(text):
        if gap:
            places[letters] = gap, signs
        letters += len(run)
    return places


def _cost_of_capitals(text: str, name: str) -> float:
    ours, theirs = "".join(_RUN.findall(text)), "".join(_RUN.findall(name))
    differ = [one != other for one, other in zip_longest(ours, theirs, fillvalue="")]
    if not any(differ) or (differ[0] and not any(differ[1:]) and theirs[1:] == theirs[1:].lower()):
        return 0.0
    return _CAPITALS * (1 + sum(differ) / len(differ))
