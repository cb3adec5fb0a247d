"""Mentions to which calibrations are fitted: annotated mentions, and names that an index does not have."""

from __future__ import annotations

import random
import string
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.core.language_codes import language_of
from nymlink.core.store.arrays import Bools, Ints
from nymlink.corpus.documents import Corpus, Mention
from nymlink.evaluation.calibration_metrics import Reliability
from nymlink.evaluation.outcomes import GoldResolver
from nymlink.index.index import Index
from nymlink.linking.calibration import DEPTH, Confidences, Features
from nymlink.linking.pipeline import Pipeline
from nymlink.linking.queries import MentionQuery
from nymlink.text.english.words import known_words

_UNITS: Final = "cm days g hours iu kg kPa mg ml mmHg mmol ng percent units weeks years".split()


def draw_absent_names(index: Index, count: int, *, seed: int = 0) -> list[str]:
    """Draw words, pairs of words and codes that are not names of an index.

    Half of them are words of English or of biomedical names. A quarter are such a word before a word of the index
    ("John Crohn"). A quarter are numbers with units, or codes of letters and digits.

    Args:
        index: the index that does not have the names.
        count: number of names. Fewer are returned if the index has nearly all words.
        seed: the seed of the draw.
    """
    rng = random.Random(seed)
    # Take English words for any language: only words that are not names are needed, and there is a list of English
    # words.
    words = sorted(known_words())

    def pair() -> str:
        name = index.entries.text(rng.randrange(len(index.entries)))
        return f"{rng.choice(words)} {rng.choice(name.split())}"

    draws = (lambda: rng.choice(words), lambda: rng.choice(words), pair, lambda: _code(rng))
    attempts = (draws[number % len(draws)]() for number in range(4 * count))
    return [name for name in dict.fromkeys(attempts) if index.entries.find(name) is None][:count]


