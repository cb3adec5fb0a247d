"""Learn from the decisions of a project, in seconds, and let what is undecided be linked again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.evaluation.calibration.refit_calibration import CalibrationRefit, refit_calibration
from nymlink.index.index import Index
from nymlink.linking.confidence.calibration import Calibration
from nymlink.project.learning.asked_again import AskedAgain
from nymlink.project.learning.learned import PROPERTY, Learned, digest_of_learned
from nymlink.project.learning.lessons import Lesson, lessons
from nymlink.project.learning.overlay import Overlay
from nymlink.project.project import Project, now, store_property
from nymlink.project.review.changes import last_entry
from nymlink.rank.ranker import Ranker
from nymlink.train.ranking.adapt_ranker import RankerAdaptation, adapt_ranker

_FEWEST: Final = 30
"""Terms that somebody looked at that ranker and confidences learn from at least."""

_MOST: Final = 1000
"""Terms that they learn from at most, the last ones: more take longer than they are worth."""


def learn(project: Project, index: Index) -> Learned:
    """Learn from what was decided, keep it in the project, and let all undecided terms be linked again.

    Args:
        project: opened to write.
        index: the index of the project, as it is without what was learned.

    Raises:
        InputError: nothing is decided that teaches anything.
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
    """Forget what was learned, and let all undecided terms be linked again; whether there was anything.

    Raises:
        ReadOnlyError, NotSavedError: it cannot be saved.
    """
    if project.property(PROPERTY) is None:
        return False
    _keep(project, None)
    return True


def learn_from(taught: Sequence[Lesson], index: Index) -> Learned:
    """Learn names from all lessons, and from those that somebody looked at order and confidence.

    These change where they prove better on terms that they did not learn from, and only then.

    Args:
        taught: decided terms.
        index: without what was learned.
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
    again = AskedAgain.of(looked_at, index, overlay.extend(index)) if len(looked_at) >= _FEWEST else None
    if again is not None and len(again) >= _FEWEST:
        ranker = Ranker.of(index)
        if ranker is not None:
            order = adapt_ranker(ranker, again.labelled, again.folds)
            report["ranker"] = _proof(order.before, order.after, taken=order.trees is not None)
        if index.calibration is not None:
            known = again.without_guess
            features, right, factors = again.evidence(None if order is None else order.scores)
            refit = refit_calibration(
                Calibration.of(index),
                features[known],
                right[known],
                factors[known],
                again.folds[known],
                fitted_to=f"{int(known.sum()):,} decisions of the project",
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
    """Report a measure before and after, cross-validated."""
    return {"before": round(before, 4), "after": round(after, 4), "taken": taken}


def _keep(project: Project, value: dict[str, Any] | None) -> None:
    with project.writing() as connection:
        store_property(connection, PROPERTY, value)
        connection.execute("UPDATE term SET state = 'waiting' WHERE id NOT IN (SELECT term FROM settled)")
