"""Measure what counted phrases gain, each time on a corpus that is not among their sources.

    python benchmarks/linking/across_phrases.py FOLDER [--encoder MODEL] [--only TEXT ...] [--json FILE]

Asks the sets of ``across.py`` whose concepts have phrases from other sources, in the same FOLDER, and ranks with
*averaged* trees that learned from the other sets. Phrases of the corpus are left out, and so are those of its
documents in other corpora. *Counts* only order concepts that share a name; *phrases* are names as well. Accuracies
are of distinct mentions, and of all occurrences; the error of a gain comes from a bootstrap over concepts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.common import report
from benchmarks.common.inputs import data_root
from benchmarks.linking.across import Scorer, averaged, former, gain, trees
from benchmarks.linking.counted_phrases import Occurrence, counted, occurrences
from benchmarks.linking.curated_sets import (
    SETS,
    TREES,
    Distinct,
    Set,
    asked,
    distinct_questions,
    folder_of,
    learnable,
    opened,
    parser_of,
    unanswerable,
)
from nymlink.core.terminal import track
from nymlink.index.index import Index
from nymlink.index.phrases import Meanings, Phrases
from nymlink.rank.ranker import Ranker, Ranking
from nymlink.rank.retrieval import Question
from nymlink.train.ranking.labelled import LabelledQuestions

_WAYS: Final = ("without", "counts", "phrases")


class Measured(NamedTuple):
    """The answers to the questions of a set.

    Attributes:
        first: bool (Q): whether the first concept is right.
        five: bool (Q): whether a right concept is among the first five.
    """

    first: npt.NDArray[np.bool_]
    five: npt.NDArray[np.bool_]


def answered(
    index: Index, questions: Sequence[Question], answers: Sequence[frozenset[int]], scorer: Scorer
) -> Measured:
    """Link questions, with the order of a scorer and the counts that the index knows."""
    ranking = Ranking(index)
    distinct = list(dict.fromkeys(questions))
    found = [
        ranking.ranked(retrieved.questions, retrieved.matches, described, scorer(described)).matches.concepts[
            :, :5
        ]
        for retrieved, described in ranking.describe(distinct)
    ]
    place = {question: number for number, question in enumerate(distinct)}
    rows = np.concatenate(found)[[place[question] for question in questions]].tolist()
    right = np.array([[row in answer for row in own] for own, answer in zip(rows, answers, strict=True)], bool)
    five: npt.NDArray[np.bool_] = right.any(axis=1)
    return Measured(right[:, 0], five)


def scorers(sets: Sequence[Set], encoder: str, folder: Path, data: Path) -> dict[str, Scorer]:
    """Learn a ranker for each corpus, from the others."""
    parts = {each.name: asked(each, encoder, folder, data) for each in track(sets, "asking")}
    nothing = {each.name: unanswerable(each, encoder, folder, data) for each in track(sets, "asking")}
    before = former(Ranker.of(opened(sets[0].vocabulary, encoder, folder, data)))
    found: dict[str, Scorer] = {}
    for corpus in track(dict.fromkeys(each.corpus for each in sets), "leaving out"):
        own = [each.name for each in sets if each.corpus == corpus]
        others = [name for name in parts if name not in own]
        hidden = frozenset[str]().union(*(each for name in own for each in parts[name].documents))
        learned = LabelledQuestions.joined(
            [learnable((parts[name], hidden) for name in others), *(nothing[name] for name in others)]
        )
        found[corpus] = averaged(before, trees(learned, TREES))
    return found


def compare(
    chosen: Set, index: Index, found: Sequence[Occurrence], scorer: Scorer, data: Path
) -> tuple[dict[str, Measured], list[Distinct], int] | None:
    """Link the mentions of a set without phrases, with their counts alone, and with phrases.

    Returns:
        The answers by way, the questions, and the number of names added; ``None`` if no concept has a phrase.
    """
    hidden = {document.id for document in chosen.read(data).documents}
    counts = counted(found, without={chosen.corpus}, hidden=hidden)
    phrases = Phrases((text, concept, times) for text, own in counts.items() for concept, times in own.items())
    added, meanings = phrases.choose(index.vocabulary)
    if not len(added.names):
        return None
    extended = index.with_names(phrases.source, added).with_uses(meanings)
    drawn = distinct_questions(index, chosen, data, extended)
    ways: Mapping[str, tuple[Index, list[Question]]] = {
        "without": (index, [each.question for each in drawn]),
        "counts": (index.with_uses(_of_homonyms(index, meanings)), [each.question for each in drawn]),
        "phrases": (extended, [each.other for each in drawn]),
    }
    answers = [each.answer for each in drawn]
    measured = {way: answered(own, questions, answers, scorer) for way, (own, questions) in ways.items()}
    return measured, drawn, len(added.names)


def _of_homonyms(index: Index, meanings: Meanings) -> Meanings:
    """Select the counts of concepts that have the text as a name."""
    vocabulary = index.vocabulary
    chosen = {}
    for text, own in meanings.items():
        owners = {vocabulary.concept_id(int(index.owners[name])) for name in vocabulary.name_rows(text)}
        if kept := {concept: times for concept, times in own.items() if concept in owners}:
            chosen[text] = kept
    return chosen


def row_of(
    name: str, measured: Mapping[str, Measured], drawn: Sequence[Distinct], added: int
) -> tuple[dict[str, Any], dict[str, npt.NDArray[np.float64]]]:
    """Make the row of a set, and the figures for the mean: Acc@1, Acc@5, the gain, its error, and occurrences."""
    times = [each.times for each in drawn]
    concepts = np.array([min(each.answer) for each in drawn])
    row: dict[str, Any] = {"corpus → vocabulary": name, "mentions": len(drawn), "names added": added}
    figures = {}
    for way in _WAYS:
        own = measured[way]
        first, error = gain(concepts, own.first, measured["without"].first)
        every = 100 * np.average(own.first, weights=times)
        figures[way] = np.array([100 * own.first.mean(), 100 * own.five.mean(), first, error, every])
        row |= _cells(way, figures[way])
    return row, figures


def _cells(way: str, figures: npt.NDArray[np.float64]) -> dict[str, str]:
    first, five, more, error, every = figures
    said = f"{first:.1f}/{five:.1f}" + ("" if way == "without" else f", {more:+.1f} ± {error:.1f}")
    return {way: said, f"{way}, occurrences": f"{every:.1f}"}


def mean_of(
    label: str, rows: Sequence[Mapping[str, Any]], figures: Sequence[Mapping[str, npt.NDArray[np.float64]]]
) -> dict[str, Any]:
    """Make a row of the means over sets."""
    mean: dict[str, Any] = {
        "corpus → vocabulary": label,
        "mentions": sum(row["mentions"] for row in rows),
        "names added": round(np.mean([row["names added"] for row in rows])),
    }
    for way in _WAYS:
        own = np.stack([each[way] for each in figures])
        first, five, more, _, every = own.mean(axis=0)
        error = np.sqrt((own[:, 3] ** 2).sum()) / len(own)
        gained = "" if way == "without" else f", {more:+.2f} ± {error:.2f}"
        mean |= {way: f"{first:.2f}/{five:.2f}{gained}", f"{way}, occurrences": f"{every:.2f}"}
    return mean


def means_of(
    vocabularies: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    figures: Sequence[Mapping[str, npt.NDArray[np.float64]]],
) -> list[dict[str, Any]]:
    """Make the means over the sets of each vocabulary, and over all sets."""
    means = []
    for name in dict.fromkeys(vocabularies):
        own = [place for place, each in enumerate(vocabularies) if each == name]
        label = f"{len(own)} corpora → {name}"
        means.append(mean_of(label, [rows[place] for place in own], [figures[place] for place in own]))
    return [*means, mean_of("mean of all", rows, figures)]


def tables_of(rows: Sequence[dict[str, Any]], means: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Divide the result into tables: the means, and everything."""
    shown = (next(iter(rows[0])), *_WAYS)
    return {"phrases": [{key: row[key] for key in shown} for row in means], "corpora": [*rows, *means]}


