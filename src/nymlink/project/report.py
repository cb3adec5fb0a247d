"""A page to print about a review: coverage, reviewers, agreement, confidences, speed and open disagreements."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, Final, TextIO

from nymlink.linking.writers.link_files import open_file
from nymlink.project.links import kept_link, mention_of
from nymlink.project.project import Project, now
from nymlink.project.reviewers import disagreements
from nymlink.project.summary import summary

STYLE: Final = """\
body { font: 11pt/1.4 sans-serif; max-width: 46rem; margin: 1.5rem auto; padding: 0 1rem }
body { color: #111; background: #fff }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin: 1.4rem 0 0.3rem } table { border-collapse: collapse }
th, td { padding: 0.15rem 0.9rem 0.15rem 0; text-align: left; vertical-align: top }
th { border-bottom: 1px solid #888 }
.number { text-align: right } svg { max-width: 100% } @media print { h2, tr, svg { break-inside: avoid } }
"""
"""Style of the page."""

_BINS: Final = 10
_PAUSE: Final = 300_000
"""Milliseconds after which the time since the decision before counts as a pause."""
_SHOWN: Final = 50
"""Most disagreements on the page."""


def write_report(project: Project, target: Path | TextIO) -> None:
    """Write a page of HTML about a review, in one file.

    Args:
        project: the project.
        target: the file, which is replaced in one step, or a stream.

    Raises:
        OutputError: it cannot be written.
    """
    page = "\n".join(_page(project)) + "\n"
    if isinstance(target, Path):
        with open_file(target) as out:
            out.write(page)
    else:
        target.write(page)


def reliability(project: Project) -> list[dict[str, float]]:
    """Compare the confidences of links with decisions that reviewers made term by term.

    Returns:
        For each of ten equal ranges of confidence that has terms: ``low`` and ``high``, the number of ``terms``,
        their mean ``confidence``, and the share ``right`` whose first candidate is the decided concept.
    """
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT term.text, term.language, term.type, term.link, term.confidence, decision.verdict, "
            "decision.targets FROM settled JOIN term ON term.id = settled.term "
            "JOIN decision ON decision.id = settled.decision WHERE term.confidence IS NOT NULL "
            "AND decision.origin = 'review' AND decision.verdict IN ('concept', 'nil')"
        ).fetchall()
    bins: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for row in rows:
        link = kept_link(row["link"], mention_of(row["text"], row["language"], row["type"]))
        if link is not None and link.candidates:
            # All parts of a term must be right.
            firsts = {part.candidates[0].concept_id for part in link.singles if part.candidates}
            given = {target["concept_id"] for target in json.loads(row["targets"])}
            is_right = row["verdict"] == "concept" and firsts == given
            bins[min(int(row["confidence"] * _BINS), _BINS - 1)].append((row["confidence"], is_right))
    return [
        {
            "low": place / _BINS,
            "high": (place + 1) / _BINS,
            "terms": len(found),
            "confidence": sum(confidence for confidence, _ in found) / len(found),
            "right": sum(is_right for _, is_right in found) / len(found),
        }
        for place, found in sorted(bins.items())
    ]


def speeds(project: Project) -> dict[str, dict[str, Any]]:
    """Measure how fast reviewers decide, term by term.

    Returns:
        For each reviewer with decisions the numbers of ``decisions``, ``first`` and ``last`` time in milliseconds
        since 1970, and the median ``seconds`` between decisions without pauses of more than five minutes; ``None``
        if there are no two decisions.
    """
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT reviewer, at FROM decision WHERE origin = 'review' AND verdict != 'open' ORDER BY at"
        ).fetchall()
    times: dict[str, list[int]] = defaultdict(list)
    for reviewer, at in rows:
        times[reviewer].append(at)
    found = {}
    for reviewer, own in sorted(times.items()):
        gaps = [after - before for before, after in pairwise(own) if after - before <= _PAUSE]
        seconds = median(gaps) / 1000 if gaps else None
        found[reviewer] = {"decisions": len(own), "first": own[0], "last": own[-1], "seconds": seconds}
    return found


def _page(project: Project) -> Iterable[str]:
    found, speed = summary(project), speeds(project)
    title = f"Review of {found['title']}"
    yield f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>'
    yield f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>"
    verdicts, coverage = found["verdicts"], found["coverage"]
    tables = ", ".join(table["name"] for table in found["files"]) or "no table"
    yield f"<p>{_day(now())} · {escape(tables)} · linked to {escape(found['index'])}</p>"
    yield "<h2>Coverage</h2>"
    yield _table(
        ["of", "all", "decided", ""],
        [
            ["terms", found["terms"], found["decided"], _percent(coverage["terms"])],
            ["rows", found["rows"], found["rows_decided"], _percent(coverage["rows"])],
            ["occurrences (frequency)", "", "", _percent(coverage["frequency"])],
        ],
    )
    decided = verdicts["concept"] + verdicts["nil"]
    none = f" ({_percent(verdicts['nil'] / decided)} of the decided)" if decided else ""
    yield (
        f"<p>{verdicts['concept']:,} terms have a concept, {verdicts['nil']:,} have none in the vocabulary (NIL)"
        f"{none}; {verdicts['flag']:,} are flagged, {verdicts['open']:,} are open.</p>"
    )
    yield "<h2>Reviewers</h2>"
    if found["adjudicator"]:
        yield f"<p>Disagreements are decided by {escape(found['adjudicator'])}.</p>"
    if found["blind"]:
        yield "<p>The review is blind: reviewers do not see the decisions of others.</p>"
    yield _table(
        ["reviewer", "decided", "assigned", "first decision", "last decision", "seconds per decision"],
        [_reviewer(each, speed.get(each["name"])) for each in found["reviewers"]],
    )
    yield "<p>Seconds per decision: the median, without pauses of more than five minutes.</p>"
    yield "<h2>Agreement</h2>"
    yield _table(
        ["reviewers", "on", "terms of both", "agree", "", "Cohen's kappa"],
        [
            [
                " and ".join(pair["reviewers"]),
                on,
                part["terms"],
                part["agree"],
                _percent(part["agree"] / part["terms"]),
                "not defined" if part["kappa"] is None else f"{part['kappa']:.2f}",
            ]
            for pair in found["agreement"]
            for on, part in (("decision", pair), *pair["parts"].items())
            if part["terms"]
        ],
    )
    yield "<p>The concept counts if both gave one, and the relation if both gave the same concept.</p>"
    yield "<h2>Confidence and decisions</h2>"
    yield from _drawn(reliability(project))
    waiting = disagreements(project)
    yield f"<h2>Open disagreements ({len(waiting):,})</h2>"
    yield _table(
        ["term", "frequency", "decisions"],
        [
            [
                each["text"],
                each["frequency"],
                "; ".join(f"{who}: {describe(made)}" for who, made in each["decisions"].items()),
            ]
            for each in waiting[:_SHOWN]
        ],
    )
    if len(waiting) > _SHOWN:
        yield f"<p>and {len(waiting) - _SHOWN:,} more</p>"
    yield "</body>\n</html>"


def describe(made: dict[str, Any]) -> str:
    """Describe a decision, given as JSON values, in a few words."""
    if made["verdict"] != "concept":
        return {"nil": "no concept", "flag": "flagged"}.get(made["verdict"], str(made["verdict"]))
    signs = {True: "not ", False: ""}
    return " + ".join(
        f"{signs[target.get('denied', False)]}{target['name'] or target['concept_id']}"
        + ("" if target["relation"] == "exact" else f" ({target['relation']})")
        for target in made["targets"]
    )


def _reviewer(counted: dict[str, Any], speed: dict[str, Any] | None) -> list[Any]:
    times = ["", "", ""]
    if speed is not None:
        seconds = "" if speed["seconds"] is None else f"{speed['seconds']:.0f}"
        times = [_day(speed["first"]), _day(speed["last"]), seconds]
    return [counted["name"], counted["decided"], counted["assigned"], *times]


_WIDTH: Final = 480
_HEIGHT: Final = 220
_LEFT: Final = 40
_TOP: Final = 10


def _drawn(bins: Sequence[dict[str, float]]) -> Iterable[str]:
    """Draw the share of right links over confidence as an SVG, with a table for readers of screens."""
    if not bins:
        yield "<p>No term with a confidence has been decided by itself.</p>"
        return
    total = sum(int(each["terms"]) for each in bins)
    width, height = _WIDTH / _BINS, _HEIGHT
    yield (
        f'<svg viewBox="0 0 {_WIDTH + _LEFT + 10} {_HEIGHT + 50}" width="{_WIDTH}" role="img" '
        'aria-label="Share of right first candidates in each range of confidence">'
    )
    for each in bins:
        left, tall = _LEFT + each["low"] * _WIDTH, height * each["right"]
        yield (
            f'<rect x="{left + 3:.1f}" y="{_TOP + height - tall:.1f}" width="{width - 6:.1f}" height="{tall:.1f}" '
            'fill="#9ecae1" stroke="#3182bd"/>'
        )
        yield (
            f'<text x="{left + width / 2:.1f}" y="{_TOP + height - 4}" font-size="10" text-anchor="middle">'
            f"{int(each['terms']):,}</text>"
        )
    right, bottom = _LEFT + _WIDTH, _TOP + height
    yield f'<line x1="{_LEFT}" y1="{bottom}" x2="{right}" y2="{_TOP}" stroke="#555" stroke-dasharray="4 3"/>'
    yield f'<path d="M{_LEFT} {_TOP}V{bottom}H{right}" fill="none" stroke="#111"/>'
    for share in (0, 0.5, 1):
        at = _TOP + height * (1 - share)
        yield f'<text x="{_LEFT - 5}" y="{at + 4:.0f}" font-size="11" text-anchor="end">{share:.0%}</text>'
        yield (
            f'<text x="{_LEFT + share * _WIDTH:.0f}" y="{bottom + 15}" font-size="11" text-anchor="middle">'
            f"{share:g}</text>"
        )
    middle = _LEFT + _WIDTH / 2
    yield f'<text x="{middle}" y="{bottom + 32}" font-size="11" text-anchor="middle">confidence</text></svg>'
    yield (
        f"<p>Share of terms whose first candidate was decided, by confidence ({total:,} terms that a reviewer "
        "decided one by one; the number in a bar counts its terms). On the dashed line, confidences are exact.</p>"
    )
    yield _table(
        ["confidence", "terms", "mean confidence", "right"],
        [
            [
                f"{each['low']:.1f}–{each['high']:.1f}",
                int(each["terms"]),
                f"{each['confidence']:.2f}",
                _percent(each["right"]),
            ]
            for each in bins
        ],
    )


def _table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    if not rows:
        return "<p>none</p>"
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    body = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table>\n<tr>{head}</tr>\n{body}\n</table>"


def _cell(value: Any) -> str:
    return f'<td class="number">{value:,}</td>' if isinstance(value, int) else f"<td>{escape(str(value))}</td>"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _day(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d")
