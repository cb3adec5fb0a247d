"""Findings told in numbers or in plain words: "Hb 6.2 g/dl", "walked at three years", "bruises easily".

Two reviewed tables are in ``data/``. ``measurements.tsv`` has tests, units, and the values that mean a concept.
``phrases.tsv`` has plain words for a concept. A row applies only if the vocabulary has its concept.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise, product
from pathlib import Path
from typing import Final, NamedTuple

from nymlink.annotation.detector_plugins import segments_of
from nymlink.annotation.finders import Finder
from nymlink.annotation.quantities import TIMES, Quantity, age_of, quantities, squeezed, unit_pattern
from nymlink.core.store.arrays import Bools
from nymlink.corpus.documents import Document, Mention
from nymlink.linking.link import Candidate, Link
from nymlink.text.word_tables import read_rows, split_cell
from nymlink.vocabulary.concepts import Name
from nymlink.vocabulary.vocabulary import Vocabulary

_DATA: Final = Path(__file__).parent / "data"

CONFIDENCE: Final = 0.6
"""Confidence of a finding. It was chosen by hand: no independent texts with such findings are at hand."""

FINDING: Final = "finding"
"""Score part of a finding: 1 if a table says so."""

_ADULT: Final = 30.0
"""Age in years that is assumed if a text states none."""
_WINDOW: Final = 70
"""Characters after the name of a test in which its value is looked for."""
_OLDEST: Final = 72.0
"""Months up to which a missing skill ("cannot sit") is a delay."""
_RAISED: Final = 1.5
"""A value of this many times the upper limit is raised."""

_STOP: Final = re.compile(r"[;\n]|[.!?](?=\s|\Z)")
_LINK: Final = re.compile(r"\s*(?:,|and|/|&|as well as|,\s*and)\s*", re.IGNORECASE)
_DENIED: Final = re.compile(
    r"\b(?:cannot|(?:ca|could|did|does|is|was)n't|(?:(?:could|did|does|is|was) )?not|unable to|never|neither|nor|"
    r"no)(?:\s\w+){0,3}\s\Z",
    re.IGNORECASE,
)
_SAID: Final = re.compile(
    r"\s*(?:,|:|was|is|were|are|count|level|levels|concentration)?\s*(?:was|is|were|are)?\s*"
    r"(?:very|markedly|extremely|severely|slightly)?\s*"
    r"(?:(?P<low>undetectable|low|unmeasurable)|(?P<high>raised|elevated|high))\b(?!\s*(?:-|normal|dose|risk))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Norm:
    """A row of ``measurements.tsv``: values of a test that mean a concept.

    Attributes:
        test: id of the test.
        units: unit, in small letters without blanks → factor to the unit of the limits.
        bare: values that are plausible without a unit; ``None`` if a unit is needed.
        low: smallest value; ``None`` for no limit.
        high: smallest value that is too large; ``None`` for no limit.
        ages: ages of patients in years, from and below.
        concepts: ids of the concept, the first that the vocabulary has counts.
    """

    test: str
    units: dict[str, float]
    bare: tuple[float, float] | None
    low: float | None
    high: float | None
    ages: tuple[float, float]
    concepts: tuple[str, ...]

    def has(self, value: float, side: int) -> bool:
        """Whether a value is one of these; ``side`` is -1 for "below the value", 1 for above, 0 for equal."""
        if side < 0:
            return self.low is None and self.high is not None and value <= self.high
        if side > 0:
            return self.high is None and self.low is not None and value >= self.low
        return (self.low is None or value >= self.low) and (self.high is None or value < self.high)


class Tables(NamedTuple):
    """Both tables: patterns of units and names, first words of names, norms of tests, and phrases.

    Phrases are by their first two words, or by the first alone if the second is not certain.
    """

    units: re.Pattern[str]
    names: re.Pattern[str]
    firsts: frozenset[str]
    test_of: dict[str, str]
    norms: dict[str, tuple[Norm, ...]]
    phrases: dict[tuple[str, str], tuple[Phrase, ...]]
    begins: frozenset[str]


def _float(text: str) -> float | None:
    return float(text) if text else None


def _interval(text: str) -> tuple[float, float] | None:
    low, _, high = text.partition("-")
    return (float(low or 0), float(high or "inf")) if text else None


def _name_pattern(name: str) -> str:
    """Match a name; in any case if it is in small letters."""
    pattern = re.escape(name).replace(r"\ ", r"[\s-]+").replace(" ", r"[\s-]+")
    return pattern if name != name.lower() else f"(?i:{pattern})"


_OWN: Final = frozenset("his her their the my its both".split())
"""Words for ``one's`` in a phrase, beside genitives."""
_MOST_BETWEEN: Final = 3
"""Words for ``…`` in a phrase, at most."""
_JOINING: Final = frozenset("and or but with without than which who while".split())
"""Words that never stand for ``…``."""
_TOKEN: Final = re.compile(r"[\w'’]+")
_BETWEEN: Final = re.compile(r"[\s-]*")
_LONGEST: Final = 24
"""Words in which a phrase ends."""


