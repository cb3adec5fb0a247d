"""Find the equivalent concepts of two vocabularies."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import pyarrow as pa

from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.vocabulary.columns import normalise_all_with_signs
from nymlink.vocabulary.merge.evidence import GENES
from nymlink.vocabulary.merge.identifiers import Key, LiveConcepts, canonical
from nymlink.vocabulary.name_matching import CrossPair, exact_names, is_specific, loose_form, mutually_named
from nymlink.vocabulary.vocabulary import Vocabulary

_MESH: Final = re.compile(r"[CD](?:\d{6}|\d{9})")
_OMIM: Final = re.compile(r"[1-6]\d{5}")


class ConceptIds:
    """The concepts of a vocabulary that are not obsolete, by all their ids, including alternate and old ids.

    MEDIC in BioSyn's form writes MeSH and OMIM ids without prefixes (``D009203``, ``254200``). If most ids without
    a prefix look like MeSH ids, these are therefore read as MeSH ids, and six-digit numbers as OMIM ids.

    Attributes:
        rows: canonical id → row of its live concept.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        columns = vocabulary.columns
        self._concepts = LiveConcepts(vocabulary)
        self._xrefs = columns.concepts["xrefs"]
        sources = dict(zip(self._concepts.ids, self._concepts.sources, strict=True))
        keys = self._concepts.keys + [
            canonical(redirect["old"], sources[redirect["new"]])
            for redirect in columns.redirects.to_pylist()
            if redirect["new"] in sources
        ]
        self._medic_namespaces = _medic_namespaces(keys)
        self.rows: dict[Key, int] = {}
        for key in keys:
            row = self._concepts.row(key)
            if row is not None:
                self.rows.setdefault(self._full(key), row)

    def namespaces(self, row: int) -> frozenset[str]:
        """Return the namespaces of the ids of a concept."""
        return frozenset(self._full(key)[0] for key in self._concepts.keys_of(row))

    def references(self) -> Iterator[tuple[int, Key]]:
        """Yield the row and canonical id of each xref of live concepts."""
        xrefs, sources = self._xrefs.to_pylist(), self._concepts.sources
        for row in self._concepts.live:
            for xref in xrefs[row]:
                yield row, self._full(canonical(xref, sources[row]))

    def _full(self, key: Key) -> Key:
        if key[0] in self._medic_namespaces:
            for namespace, pattern in (("MESH", _MESH), ("OMIM", _OMIM)):
                if pattern.fullmatch(key[1]):
                    return namespace, key[1]
        return key


def _medic_namespaces(keys: Iterable[Key]) -> frozenset[str]:
    """Find the namespaces of ids without a prefix in which more than half of the ids look like MeSH ids."""
    bare = [key for key in keys if key[0].startswith("(")]
    count = Counter(namespace for namespace, _ in bare)
    mesh = Counter(namespace for namespace, local in bare if _MESH.fullmatch(local))
    return frozenset(namespace for namespace in mesh if 2 * mesh[namespace] > count[namespace])


_ORDERING: Final = frozenset("after by due from to with without".split())
"""Words in whose presence the order of words changes the meaning: "liver cancer metastatic to lung"."""
_POSSESSIVE: Final = re.compile(r"['’]s\b", re.IGNORECASE)

_ANY: Final = ""

NameIndex = defaultdict[tuple[str, str], set[int]]
"""(language or :data:`_ANY`, form of a name) → concept rows."""


@dataclass(frozen=True, slots=True)
class _Name:
    """A preferred or exact name.

    Attributes:
        concept: row of its concept.
        kind: ``"preferred"`` or ``"exact"``.
        lang: language without region.
        normal: normal form with signs.
        loose: a form that all its variants share; ``None`` if this form could have another meaning.
    """

    concept: int
    kind: str
    lang: str
    normal: str
    loose: str | None


