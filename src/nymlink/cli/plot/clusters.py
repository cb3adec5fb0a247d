"""`nymlink plot clusters`: draw how many mentions a concept has in a document."""

from __future__ import annotations

from pathlib import Path

import click

from nymlink.cli.common import finish, reported_problems
from nymlink.cli.plot.options import corpus_option, output_option, require_modules
from nymlink.corpus.read import read_corpus
from nymlink.plot.clusters import cluster_sizes, draw_clusters
from nymlink.plot.figure import save_figure


@click.command()
@corpus_option
@output_option
def clusters(corpus: Path, output: Path) -> None:
    """Draw how many mentions a concept has in a document.

    The mentions of one concept in one document are a cluster, from which a re-ranker learns.

    \b
    nymlink plot clusters --corpus CDR_TrainingSet.PubTator.txt -o clusters.png
    """
    require_modules("matplotlib", extra="plot", purpose="drawing")
    problems = reported_problems()
    annotated = read_corpus(corpus, problems=problems)
    sizes = cluster_sizes(annotated)
    save_figure(draw_clusters(sizes, title=annotated.name), output)
    click.echo(f"{sizes.sum():,} mentions in {len(sizes):,} clusters → {output}")
    finish(problems)
