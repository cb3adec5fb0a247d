"""Find contradictions between a mention and a name: opposites, negations, other numerals, animals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Final, Literal

from nymlink.text.english.known_words import product_words
from nymlink.text.numerals import missing, numerals
from nymlink.text.opposites import WITHOUT, Meaning, meanings, opposites

_NON: Final = re.compile(r"\bnon ")
_NOT_ABLE: Final = re.compile(r"\bnot able\b")
_RULED_OUT: Final = re.compile(r"\br o ")
_NO_DIGITS: Final = re.compile(r"\D")

_SMALL: Final = frozenset(
    "a an and any at been by evidence for from had has have in is of on or out signs t the to was".split()
)
"""Words between a negation and what it denies ("no evidence of", "doesn't have")."""

_STEM: Final = 4
"""Letters in which forms of a word agree."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Contradiction between a query and a name.

    Attributes:
        kind: of what kind it is; ``"normality"``: the query says that nothing is wrong; ``"species"``: the name is
            of a disease of animals.
        asked: what the query says; empty where only the name says something.
        named: what the name says; empty where only the query does.
        meaning: the side that the query is on, of opposites.
    """

    kind: Literal["opposite", "negation", "normality", "numeral", "species"]
    asked: str
    named: str
    meaning: Meaning | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.asked or '–'} ≠ {self.named or '–'}"


def contradiction(query: str, name: str, others: Iterable[str] = ()) -> Contradiction | None:
    """Find what in a query contradicts the name that matched it, and no other name of the concept says.

    Contradictory are words of opposite sides of a group ("increased", "low"), words whose prefixes or suffixes
    are ("hypernatremia", "hyponatremia"), a negation that the name has not, or has too much ("no cough"),
    numerals or letters that both have and that differ ("type 1", "type 2"), and the name of an animal at the end
    of a name. What query and name have in common counts for neither. Another name takes a contradiction back if
    it has all the words of the query, in some form, and says the same.

    Args:
        query: prepared text.
        name: prepared name of a concept.
        others: further prepared names of the concept; they are looked at only where the first contradicts.
    """
    found = _contradiction(query, name)
    return None if found is None or any(_takes_back(other, query, found) for other in others) else found


def _contradiction(query: str, name: str) -> Contradiction | None:
    if query == name:
        return None
    asked, named = _words(query), _words(name)
    mine, theirs = _without(asked, named), _without(named, asked)
    return (
        _opposites(mine, theirs)
        or _negation(asked, named, mine, theirs)
        or _numerals(query, name)
        or _species(named, theirs)
    )


def _without(words: Sequence[str], others: Sequence[str]) -> list[str]:
    """The words that the others have not, or not as often."""
    left = list(others)
    more = []
    for word in words:
        if word in left:
            left.remove(word)
        else:
            more.append(word)
    return more


@lru_cache(maxsize=1 << 14)
def _words(text: str) -> tuple[str, ...]:
    """The words of a text, "non" being a part of the next, and "r/o" and "not able" written out."""
    return tuple(_NOT_ABLE.sub("unable", _RULED_OUT.sub("ruled out ", _NON.sub("non", text))).split(" "))


def _takes_back(name: str, query: str, found: Contradiction) -> bool:
    """Whether another name says what the query says, with all its words in some form."""
    named = _words(name)
    if found.meaning is not None and not any(found.meaning in meanings(word) for word in named):
        return False
    if found.kind == "numeral" and missing(numerals(query), numerals(name)):
        return False
    return _contradiction(query, name) is None and _covers(named, query, found)


def _covers(named: Sequence[str], query: str, found: Contradiction) -> bool:
    """Whether a name has all words of a query but those that contradict, in some form."""
    said = {*found.asked.split(" "), *_SMALL}
    return all(
        word in said or len(word) == 1 or word.isdecimal() or any(_same_stem(word, other) for other in named)
        for word in _words(query)
    )


def _same_stem(word: str, other: str) -> bool:
    """Whether two words are equal, or begin with the same letters."""
    return word == other or (len(word) >= _STEM and word[:_STEM] == other[:_STEM])


def _opposites(mine: Sequence[str], theirs: Sequence[str]) -> Contradiction | None:
    for word in mine:
        for other in theirs:
            groups = _groups(word) & _groups(other)
            # Those of a stem first: they say more.
            for group in sorted(groups, key=len, reverse=True):
                if _is_denied(group, word, mine) or _is_denied(group, other, theirs):
                    continue
                # Who says both contradicts neither.
                if _sides(mine, group).isdisjoint(_sides(theirs, group)):
                    side = min(_sides([word], group))
                    return Contradiction("opposite", word, other, (group, side))
    return None


@lru_cache(maxsize=1 << 16)
def _groups(word: str) -> frozenset[str]:
    return frozenset(group for group, _ in meanings(word))


def _is_denied(group: str, word: str, words: Sequence[str]) -> bool:
    """Whether a word without its prefix is said to be wrong: impaired tolerance is intolerance."""
    return (group, WITHOUT) in meanings(word) and not opposites().plain["wrong"].isdisjoint(words)


def _sides(words: Sequence[str], group: str) -> set[str]:
    return {side for word in words for one, side in meanings(word) if one == group}


def _negation(
    asked: Sequence[str], named: Sequence[str], mine: Sequence[str], theirs: Sequence[str]
) -> Contradiction | None:
    if _deniers().isdisjoint((*asked, *named)) and not any(word.startswith("non") for word in (*asked, *named)):
        return None
    normal = opposites().plain["normal"]
    well = next((word for word in asked if word in mine and word in normal), None)
    if well is not None and normal.isdisjoint(theirs):
        return Contradiction("normality", well, "")
    mine_denied, theirs_denied = _denied(asked, said=mine), _denied(named, absence=True)
    absence = opposites().plain["absence"]
    # What is absent may be aplastic, whatever it is called.
    gone = not absence.isdisjoint(theirs)
    for target, word in mine_denied.items():
        if not (gone and word in absence) and not any(_same_stem(target, other) for other in theirs_denied):
            return Contradiction("negation", word, "")
    also_mine = _denied(asked, absence=True)
    if not absence.isdisjoint(mine):
        return None
    for target, word in _denied(named, said=theirs).items():
        there = any(_same_stem(target, other) for other in asked)
        if there and not any(_same_stem(target, other) for other in also_mine):
            return Contradiction("negation", "", word)
    return None


@cache
def _deniers() -> frozenset[str]:
    """All words that deny something: where there is none of them, there is no need to look further."""
    plain = opposites().plain
    kinds = ("negation", "negation at the end", "negation with of", "absence", "normal")
    return frozenset().union(*(plain[kind] for kind in kinds))


def _denied(words: Sequence[str], *, said: Sequence[str] | None = None, absence: bool = False) -> dict[str, str]:
    """Map each negated word to the word that negates it.

    Args:
        words: words of a text.
        said: the negations that count; all if ``None``.
        absence: whether names of an absence count, too ("radius aplasia").
    """
    plain = opposites().plain
    found = {}
    for place, word in enumerate(words):
        if said is not None and word not in said:
            continue
        after = next((other for other in words[place + 1 :] if other not in _SMALL), None)
        before = next((other for other in reversed(words[:place]) if other not in _SMALL), None)
        last = place == len(words) - 1
        with_of = word in plain["negation with of"] and words[place + 1 : place + 2] in (("of",), ("from",))
        if word in plain["negation"] or with_of:
            target = after or before
            if target is not None:
                found[target] = word
        elif last and before and word in plain["negation at the end"] and before not in product_words():
            found[before] = word
        elif absence and word in plain["absence"]:
            found.update((target, word) for target in (before, after) if target is not None)
        elif absence and word.startswith("non") and len(word) > len("non") + _STEM:
            found[word.removeprefix("non")] = word
    return found


def _species(named: Sequence[str], theirs: Sequence[str]) -> Contradiction | None:
    last = named[-1]
    if len(named) == 1 or last not in theirs or last not in opposites().plain["species"]:
        return None
    return Contradiction("species", "", last)


def _numerals(query: str, name: str) -> Contradiction | None:
    asked, named = numerals(query), numerals(name)
    mine, theirs = missing(asked, named), missing(named, asked)
    if not mine or not theirs:
        return None
    # "ICI204636" is "ICI 204,636".
    digits = all(map(str.isdecimal, (*mine, *theirs)))
    if digits and _NO_DIGITS.sub("", query) == _NO_DIGITS.sub("", name) != "":
        return None
    return Contradiction("numeral", " ".join(sorted(mine)), " ".join(sorted(theirs)))
