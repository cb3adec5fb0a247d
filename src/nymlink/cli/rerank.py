"""`nymlink rerank`: fit and measure re-rankers."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nymlink.cli.annotated_corpus import AnnotatedCorpus, annotated_corpus
from nymlink.cli.common import finish, reported_problems, require_files
from nymlink.cli.lazy import Commands
from nymlink.core.store.atomic import atomic_file
from nymlink.core.store.output_checks import require_changeable
from nymlink.index.index import Index

if TYPE_CHECKING:
    from nymlink.evaluation.reranking import RerankingEvaluation


@click.group(cls=Commands)
def rerank() -> None:
    """Fit and measure re-rankers, which order candidates by the text around a mention."""


@rerank.command()
@click.argument("reranker", type=click.Path(path_type=Path), metavar="RERANKER")
@annotated_corpus
@click.option("--index", required=True, type=click.Path(path_type=Path), help="Index for the candidates.")
@click.option(
    "--candidates",
    type=click.IntRange(min=1),
    help="Number of candidates to order, stored in the folder; unchanged if not given, at first the number of the "
    "training of a dual encoder, or 64.",
)
def fit(
    reranker: Path,
    corpus: AnnotatedCorpus,
    index: Path,
    candidates: int | None,
) -> None:
    """Fit how a re-ranker joins context, ranker, other mentions and types.

    Do this once after `nymlink train rerank` or `cross-encoder`, and again for another index. RERANKER is a folder
    written by `nymlink train`. CORPUS holds development mentions, some hundreds at least, never those of the
    training or of a final evaluation. The order is stored in the folder: without it the context
    alone decides. It fits the scores of this index: an index with other searches, weights, ranker or encoder gets
    a warning. The figure for all evidence is cross-validated.

    \b
    nymlink rerank fit reranker CDR_DevelopmentSet.PubTator.txt --index mesh-index
    """
    from nymlink.rerank.folder import FittedOrder, score_settings, write_fitted
    from nymlink.rerank.reranker import Reranker
    from nymlink.train.ranking.fit_reranking import fit_reranking

    require_changeable(reranker)
    problems = reported_problems()
    gold = corpus.read(problems)
    opened = Index.load(index)
    # Load the vocabulary alone: an order fitted before, for any index, is replaced.
    loaded = Reranker.load(reranker, opened.vocabulary, refit=True)
    loaded.candidates = candidates or loaded.candidates
    fitted = fit_reranking(opened, loaded, gold, types=corpus.types, language=corpus.language, progress=True)
    # First: the reader of the figures may stop reading.
    scores = score_settings(opened)
    write_fitted(reranker, FittedOrder(order=fitted.order, candidates=loaded.candidates, scores=scores))
    for name, accuracy in fitted.figures.items():
        click.echo(f"Acc@1 {100 * accuracy:5.1f}  {name}")
    click.echo(f"      {100 * fitted.recall:5.1f}  have a right candidate")
    count = len(fitted.order.trees.values)
    click.echo(f"{count} trees learned from {fitted.order.learned_from} → {reranker}")
    finish(problems)


@rerank.command()
@click.argument("reranker", type=click.Path(path_type=Path), metavar="RERANKER")
@annotated_corpus
@click.option("--index", required=True, type=click.Path(path_type=Path), help="Index for the candidates.")
@click.option(
    "--training",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Training corpus of RERANKER: separate figures for concepts seen and unseen there. Repeatable.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="JSON file to write: all figures, and ranks."
)
@click.option(
    "--changes",
    type=click.Path(path_type=Path),
    help="TSV file to write: every mention whose first concept changes.",
)
def evaluate(
    reranker: Path,
    corpus: AnnotatedCorpus,
    index: Path,
    training: tuple[Path, ...],
    output: Path | None,
    changes: Path | None,
) -> None:
    """Measure what a re-ranker adds to its index.

    All mentions of CORPUS with gold ids count, by concept: a composite mention is right if each of its parts is.
    RERANKER uses the order stored by `nymlink rerank fit`. Ambiguous mentions are names of several concepts, or
    mentions whose first two candidates have the same score.

    \b
    nymlink rerank evaluate reranker CDR_TestSet.PubTator.txt --index mesh-index \\
        --training CDR_TrainingSet.PubTator.txt --changes changes.tsv
    """
    from nymlink.evaluation.reranking import evaluate_reranking, readable_changes
    from nymlink.rerank.reranker import Reranker

    require_files((output, changes), (reranker, index, corpus.path, *training))
    problems = reported_problems()
    gold = corpus.read(problems)
    seen = [corpus.read_other(path, problems) for path in training]
    opened = Index.load(index)
    loaded = Reranker.load(reranker, opened)
    evaluation = evaluate_reranking(
        opened, loaded, gold, types=corpus.types, language=corpus.language, training=seen, progress=True
    )
    if output is not None:
        with atomic_file(output) as partial:
            partial.write_text(
                json.dumps(evaluation.to_dict(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
            )
    if changes is not None:
        _write_changes(changes, readable_changes(evaluation, opened.vocabulary))
    click.echo(_report(evaluation))
    finish(problems)


def _report(evaluation: RerankingEvaluation) -> str:
    lines = [f"{'accuracy (%)':12}{'n':>8}{'index @1':>12}{'@5':>8}{'re-ranked @1':>16}{'@5':>8}{'recall':>10}"]
    for name, group in evaluation.figures.items():
        shares = zip((12, 8, 16, 8, 10), (*group.before, *group.after, group.recall), strict=True)
        lines.append(f"{name:12}{group.n:8,}" + "".join(f"{100 * share:{width}.1f}" for width, share in shares))
    test = evaluation.test
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
