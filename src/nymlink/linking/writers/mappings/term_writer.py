"""Collect distinct terms with their links, which formats of mappings write once all are known."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from nymlink.core.delimited import Record, restore_cell
from nymlink.linking.model import Candidate, Link
from nymlink.linking.review import Relation
from nymlink.linking.writers.mappings.relations import relation
from nymlink.linking.writers.writer import LinksInfo, LinkWriter

_COUNT: Final = re.compile(r"\s*[0-9]{1,12}\s*")


@dataclass(frozen=True, slots=True)
class Target:
    """A concept that a term is mapped to.

    Attributes:
        candidate: the concept.
        relation: how the term is related to it; to the concept of one of its parts, a composite term is related.
        link: the link of the term, or of its part.
    """

    candidate: Candidate
    relation: Relation
    link: Link


@dataclass(slots=True)
class Term:
    """A term of the source.

    Attributes:
        code: its code; the term itself where it has none.
        name: the term, as one line.
        link: its link, where it first has it.
        frequency: how often it occurs.
        row: the cells of the user's table where it first stands; empty where there is no table.
    """

    code: str
    name: str
    link: Link
    frequency: int
    row: tuple[str, ...]

    @property
    def best(self) -> list[Target]:
        """What it is mapped to: the first of the candidates of each part; of those that a person chose, all."""
        reviewed = self.link.review is not None and bool(self.link.review.relations)
        return [each for each in self.targets() if reviewed or each.candidate is each.link.candidates[0]]

    def targets(self) -> Iterator[Target]:
        """Yield what it is mapped to, best first; nothing where its link is NIL."""
        for part in () if self.link.nil else self.link.singles:
            for candidate in part.candidates:
                found = "related" if self.link.parts else relation(candidate, part)
                yield Target(candidate, found, part)


class TermWriter(LinkWriter):
    """Collects terms, each once, and writes them when it is closed.

    The code of a term is that of the user's table or of the mention, where these have one, else the term itself. A
    term that was linked in several ways, by what stands around it, is written with the most frequent.
    """

    def __init__(self, info: LinksInfo) -> None:
        self._table = info.table
        self._terms: dict[tuple[str, str], dict[tuple[str, ...], Term]] = {}

    def write(self, link: Link, row: Record | None = None) -> None:
        name = " ".join(link.mention.text.split())
        if not name:
            return
        # What a sentence says of a mention is not so of the term.
        link = replace(link, context=None)
        fields = () if row is None else tuple(map(restore_cell, row.fields))
        code = self._code(link, fields) or name
        best = tuple(candidate.concept_id for part in link.singles for candidate in part.candidates)
        ways = self._terms.setdefault((code, name), {})
        ways.setdefault(best, Term(code, name, link, 0, fields)).frequency += self._frequency(
            fields, link.mention.frequency
        )

    def close(self) -> None:
        terms = []
        for ways in self._terms.values():
            chosen = max(ways.values(), key=lambda term: term.frequency)
            terms.append(replace(chosen, frequency=sum(term.frequency for term in ways.values())))
        self.write_terms(terms)

    @abstractmethod
    def write_terms(self, terms: list[Term]) -> None:
        """Write all terms, in the order in which they first occur."""

    def _code(self, link: Link, fields: tuple[str, ...]) -> str:
        if self._table is not None and self._table.code is not None:
            return fields[self._table.code].strip()
        # The id of a mention in a text ("T1") is no code.
        return link.mention.id or "" if link.mention.start is None else ""

    def _frequency(self, fields: tuple[str, ...], frequency: int) -> int:
        if self._table is None or self._table.frequency is None:
            return frequency
        stated = fields[self._table.frequency]
        return int(stated) if _COUNT.fullmatch(stated) else 0
