"""Find contradictions between a query and a name: opposite words, negations, different numerals.

``data/opposites.tsv`` has a row for each group of opposites: its language, its kind, its sides (separated by
``|``), and the reason. Rows of the language ``und`` have Latin and Greek elements, which count in all languages.
Kinds:

- ``word``: whole words, or with ``*`` beginnings of words. Rows of several languages with the same reason are one
  group, with its sides in the same order.
- ``amount``: such words for amounts.
- ``prefix``, ``suffix``: prefixes or suffixes that make opposites of the same stem. The side ``+`` is the word
  without a prefix.
- ``amount prefix``: prefixes that also count as words for amounts.
- ``no amount prefix``: beginnings of words in which such a prefix does not mean an amount.
- ``negation``: words that negate the word after them.
- ``negation at the end``: words that negate the word before them.
- ``beside``: words that negate something beside a finding.
- ``negation with preposition``: words that negate if a word of the kind ``preposition`` comes next.
- ``absence``: words in names that negate the words beside them.
- ``normal``, ``wrong``: words for a normal or an abnormal state.
- ``species``: words at the end of names of animal diseases.
- ``passed over``: words allowed between a negation and the negated word.
- ``joined``: words that are joined to the next word.
- ``written out``: a phrase, and its replacement.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Final, Literal, NamedTuple

from nymlink.core.computing import remember
from nymlink.text.languages import rules_of
from nymlink.text.numerals import missing, numerals
from nymlink.text.word_tables import read_rows, split_cell

_TABLE: Final = Path(__file__).parent / "data" / "opposites.tsv"

_ANY: Final = "und"
"""Language code of rows for all languages."""

_STEM: Final = 4
"""Smallest number of letters of a stem that two words share beside their prefixes or suffixes."""

_WORD: Final = 5
"""Smallest number of letters of a word that a prefix turns into its opposite ("typical", "atypical")."""

_LANGUAGES: Final = 32
"""Largest number of languages whose tables stay in memory. Clients choose the languages, so it needs a limit."""

_AMOUNT: Final = "amount"
"""Group of the words for amounts."""

WITHOUT: Final = "+"
"""Side of a word without a prefix."""

Meaning = tuple[str, str]
"""Group of a word, and the side that the word is on. If a prefix decides, the group includes the stem after it."""


class OppositeWords(NamedTuple):
    """Look-up tables of the opposites and negations of a language.

    Attributes:
        words: word → its meanings.
        beginnings: beginning of words → their meanings.
        prefixes: prefix → (group, side).
        suffixes: the same for suffixes.
        without: groups of prefixes in which the word without a prefix is a side.
        amounts: prefix → meaning among the words for amounts.
        plain: kind without sides → its words.
        phrases: phrase → its replacement.
        longest: number of letters of the longest beginning, prefix or suffix.
    """

    words: dict[str, set[Meaning]]
    beginnings: dict[str, set[Meaning]]
    prefixes: dict[str, set[Meaning]]
    suffixes: dict[str, set[Meaning]]
    without: frozenset[str]
    amounts: dict[str, Meaning]
    plain: defaultdict[str, frozenset[str]]
    phrases: dict[str, str]
    longest: int


@lru_cache(_LANGUAGES)
def opposites(language: str | None) -> OppositeWords:
    """Read the rows of a language.

    Args:
        language: code of the language; ``None`` for only the rows that count in all languages.
    """
    words, beginnings, prefixes, suffixes = (defaultdict[str, set[Meaning]](set) for _ in range(4))
    plain = defaultdict[str, frozenset[str]](frozenset)
    phrases, without, amounts = {}, set(), {}
    for number, row in enumerate(read_rows(_TABLE)):
        if row["language"] not in (language, _ANY):
            continue
        kind, cells = row["kind"], split_cell(row["sides"])
        if kind == "written out":
            phrases[cells[0]] = cells[1]
            continue
        sides = [cell.split() for cell in cells]
        if len(sides) == 1:
            plain[kind] = plain[kind].union(sides[0])
            continue
        for member, side in ((member, str(side)) for side, members in enumerate(sides) for member in members):
            if kind in ("word", "amount"):
                known = beginnings if member.endswith("*") else words
                known[member.removesuffix("*")].add((_AMOUNT if kind == "amount" else row["why"], side))
            elif kind == "suffix":
                suffixes[member].add((str(number), side))
            elif member == WITHOUT:
                without.add(str(number))
            else:
                prefixes[member].add((str(number), side))
                if kind == "amount prefix":
                    amounts[member] = (_AMOUNT, side)
    longest = max(map(len, [*beginnings, *prefixes, *suffixes]), default=0)
    return OppositeWords(
        words, beginnings, prefixes, suffixes, frozenset(without), amounts, plain, phrases, longest
    )


@remember(1 << 16)
def meanings(word: str, language: str | None) -> frozenset[Meaning]:
    """Look up the groups and sides of a word."""
    table = opposites(language)
    found = set(table.words.get(word, ()))
    found.update(
        chain(*(table.beginnings.get(word[:size], ()) for size in range(1, min(len(word), table.longest) + 1)))
    )
    for size in range(1, min(len(word) - _STEM, table.longest) + 1):
        start, stem = word[:size], word[size:]
        found.update((f"{group}:{stem}", side) for group, side in table.prefixes.get(start, ()))
        end, stem = word[-size:], word[:-size]
        found.update((f"{group}:{stem}", side) for group, side in table.suffixes.get(end, ()))
    if len(word) >= _WORD:
        found.update((f"{group}:{word}", WITHOUT) for group in table.without)
    if not word.startswith(tuple(table.plain["no amount prefix"])):
        found.update(
            side
            for prefix, side in table.amounts.items()
            if word.startswith(prefix) and len(word) >= len(prefix) + _STEM
        )
    return frozenset(found)


@remember(1 << 16)
def _groups(word: str, language: str | None) -> frozenset[str]:
    return frozenset(group for group, _ in meanings(word, language))


_NO_DIGITS: Final = re.compile(r"\D")


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Contradiction between a query and a name.

    Attributes:
        kind: kind of the contradiction; ``"normality"``: the query names a normal state; ``"species"``: the name
            is of an animal disease.
        asked: contradicting words of the query; empty if only the name has any.
        named: contradicting words of the name; empty if only the query has any.
        meaning: for opposites, the side of the query.
    """

    kind: Literal["opposite", "negation", "normality", "numeral", "species"]
    asked: str
    named: str
    meaning: Meaning | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        if not self.named:
            return f"'{self.asked}' is not in the name"
        if not self.asked:
            return f"'{self.named}' is in the name alone"
        return f"'{self.asked}', but '{self.named}' in the name"