class Phrase(NamedTuple):
    """Plain words for a concept.

    Attributes:
        parts: alternatives for each word, in small letters; ``w*`` for any ending. Empty for up to three words.
        concepts: ids of the concept, the first that the vocabulary has counts.
    """

    parts: tuple[frozenset[str], ...]
    concepts: tuple[str, ...]

    @classmethod
    def of(cls, text: str, concepts: tuple[str, ...]) -> Phrase:
        """Read a phrase of the table: ``a/b`` are alternatives, ``w*`` any ending, ``…`` up to three words."""
        words = re.split(r"[\s-]+", text.lower())
        return cls(tuple(frozenset() if word == "…" else frozenset(word.split("/")) for word in words), concepts)

    @property
    def second(self) -> frozenset[str]:
        """Alternatives for the second word; ``""`` stands for any word or none."""
        part = self.parts[1] if len(self.parts) > 1 else frozenset()
        is_certain = part and "one's" not in part and not any(word[-1] == "*" for word in part)
        return part if is_certain else frozenset({""})

    def end(self, words: Sequence[str]) -> int | None:
        """Return the place after the phrase if a clause begins with it, else ``None``."""
        reached = [0]
        for number, part in enumerate(self.parts):
            if not part:
                continue
            most = _MOST_BETWEEN if number and not self.parts[number - 1] else 0
            reached = sorted(
                {
                    at + 1
                    for before in reached
                    for at in range(before, min(before + most + 1, len(words)))
                    if _is_of_part(words[at], part) and _JOINING.isdisjoint(words[before:at])
                }
            )
            if not reached:
                return None
        return reached[0]


def _is_of_part(word: str, part: frozenset[str]) -> bool:
    if word in part:
        return True
    if "one's" in part and (word in _OWN or word.endswith("'s")):
        return True
    return any(each[-1] == "*" and word.startswith(each[:-1]) for each in part)


@cache
def read_tables() -> Tables:
    """Read both tables."""
    names: dict[str, str] = {}
    norms = defaultdict[str, list[Norm]](list)
    rows = read_rows(_DATA / "measurements.tsv")
    for row in rows:
        for name in split_cell(row["names"]) if row["names"] else ():
            names[name] = row["test"]
        factors = (unit.partition("=") for unit in split_cell(row["units"]))
        norms[row["test"]].append(
            Norm(
                row["test"],
                {squeezed(unit): float(factor or 1) for unit, _, factor in factors},
                _interval(row["bare"]),
                _float(row["low"]),
                _float(row["high"]),
                _interval(row["ages"]) or (0.0, float("inf")),
                split_cell(row["concepts"]),
            )
        )
    ordered = sorted(names, key=len, reverse=True)
    phrases = defaultdict[tuple[str, str], list[Phrase]](list)
    for row in read_rows(_DATA / "phrases.tsv"):
        for text in split_cell(row["phrases"]):
            phrase = Phrase.of(text, split_cell(row["concepts"]))
            for pair in product(phrase.parts[0], phrase.second):
                phrases[pair].append(phrase)
    spelt = {unit.partition("=")[0] for own in rows for unit in split_cell(own["units"])} - {""}
    return Tables(
        unit_pattern(spelt),
        re.compile(rf"(?<![\w-])(?:{'|'.join(map(_name_pattern, ordered))})(?!\w|-\w)"),
        frozenset(_TOKEN.findall(name.lower())[0] for name in ordered),
        {_key(name): test for name, test in names.items()},
        {test: tuple(own) for test, own in norms.items()},
        {pair: tuple(own) for pair, own in phrases.items()},
        frozenset(first for first, _ in phrases),
    )


def _key(name: str) -> str:
    return re.sub(r"[\s-]+", " ", name)


class Told(NamedTuple):
    """A finding: its offsets in a text, and its concept."""

    start: int
    end: int
    concept_id: str


