"""Measure from which quality on a judge of doubtful links pays, with oracles that err.

    python benchmarks/reranking/judge.py FOLDER [--json benchmarks/results/judge.json]

An oracle knows the gold concepts: it chooses the first right one of ten candidates, or none. With an error rate,
it gives in this share of questions another answer, drawn from all wrong ones. No model is asked. NCBI disease and
BC5CDR disease (development) are linked to MEDIC, and to MEDIC without every other concept that they mention. The
indexes are built once, into FOLDER.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from benchmarks.common import report
from benchmarks.common.inputs import data_root
from benchmarks.common.tasks import MEDIC, bc5cdr, load, ncbi
from benchmarks.confidence.trust import Indexes, percent
from nymlink.evaluation.outcomes import GoldResolver
from nymlink.linking.judge import Judge, JudgeSettings, chosen, joined
from nymlink.linking.link import Link
from nymlink.linking.linker import Linker
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

BELOW: Final = (0.3, 0.5, 0.7, 0.9)
ERRORS: Final = (0, 10, 20, 30, 40, 50)
SEEDS: Final = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """A mention with one link for each part, its gold concepts, and whether the vocabulary has one."""

    link: Link
    gold: frozenset[str]


def answers_of(link: Link, gold: frozenset[str]) -> tuple[int, list[int]]:
    """Give the right answer about a link, and the wrong ones: places from 1, 0 for none."""
    candidates = link.candidates[: Judge.candidates]
    right = [place for place, each in enumerate(candidates, start=1) if each.concept_id in gold]
    return (right or [0])[0], [place for place in range(len(candidates) + 1) if place not in (right or [0])]


def is_right(link: Link, gold: frozenset[str]) -> bool:
    """Whether a link means a gold concept in all parts; for a mention without a concept, whether it is NIL."""
    if not gold:
        return link.nil
    return all(part.best is not None and part.best.concept_id in gold for part in link.singles)


def nil(link: Link, judge: Judge) -> Link:
    """Make the doubtful parts of a link NIL."""
    singles = [replace(one, nil=one.nil or judge.is_doubtful(one)) for one in link.singles]
    return joined(link, singles)


def judged(asked: Asked, judge: Judge, error: float, drawn: random.Random) -> Asked:
    """Let an oracle judge the doubtful parts of a link."""
    singles = []
    for single in asked.link.singles:
        if judge.is_doubtful(single):
            right, wrong = answers_of(single, asked.gold)
            place = drawn.choice(wrong) if wrong and drawn.random() < error else right
            single = chosen(single, place, "oracle")
        singles.append(single)
    return Asked(joined(asked.link, singles), asked.gold)


def without(vocabulary: Vocabulary, lost: Collection[str]) -> Vocabulary:
    """Take concepts out of a vocabulary."""
    if not lost:
        return vocabulary
    builder = TableBuilder()
    for row in range(len(vocabulary)):
        concept_id = vocabulary.concept_id(row)
        if concept_id not in lost:
            builder.concept(concept_id)
            for name in vocabulary.names(concept_id):
                builder.name(concept_id, name.text, lang=name.lang, kind=name.kind)
    return Vocabulary.of((Source("part", "made"), builder.build()))


def measured(name: str, asked: Sequence[Asked]) -> list[dict[str, Any]]:
    """Measure accuracy without and with oracles, for each threshold of doubt."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for below in BELOW:
            settings = JudgeSettings(url="http://localhost", below=below, file=str(Path(folder) / "none.jsonl"))
            judge = Judge(settings)
            doubtful = sum(judge.is_doubtful(part) for each in asked for part in each.link.singles)
            row: dict[str, Any] = {
                "mentions": name,
                "below": below,
                "count": len(asked),
                "asked": doubtful,
                "asked %": percent(doubtful, sum(len(each.link.singles) for each in asked)),
                "no judge": percent(sum(is_right(each.link, each.gold) for each in asked), len(asked)),
                "NIL instead": percent(
                    sum(is_right(nil(each.link, judge), each.gold) for each in asked), len(asked)
                ),
            }
            for error in ERRORS:
                right = 0
                for seed in range(SEEDS):
                    drawn = random.Random(seed)
                    done = (judged(each, judge, error / 100, drawn) for each in asked)
                    right += sum(is_right(each.link, each.gold) for each in done)
                row[f"errs {error} %"] = percent(right, SEEDS * len(asked))
            rows.append(row)
    return rows


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the index")
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    arguments = parser.parse_args()
    indexes = Indexes(data_root(), arguments.folder)
    rows = []
    for task in (ncbi("dev", "bare", MEDIC), bc5cdr("bare", MEDIC)):
        vocabulary, [corpus] = load(task, data_root())
        resolver = GoldResolver(vocabulary)
        gold = sorted({row for _, mention in corpus.mentions() for row in resolver.rows(mention.concept_ids)})
        gone = set(map(vocabulary.concept_id, gold[::2]))
        for name, lost in (("medic", set[str]()), (f"medic-{task.name.split()[0].lower()}-half", gone)):
            index = indexes.made(name, lambda read=vocabulary, lost=lost: without(read, lost))
            linker = Linker(index, top_k=Judge.candidates)
            asked = []
            for document in corpus.documents:
                for link in linker.link(document):
                    meant = frozenset(map(vocabulary.concept_id, resolver.rows(link.mention.concept_ids)))
                    if meant:
                        asked.append(Asked(link, meant - lost))
            rows += measured(task.name + ", half of the concepts gone" * bool(lost), asked)
    header = list(rows[0])
    table = report.table(header, [[str(row[key]) for key in header] for row in rows])
    print(table)
    report.publish(
        arguments.json,
        table,
        ["quality"],
        data="prepared queries of NCBI disease and BC5CDR disease",
        split="dev",
        dictionary="MEDIC 2012, bare",
        counting="by concept; a mention without a concept is right if its link is NIL",
        encoder="nymlink-mini",
        seed=f"0 to {SEEDS - 1}",
    )


if __name__ == "__main__":
    main()
