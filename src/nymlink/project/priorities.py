"""What to decide first, how much is left to decide, and when to stop."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.project.links import kept_link, mention_of
from nymlink.project.project import Project
from nymlink.text.normalise import normalise

TARGET: Final = 0.95
"""Default share of occurrences that should be right."""

_CONSIDERED: Final = 2000
"""Terms with the largest expected gain, among which diverse ones are chosen."""

_DRAWS: Final = 2000
_SPREAD: Final = 1.0
"""Standard deviation, in log-odds, of the confidence's error before any decision is known."""

_SURE: Final = 1e-4
_INTERVAL: Final = (5, 95)

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Priorities:
    """Advice for the review of a project.

    Attributes:
        terms: the terms to decide first, with ``id``, ``text``, ``frequency``, ``confidence`` and ``gain``, the
            expected number of wrong occurrences that the decision mends.
        right: expected share of occurrences that are right now, decided terms being right, with its 90 % interval.
        left: decisions needed, in the order of gain, until the target is reached, with its 90 % interval.
        target: the target.
        stop: whether the lower end of the interval of ``right`` has reached the target.
        decided: number of decided terms; those decided one by one tell the error of the confidences.
    """

    terms: tuple[dict[str, Any], ...]
    right: tuple[float, float, float]
    left: tuple[int, int, int]
    target: float
    stop: bool
    decided: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def prioritise(project: Project, *, limit: int = 50, target: float = TARGET, seed: int = 0) -> Priorities:
    """Choose the terms to decide first: uncertain, frequent, and different from each other.

    The confidences are shifted by the log-odds that fit the decisions made so far (a normal prior with standard
    deviation 1); the intervals come from draws of that shift, and of which links are right.

    Args:
        project: the project.
        limit: largest number of terms.
        target: share of occurrences that should be right, 0 to 1.
        seed: of the draws.

    Raises:
        InputError: nothing is linked, or the links have no confidences.
    """
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT term.*, decision.verdict AS verdict, decision.targets AS targets, decision.batch AS batch, "
            "(SELECT sum(form.frequency) FROM term AS form WHERE form.form_of = term.id AND form.id != term.id) "
            "AS of_forms FROM term LEFT JOIN settled ON settled.term = term.id "
            "LEFT JOIN decision ON decision.id = settled.decision "
            "WHERE term.state = 'linked' AND coalesce(term.form_of, term.id) = term.id ORDER BY term.id"
        ).fetchall()
    if not rows:
        raise InputError("no term is linked yet: run `nymlink project link`", path=project.path)
    if all(row["confidence"] is None for row in rows):
        raise InputError(
            "the links have no confidences because the index is not calibrated: run `nymlink calibrate`, then "
            "`nymlink project rebase`",
            path=project.path,
        )
    weights = np.array([max(row["frequency"] + (row["of_forms"] or 0), 1) for row in rows], np.float64)
    odds = _log_odds(np.array([row["confidence"] or 0.0 for row in rows]))
    first = [_first_concept(row) for row in rows]
    done = np.array([row["verdict"] in ("concept", "nil") for row in rows], bool)
    was_right = np.array(
        [bool(of) and of in _targets(row) and len(_targets(row)) == 1 for of, row in zip(first, rows, strict=True)]
    )
    # What was accepted many at a time says nothing about the confidences.
    looked_at = done & np.array([row["batch"] is None for row in rows], bool)
    shift, deviation = _fit(odds[looked_at], was_right[looked_at].astype(np.float64))
    open_ = np.flatnonzero(~done)
    gains = weights[open_] * (1 - _probability(odds[open_] + shift))
    order = open_[np.argsort(-gains, kind="stable")]
    draw = np.random.default_rng(seed)
    shifts = draw.normal(shift, deviation, _DRAWS)
    shares, needed = np.empty(_DRAWS), np.empty(_DRAWS)
    total = weights.sum()
    for number, own in enumerate(shifts.tolist()):
        wrong = weights[order] * (draw.random(len(order)) >= _probability(odds[order] + own))
        shares[number] = 1 - wrong.sum() / total
        missing = wrong.sum() - (1 - target) * total
        needed[number] = 0 if missing <= 1e-9 else np.searchsorted(np.cumsum(wrong), missing - 1e-9) + 1
    low, high = np.percentile(shares, _INTERVAL).round(4).tolist()
    fewest, most = (round(each) for each in np.percentile(needed, _INTERVAL).tolist())
    gain_of = dict(zip(open_.tolist(), gains.tolist(), strict=True))
    chosen = _diverse(order[:_CONSIDERED].tolist(), gain_of, rows, first, limit)
    return Priorities(
        terms=tuple(
            {
                "id": rows[place]["id"],
                "text": rows[place]["text"],
                "frequency": rows[place]["frequency"],
                "confidence": rows[place]["confidence"],
                "gain": round(gain_of[place], 4),
            }
            for place in chosen
        ),
        right=(round(float(shares.mean()), 4), low, high),
        left=(round(float(np.median(needed))), fewest, most),
        target=target,
        stop=low >= target,
        decided=int(done.sum()),
    )


def _first_concept(row: Any) -> str:
    link = kept_link(row["link"], mention_of(row["text"], row["language"], row["type"]))
    return link.candidates[0].concept_id if link is not None and link.candidates else ""


def _targets(row: Any) -> set[str]:
    if row["verdict"] != "concept":
        return set()
    return {each["concept_id"] for each in json.loads(row["targets"] or "[]")}


def _log_odds(confidences: Numbers) -> Numbers:
    clipped = np.clip(confidences, _SURE, 1 - _SURE)
    odds: Numbers = np.log(clipped / (1 - clipped))
    return odds


def _probability(odds: Numbers) -> Numbers:
    chances: Numbers = 0.5 + 0.5 * np.tanh(0.5 * odds)
    return chances


def _fit(odds: Numbers, right: Numbers) -> tuple[float, float]:
    """Find the most likely shift of log-odds, by Newton's method, and its standard deviation (Laplace)."""
    shift, precision = 0.0, 1 / _SPREAD**2
    for _ in range(50):
        chances = _probability(odds + shift)
        slope = float((right - chances).sum()) - shift / _SPREAD**2
        precision = float((chances * (1 - chances)).sum()) + 1 / _SPREAD**2
        # Steps of one: far from the solution the curve is too flat for Newton's method.
        shift += min(max(slope / precision, -1.0), 1.0)
    return shift, precision**-0.5


def _diverse(
    places: list[int], gains: dict[int, float], rows: list[Any], first: list[str], limit: int
) -> list[int]:
    """Choose one after the other the term of the largest gain, halved for each chosen one that it is like.

    Terms are alike if they have the same first candidate, or the same words.
    """
    likenesses = {
        place: {f"id {first[place]}", " ".join(sorted(normalise(rows[place]["text"]).split()))} - {"id "}
        for place in places
    }
    known: Counter[str] = Counter()
    chosen: list[int] = []
    left = list(places)
    while left and len(chosen) < limit:
        best = max(left, key=lambda place: gains[place] / 2 ** max(known[each] for each in likenesses[place]))
        left.remove(best)
        known.update(likenesses[best])
        chosen.append(best)
    return chosen
