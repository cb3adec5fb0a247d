"""Telling what speaks against two names meaning the same: opposites, a negation, other numerals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from nymlink.text.numerals import missing, numerals
from nymlink.text.opposites import WITHOUT, Meaning, meanings, opposites

_ABSENT: Final = frozenset(
    "absent absence agenesis amelia aplasia aplastic arrest atresia deficiency deficient deficit failure "
    "inability lack lacking loss missing unable without".split()
)
"""Words in which names say that something is not there."""

_WRONG: Final = frozenset("abnormal decreased defective diminished disturbed impaired loss poor reduced".split())
"""Words for what does not work."""

_NON: Final = re.compile(r"\bnon ")


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What in a query contradicts a name.

    Attributes:
        kind: of what kind it is; ``"normality"``: the query says that nothing is wrong.
        asked: what the query says; empty where only the name says something.
        named: what the name says; empty where only the query does.
        meaning: the side that the query is on, of opposites.
    """

    kind: Literal["opposite", "negation", "normality", "numeral"]
    asked: str
    named: str
    meaning: Meaning | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.asked or '–'} ≠ {self.named or '–'}"


def contradiction(query: str, name: str, others: Iterable[str] = ()) -> Contradiction | None:
    """Find what in a query contradicts the name that matched it, and no other name of the concept says.

    Contradictory are words of opposite sides of a group ("increased", "low"), words whose prefixes or suffixes are
    ("hypernatremia", "hyponatremia"), a negation that the name has not, or has too much ("no cough"), and numerals
    or letters that both have and that differ ("type 1", "type 2"). What query and name have in common counts for
    neither.

    Args:
        query: prepared text.
        name: prepared name of a concept.
        others: further prepared names of the concept; they are looked at only where the first contradicts.
    """
    if query == name:
        return None
    mine, theirs = _differences(query, name)
    found = _opposites(mine, theirs) or _negation(mine, theirs) or _numerals(query, name)
    if found is None or any(_says(other, query, found) for other in others):
        return None
    return found


def _differences(query: str, name: str) -> tuple[list[str], list[str]]:
    """The words that only the one has, and those that only the other has, or has more often."""
    asked, named = Counter(_words(query)), Counter(_words(name))
    return list((asked - named).elements()), list((named - asked).elements())


def _words(text: str) -> list[str]:
    """The words of a text, "non" being a part of the next."""
    return _NON.sub("non", text).split(" ")


def _says(name: str, query: str, found: Contradiction) -> bool:
    """Whether another name says what the query says."""
    if found.kind == "numeral":
        return not missing(numerals(query), numerals(name))
    mine, theirs = _differences(query, name)
    if found.meaning is not None:
        said = [found.meaning in meanings(word) for word in theirs]
        return any(said) or not any(found.meaning in meanings(word) for word in mine)
    return _negation(mine, theirs) is None


def _opposites(mine: Sequence[str], theirs: Sequence[str]) -> Contradiction | None:
    for word in mine:
        for other in theirs:
            groups = {group for group, _ in meanings(word)} & {group for group, _ in meanings(other)}
            # Those of a stem first: they say more.
            for group in sorted(groups, key=len, reverse=True):
                if _is_denied(group, word, mine) or _is_denied(group, other, theirs):
                    continue
                # Who says both contradicts neither.
                if _sides(mine, group).isdisjoint(_sides(theirs, group)):
                    side = min(_sides([word], group))
                    return Contradiction("opposite", word, other, (group, side))
    return None


def _is_denied(group: str, word: str, words: Sequence[str]) -> bool:
    """Whether a word without its prefix is said to be wrong: impaired tolerance is intolerance."""
    return (group, WITHOUT) in meanings(word) and not _WRONG.isdisjoint(words)


def _sides(words: Sequence[str], group: str) -> set[str]:
    return {side for word in words for one, side in meanings(word) if one == group}


def _negation(mine: Sequence[str], theirs: Sequence[str]) -> Contradiction | None:
    table = opposites()
    normal = next((word for word in mine if word in table.normal), None)
    if normal is not None and table.normal.isdisjoint(theirs):
        return Contradiction("normality", normal, "")
    said = next((word for word in mine if word in table.negations), None)
    if said is None and len(mine) > 0 and mine[-1] in table.final_negations:
        said = mine[-1]
    if said is not None and not _denies(theirs):
        return Contradiction("negation", said, "")
    heard = next((word for word in theirs if word in ("no", "not")), None)
    if heard is not None and not _denies(mine):
        return Contradiction("negation", "", heard)
    return None


def _denies(words: Sequence[str]) -> bool:
    """Whether words say in any way that something is not there."""
    table = opposites()
    return any(word in table.negations or word in _ABSENT or word.startswith("non") for word in words)


def _numerals(query: str, name: str) -> Contradiction | None:
    asked, named = numerals(query), numerals(name)
    if not asked or not named:
        return None
    mine, theirs = missing(asked, named), missing(named, asked)
    if not mine or not theirs:
        return None
    return Contradiction("numeral", " ".join(sorted(mine)), " ".join(sorted(theirs)))
