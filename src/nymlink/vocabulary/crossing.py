"""From concepts to those above them, and to ids of other vocabularies, with what is lost on the way."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.core.prefixes import common_name, split
from nymlink.vocabulary.hierarchy import InvertedLists
from nymlink.vocabulary.mappings import MappingSet
from nymlink.vocabulary.restriction import Restriction
from nymlink.vocabulary.vocabulary import Vocabulary

KINDS: Final = ("exact", "narrow", "close", "xref", "related", "broad")
"""Kinds of mappings, the closest first: ``broad`` if the other concept is broader."""

_OPPOSITE: Final = {"broad": "narrow", "narrow": "broad"}


@dataclass(frozen=True, slots=True)
class Crossed:
    """An id of another vocabulary for a concept.

    Attributes:
        id: the id.
        kind: one of :data:`KINDS`; ``broad`` also for a mapping of a concept above.
        via: id of the concept that has the mapping: the concept itself, or the nearest one above.
        steps: number of levels between them.
        source: the file of the mapping; empty for a cross-reference of the vocabulary.
    """

    id: str
    kind: str
    via: str
    steps: int = 0
    source: str = ""

    @property
    def loss(self) -> str:
        """What is lost, in words; empty if nothing is."""
        if self.steps:
            return f"{self.steps} level{'s' * (self.steps > 1)} broader"
        return {
            "exact": "",
            "narrow": "narrower",
            "broad": "broader",
            "xref": "kind not stated",
        }.get(self.kind, self.kind)

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "loss": self.loss}


class Crossing:
    """Ids of another vocabulary for the concepts of a vocabulary.

    Args:
        vocabulary: of the concepts.
        prefix: prefix of the other ids, in any spelling: ``"ICD10CM"``, ``"icd-10-cm"``.
        mappings: mappings beside the cross-references of the vocabulary.

    Raises:
        InputError: no concept has an id of this prefix.
    """

    def __init__(self, vocabulary: Vocabulary, prefix: str, mappings: Iterable[MappingSet] = ()) -> None:
        self._vocabulary = vocabulary
        wanted = _plain(prefix)
        self._stated: dict[str, dict[str, Crossed]] = defaultdict(dict)
        prefixes: Counter[str] = Counter()
        for concept_id, other, kind, source in _stated(vocabulary, mappings):
            own = split(other)[0]
            prefixes[own] += 1
            if _plain(own) == wanted or _plain(other.partition(":")[0]) == wanted:
                known = self._stated[concept_id].get(other)
                if known is None or KINDS.index(kind) < KINDS.index(known.kind):
                    self._stated[concept_id][other] = Crossed(other, kind, concept_id, 0, source)
        if not self._stated:
            there = ", ".join(f"{name} ({count:,})" for name, count in prefixes.most_common(10) if name)
            raise InputError(
                f"no concept has an id of {prefix!r}; there are: {there or 'none'}. Mappings can be given, too"
            )

    def of(self, concept_id: str) -> tuple[Crossed, ...]:
        """List the ids for a concept, the closest first; if it has none, those of the nearest concepts above."""
        level, steps, seen = [concept_id], 0, {concept_id}
        while level:
            found = [each for via in level for each in self._stated.get(via, {}).values()]
            if found:
                if steps:
                    found = [Crossed(each.id, "broad", each.via, steps, each.source) for each in found]
                distinct = {each.id: each for each in reversed(found)}
                return tuple(sorted(distinct.values(), key=lambda each: (KINDS.index(each.kind), each.id)))
            above = (parent for via in level for parent in _parents(self._vocabulary, via))
            level = [parent for parent in dict.fromkeys(above) if parent not in seen]
            seen.update(level)
            steps += 1
        return ()


def _stated(vocabulary: Vocabulary, mappings: Iterable[MappingSet]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the concept, the other id, the kind and the file of each mapping and cross-reference."""
    concepts = vocabulary.columns.concepts
    for concept_id, xrefs in zip(concepts["id"].to_pylist(), concepts["xrefs"].to_pylist(), strict=True):
        yield from ((concept_id, other, "xref", "") for other in xrefs)
    for read in mappings:
        for each in read.mappings:
            kind = each.predicate_id.rpartition(":")[2].lower().removesuffix("match")
            kind = {"equivalentclass": "exact", "sameas": "exact", "hasdbxref": "xref"}.get(kind, kind)
            if each.negated or kind not in KINDS:
                continue
            yield from ((own, each.object_id, kind, read.file) for own in vocabulary.resolve(each.subject_id))
            back = _OPPOSITE.get(kind, kind)
            yield from ((own, each.subject_id, back, read.file) for own in vocabulary.resolve(each.object_id))


def _plain(prefix: str) -> str:
    return "".join(filter(str.isalnum, common_name(prefix))).casefold()


def _parents(vocabulary: Vocabulary, concept_id: str) -> Sequence[str]:
    row = vocabulary.row(concept_id)
    parents: Sequence[str] = () if row is None else vocabulary.columns.concepts["parents"][row].as_py()
    return parents


class RollUp:
    """The concepts above others: those of a slim, or of a level of the hierarchy.

    Args:
        vocabulary: the vocabulary.
        slim: ids of the concepts to roll up to.
        level: level to roll up to, if there is no slim: 0 for concepts without parents, 1 for those below them …,
            by the shortest way.

    Raises:
        InputError: a concept of the slim is not in the vocabulary, or no concept is of that level.
    """

    def __init__(self, vocabulary: Vocabulary, *, slim: Collection[str] = (), level: int | None = None) -> None:
        if (level is None) == (not slim):
            raise ValueError("give a slim or a level")
        self._vocabulary = vocabulary
        self._targets = _at_level(vocabulary, level) if level is not None else _known(vocabulary, slim)
        self.of = cache(self._of)

    def _of(self, concept_id: str) -> tuple[str, ...]:
        """List the nearest targets that are the concept or above it; none if there is none."""
        found, level, seen = [], [concept_id], {concept_id}
        while level:
            found += [each for each in level if each in self._targets]
            rest = (each for each in level if each not in self._targets)
            above = dict.fromkeys(parent for each in rest for parent in _parents(self._vocabulary, each))
            level = [parent for parent in above if parent not in seen]
            seen.update(level)
        # A target below another one is the nearer of the two.
        higher = {above for each in found for above in self._vocabulary.ancestors(each)}
        return tuple(each for each in found if each not in higher)

    def counts(self, concept_ids: Iterable[str]) -> Mapping[str, int]:
        """Count the concepts rolled up to each target, the most frequent first; ``""`` for those without one.

        A concept below several targets counts for each of them.
        """
        counts = Counter(target for each in concept_ids for target in self.of(each) or ("",))
        return dict(counts.most_common())


def _known(vocabulary: Vocabulary, slim: Collection[str]) -> frozenset[str]:
    rows = Restriction(ids=tuple(slim)).concepts(vocabulary).nonzero()[0]
    return frozenset(map(vocabulary.concept_id, rows.tolist()))


def _at_level(vocabulary: Vocabulary, level: int) -> frozenset[str]:
    children = InvertedLists(vocabulary, "parents")
    concepts = vocabulary.columns.concepts
    live = zip(concepts["id"].to_pylist(), concepts["parents"], concepts["obsolete"].to_pylist(), strict=True)
    found = {id_ for id_, parents, obsolete in live if not obsolete and not len(parents)}
    seen = set(found)
    for _ in range(level):
        below = {vocabulary.concept_id(row) for id_ in found for row in children.owners(id_)}
        found = below - seen
        seen |= found
    if not found:
        raise InputError(f"no concept is of level {level}")
    return frozenset(found)