def contradiction(
    query: str,
    name: str,
    others: Iterable[str] = (),
    *,
    language: str | None = None,
    name_language: str | None = None,
) -> Contradiction | None:
    """Find the contradiction between a query and the name that matched it, unless another name resolves it.

    These contradict each other: words on opposite sides of a group ("increased", "low"); words with opposite
    prefixes or suffixes ("hypernatremia", "hyponatremia"); a negation that only one of query and name has ("no
    cough"); different numerals or letters ("type 1", "type 2"); the name of an animal at the end of a name. Words
    in both query and name are ignored. Another name resolves a contradiction if it has all the words of the query,
    in some form, and does not contradict it.

    Args:
        query: prepared text.
        name: prepared name of a concept.
        others: further prepared names of the concept; read only if the first name contradicts.
        language: code of the language of the query; ``None`` if unknown: then only numerals and elements of Latin
            and Greek count.
        name_language: code of the language of the names; ``None`` if it is that of the query.
    """
    comparison = _comparison(language, name_language or language)
    contradiction = comparison.compare(query, name)
    if contradiction is None or any(comparison.is_resolved(other, query, contradiction) for other in others):
        return None
    return contradiction


@lru_cache(_LANGUAGES)
def _comparison(language: str | None, name_language: str | None) -> _Comparison:
    return _Comparison(language, name_language)