def _code(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return f"{rng.randint(1, 500)} {rng.choice(_UNITS).lower()}"
    letters = rng.choice((string.ascii_lowercase, string.ascii_lowercase + string.digits))
    return "".join(rng.choices(letters, k=rng.randint(3, 6)))


_FEWEST_GROUPS = 10
"""If a corpus has fewer documents, its mentions are grouped by their text instead of by document."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledMentions:
    """M mentions with P parts. Each part is labelled: is its first concept right?

    Attributes:
        mentions: the mention of each part.
        asked: the query that was searched for each part.
        gold: the gold concepts of each part; empty if the index has no right concept.
        features: float64 (P, F), see :data:`~nymlink.linking.calibration.CONFIDENCE_FEATURES`.
        factors: float64 (P): the factor by which doubts lower the confidence of each part. It is the product of
            the factors of all doubts.
        across: bool (P): whether the first name is in another language than the mention.
        right: bool (P): whether the first concept of the part is gold.
        starts: int (M): the first part of each mention.
        groups: int (P): the group of each part. Cross-validation keeps a group in one fold.
    """

    mentions: Sequence[Mention]
    asked: Sequence[MentionQuery]
    gold: Sequence[frozenset[int]]
    features: Features
    factors: npt.NDArray[np.float64]
    across: Bools
    right: Bools
    starts: Ints
    groups: Ints

    def reliability(self, confidences: Confidences) -> Reliability:
        """Compare confidences of the parts (P) with the labels, mention by mention.

        The confidence of a composite mention is the product of the confidences of its parts, as in
        :class:`~nymlink.linking.linker.Linker`.
        """
        whole = _rounded(np.multiply.reduceat(_rounded(confidences), self.starts))
        answerable = np.array([bool(gold) for gold in self.gold])
        return Reliability.of(
            whole,
            np.logical_and.reduceat(self.right, self.starts),
            np.logical_and.reduceat(answerable, self.starts),
        )

    @classmethod
    def joined(cls, parts: Sequence[LabelledMentions]) -> LabelledMentions:
        """Join labelled mentions. Mentions of different parts stay in different groups."""
        sizes = np.cumsum([0, *(len(part.right) for part in parts)])
        groups = np.cumsum([0, *(part.groups.max() + 1 for part in parts)])
        return cls(
            mentions=list(chain(*(part.mentions for part in parts))),
            asked=list(chain(*(part.asked for part in parts))),
            gold=list(chain(*(part.gold for part in parts))),
            features=np.concatenate([part.features for part in parts]),
            factors=np.concatenate([part.factors for part in parts]),
            across=np.concatenate([part.across for part in parts]),
            right=np.concatenate([part.right for part in parts]),
            starts=np.concatenate([part.starts + size for part, size in zip(parts, sizes[:-1], strict=True)]),
            groups=np.concatenate([part.groups + first for part, first in zip(parts, groups[:-1], strict=True)]),
        )


def label_mentions(
    index: Index, corpus: Corpus, *, types: Collection[str] | None = None, language: str | None = None
) -> LabelledMentions:
    """Search for the annotated mentions of a corpus, and compare the first concept with the gold concepts.

    Mentions with a misspelt word whose correction is a guess (see :class:`~nymlink.linking.queries.MentionQuery`)
    are left out.

    Args:
        index: the index.
        corpus: documents with gold ids.
        types: mentions of these types only.
        language: default language code of mentions; ``None`` if it is unknown, see
            :class:`~nymlink.linking.linker.Linker`.

    Raises:
        InputError: nothing is left to score; the message says why.
    """
    pipeline = Pipeline(index, language=language_of(language))
    # Prepare mentions as a linker does, which does not know how many concepts a mention has.
    annotated = [
        (document.id, parts, mention)
        for document in corpus.documents
        for mention, parts in zip(document.mentions, pipeline.queries(document), strict=True)
        if mention.concept_ids and (types is None or mention.type in types)
    ]
    if not annotated:
        of_types = "" if types is None else f" of type {', '.join(sorted(types))}"
        present = ", ".join(sorted({mention.type for _, mention in corpus.mentions()}))
        raise InputError(f"no mention{of_types} of the corpus has a gold id; its types: {present or 'none'}")
    # No feature measures the reliability of a guess.
    kept = [row for row in annotated if all(part.fallback is None for part in row[1])]
    if not kept:
        raise InputError("every mention of the corpus that has a gold id has a misspelt word: mend them first")
    resolver = GoldResolver(index.vocabulary)
    parts = [(document, mention, part) for document, part_queries, mention in kept for part in part_queries]
    documents, groups = np.unique(np.array([document for document, *_ in parts], object), return_inverse=True)
    _, places = np.unique(np.array([part.text for *_, part in parts], object), return_inverse=True)
    counts = [len(part_queries) for _, part_queries, _ in kept]
    return _label(
        index,
        mentions=[mention for _, mention, _ in parts],
        asked=[part for *_, part in parts],
        gold=[resolver.rows(mention.concept_ids) for _, mention, _ in parts],
        starts=np.cumsum([0, *counts[:-1]]),
        # Names repeat within a document, so a document is a group. Without enough documents, equal names are a
        # group.
        groups=groups if _FEWEST_GROUPS <= len(documents) < len(kept) else places,
    )


def label_left_out(index: Index, labelled: LabelledMentions, count: int) -> LabelledMentions:
    """Label mentions again, with the names of their gold concepts hidden. Any first concept is then wrong.

    Composite mentions are left out. Mentions with the same text are taken once.

    Args:
        index: the index that found their concepts.
        labelled: annotated mentions.
        count: largest number of mentions. If there are more, a random sample is taken.
    """
    single = np.diff(np.append(labelled.starts, len(labelled.right))) == 1
    answered = [place for place in labelled.starts[single].tolist() if labelled.gold[place]]
    distinct = list({labelled.asked[place].text: place for place in answered}.values())
    drawn = np.random.default_rng(0).permutation(len(distinct))[:count].tolist()
    places = [distinct[number] for number in sorted(drawn)]
    return _label(
        index,
        mentions=[labelled.mentions[place] for place in places],
        asked=[labelled.asked[place] for place in places],
        gold=[frozenset()] * len(places),
        starts=np.arange(len(places)),
        groups=np.arange(len(places)),
        left_out=[labelled.gold[place] for place in places],
    )


def label_absent_names(index: Index, names: Sequence[str], *, language: str | None = None) -> LabelledMentions:
    """Label names that mean no concept of an index. Any first concept is wrong.

    Args:
        index: the index that does not have the names.
        names: names as written. Names whose correction is a guess are left out.
        language: language code of the names; ``None`` if it is unknown.
    """
    mentions = tuple(Mention(name) for name in names)
    asked = Pipeline(index, language=language_of(language)).queries_of(mentions)
    kept = [
        (mention, parts[0])
        for mention, parts in zip(mentions, asked, strict=True)
        if parts[0].fallback is None and parts[0].text
    ]
    return _label(
        index,
        mentions=[mention for mention, _ in kept],
        asked=[part for _, part in kept],
        gold=[frozenset()] * len(kept),
        starts=np.arange(len(kept)),
        groups=np.arange(len(kept)),
    )


def _label(
    index: Index,
    *,
    mentions: Sequence[Mention],
    asked: Sequence[MentionQuery],
    gold: Sequence[frozenset[int]],
    starts: Ints,
    groups: Ints,
    left_out: Sequence[frozenset[int]] = (),
) -> LabelledMentions:
    pipeline = Pipeline(index)
    questions = [part.question for part in asked]
    absent = [index.entries_of(concepts) for concepts in left_out]
    evidence = pipeline.evidence(pipeline.match(questions, DEPTH, without=absent), asked, mentions)
    return LabelledMentions(
        mentions=mentions,
        asked=asked,
        gold=gold,
        features=evidence.features,
        factors=evidence.factors,
        across=evidence.across,
        right=np.array([first in right for first, right in zip(evidence.firsts, gold, strict=True)], bool),
        starts=starts,
        groups=groups,
    )


def _rounded(confidences: Confidences) -> Confidences:
    """Round as a linker does, with Python's ``round``. NumPy rounds some halves the other way."""
    return np.array([round(confidence, 6) for confidence in confidences.tolist()])