def findings_of(text: str, has: Container[str]) -> list[Told]:
    """Find what a text tells in numbers and in plain words.

    Args:
        text: a text.
        has: ids of the concepts that may be found.
    """
    tables = read_tables()
    # Signs of other lengths would move the offsets.
    words = [word.lower() for word in _TOKEN.findall(text.replace("’", "'"))]
    if tables.begins.isdisjoint(words) and tables.firsts.isdisjoint(words):
        return []
    spans = [match.span() for match in _TOKEN.finditer(text)]
    found = [*_measured(text, words, spans, tables, has), *_said(text, words, spans, tables, has)]
    kept: dict[tuple[int, int, str], Told] = {}
    for each in sorted(found, key=lambda told: (told.start, -told.end)):
        inside = any(
            other.concept_id == each.concept_id and other.start <= each.start and each.end <= other.end
            for other in kept.values()
        )
        if not inside:
            kept[each] = each
    return list(kept.values())


Spans = Sequence[tuple[int, int]]
"""Offsets of words."""


def _said(text: str, words: Sequence[str], spans: Spans, tables: Tables, has: Container[str]) -> Iterator[Told]:
    """Find phrases. No punctuation but hyphens stands between their words."""
    for place, pair in enumerate(pairwise((*words, ""))):
        if pair[0] not in tables.begins:
            continue
        phrases = (*tables.phrases.get(pair, ()), *(tables.phrases.get((pair[0], ""), ()) if pair[1] else ()))
        if not phrases:
            continue
        stop = place + 1
        while (
            stop < min(len(words), place + _LONGEST)
            and _BETWEEN.fullmatch(text, spans[stop - 1][1], spans[stop][0]) is not None
        ):
            stop += 1
        for phrase in phrases:
            end = phrase.end(words[place:stop])
            if end is not None:
                yield from _first(spans[place][0], spans[place + end - 1][1], phrase.concepts, has)


def _measured(
    text: str, words: Sequence[str], spans: Spans, tables: Tables, has: Container[str]
) -> Iterator[Told]:
    names: list[re.Match[str]] = []
    for word, (start, _) in zip(words, spans, strict=True):
        # Trying the pattern at words that begin a name is faster than searching the text with it.
        if word in tables.firsts and (not names or names[-1].end() <= start):
            match = tables.names.match(text, start)
            names += [] if match is None else [match]
    if not names:
        return
    # Most values need no age.
    age = cache(partial(age_of, text))
    for place, match in enumerate(names):
        norms = tables.norms[_test(match, tables)]
        end = names[place + 1].start() if place + 1 < len(names) else len(text)
        window = _window(text, match.end(), end)
        denied = _DENIED.search(text, max(0, match.start() - 40), match.start()) if _is_skill(norms) else None
        start = denied.start() if denied is not None else match.start()
        values = list(quantities(text, match.end(), window, tables.units))
        if not values and place + 1 < len(names) and _LINK.fullmatch(text, match.end(), end):
            # "Height and weight were below the 3rd centile".
            after = names[place + 1]
            stop = names[place + 2].start() if place + 2 < len(names) else len(text)
            both = quantities(text, after.end(), _window(text, after.end(), stop), tables.units)
            values = [each._replace(end=match.end()) for each in both if each.unit in ("sd", "centile")]
        if denied is not None and not values:
            before = max((stop.end() for stop in _STOP.finditer(text, 0, match.start())), default=0)
            ages = [each for each in quantities(text, before, start, tables.units) if each.unit in TIMES]
            value = ages[-1].value if ages else (None if (years := age()) is None else years * 12)
            if value is not None and value <= _OLDEST:
                yield from _told(start, match.end(), norms, Quantity(0, 0, value, None, "month", 0), age(), has)
            continue
        if not values and (said := _SAID.match(text, match.end(), end)) is not None:
            side = -1 if said["low"] else 1
            for norm in norms:
                if (norm.low is None) == (side < 0) and (norm.high is None) == (side > 0) and not _is_skill(norms):
                    yield from _first(start, said.end(), norm.concepts, has)
                    break
            continue
        for number, quantity in enumerate(values):
            told = list(_told(start, quantity.end, norms, quantity, age(), has))
            if told or _is_of(norms, quantity):
                yield from told
                break
            if number == 2:
                break


def _test(match: re.Match[str], tables: Tables) -> str:
    name = _key(match[0])
    return tables.test_of.get(name) or tables.test_of[name.lower()]


def _is_skill(norms: Sequence[Norm]) -> bool:
    """Whether the value of a test is the age at which a skill was learned."""
    return "month" in norms[0].units


def _is_of(norms: Sequence[Norm], quantity: Quantity) -> bool:
    """Whether a quantity has a unit of a test."""
    return any(quantity.unit in norm.units for norm in norms) or (
        not quantity.unit and any(norm.bare is not None for norm in norms)
    )