def match_by_name(
    target: Vocabulary, meta: Vocabulary, allowed: Callable[[CrossPair], bool]
) -> tuple[set[CrossPair], set[CrossPair], set[CrossPair]]:
    """Find the pairs of live concepts with a name in common, in the same or an unknown language.

    If a concept has no preferred name, its first exact name is taken instead.

    Args:
        target: the vocabulary to enrich.
        meta: the metathesaurus.
        allowed: whether a pair may be equivalent; other pairs are ignored.

    Returns:
        Three sets of pairs, the most reliable first. In the first set, the preferred names are equal. In the
        second set, they are variants that differ in word order, plurals, accents, spelling or stop words. The
        third set is for concepts of the target that are in neither: here, an exact name in the metathesaurus is
        such a variant of the preferred name in the target.
    """
    target_names = [name for own in _names_by_concept(target) for name in _preferred(own)]
    wanted = {form for name in target_names for form in (name.normal, name.loose)}
    by_normal, by_loose, by_exact = NameIndex(set), NameIndex(set), NameIndex(set)
    for own in _names_by_concept(meta):
        for name in _preferred(own):
            _add(by_normal, name, name.normal, wanted)
            _add(by_loose, name, name.loose, wanted)
        for name in own:
            _add(by_exact, name, name.loose, wanted)
    same = _pairs(target_names, by_normal, lambda name: name.normal, allowed)
    variants = _pairs(target_names, by_loose, lambda name: name.loose, allowed)
    matched = {concept for concept, _ in same | variants}
    unmatched = [name for name in target_names if name.concept not in matched]
    return same, variants, _pairs(unmatched, by_exact, lambda name: name.loose, allowed)


def _names_by_concept(vocabulary: Vocabulary) -> Iterator[list[_Name]]:
    """Yield the preferred and exact names of each live concept."""
    live = ~vocabulary.columns.concepts["obsolete"].to_numpy()
    names = exact_names(vocabulary.columns.names)
    names = names.filter(pa.array(live[names["concept"].to_numpy()]))
    columns = [names[field].to_pylist() for field in ("concept", "kind", "lang", "text")]
    rows = zip(*columns, normalise_all_with_signs(names["text"]).to_pylist(), strict=True)
    for concept, own in groupby(rows, lambda row: row[0]):
        yield [
            _Name(concept, kind, lang.split("-")[0], normal, _loose(text, normal))
            for _, kind, lang, text, normal in own
        ]


def _loose(text: str, normal: str) -> str | None:
    words = normal.split()
    if not _ORDERING.isdisjoint(words):
        return None
    form = loose_form(" ".join(sorted(words)))
    if "s" in words and not _POSSESSIVE.search(text):
        # Keep the letter S unless possessive: "protein S".
        form += " s"
    return form if is_specific(form) else None


def _preferred(own: list[_Name]) -> list[_Name]:
    return [name for name in own if name.kind == "preferred"] or own[:1]


def _add(index: NameIndex, name: _Name, form: str | None, wanted: set[str | None]) -> None:
    if form is not None and form in wanted:
        for lang in (name.lang, _ANY):
            index[lang, form].add(name.concept)


def _pairs(
    names: list[_Name], index: NameIndex, form: Callable[[_Name], str | None], allowed: Callable[[CrossPair], bool]
) -> set[CrossPair]:
    pairs = set()
    for name in names:
        key = form(name)
        langs = [_ANY] if name.lang == UNKNOWN_LANGUAGE else [name.lang, UNKNOWN_LANGUAGE]
        if key is not None:
            pairs |= {(name.concept, other) for lang in langs for other in index.get((lang, key), ())}
    return {pair for pair in pairs if allowed(pair)}


@dataclass(frozen=True, slots=True)
class Equivalences:
    """Pairs of equivalent concepts, each under its most reliable evidence.

    Attributes:
        by_id: pairs with an id in common, which may be an alternate or an old id.
        by_xref_and_name: pairs with an xref and each other's preferred name.
        by_xref: pairs with an xref.
        by_name: pairs with a name in common; ``None`` if names alone do not count.
        refused: number of other pairs with an xref. Pairs of a gene and another concept are not counted.
    """

    by_id: frozenset[CrossPair]
    by_xref_and_name: frozenset[CrossPair]
    by_xref: frozenset[CrossPair]
    by_name: frozenset[CrossPair] | None
    refused: int

    @property
    def pairs(self) -> frozenset[CrossPair]:
        """All pairs of equivalent concepts."""
        return self.by_id | self.by_xref_and_name | self.by_xref | (self.by_name or frozenset())

    def concepts(self) -> dict[str, int]:
        """Count the concepts of the target with an equivalent, by their most reliable evidence."""
        evidence = {
            "by id": self.by_id,
            "by xref and name": self.by_xref_and_name,
            "by xref": self.by_xref,
            "by name": self.by_name,
        }
        counts, counted = {}, set[int]()
        for label, pairs in evidence.items():
            if pairs is None:
                continue
            rows = {row for row, _ in pairs} - counted
            counts[label] = len(rows)
            counted |= rows
        return counts


