"""Count the decisions that a review takes until 95 % of its terms are right, with and without learning.

    python benchmarks/linking/review.py [--json FILE] [--plot FILE] [--first COUNT]

A reviewer who always decides as the corpus is annotated is simulated: from top to bottom, or the most doubtful
first; learning from what was decided after every so many decisions, or not. What is not decided counts as it was
linked. AskAPatient fold 0, training and validation part, in its own dictionary; the development half of GSC+ in
HPO. No test part is read. Then: how terms of a next file are linked (the validation part), after so many decisions
on the first (the training part).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmarks.common import report
from benchmarks.common.inputs import data_root, unpack
from benchmarks.common.tasks import askapatient, gsc, label_ontology, load
from benchmarks.plots.review_curves import draw_review_curves
from nymlink.corpus.documents import Corpus, Mention
from nymlink.corpus.read import read_corpus
from nymlink.evaluation.outcomes import GoldResolver
from nymlink.index.index import Index
from nymlink.linking.default import default_index
from nymlink.plot.figure import save_figure
from nymlink.project.learn import learn_from
from nymlink.project.learned import Learned, LearnedLinker
from nymlink.project.lessons import Lesson
from nymlink.project.rows import Target
from nymlink.text.normalise import normalise

WANTED: Final = 0.95
STEP: Final = 25
"""Decisions between two points of a curve."""
NEXT: Final = (0, 100, 300, 1000, 3000)
WAYS: Final = {
    "top to bottom": (False, False),
    "top to bottom, learning": (False, True),
    "doubtful first": (True, False),
    "doubtful first, learning": (True, True),
}
"""Way → whether the doubtful come first, and whether it learns."""


@dataclass(frozen=True)
class Term:
    """A distinct term of a file.

    Attributes:
        text: as it is written.
        rows: how many rows have it.
        gold: what it means, as most of its rows say; none where the index has nothing of that.
    """

    text: str
    rows: int
    gold: frozenset[str]

    @property
    def lesson(self) -> Lesson:
        """What a reviewer decides: one of the concepts that are right, or none."""
        return Lesson(Mention(self.text), tuple(map(Target, sorted(self.gold)[:1])), looked_at=True)


def terms_of(corpora: Sequence[Corpus], index: Index) -> list[Term]:
    """List the distinct terms of corpora, in the order of their first rows."""
    ids: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    for corpus in corpora:
        for _, mention in corpus.mentions():
            if mention.concept_ids:
                ids[" ".join(mention.text.split())][mention.concept_ids] += 1
    resolver = GoldResolver(index.vocabulary)
    return [
        Term(
            text,
            found.total(),
            frozenset(map(index.vocabulary.concept_id, resolver.rows(found.most_common(1)[0][0]))),
        )
        for text, found in ids.items()
    ]


@dataclass
class Linked:
    """The links of terms: whether each is right, and its confidence."""

    right: npt.NDArray[np.bool_]
    confidence: npt.NDArray[np.float64]


def link(index: Index, learned: Learned | None, terms: Sequence[Term]) -> Linked:
    """Link terms as a project does."""
    links = LearnedLinker(index, learned).link([Mention(term.text) for term in terms])
    right = [
        (one.best is not None and one.best.concept_id in term.gold) or (one.nil and not term.gold)
        for one, term in zip(links, terms, strict=True)
    ]
    confidences = [one.confidence or 0.0 for one in links]
    return Linked(np.array(right, bool), np.array(confidences))


def review(
    index: Index, terms: Sequence[Term], first: Linked, *, doubtful_first: bool, every: int | None
) -> dict[str, Any]:
    """Decide term after term until all is right that is wanted to be.

    Args:
        index: what is linked to.
        terms: in the order of the file.
        first: their links before anything is decided.
        doubtful_first: whether those of least confidence are decided first.
        every: after how many decisions it learns; ``None`` for never.
    """
    rows = np.array([term.rows for term in terms])
    right, confidence = first.right.copy(), first.confidence.copy()
    decided = np.zeros(len(terms), bool)
    order: list[int] = []
    curve, learning = [], []
    place = np.arange(len(terms))
    queue = np.lexsort((place, confidence)).tolist() if doubtful_first else place.tolist()
    reached: dict[str, int | None] = {"terms": None, "rows": None}
    while True:
        done = decided | right
        shares = {"terms": float(done.mean()), "rows": float(rows[done].sum() / rows.sum())}
        for name, share in shares.items():
            if reached[name] is None and share >= WANTED:
                reached[name] = len(order)
        if len(order) % STEP == 0 or None not in reached.values():
            curve.append({"decisions": len(order), **{name: round(share, 4) for name, share in shares.items()}})
        if None not in reached.values():
            break
        number = queue.pop(0)
        decided[number] = True
        order.append(number)
        if every is not None and len(order) % every == 0:
            started = process_time()
            learned = learn_from([terms[each].lesson for each in order], index)
            learning.append(round(process_time() - started, 2))
            left = np.flatnonzero(~decided)
            again = link(index, learned, [terms[each] for each in left])
            right[left], confidence[left] = again.right, again.confidence
            queue = left[np.lexsort((left, again.confidence))].tolist() if doubtful_first else left.tolist()
            print(f"  {len(order)}: {shares}, {learned.report}", file=sys.stderr, flush=True)
    return {
        "decisions": reached,
        "curve": curve,
        "learning_seconds": learning,
    }


def simulate(name: str, index: Index, terms: Sequence[Term], *, every: int) -> dict[str, Any]:
    """Review a file in all ways."""
    first = link(index, None, terms)
    ways = {}
    for way, (doubtful_first, learns) in WAYS.items():
        ways[way] = review(index, terms, first, doubtful_first=doubtful_first, every=every if learns else None)
        print(f"{name}, {way}: {ways[way]['decisions']}", file=sys.stderr)
    return {
        "file": name,
        "terms": len(terms),
        "rows": sum(term.rows for term in terms),
        "right": round(float(first.right.mean()), 4),
        "every": every,
        "ways": ways,
    }


def next_file(index: Index, before: Sequence[Term], after: Sequence[Term]) -> list[dict[str, Any]]:
    """Link the terms of a next file after decisions on a first one, drawn at random."""
    known = {normalise(term.text) for term in before}
    new = np.array([normalise(term.text) not in known for term in after])
    drawn = np.random.default_rng(0).permutation(len(before)).tolist()
    lines = []
    for count in NEXT:
        chosen = [before[each].lesson for each in sorted(drawn[:count])]
        learned = learn_from(chosen, index) if chosen else None
        found = link(index, learned, after)
        taken = [
            part for part in ("ranker", "confidence") if learned and (learned.report[part] or {}).get("taken")
        ]
        lines.append(
            {
                "decisions": min(count, len(before)),
                "right": f"{100 * found.right.mean():.1f}",
                "right, terms that the first file lacks": f"{100 * found.right[new].mean():.1f}",
                "Brier score of confidences": f"{np.mean((found.confidence - found.right) ** 2):.3f}",
                "learned beside names": ", ".join(taken) or "–",
            }
        )
        print(lines[-1], file=sys.stderr)
    return lines


def files(data: Path, room: str) -> tuple[Index, list[Corpus], Index, list[Corpus]]:
    """Open AskAPatient with its dictionary, training part first, and GSC+ with HPO."""
    task = askapatient("validation")
    parts = [f"askapatient/AskAPatient.fold-0.{part}.txt" for part in ("train", "validation")]
    unpack(str(data / task.corpus), room, parts=parts)
    vocabulary = label_ontology(data / task.dictionary)
    _, abstracts = load(gsc(), data)
    return Index.build(vocabulary), [read_corpus(Path(room) / part) for part in parts], default_index(), abstracts


def _summary(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    lines = []
    for result in results:
        for way, found in result["ways"].items():
            seconds = found["learning_seconds"]
            lines.append(
                {
                    "file": result["file"],
                    "way": way,
                    "decisions, by terms": found["decisions"]["terms"],
                    "share of the terms": f"{100 * found['decisions']['terms'] / result['terms']:.1f} %",
                    "decisions, by rows": found["decisions"]["rows"],
                    "learned": len(seconds),
                    "processor seconds each": f"{np.median(seconds):.1f}" if seconds else "–",
                }
            )
    return lines


def main() -> None:
    """Print the numbers of decisions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    parser.add_argument("--plot", type=Path, help="also draw the shares that are right, by decisions")
    parser.add_argument("--first", type=int, default=10**9, help="only so many terms of each file, for trying")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as room:
        index, (training, validation), hpo, abstracts = files(data_root(), room)
    asked = terms_of([training, validation], index)[: arguments.first]
    terms = terms_of(abstracts, hpo)[: arguments.first]
    results = [
        simulate("AskAPatient, fold 0", index, asked, every=500),
        simulate("GSC+ development half, HPO", hpo, terms, every=50),
    ]
    following = next_file(index, terms_of([training], index), terms_of([validation], index))
    summary = _summary(results)
    for rows in (summary, following):
        print(report.table(list(rows[0]), [list(map(str, row.values())) for row in rows]) + "\n")
    about = report.about(
        data="AskAPatient fold 0; GSC+",
        split="training and validation part; development half",
        dictionary="its own; HPO, both bare",
        counting="first concept right, by term",
        encoder="nymlink-mini",
        seed=0,
    )
    report.save(arguments.json, {"about": about, "summary": summary, "next": following, "files": results})
    if arguments.plot is not None:
        curves = {
            result["file"]: {way: found["curve"] for way, found in result["ways"].items()} for result in results
        }
        save_figure(draw_review_curves(curves, wanted=WANTED), arguments.plot)


if __name__ == "__main__":
    main()
