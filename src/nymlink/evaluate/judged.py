"""Judging the first concepts of mentions: those of a corpus, and those that have no answer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.core.store.arrays import Bools, Ints
from nymlink.corpus.model import Corpus, Document, Mention
from nymlink.evaluate.calibration import Reliability
from nymlink.evaluate.gold import GoldResolver
from nymlink.index.fusion.hits import NONE
from nymlink.index.index import Index
from nymlink.index.walk import Matches
from nymlink.link.calibration import Confidences
from nymlink.link.candidates import candidates_of
from nymlink.link.doubts import contradicts, doubts_about
from nymlink.link.evidence import DEPTH, Features, features_of
from nymlink.link.queries import Asked, queries
from nymlink.text.english.spelling import DEFAULT_SPELLING

_FEWEST_GROUPS = 10
"""With fewer documents there are no documents to speak of."""


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The first concepts of M mentions, which have P parts.

    Attributes:
        mentions: of each of the P parts, the mention.
        asked: what the index was asked for each of the P parts.
        gold: the gold concepts of each; none where there is no answer.
        features: float64 (P, F), of each.
        factors: float64 (P): what doubts leave of its confidence.
        right: bool (P), whether its first concept is gold.
        starts: int (M): where the parts of each mention start.
        groups: int (P): mentions of one group are fitted to, or measured, together.
    """

    mentions: Sequence[Mention]
    asked: Sequence[Asked]
    gold: Sequence[frozenset[int]]
    features: Features
    factors: npt.NDArray[np.float64]
    right: Bools
    starts: Ints
    groups: Ints

    def reliability(self, confidences: Confidences) -> Reliability:
        """Of whole mentions, as :class:`~nymlink.link.linker.Linker` has the confidence of a composite one."""
        whole = _rounded(np.multiply.reduceat(_rounded(confidences), self.starts))
        answerable = np.array([bool(gold) for gold in self.gold])
        return Reliability.of(
            whole,
            np.logical_and.reduceat(self.right, self.starts),
            np.logical_and.reduceat(answerable, self.starts),
        )

    @classmethod
    def joined(cls, all_judged: Sequence[Judged]) -> Judged:
        """All of several; no group is of two of them."""
        sizes = np.cumsum([0, *(len(one.right) for one in all_judged)])
        groups = np.cumsum([0, *(one.groups.max() + 1 for one in all_judged)])
        return cls(
            mentions=list(chain(*(one.mentions for one in all_judged))),
            asked=list(chain(*(one.asked for one in all_judged))),
            gold=list(chain(*(one.gold for one in all_judged))),
            features=np.concatenate([one.features for one in all_judged]),
            factors=np.concatenate([one.factors for one in all_judged]),
            right=np.concatenate([one.right for one in all_judged]),
            starts=np.concatenate([one.starts + size for one, size in zip(all_judged, sizes[:-1], strict=True)]),
            groups=np.concatenate(
                [one.groups + first for one, first in zip(all_judged, groups[:-1], strict=True)]
            ),
        )


def judge(index: Index, corpus: Corpus, *, types: Collection[str] | None = None) -> Judged:
    """Search the annotated mentions of a corpus, and see whether what comes first is gold.

    Mentions with a guess (see :class:`~nymlink.link.queries.Asked`) are left out.

    Raises:
        InputError: nothing is left to score; the message says why.
    """
    # As a linker reads them: it does not know how many concepts a mention means.
    annotated = [
        (document.id, asked, mention)
        for document in corpus.documents
        for mention, asked in zip(
            document.mentions, queries(document, index.entries, spelling=DEFAULT_SPELLING), strict=True
        )
        if mention.concept_ids and (types is None or mention.type in types)
    ]
    if not annotated:
        of_types = "" if types is None else f" of type {', '.join(sorted(types))}"
        there = ", ".join(sorted({mention.type for _, mention in corpus.mentions()}))
        raise InputError(f"no mention{of_types} of the corpus has a gold id; its types: {there or 'none'}")
    # How sure a guess is, no feature says.
    found = [one for one in annotated if all(part.fallback is None for part in one[1])]
    if not found:
        raise InputError("every mention of the corpus that has a gold id has a misspelt word: mend them first")
    resolver = GoldResolver(index.vocabulary)
    parts = [(document, mention, part) for document, asked, mention in found for part in asked]
    documents, groups = np.unique(np.array([document for document, *_ in parts], object), return_inverse=True)
    _, places = np.unique(np.array([part.text for *_, part in parts], object), return_inverse=True)
    counts = [len(asked) for _, asked, _ in found]
    return _judged(
        index,
        mentions=[mention for _, mention, _ in parts],
        asked=[part for *_, part in parts],
        gold=[resolver.rows(mention.concept_ids) for _, mention, _ in parts],
        starts=np.cumsum([0, *counts[:-1]]),
        # Names repeat within a document; where there are no documents to speak of, equal names are kept together.
        groups=groups if _FEWEST_GROUPS <= len(documents) < len(found) else places,
    )


