"""`nymlink plot contexts`: draw mentions in their contexts."""

from __future__ import annotations

from pathlib import Path

import click

from nymlink.cli.common import finish, reported_problems
from nymlink.cli.plot.options import (
    corpus_option,
    each_once,
    output_option,
    require_modules,
    sample_seed_option,
    titles,
)
from nymlink.corpus.read import read_corpus
from nymlink.index.index import Index
from nymlink.plot.contexts import MOST, draw_contexts, sample_contexts
from nymlink.plot.figure import save_figure
from nymlink.rerank.entities import entities


@click.command()
@click.argument("rerankers", nargs=-1, required=True, metavar="RERANKER...", callback=each_once)
@click.option(
    "--index", required=True, type=click.Path(path_type=Path), help="Index whose vocabulary has the concepts."
)
@corpus_option
@output_option
@click.option("--concepts", default=6, show_default=True, type=click.IntRange(2, MOST), help="How many concepts.")
@click.option(
    "--mentions", default=20, show_default=True, type=click.IntRange(2, 100), help="How many mentions of each."
)
@sample_seed_option
def contexts(
    rerankers: tuple[str, ...],
    index: Path,
    corpus: Path,
    output: Path,
    concepts: int,
    mentions: int,
    seed: int,
) -> None:
    """Draw a map of mentions in their contexts, and of the concepts they mean.

    Mentions and concepts that are similar to a re-ranker lie near each other (multidimensional scaling). With a
    good re-ranker the mentions of a concept lie around it. RERANKER is a folder that `nymlink train rerank` wrote;
    each has a map.

    \b
    nymlink plot contexts triplet prototype --index mesh-index --corpus CDR_DevelopmentSet.PubTator.txt -o map.png
    """
    require_modules("matplotlib", "sklearn", extra="plot", purpose="drawing")
    require_modules("torch", extra="train", purpose="encoding mentions in their contexts")
    from nymlink.rerank.dual.dual_encoder import DualEncoder

    problems = reported_problems()
    vocabulary = Index.load(index).vocabulary
    annotated = read_corpus(corpus, problems=problems)
    duals = {title: DualEncoder.load(folder) for title, folder in titles(rerankers).items()}
    sample = sample_contexts(
        vocabulary,
        annotated,
        concepts=concepts,
        mentions=mentions,
        max_length=max(dual.settings.max_length for dual in duals.values()),
        seed=seed,
    )
    described = list(entities(vocabulary, sample.concepts))
    views = {
        title: (dual.encode_passages(sample.passages), dual.encode_entities(described))
        for title, dual in duals.items()
    }
    save_figure(draw_contexts(sample, views), output)
    click.echo(f"{len(sample.passages):,} mentions of {concepts:,} concepts → {output}")
    finish(problems)