class _Comparison:
    """Compares queries in one language with names in the same or another one."""

    def __init__(self, language: str | None, name_language: str | None) -> None:
        tables = [opposites(each) for each in dict.fromkeys([language, name_language])]
        self._asked, self._named = tables[0].plain, tables[-1].plain
        self._prefixes = tuple(chain(*(table.plain["joined"] for table in tables)))
        phrases = [*((f"{word} ", word) for word in self._prefixes), *chain(*(t.phrases.items() for t in tables))]
        self._phrases = [(re.compile(rf"\b{phrase}\b"), other) for phrase, other in phrases]
        denying = ("negation", "negation at the end", "negation with preposition", "absence", "normal")
        self._negations = frozenset().union(*(table.plain[kind] for table in tables for kind in denying))
        self._rules = rules_of(language)
        self._language, self._name_language = language, name_language
        self._words = remember(1 << 14)(self._split)

    def compare(self, query: str, name: str) -> Contradiction | None:
        """Find the contradiction between a query and a name."""
        if query == name:
            return None
        asked, named = self._words(query), self._words(name)
        only_asked, only_named = _subtract(asked, named), _subtract(named, asked)
        return (
            self._kind(query, name)
            or self._opposites(only_asked, only_named)
            or self._negation(asked, named, only_asked, only_named)
            or self._numerals(query, name)
            or self._species(named, only_named)
        )

    def is_resolved(self, name: str, query: str, contradiction: Contradiction) -> bool:
        """Check whether another name has all words of the query, in some form, and does not contradict it."""
        named = self._words(name)
        meaning = contradiction.meaning
        if meaning is not None and not any(meaning in meanings(word, self._name_language) for word in named):
            return False
        if contradiction.kind == "numeral" and missing(self._numerals_of(query), self._numerals_of(name)):
            return False
        return self.compare(query, name) is None and self._covers(named, query, contradiction)

    def _split(self, text: str) -> tuple[str, ...]:
        """Split a text into words; join "non" to the next word, and replace "r/o" and "not able"."""
        for pattern, other in self._phrases:
            text = pattern.sub(other, text)
        return tuple(text.split(" "))

    def _covers(self, named: Sequence[str], query: str, contradiction: Contradiction) -> bool:
        """Check whether a name has all words of a query, in some form, except the contradicting ones."""
        words = self._words(query)
        # A numeral, and the word before it, must be in the name.
        contradicting = () if contradiction.kind == "numeral" else contradiction.asked.split(" ")
        passed = {*contradicting, *self._asked["passed over"]}
        return all(
            word in passed or len(word) == 1 or word.isdecimal() or any(_same_stem(word, other) for other in named)
            for word in words
        )

    def _opposites(self, only_asked: Sequence[str], only_named: Sequence[str]) -> Contradiction | None:
        shared = (
            (word, other, group)
            for word in dict.fromkeys(only_asked)
            for other in dict.fromkeys(only_named)
            # Groups with a stem first, because they are more specific.
            for group in sorted(
                _groups(word, self._language) & _groups(other, self._name_language),
                key=lambda group: (":" not in group, -len(group), group),
            )
        )
        first = next(shared, None)
        if first is None:
            return None
        asked = self._sides(only_asked, self._language)
        named = self._sides(only_named, self._name_language)
        wrong_asked = not self._asked["wrong"].isdisjoint(only_asked)
        wrong_named = not self._named["wrong"].isdisjoint(only_named)
        for word, other, group in chain([first], shared):
            # A text that has both sides contradicts neither.
            if (
                asked[group].isdisjoint(named[group])
                # For a word without a prefix, "impaired" is an opposite.
                and not (wrong_asked and (group, WITHOUT) in meanings(word, self._language))
                and not (wrong_named and (group, WITHOUT) in meanings(other, self._name_language))
            ):
                side = min(self._sides([word], self._language)[group])
                return Contradiction("opposite", word, other, (group, side))
        return None

    @staticmethod
    def _sides(words: Sequence[str], language: str | None) -> dict[str, set[str]]:
        """Map each group to the sides that the words are on."""
        sides = defaultdict[str, set[str]](set)
        for word in words:
            for group, side in meanings(word, language):
                sides[group].add(side)
        return sides

    def _kind(self, query: str, name: str) -> Contradiction | None:
        """Find "absence seizures", a kind of finding, for a query that denies it ("absence of seizures")."""
        kinds = self._named["kind named like an absence"]
        if not kinds or "absence" not in name.split(" ") or "absence of " in name:
            return None
        # Without an expression: its time would grow with the square of the length.
        if query.endswith(" absent"):
            finding, said = query.removesuffix(" absent"), "absent"
        else:
            finding = f" {query}".partition(" absence of ")[2]
            said = "absence of"
        return Contradiction("negation", said, "") if finding.rpartition(" ")[2] in kinds else None

    def _negation(
        self, asked: Sequence[str], named: Sequence[str], only_asked: Sequence[str], only_named: Sequence[str]
    ) -> Contradiction | None:
        both = (*asked, *named)
        if self._negations.isdisjoint(both) and not any(word.startswith(self._prefixes) for word in both):
            return None
        well = next((word for word in asked if word in self._asked["normal"] and word in only_asked), None)
        if well is not None and self._named["normal"].isdisjoint(only_named):
            return Contradiction("normality", well, "")
        denied_by_query = self._denied(asked, self._asked, negations=only_asked)
        denied_by_name = self._denied(named, self._named, absence=True)
        absence = self._named["absence"]
        # A name of an absence ("aplasia") fits every query that says something is absent.
        is_absence = not absence.isdisjoint(only_named)
        if self._language != self._name_language and (denied_by_name or is_absence):
            # What is denied has two names, which cannot be compared.
            return None
        for target, word in denied_by_query.items():
            # "Type 2 diabetes without complications" is a kind of type 2 diabetes.
            is_kind = word in self._asked["beside"] and target not in named and set(named) <= set(asked)
            fits = is_kind or (is_absence and word in absence)
            if not fits and not any(_same_stem(target, other) for other in denied_by_name):
                return Contradiction("negation", word, "")
        if not self._asked["absence"].isdisjoint(only_asked):
            return None
        denied_by_query = self._denied(asked, self._asked, absence=True)
        for target, word in self._denied(named, self._named, negations=only_named).items():
            is_asked = any(_same_stem(target, other) for other in asked)
            if is_asked and not any(_same_stem(target, other) for other in denied_by_query):
                return Contradiction("negation", "", word)
        return None

    def _denied(
        self,
        words: Sequence[str],
        plain: Mapping[str, frozenset[str]],
        *,
        negations: Iterable[str] | None = None,
        absence: bool = False,
    ) -> dict[str, str]:
        """Map each negated word to the word that negates it.

        Args:
            words: words of a text.
            plain: kind without sides → its words, in the language of the text.
            negations: the negations that count; all if ``None``.
            absence: whether words for an absence count, too ("radius aplasia").
        """
        passed = plain["passed over"]
        counted = frozenset(words if negations is None else negations)
        every_before = _nearest_before(words, passed)
        every_after = _nearest_before(words[::-1], passed)[::-1]
        denied = {}
        for place, (word, before, after) in enumerate(zip(words, every_before, every_after, strict=True)):
            if word not in counted:
                continue
            last = place == len(words) - 1
            with_preposition = word in plain["negation with preposition"] and not plain["preposition"].isdisjoint(
                words[place + 1 : place + 2]
            )
            if word in plain["negation"] or with_preposition:
                target = after or before
                if target is not None:
                    denied[target] = word
            elif last and before and word in plain["negation at the end"] and not self._rules.is_product(before):
                denied[before] = word
            elif absence and word in plain["absence"]:
                denied.update((target, word) for target in (before, after) if target is not None)
            elif absence and word.startswith(self._prefixes):
                prefix = next(prefix for prefix in self._prefixes if word.startswith(prefix))
                if len(word) > len(prefix) + _STEM:
                    denied[word.removeprefix(prefix)] = word
        return denied

    def _species(self, named: Sequence[str], only_named: Sequence[str]) -> Contradiction | None:
        last = named[-1]
        is_animal = len(named) > 1 and last in only_named and last in self._named["species"]
        return Contradiction("species", "", last) if is_animal else None

    def _numerals_of(self, text: str) -> Counter[str]:
        return numerals(text, language=self._language)

    def _numerals(self, query: str, name: str) -> Contradiction | None:
        asked, named = self._numerals_of(query), self._numerals_of(name)
        only_asked, only_named = missing(asked, named), missing(named, asked)
        if not only_asked or not only_named:
            return None
        # "ICI204636" equals "ICI 204,636".
        digits = all(map(str.isdecimal, (*only_asked, *only_named)))
        if digits and _NO_DIGITS.sub("", query) == _NO_DIGITS.sub("", name) != "":
            return None
        return Contradiction("numeral", self._series(query, only_asked), self._series(name, only_named))

    def _series(self, text: str, members: Counter[str]) -> str:
        """Quote the words of a text that have one of some numerals, each with the word before it ("type 2")."""
        words = text.split(" ")
        places = {place for place, word in enumerate(words) if self._numerals_of(word) & members}
        return " ".join(word for place, word in enumerate(words) if not places.isdisjoint((place, place + 1)))


def _subtract(words: Sequence[str], others: Sequence[str]) -> list[str]:
    """Remove from ``words`` one occurrence for each of the ``others``."""
    return list((Counter(words) - Counter(others)).elements())


def _nearest_before(words: Sequence[str], passed: Collection[str]) -> list[str | None]:
    """Find for each word the nearest word before it that is not in ``passed``; ``None`` if there is none."""
    nearest: str | None = None
    found: list[str | None] = []
    for word in words:
        found.append(nearest)
        if word not in passed:
            nearest = word
    return found


def _same_stem(word: str, other: str) -> bool:
    """Check whether two words are equal or begin with the same letters."""
    return word == other or (len(word) >= _STEM and word[:_STEM] == other[:_STEM])