def find_equivalences(target: Vocabulary, meta: Vocabulary, *, by_name: bool = False) -> Equivalences:
    """Find the equivalent concepts of the target and the metathesaurus. Obsolete concepts are ignored.

    An xref, in either direction, counts only if it is one-to-one. Its concept in the metathesaurus must have no
    other equivalent in the target. Its concept in the target must have no other equivalent in the same namespace.
    Pairs by other xrefs or by more reliable evidence count as other equivalents. (MONDO often refers to one MeSH
    heading from several diseases.)

    An xref does not count if another concept of the target has the preferred name of the possible equivalent. An
    xref between a gene and another concept never counts, because a disease often has the name or id of its gene.
    The same rules apply to names.

    Args:
        target: the vocabulary to enrich.
        meta: the metathesaurus.
        by_name: whether concepts with a name in common are equivalent, if no more reliable evidence contradicts
            it; see :func:`~nymlink.vocabulary.equivalence.match_by_name`.
    """
    target_ids, meta_ids = ConceptIds(target), ConceptIds(meta)
    by_id = {(row, meta_ids.rows[key]) for key, row in target_ids.rows.items() if key in meta_ids.rows}
    xrefs = {(target_ids.rows[key], row) for row, key in meta_ids.references() if key in target_ids.rows}
    xrefs |= {(row, meta_ids.rows[key]) for row, key in target_ids.references() if key in meta_ids.rows}
    xrefs = {pair for pair in xrefs - by_id if _same_gene_status(target_ids, meta_ids, pair)}
    by_both = _one_to_one(mutually_named(target, meta, xrefs), by_id, meta_ids.namespaces)
    by_xref = _one_to_one(xrefs - by_both, by_id | by_both, meta_ids.namespaces)
    by_xref = {pair for pair in by_xref if not _has_rival(target, meta, pair)}
    refused = len(xrefs) - len(by_both) - len(by_xref)
    surer = by_id | by_both | by_xref
    named = _match_names(target, meta, target_ids, meta_ids, surer) if by_name else None
    return Equivalences(frozenset(by_id), frozenset(by_both), frozenset(by_xref), named, refused)


def _match_names(
    target: Vocabulary,
    meta: Vocabulary,
    target_ids: ConceptIds,
    meta_ids: ConceptIds,
    surer: Collection[CrossPair],
) -> frozenset[CrossPair]:
    """Find the pairs with a name in common that more reliable evidence does not contradict."""
    matched: set[CrossPair] = set()
    for pairs in match_by_name(target, meta, lambda pair: _same_gene_status(target_ids, meta_ids, pair)):
        known = {*surer, *matched}
        unique = _one_to_one(pairs - known, known, meta_ids.namespaces)
        matched |= {pair for pair in unique if not _has_rival(target, meta, pair)}
    return frozenset(matched)


def _same_gene_status(target_ids: ConceptIds, meta_ids: ConceptIds, pair: CrossPair) -> bool:
    """Whether both are genes, or neither is."""
    return GENES.isdisjoint(target_ids.namespaces(pair[0])) == GENES.isdisjoint(meta_ids.namespaces(pair[1]))


def _one_to_one(
    pairs: Collection[CrossPair], surer: Collection[CrossPair], namespaces: Callable[[int], Iterable[str]]
) -> set[CrossPair]:
    """Select the pairs that are one-to-one.

    The concept of the metathesaurus must be in no other pair, and the concept of the target in no other pair with
    the same namespace. The pairs of ``surer`` count, too.
    """
    counts = Counter(meta_row for _, meta_row in {*pairs, *surer})
    unique = {(row, meta_row) for row, meta_row in pairs if counts[meta_row] == 1}
    # A concept of the metathesaurus in several pairs is in none of them, and does not count against others.
    by_namespace = Counter((row, name) for row, meta_row in {*unique, *surer} for name in namespaces(meta_row))
    return {
        (row, meta_row)
        for row, meta_row in unique
        if all(by_namespace[row, name] == 1 for name in namespaces(meta_row))
    }


def _has_rival(target: Vocabulary, meta: Vocabulary, pair: CrossPair) -> bool:
    """Whether a preferred name of the partner belongs only to other live concepts of the target."""
    row, meta_row = pair
    for name in meta.names(meta.concept_id(meta_row), kinds=("preferred",)):
        owners = {match.concept_id for match in target.find(name.text)}
        if target.concept_id(row) not in owners and any(not target[owner].obsolete for owner in owners):
            return True
    return False