def _told(
    start: int, end: int, norms: Sequence[Norm], quantity: Quantity, age: float | None, has: Container[str]
) -> Iterator[Told]:
    """Find the concepts that a value of a test means."""
    years = _ADULT if age is None else age
    for norm in norms:
        if not norm.ages[0] <= years < norm.ages[1]:
            continue
        value = quantity.value
        if value < 0 < (norm.high or norm.low or 0):
            continue
        if norm.test.startswith("diastolic"):
            if quantity.second is None:
                continue
            value = quantity.second
        if quantity.unit == "uln":
            if norm.high is None and norm.low is not None and value >= _RAISED and norm.bare is not None:
                yield from _first(start, end, norm.concepts, has)
            continue
        if quantity.unit and quantity.unit in norm.units:
            value *= norm.units[quantity.unit]
        elif quantity.unit or norm.bare is None or not norm.bare[0] <= value <= norm.bare[1]:
            continue
        if norm.has(value, quantity.side):
            yield from _first(start, end, norm.concepts, has)


def _first(start: int, end: int, concepts: Sequence[str], has: Container[str]) -> Iterator[Told]:
    known = next((each for each in concepts if each in has), None)
    if known is not None:
        yield Told(start, end, known)


def _window(text: str, start: int, end: int) -> int:
    """Return the end of the characters in which the value of a test may stand."""
    stop = _STOP.search(text, start, min(end, start + _WINDOW))
    return min(end, start + _WINDOW) if stop is None else stop.start() + 1


class FindingFinder:
    """Adds the findings of a text to the names that another finder finds.

    Where a finding and a name share characters, the longer one is kept, and the name if both mean one concept.

    Args:
        names: finds the names.
        vocabulary: the vocabulary.
        allowed: bool (N): whether to find each name of the vocabulary; ``None`` for all. A concept is found if its
            preferred name is allowed.
        min_confidence: smallest confidence of a mention; nothing is added if it is above :data:`CONFIDENCE`.
    """

    def __init__(
        self, names: Finder, vocabulary: Vocabulary, *, allowed: Bools | None, min_confidence: float
    ) -> None:
        self._names = names
        self._vocabulary = vocabulary
        tables = read_tables()
        ids = {each for own in tables.phrases.values() for phrase in own for each in phrase.concepts}
        ids |= {each for norms in tables.norms.values() for norm in norms for each in norm.concepts}
        self._candidates = {}
        for each in sorted(ids) if min_confidence <= CONFIDENCE else ():
            row = vocabulary.row(each)
            name = None if row is None else vocabulary.preferred_row(row)
            if row is None or name is None or (allowed is not None and not allowed[name]):
                continue
            if not vocabulary.concept(row).obsolete:
                self._candidates[each] = self._candidate(each, vocabulary.name(name))

    @staticmethod
    def _candidate(concept_id: str, name: Name) -> Candidate:
        return Candidate(concept_id, name.text, name, 1.0, {FINDING: 1.0})

    def find(self, documents: Sequence[Document]) -> list[list[Link]]:
        """List the links of each document, in the order of their mentions."""
        found = self._names.find(documents)
        if not self._candidates:
            return found
        return [self._joined(document, links) for document, links in zip(documents, found, strict=True)]

    def _joined(self, document: Document, links: list[Link]) -> list[Link]:
        has = frozenset(self._candidates)
        added: list[Link] = []
        for offset, text in segments_of(document.text):
            for told in findings_of(text, has):
                start, end = offset + told.start, offset + told.end
                added.append(
                    Link(
                        Mention(document.text[start:end], start, end),
                        document.text[start:end],
                        (self._candidates[told.concept_id],),
                        document_id=document.id or None,
                        confidence=CONFIDENCE,
                    )
                )
        kept = [link for link in links if not any(_hides(other, link) for other in added)]
        new = [link for link in added if not any(_overlap(other, link) for other in kept)]
        return sorted([*kept, *new], key=lambda link: (link.mention.start or 0, link.mention.end or 0))


def _overlap(one: Link, other: Link) -> bool:
    first, second = one.mention, other.mention
    return (first.start or 0) < (second.end or 0) and (second.start or 0) < (first.end or 0)


def _hides(finding: Link, name: Link) -> bool:
    """Whether a finding replaces a name inside it that means something else."""
    if not _overlap(finding, name) or finding.candidates[0].concept_id == name.candidates[0].concept_id:
        return False
    return (finding.mention.end or 0) - (finding.mention.start or 0) > (name.mention.end or 0) - (
        name.mention.start or 0
    )