def main() -> None:
    """Measure, print a table, and write it."""
    parser = parser_of(__doc__)
    parser.add_argument("--only", nargs="*", default=[""], metavar="TEXT", help="sets whose name has one of these")
    arguments = parser.parse_args()
    data = data_root()
    folder = folder_of(arguments.folder, arguments.encoder)
    chosen = [each for each in SETS if any(text in each.name for text in arguments.only)]
    ranked = scorers(chosen, arguments.encoder, folder, data)
    found = occurrences(data)
    rows, figures, vocabularies = [], [], []
    for each in chosen:
        index = opened(each.vocabulary, arguments.encoder, folder, data)
        if compared := compare(each, index, found, ranked[each.corpus], data):
            row, own = row_of(each.name, *compared)
            print(row, flush=True)
            rows.append(row)
            figures.append(own)
            vocabularies.append(each.vocabulary)
    means = means_of(vocabularies, rows, figures)
    header = list(means[0])
    print(report.table(header, [[str(row[key]) for key in header] for row in [*rows, *means]]))
    about = report.about(
        data="as the row says; phrases and rankers from the other corpora",
        split="training and development parts",
        dictionary="bare, English names; with phrases as stated",
        counting="Acc@1/@5 by concept of distinct mentions, with the gain at the first; Acc@1 of all occurrences",
        encoder=Path(arguments.encoder).name,
        seed="0",
    )
    report.save(arguments.json, {"about": about, **tables_of(rows, means)})


if __name__ == "__main__":
    main()
