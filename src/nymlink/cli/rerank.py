"""`nymlink rerank`: fit and measure re-rankers."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nymlink.cli.common import (
    annotated_corpus,
    finish,
    mapping,
    read_beside,
    reported_problems,
    require_files,
)
from nymlink.core.store.atomic import atomic_file
from nymlink.core.store.outputs import require_changeable
from nymlink.corpus.options import CorpusOptions
from nymlink.corpus.read import read_corpus
from nymlink.index.index import Index

if TYPE_CHECKING:
    from nymlink.evaluate.reranking import RerankingEvaluation


@click.group()
def rerank() -> None:
    """Re-rankers: candidates in the order of what the text around a mention says."""


@rerank.command()
@click.argument("reranker", type=click.Path(path_type=Path), metavar="RERANKER")
@annotated_corpus
@click.option("--index", required=True, type=click.Path(path_type=Path), help="The index that gives candidates.")
@click.option(
    "--candidates",
    type=click.IntRange(min=1),
    help="Candidates of each mention that are put in order, here and from now on; without it as many as before, "
    "the first time as many as a dual encoder was trained with, or 64.",
)
def fit(
    reranker: Path,
    corpus: Path,
    format: str | None,
    types: tuple[str, ...],
    columns: tuple[str, ...],
    encoder: str | None,
    index: Path,
    candidates: int | None,
) -> None:
    """Fit what counts beside the context: the score of the index, and the other mentions of a document.

    RERANKER is a folder that `nymlink train` wrote. CORPUS holds development mentions, never those that it was
    trained on or that are to be reported. The weights of the highest Acc@1 are stored in the folder: without them
    the context alone decides. They are for the scores of this index: with one whose searches, their weights or
    encoder are others, there is a warning.

    \b
    nymlink rerank fit reranker CDR_DevelopmentSet.PubTator.txt --index mesh-index
    """
    from nymlink.evaluate.fit_reranking import fit_reranking
    from nymlink.rerank.folder import Fitted, scores_of, store_fitted
    from nymlink.rerank.reranker import Reranker

    require_changeable(reranker)
    problems = reported_problems()
    options = CorpusOptions(columns=mapping(columns))
    gold = read_corpus(corpus, format=format, options=options, problems=problems)
    opened = Index.load(index, encoder=encoder)
    # The vocabulary alone: what was fitted before, to whichever index, is replaced.
    loaded = Reranker.load(reranker, opened.vocabulary, refit=True)
    loaded.candidates = candidates or loaded.candidates
    found = fit_reranking(opened, loaded, gold, types=set(types) or None, progress=True)
    # First: whoever reads the figures may stop reading.
    store_fitted(reranker, Fitted(weights=found.weights, candidates=loaded.candidates, scores=scores_of(opened)))
    for name, accuracy in found.figures.items():
        click.echo(f"Acc@1 {100 * accuracy:5.1f}  {name}")
    click.echo(f"      {100 * found.recall:5.1f}  have a right candidate")
    weights = ", ".join(f"{name} {weight:.3g}" for name, weight in found.weights.to_dict().items())
    click.echo(f"{weights}: the best of {found.tried:,} weightings on {found.mentions:,} mentions → {reranker}")
    finish(problems)


@rerank.command()
@click.argument("reranker", type=click.Path(path_type=Path), metavar="RERANKER")
@annotated_corpus
@click.option("--index", required=True, type=click.Path(path_type=Path), help="The index that gives candidates.")
@click.option(
    "--training",
    multiple=True,
    type=click.Path(path_type=Path),
    help="What RERANKER was trained on: concepts seen and unseen there apart. Repeatable.",
)
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write figures and ranks to this file.")
@click.option(
    "--changes",
    type=click.Path(path_type=Path),
    help="Write every mention that means another concept when re-ranked to this TSV file.",
)
def evaluate(
    reranker: Path,
    corpus: Path,
    format: str | None,
    types: tuple[str, ...],
    columns: tuple[str, ...],
    encoder: str | None,
    index: Path,
    training: tuple[Path, ...],
    json_file: Path | None,
    changes: Path | None,
) -> None:
    """Measure what a re-ranker adds to its index.

    All mentions of CORPUS that have gold ids count, by concept: a composite one is right when each of its parts
    is. RERANKER goes by what `nymlink rerank fit` stored. Ambiguous mentions are names of several
    concepts, or such as the index cannot tell the first two candidates of apart.

    \b
    nymlink rerank evaluate reranker CDR_TestSet.PubTator.txt --index mesh-index \\
        --training CDR_TrainingSet.PubTator.txt --changes changes.tsv
    """
    from nymlink.evaluate.reranking import evaluate_reranking, told_changes
    from nymlink.rerank.reranker import Reranker

    require_files((json_file, changes), (reranker, index, corpus, *training))
    problems = reported_problems()
    named = mapping(columns)
    gold = read_corpus(corpus, format=format, options=CorpusOptions(columns=named), problems=problems)
    seen = [read_beside(path, columns=named, problems=problems) for path in training]
    opened = Index.load(index, encoder=encoder)
    loaded = Reranker.load(reranker, opened)
    found = evaluate_reranking(opened, loaded, gold, types=set(types) or None, training=seen, progress=True)
    if json_file is not None:
        with atomic_file(json_file) as partial:
            partial.write_text(json.dumps(found.to_dict(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if changes is not None:
        _write_changes(changes, told_changes(found, opened.vocabulary))
    click.echo(_report(found))
    finish(problems)


def _report(found: RerankingEvaluation) -> str:
    lines = [f"{'accuracy (%)':12}{'n':>8}{'index @1':>12}{'@5':>8}{'re-ranked @1':>16}{'@5':>8}{'recall':>10}"]
    for name, one in found.figures.items():
        shares = zip((12, 8, 16, 8, 10), (*one.before, *one.after, one.recall), strict=True)
        lines.append(f"{name:12}{one.n:8,}" + "".join(f"{100 * share:{width}.1f}" for width, share in shares))
    test = found.test
    return "\n".join(
        [
            *lines,
            f"right only by the index {test.only_first:,}, only re-ranked {test.only_second:,}, "
            f"McNemar's exact p = {test.p_value:.3g}",
        ]
    )


def _write_changes(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    with atomic_file(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        columns = ("document", "start", "end", "mention", "gold", "index", "re-ranked", "now", "sentence")
        writer = csv.DictWriter(file, columns, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
