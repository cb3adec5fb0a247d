"""Ask for decided terms again, as if they had not been decided: what rankers and calibrations learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from nymlink.core.store.arrays import Bools, Ints
from nymlink.corpus.model import Document, Mention
from nymlink.index.fusion.hits import Scores
from nymlink.index.index import Index
from nymlink.index.walk import Matches
from nymlink.linking.candidates import candidates_of
from nymlink.linking.confidence.doubts import doubts_about
from nymlink.linking.confidence.evidence import Features, features_of
from nymlink.linking.queries import MentionQuery, queries
from nymlink.project.learning.lessons import Lesson
from nymlink.rank.concept_table import ConceptTable
from nymlink.rank.features import NAMES
from nymlink.rank.features import features_of as describe
from nymlink.rank.ranker import RankedMatches, rank
from nymlink.rank.retrieval import retrieve
from nymlink.text.normalisation.normalise import normalise
from nymlink.train.ranking.labelled import LabelledQuestions

FOLDS: Final = 4


@dataclass(frozen=True, slots=True, eq=False)
class AskedAgain:
    """Q decided terms with the candidates that they would have if nobody had decided them.

    Attributes:
        index: that was asked, with the names of all other terms.
        mentions: the terms.
        asked: their queries.
        answers: rows of the concepts that are right; none for a term that means none.
        matches: K candidates of each.
        labelled: their features, and which are right.
        folds: int64 (Q): by which they are cross-validated; equal terms are in one fold.
    """

    index: Index
    mentions: Sequence[Mention]
    asked: Sequence[MentionQuery]
    answers: Sequence[frozenset[int]]
    matches: Matches
    labelled: LabelledQuestions
    folds: Ints

    @classmethod
    def of(cls, lessons: Sequence[Lesson], index: Index, extended: Index) -> AskedAgain | None:
        """Search for decided terms without their own names; ``None`` where there are none that teach something.

        Args:
            lessons: those that somebody looked at.
            index: without the decided terms.
            extended: with them.
        """
        document = Document("", mentions=tuple(lesson.mention for lesson in lessons))
        kept: list[tuple[Mention, MentionQuery, frozenset[int]]] = []
        without: list[tuple[int, ...]] = []
        for lesson, parts in zip(lessons, queries(document, index.entries), strict=True):
            rows = frozenset(
                row for target in lesson.targets if (row := extended.vocabulary.row(target.concept_id)) is not None
            )
            text = normalise(lesson.mention.text)
            own = extended.entries.find(text) if index.entries.find(text) is None else None
            # A name of the vocabulary with these words in another order cannot be told from the term's own.
            mixed = own is not None and index.entries.find(extended.entries.text(own)) is not None
            if len(parts) == 1 and parts[0].text and bool(rows) == bool(lesson.targets) and not mixed:
                kept.append((lesson.mention, parts[0], rows))
                without.append(() if own is None else (own,))
        if not kept:
            return None
        mentions, asked, answers = zip(*kept, strict=True)
        questions = [query.question for query in asked]
        table = ConceptTable.of(extended)
        described, matches = [], []
        for retrieved in retrieve(extended, questions, without=without):
            described.append(describe(retrieved, extended, table))
            matches.append(retrieved.matches)
        found, features = Matches.concatenated(matches), np.concatenate(described)
        _count_without(
            features, found, table, [frozenset().union(*map(extended.concepts_of, own)) for own in without]
        )
        right = [
            [row in answer for row in rows] for rows, answer in zip(found.concepts.tolist(), answers, strict=True)
        ]
        labelled = LabelledQuestions(features, np.array(right, bool), np.ones(len(kept)))
        _, groups = np.unique(np.array([normalise(mention.text) for mention in mentions]), return_inverse=True)
        folds = np.random.default_rng(0).permutation(len(groups))[groups] % FOLDS
        return cls(extended, mentions, asked, answers, found, labelled, folds)

    def __len__(self) -> int:
        return len(self.asked)

    def evidence(self, scores: Scores | None) -> tuple[Features, Bools, npt.NDArray[np.float64]]:
        """Describe the first concepts for a calibration.

        Args:
            scores: float32 (Q, K): of a ranker; ``None`` for the order of the index.

        Returns:
            Features, float64 (Q, F); whether the first is right, bool (Q); the share of its confidence that doubts
            leave, float64 (Q).
        """
        questions = [query.question for query in self.asked]
        ranked = (
            RankedMatches(self.matches, None)
            if scores is None
            else rank(self.matches, self.labelled.described, scores)
        )
        features = features_of(ranked, questions, self.index)
        firsts = ranked.matches.concepts[:, 0].tolist()
        right = np.array([first in answer for first, answer in zip(firsts, self.answers, strict=True)], bool)
        factors = np.ones(len(questions))
        for place, candidates in enumerate(candidates_of(self.index, ranked, [1] * len(questions), questions)):
            for first in candidates:
                factors[place] = doubts_about(self.index, self.asked[place], self.mentions[place], first).factor
        return features, right, factors

    @property
    def without_guess(self) -> Bools:
        """Which terms have no guess: bool (Q)."""
        return np.array([query.fallback is None for query in self.asked], bool)


def _count_without(
    features: Scores, matches: Matches, table: ConceptTable, owners: Sequence[frozenset[int]]
) -> None:
    """Count the names of concepts as if they lacked that of the question, in place: else it told which is right.

    Args:
        features: float32 (Q, K, F).
        matches: K candidates of each of Q questions.
        table: of the index.
        owners: of each question, the concepts that have its name.
    """
    found, share, names = (NAMES.index(name) for name in ("names_found", "share_found", "names"))
    for place, owning in enumerate(owners):
        for at, concept in enumerate(matches.concepts[place].tolist()):
            if concept in owning:
                count = int(table.entry_counts[concept]) - 1
                features[place, at, share] = features[place, at, found] / max(count, 1)
                features[place, at, names] = np.log1p(count)
