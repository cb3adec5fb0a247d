"""Learn from decisions: decided terms become names, and the ranker and the calibration are adapted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Final

import numpy as np

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Mention
from nymlink.evaluation.fit_calibration import CalibrationRefit, refit_calibration
from nymlink.index.hits import Scores
from nymlink.index.index import Index
from nymlink.index.walk import Matches
from nymlink.linking.calibration import Calibration
from nymlink.linking.pipeline import Pipeline
from nymlink.linking.queries import MentionQuery
from nymlink.project.learned import PROPERTY, Learned, digest_of_learned
from nymlink.project.lessons import Lesson, Overlay, lessons
from nymlink.project.project import Project, now, store_property
from nymlink.project.summary import last_entry
from nymlink.rank.features import NAMES
from nymlink.rank.ranker import Ranker
from nymlink.rank.retrieval import ConceptTable
from nymlink.text.normalise import normalise
from nymlink.train.ranking.asked import Asked, AskedMention
from nymlink.train.ranking.fit_ranker import RankerAdaptation, adapt_ranker

FOLDS: Final = 4


def ask_again(lessons: Sequence[Lesson], index: Index, extended: Index) -> Asked | None:
    """Search for decided terms as if nobody had decided on them; ``None`` if there are no usable terms.

    Args:
        lessons: lessons that a reviewer looked at.
        index: the index without the decided terms.
        extended: the index with the decided terms; each term is searched without its own name.
    """
    parts_of = Pipeline(index).queries_of([lesson.mention for lesson in lessons])
    kept: list[tuple[Mention, MentionQuery, frozenset[int]]] = []
    without: list[tuple[int, ...]] = []
    for lesson, parts in zip(lessons, parts_of, strict=True):
        rows = frozenset(
            row for target in lesson.targets if (row := extended.vocabulary.row(target.concept_id)) is not None
        )
        text = normalise(lesson.mention.text)
        own = extended.entries.find(text) if index.entries.find(text) is None else None
        # If the vocabulary has a name with these words in another order, the term's own name cannot be left out.
        mixed = own is not None and index.entries.find(extended.entries.text(own)) is not None
        if len(parts) == 1 and parts[0].text and bool(rows) == bool(lesson.targets) and not mixed:
            kept.append((lesson.mention, parts[0], rows))
            without.append(() if own is None else (own,))
    if not kept:
        return None
    # Equal terms are in the same fold.
    _, groups = np.unique(np.array([normalise(mention.text) for mention, *_ in kept]), return_inverse=True)
    folds = np.random.default_rng(0).permutation(len(groups))[groups] % FOLDS
    mentions = [AskedMention(*each, int(fold)) for each, fold in zip(kept, folds, strict=True)]
    pipeline = Pipeline(extended)
    questions = [each.query.question for each in mentions]
    retrieved, described = zip(*pipeline.ranking.describe(questions, without=without), strict=True)
    found, features = Matches.concatenated([each.matches for each in retrieved]), np.concatenate(described)
    owners = [frozenset().union(*map(extended.concepts_of, own)) for own in without]
    _count_without(features, found, pipeline.ranking.table, owners)
    return Asked.of(mentions, [(pipeline, np.arange(len(mentions)))], [(found, features)])


def _count_without(
    features: Scores, matches: Matches, table: ConceptTable, owners: Sequence[frozenset[int]]
) -> None:
    """Subtract, in place, the name of the question from the counts of names, because it would reveal the answer.

    Args:
        features: float32 (Q, K, F).
        matches: K candidates of each of Q questions.
        table: table of the index.
        owners: for each question, the concepts with its name.
    """
    found, share, names = (NAMES.index(name) for name in ("names_found", "share_found", "names"))
    for place, owning in enumerate(owners):
        for at, concept in enumerate(matches.concepts[place].tolist()):
            if concept in owning:
                count = int(table.entry_counts[concept]) - 1
                features[place, at, share] = features[place, at, found] / max(count, 1)
                features[place, at, names] = np.log1p(count)


_FEWEST: Final = 30
"""Ranker and confidences learn only if a reviewer has looked at this number of terms or more."""

_MOST: Final = 1000
"""Ranker and confidences learn from this number of the most recent terms at most. More terms improve little."""


def learn(project: Project, index: Index) -> Learned:
    """Learn from the decisions, save the result in the project, and mark all undecided terms for linking again.

    Args:
        project: project opened for writing.
        index: the index of the project, without anything learned.

    Raises:
        InputError: there are no decisions to learn from.
        ReadOnlyError, NotSavedError: it cannot be saved.
    """
    last = last_entry(project)
    taught = lessons(project)
    if not taught:
        raise InputError("nothing is decided yet that could be learned from: decide some terms", path=project.path)
    learned = learn_from(taught, index)
    learned = replace(learned, report={**learned.report, "at": now(), "last": last})
    _keep(project, learned.to_dict())
    return learned


def forget(project: Project) -> bool:
    """Forget what was learned, and mark all undecided terms for linking again.

    Returns:
        Whether anything had been learned.

    Raises:
        ReadOnlyError, NotSavedError: it cannot be saved.
    """
    if project.property(PROPERTY) is None:
        return False
    _keep(project, None)
    return True


def learn_from(taught: Sequence[Lesson], index: Index) -> Learned:
    """Learn names from all lessons; learn ranker and calibration from lessons that a reviewer looked at.

    Ranker and calibration change only if they prove better in cross-validation.

    Args:
        taught: decided terms.
        index: the index without anything learned.
    """
    started = perf_counter()
    overlay = Overlay.of(taught)
    looked_at = [lesson for lesson in taught if lesson.looked_at][-_MOST:]
    report: dict[str, Any] = {
        "terms": len(taught),
        "names": sum(1 for each in overlay.decided if each.concept_id),
        "nil": sum(1 for each in overlay.decided if not each.concept_id),
        "looked_at": len(looked_at),
        "ranker": None,
        "confidence": None,
    }
    order: RankerAdaptation | None = None
    refit: CalibrationRefit | None = None
    again = ask_again(looked_at, index, overlay.extend(index)) if len(looked_at) >= _FEWEST else None
    if again is not None and len(again) >= _FEWEST:
        ranker = Ranker.of(index)
        if ranker is not None:
            order = adapt_ranker(ranker, again.labelled, again.folds)
            report["ranker"] = _proof(order.before, order.after, taken=order.trees is not None)
        if index.calibration is not None:
            known = (again if order is None else again.scored(order.scores)).labelled_mentions()
            refit = refit_calibration(
                Calibration.of(index),
                known.features,
                known.right,
                known.factors,
                known.groups,
                fitted_to=f"{len(known.mentions):,} decisions of the project",
            )
            report["confidence"] = _proof(refit.before, refit.after, taken=refit.calibration is not None)
    report["seconds"] = round(perf_counter() - started, 2)
    return Learned(
        overlay,
        None if order is None else order.trees,
        None if refit is None else refit.calibration,
        digest_of_learned(index),
        report,
    )


def _proof(before: float, after: float, *, taken: bool) -> dict[str, Any]:
    """Report a cross-validated measure before and after."""
    return {"before": round(before, 4), "after": round(after, 4), "taken": taken}


def _keep(project: Project, value: dict[str, Any] | None) -> None:
    with project.writing() as connection:
        store_property(connection, PROPERTY, value)
        connection.execute("UPDATE term SET state = 'waiting' WHERE id NOT IN (SELECT term FROM settled)")