def judge_left_out(index: Index, judged: Judged, count: int) -> Judged:
    """Judge some of the same mentions as if the vocabulary lacked their concepts: whatever comes first is wrong.

    Args:
        index: that judged them.
        judged: annotated mentions.
        count: how many different ones, at most.
    """
    whole = np.diff(np.append(judged.starts, len(judged.right))) == 1
    singles = [place for place in judged.starts[whole].tolist() if judged.gold[place]]
    distinct = list({judged.asked[place].text: place for place in singles}.values())
    drawn = np.random.default_rng(0).permutation(len(distinct))[:count].tolist()
    places = [distinct[number] for number in sorted(drawn)]
    return _judged(
        index,
        mentions=[judged.mentions[place] for place in places],
        asked=[judged.asked[place] for place in places],
        gold=[frozenset()] * len(places),
        starts=np.arange(len(places)),
        groups=np.arange(len(places)),
        left_out=[judged.gold[place] for place in places],
    )


def judge_lacking(index: Index, names: Sequence[str]) -> Judged:
    """Judge names that mean no concept of an index: whatever comes first is wrong.

    Args:
        index: that lacks them.
        names: as they are written. Those with a guess are left out.
    """
    mentions = tuple(Mention(name) for name in names)
    asked = queries(Document("", mentions=mentions), index.entries, spelling=DEFAULT_SPELLING)
    kept = [
        (mention, parts[0])
        for mention, parts in zip(mentions, asked, strict=True)
        if parts[0].fallback is None and parts[0].text
    ]
    return _judged(
        index,
        mentions=[mention for mention, _ in kept],
        asked=[part for _, part in kept],
        gold=[frozenset()] * len(kept),
        starts=np.arange(len(kept)),
        groups=np.arange(len(kept)),
    )


def _judged(
    index: Index,
    *,
    mentions: Sequence[Mention],
    asked: Sequence[Asked],
    gold: Sequence[frozenset[int]],
    starts: Ints,
    groups: Ints,
    left_out: Sequence[frozenset[int]] = (),
) -> Judged:
    texts = [part.text for part in asked]
    if left_out:
        deeper = DEPTH + max(map(len, left_out))
        matches = _without(index.match(texts, deeper), left_out)
    else:
        distinct, places = np.unique(np.array(texts, object), return_inverse=True)
        matches = _taken(index.match(distinct.tolist(), DEPTH), places)
    firsts = matches.concepts[:, 0].tolist()
    factors = np.ones(len(texts))
    for place, candidates in enumerate(candidates_of(index, matches, 1)):
        for first in candidates:
            why = contradicts(index, asked[place], first)
            factors[place] = doubts_about(index, asked[place], mentions[place], first, why).factor
    return Judged(
        mentions=mentions,
        asked=asked,
        gold=gold,
        features=features_of(matches, texts, index),
        factors=factors,
        right=np.array([first in right for first, right in zip(firsts, gold, strict=True)], bool),
        starts=starts,
        groups=groups,
    )


def _rounded(confidences: Confidences) -> Confidences:
    """As a linker rounds the confidence of a part, and of a whole: NumPy rounds some halves the other way."""
    return np.array([round(one, 6) for one in confidences.tolist()])


def _taken(matches: Matches, places: Ints) -> Matches:
    """The matches of these queries, as often as they are named."""
    return Matches(
        concepts=matches.concepts[places],
        names=matches.names[places],
        scores=matches.scores[places],
        parts={name: scores[places] for name, scores in matches.parts.items()},
    )


def _without(matches: Matches, left_out: Sequence[frozenset[int]]) -> Matches:
    """The matches of queries without some concepts of each."""
    gone = np.array(
        [
            [concept in out for concept in line]
            for line, out in zip(matches.concepts.tolist(), left_out, strict=True)
        ]
    )
    order = np.argsort(gone, axis=1, kind="stable")

    def moved(values: npt.NDArray[Any], empty: float) -> npt.NDArray[Any]:
        kept = np.where(gone, np.asarray(empty, values.dtype), values)
        return np.take_along_axis(kept, order, 1)

    return Matches(
        concepts=moved(matches.concepts, NONE),
        names=moved(matches.names, NONE),
        scores=moved(matches.scores, 0),
        parts={name: moved(scores, 0) for name, scores in matches.parts.items()},
    )
