"""Match two vocabularies: find the concepts of the second that mean the same as concepts of the first.

First come concepts with equal names, then concepts whose names are the most similar for both. Concepts above and
below that are mapped already change the confidence of a pair. At last each concept keeps its surest partner.
Cross-references are not used.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp, log
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from nymlink.core.errors import InputError
from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.core.problems import Problems
from nymlink.core.store.ownership import manifest_of
from nymlink.corpus.documents import Mention
from nymlink.encode.model.folder import MINI
from nymlink.index.index import Index
from nymlink.index.index_folder import KIND as INDEX
from nymlink.linking.candidates import WRITING
from nymlink.linking.link import Candidate, Link, Relation
from nymlink.linking.links import Links
from nymlink.linking.matching.names import RELIABILITY, KnownName, Names, Pair, Shared, shared_names
from nymlink.linking.matching.relations import inexact_partners
from nymlink.linking.matching.similar import Similar, similar_names
from nymlink.linking.matching.structure import Hierarchy, Support
from nymlink.text.writing import writing_likeness
from nymlink.vocabulary.read import open_vocabulary
from nymlink.vocabulary.subset import part_of
from nymlink.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from nymlink.encode.encoder import Encoder

MIN_CONFIDENCE: Final = 0.4
"""Default for the smallest confidence of a mapping, with the best F on development pairs of vocabularies."""

_ANCHOR: Final = 0.7
"""Smallest confidence of a pair that counts as mapped for the pairs above and below it."""

_ROUNDS: Final = 2
"""Number of times that the mapped concepts are chosen, and the confidences computed by them."""

_ABOVE: Final = 0.7
_BELOW: Final = 1.2
"""Change of the log-odds of a pair if the mapped concepts above agree or disagree, and if those below disagree."""

_SUREST: Final = 0.7
"""Share of the doubt about equal names that vanishes if the pair is the surest one for both concepts."""

_ALIKE: Final = 0.75
_ONE_WORD: Final = 0.9
_CONTRADICTED: Final = 3.0
"""For names that are not equal: a good similarity, and the changes of log-odds if a name has one word, and if the
names contradict each other ("type 1", "type 2")."""


@dataclass(frozen=True, slots=True)
class _Evidence:
    """Evidence that two concepts are the same.

    Attributes:
        names: the surest or most similar names.
        prior: probability by the names alone.
        score: similarity of the names, 1 for equal names.
        parts: the parts of the score.
        contradiction: how the names contradict each other, or ``None``.
    """

    names: tuple[KnownName, KnownName]
    prior: float
    score: float = 1.0
    parts: Mapping[str, float] = field(default_factory=dict)
    contradiction: str | None = None

    @classmethod
    def of_shared(cls, shared: Shared) -> _Evidence:
        assert shared.names is not None
        return cls(shared.names, shared.strength)

    @classmethod
    def of_similar(cls, similar: Similar) -> _Evidence:
        # By eye, from development pairs. A similarity says little if another concept is almost as similar, and for
        # names of one word.
        odds = -0.8 + 15 * min(similar.lead, 0.15)
        odds += (3 if similar.score > _ALIKE else 6) * (similar.score - _ALIKE)
        odds -= _ONE_WORD * (min(len(name.prepared.split()) for name in similar.names) == 1)
        odds -= _CONTRADICTED * (similar.contradiction is not None)
        return cls(similar.names, _probability(odds), similar.score, similar.parts, similar.contradiction)


AnyVocabulary = Vocabulary | Index | str | Path
"""A vocabulary, an index of one, or the place of either."""


def match(
    a: AnyVocabulary,
    b: AnyVocabulary,
    *,
    many: bool = False,
    min_confidence: float = MIN_CONFIDENCE,
    encoder: Encoder | str | Path | None = MINI,
    progress: bool = False,
) -> Links:
    """Find mappings between the concepts of two vocabularies: exact, broader and narrower ones.

    Each concept has at most one exact partner, unless ``many`` is set. A concept without an exact partner may have
    a broader or narrower one. If both vocabularies are the same, the pairs are concepts that may be duplicates.
    Method and accuracy: ``docs/howto/matching.md``.

    Args:
        a: the first vocabulary, an index of it, or the file or folder of either, in any format that nymlink reads.
        b: the second vocabulary.
        many: whether to keep all mappings with enough confidence, even if a concept then has several exact ones.
        min_confidence: smallest confidence of a mapping, 0 to 1.
        encoder: encoder that compares names by meaning, for concepts that share no name with another. ``None``
            compares only their spelling, which is faster. If ``b`` is an index, its own searches are used.
        progress: whether to show progress when standard error is a terminal.

    Returns:
        A link for each concept of ``a`` that has a mapping. The mention is its preferred name, with its id. The
        candidates are concepts of ``b``, surest first, each with ``relation`` and ``confidence``. The method
        ``write("mappings.sssom.tsv")`` writes SSSOM.

    Raises:
        InputError: a vocabulary cannot be read, or has no live concept with a name; or the smallest confidence is
            no probability.
        StoreError: a folder of nymlink is damaged.

    Examples:
        >>> from nymlink import Vocabulary, match
        >>> from nymlink.vocabulary.concepts import Source
        >>> from nymlink.vocabulary.tables import TableBuilder
        >>> def vocabulary(**names):
        ...     builder = TableBuilder()
        ...     for concept_id, name in names.items():
        ...         builder.concept(concept_id)
        ...         builder.name(concept_id, name, lang="en", kind="preferred")
        ...     return Vocabulary.of((Source("own", "table"), builder.build()))
        >>> mouse = vocabulary(M1="heart", M2="left lung")
        >>> human = vocabulary(H1="Heart", H2="lung, left")
        >>> for link in match(mouse, human, encoder=None):
        ...     print(link.mention.id, link.candidates[0].relation, link.candidates[0].concept_id)
        M1 exact H1
        M2 exact H2
    """
    if not 0 <= min_confidence <= 1:
        raise InputError(f"the smallest confidence is a number from 0 to 1, not {min_confidence}")
    one, _ = _opened(a)
    other, index = (one, None) if a is b or a == b else _opened(b)
    return _Matcher(one, other, index, encoder=encoder, progress=progress).links(many=many, least=min_confidence)


def open_matched(what: str | Path, *, problems: Problems | None = None) -> Vocabulary | Index:
    """Open an index directory, or a vocabulary as :func:`~nymlink.vocabulary.read.open_vocabulary` does.

    Raises:
        StoreError: the folder is damaged.
        InputError: the source cannot be read.
    """
    if (manifest_of(Path(what)) or {}).get("kind") == INDEX:
        return Index.load(what)
    return open_vocabulary(what, problems=problems)


def _opened(what: AnyVocabulary) -> tuple[Vocabulary, Index | None]:
    """Return the vocabulary, and its index if it has one."""
    opened = open_matched(what) if isinstance(what, str | Path) else what
    return (opened, None) if isinstance(opened, Vocabulary) else (opened.vocabulary, opened)


class _Matcher:
    """Matches two vocabularies, which may be the same one.

    Args:
        one: the first vocabulary.
        other: the second one.
        index: an index of the second one, if there is one.
        encoder: see :func:`match`.
        progress: see :func:`match`.

    Raises:
        InputError: a vocabulary has no live concept with a name.
    """

    def __init__(
        self,
        one: Vocabulary,
        other: Vocabulary,
        index: Index | None,
        *,
        encoder: Encoder | str | Path | None,
        progress: bool,
    ) -> None:
        self._one, self._other, self._index = one, other, index
        self._encoder, self._progress = encoder, progress
        self._same = one is other or (
            len(one) == len(other) and one.columns.concepts["id"].equals(other.columns.concepts["id"])
        )
        self._names = Names(one)
        self._others = self._names if self._same else Names(other)
        for names, vocabulary, place in ((self._names, one, "first"), (self._others, other, "second")):
            if not names.all:
                title = ", ".join(source.name for source in vocabulary.sources)
                raise InputError(
                    f"the {place} vocabulary ({title}) has no concept with a name: nothing can be matched"
                )
        own, others = self._names.languages(), self._others.languages()
        self._common = own & others
        if not self._common and UNKNOWN_LANGUAGE not in own | others:
            warnings.warn(
                f"the vocabularies have no language in common ({', '.join(sorted(own))}; "
                f"{', '.join(sorted(others))}): names are compared across languages, which finds few mappings; "
                "add translations with `nymlink vocab enrich`",
                stacklevel=4,
            )
        self._hierarchies = Hierarchy(one), Hierarchy(other)

    def links(self, *, many: bool, least: float) -> Links:
        """Find the mappings with a confidence of at least ``least``, as links."""
        pool = {
            pair: _Evidence.of_shared(shared)
            for pair, shared in shared_names(self._names, self._others, self._common).items()
        }
        chosen = self._select(self._weigh(pool))
        for pair, similar in self._similar(chosen).items():
            pool.setdefault(pair, _Evidence.of_similar(similar))
        weighed = self._weigh(pool)
        chosen = self._surest(self._select(weighed), pool)
        exact = {pair: confidence for pair, confidence in chosen.items() if confidence >= least}
        found = defaultdict[int, list[Candidate]](list)
        for pair, confidence in exact.items():
            found[pair[0]].append(self._candidate(pair, "exact", confidence, pool[pair]))
        if many:
            for pair in sorted(weighed.keys() - exact.keys(), key=lambda pair: (-weighed[pair], pair)):
                if weighed[pair] >= least:
                    found[pair[0]].append(self._candidate(pair, "exact", weighed[pair], pool[pair]))
        if not self._same:
            partners = {pair[0]: (pair[1], confidence) for pair, confidence in exact.items()}
            inexact = inexact_partners(self._names, self._others, self._hierarchies, partners, self._common)
            for pair, each in inexact.items():
                if each.confidence >= least and pair[0] not in found:
                    evidence = _Evidence(each.names, each.confidence, 0.0)
                    found[pair[0]].append(self._candidate(pair, each.direction, each.confidence, evidence))
        links = Links(self._link(concept, found[concept]) for concept in sorted(found))
        links.vocabulary, links.subjects = self._other, self._one
        return links

    def _similar(self, chosen: Mapping[Pair, float]) -> dict[Pair, Similar]:
        """Compare the names of the concepts that are in no pair."""
        first, second = ({pair[side] for pair in chosen} for side in (0, 1))
        free = np.ones(len(self._other), bool)
        if self._same:
            # Each concept may have a duplicate; its preferred name is enough to find it.
            queries = [name for name in self._names.all if name.kind == "preferred"]
        else:
            free[list(second)] = False
            queries = [name for name in self._names.all if name.concept not in first and name.kind in RELIABILITY]
        kept = np.flatnonzero(free[self._other.columns.names["concept"].to_numpy()]).astype(np.int32)
        if not queries or not len(kept):
            return {}
        index, rows = self._index, np.arange(self._other.name_count, dtype=np.int32)
        if index is None:
            index, rows = (
                Index.build(part_of(self._other, free), encoder=self._encoder, progress=self._progress),
                kept,
            )
        names = [name for name in self._others.all if free[name.concept]]
        return similar_names(queries, index, rows, names, common=self._common, same=self._same)

    def _weigh(self, pool: Mapping[Pair, _Evidence]) -> dict[Pair, float]:
        """Compute the probability that the concepts of each pair are the same."""
        weighed = {pair: each.prior for pair, each in pool.items()}
        if self._same:
            # A concept is no duplicate of the concepts above it, unless they have the same name.
            own = self._hierarchies[0]
            related = (
                pair for pair in pool if pair[0] in own.ancestors(pair[1]) or pair[1] in own.ancestors(pair[0])
            )
            return {**weighed, **{pair: 0.0 for pair in related if pool[pair].score < 1}}
        if not all(self._hierarchies):
            return weighed
        for _ in range(_ROUNDS):
            mapped = {one: other for (one, other), sure in self._select(weighed).items() if sure >= _ANCHOR}
            support = Support(*self._hierarchies, mapped)
            weighed = {
                pair: _supported(each.prior, support.above(pair), support.below(pair))
                for pair, each in pool.items()
            }
        return weighed

    def _select(self, weighed: Mapping[Pair, float]) -> dict[Pair, float]:
        """Take the surest pairs first, so that each concept is in one pair at most."""
        chosen: dict[Pair, float] = {}
        first: set[int] = set()
        second: set[int] = first if self._same else set()
        for pair in sorted(weighed, key=lambda pair: (-weighed[pair], pair)):
            if weighed[pair] > 0 and pair[0] not in first and pair[1] not in second:
                chosen[pair] = weighed[pair]
                first.add(pair[0])
                second.add(pair[1])
        return chosen

    def _surest(self, chosen: Mapping[Pair, float], pool: Mapping[Pair, _Evidence]) -> dict[Pair, float]:
        """Raise the confidence of chosen pairs with equal names: no other partner is as sure."""
        if self._same:
            return dict(chosen)
        return {
            pair: sure + _SUREST * (1 - sure) if pool[pair].score == 1 else sure for pair, sure in chosen.items()
        }

    def _candidate(self, pair: Pair, relation: Relation, confidence: float, evidence: _Evidence) -> Candidate:
        name, other = evidence.names
        matched = self._other.name(other.row)
        equal = name.prepared == other.prepared
        text = self._one.name(name.row).text
        parts = {WRITING: round(writing_likeness(text, matched.text), 6)} if equal else evidence.parts
        return Candidate(
            self._other.concept_id(pair[1]),
            self._other.preferred_name(pair[1]),
            matched,
            evidence.score,
            parts,
            evidence.contradiction,
            relation=relation,
            confidence=round(confidence, 4),
        )

    def _link(self, concept: int, candidates: list[Candidate]) -> Link:
        text = self._one.preferred_name(concept)
        mention = Mention(text, id=self._one.concept_id(concept))
        return Link(mention, text, tuple(candidates), confidence=candidates[0].confidence)


def _supported(prior: float, above: float | None, below: float | None) -> float:
    """Change a probability by what is mapped above and below.

    Args:
        prior: probability by the names.
        above: see :meth:`Support.above`.
        below: see :meth:`Support.below`.
    """
    prior = min(max(prior, 0.005), 0.995)
    odds = log(prior / (1 - prior))
    odds += 0 if above is None else _ABOVE * (2 * above - 1)
    odds -= 0 if below is None else _BELOW * (1 - below)
    return _probability(odds)


def _probability(odds: float) -> float:
    return 1 / (1 + exp(-odds))
