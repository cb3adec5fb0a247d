"""`nymlink rerank`: what a re-ranker goes by."""

from __future__ import annotations

from pathlib import Path

import click

from nymlink.cli.common import annotated_corpus, finish, mapping, reported_problems
from nymlink.corpus.options import CorpusOptions
from nymlink.corpus.read import read_corpus
from nymlink.index.index import Index


@click.group()
def rerank() -> None:
    """Re-rankers: candidates in the order of what the text around a mention says."""


@rerank.command()
@click.argument("reranker", type=click.Path(path_type=Path), metavar="RERANKER")
@annotated_corpus
@click.option("--index", required=True, type=click.Path(path_type=Path), help="The index that gives candidates.")
def fit(
    reranker: Path,
    corpus: Path,
    format: str | None,
    types: tuple[str, ...],
    columns: tuple[str, ...],
    encoder: str | None,
    index: Path,
) -> None:
    """Fit what counts beside the context: the score of the index, and the other mentions of a document.

    RERANKER is a folder that `nymlink train` wrote. CORPUS holds development mentions, never those that it was
    trained on or that are to be reported. The weights of the highest Acc@1 are stored in the folder.

    \b
    nymlink rerank fit reranker CDR_DevelopmentSet.PubTator.txt --index mesh-index
    """
    from nymlink.evaluate.fit_reranking import fit_reranking
    from nymlink.rerank.folder import store_weights
    from nymlink.rerank.reranker import Reranker

    problems = reported_problems()
    options = CorpusOptions(columns=mapping(columns))
    gold = read_corpus(corpus, format=format, options=options, problems=problems)
    opened = Index.load(index, encoder=encoder)
    loaded = Reranker.load(reranker, opened.vocabulary)
    found = fit_reranking(opened, loaded, gold, types=set(types) or None, progress=True)
    store_weights(reranker, found.weights)
    for name, accuracy in found.figures.items():
        click.echo(f"Acc@1 {100 * accuracy:5.1f}  {name}")
    click.echo(f"      {100 * found.recall:5.1f}  have a right candidate")
    weights = ", ".join(f"{name} {weight:.3g}" for name, weight in found.weights.to_dict().items())
    click.echo(f"{weights}: the best of {found.tried:,} weightings on {found.mentions:,} mentions → {reranker}")
    finish(problems)
