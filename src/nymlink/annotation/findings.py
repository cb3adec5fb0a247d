"""Findings told in numbers or in plain words: "Hb 6.2 g/dl", "walked at three years", "bruises easily".

A row of the tables (:mod:`nymlink.annotation.finding_tables`) applies only if the vocabulary has its concept.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from functools import cache, partial
from itertools import pairwise
from typing import Final, NamedTuple

from nymlink.annotation.detector_plugins import segments_of
from nymlink.annotation.finders import Finder
from nymlink.annotation.finding_tables import TOKEN, Norm, Tables, name_key, read_tables
from nymlink.annotation.quantities import TIMES, Quantity, age_of, quantities
from nymlink.core.store.arrays import Bools
from nymlink.corpus.documents import Document, Mention
from nymlink.linking.link import Candidate, Link
from nymlink.vocabulary.concepts import Name
from nymlink.vocabulary.vocabulary import Vocabulary

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


_BENCH: Final = re.compile(
    r"\b(?:buffer(?:ed|s)?|tris|hcl|hepes|edta|nacl|incubat\w*|supernatants?|culture medium|fbs|mol%|annealing|"
    r"optimum|(?:potassium|sodium) (?:acetate|phosphate|chloride|citrate|hydroxide))\b",
    re.IGNORECASE,
)
"""Words of experiments, whose quantities are of no patient."""
_BESIDE: Final = 50
"""Characters before and after the name of a test in which such words count."""

_BETWEEN: Final = re.compile(r"[\s-]*")
_LONGEST: Final = 24
"""Words in which a phrase ends."""


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
    matches = list(TOKEN.finditer(text.replace("’", "'")))
    words = [match[0].lower() for match in matches]
    if tables.begins.isdisjoint(words) and tables.firsts.isdisjoint(words):
        return []
    spans = [match.span() for match in matches]
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
        if _BENCH.search(text, max(0, match.start() - _BESIDE), match.end() + _BESIDE):
            continue
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
    name = name_key(match[0])
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
