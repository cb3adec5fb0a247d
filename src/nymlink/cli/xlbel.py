"""`nymlink xlbel`: build and run benchmarks of linking across languages."""

from __future__ import annotations

import json
from pathlib import Path

import click

from nymlink.cli.common import finish, reported_problems, require_files, seed_option
from nymlink.cli.lazy import Commands
from nymlink.core.store.atomic import atomic_file
from nymlink.core.terminal import show_read_progress


@click.group(cls=Commands)
def xlbel() -> None:
    """Build and run benchmarks of linking across languages, in the manner of XL-BEL (Liu et al., ACL 2021)."""


@xlbel.command()
@click.argument("dump", type=click.Path(path_type=Path), metavar="DUMP")
@click.option(
    "--concept-table",
    required=True,
    type=click.Path(path_type=Path),
    help="Table of two columns: page title → concept id, or Wikidata id → concept id. TSV or CSV, plain or gzip; "
    "several ids of a page in several rows, or joined by |.",
)
@click.option(
    "--wikidata",
    type=click.Path(path_type=Path),
    help="Table of two columns: page title of this Wikipedia → Wikidata id, if --concept-table has such ids.",
)
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="File to write.")
@click.option("--language", metavar="CODE", help="Language of the Wikipedia; if not given, as stated in the dump.")
@click.option("--sample", default=1000, show_default=True, type=click.IntRange(1), help="Number of surface forms.")
@seed_option("Seed of the random sample; interruptions do not change it.")
def build(
    dump: Path,
    concept_table: Path,
    wikidata: Path | None,
    output: Path,
    language: str | None,
    sample: int,
    seed: int,
) -> None:
    """Build a benchmark from the hyperlinks of a Wikipedia dump.

    DUMP is a file …-pages-articles-multistream.xml.bz2 of dumps.wikimedia.org; other bzip2, gzip and plain XML are
    read, too. A link to a page of the table, also through a redirect, becomes a line `concept||mention||sentence`,
    with the mention in <tgt> tags. Every surface form occurs once; none is the title of its page. The same command
    continues a build that was stopped or had a truncated dump; until the end, its state is in FILE.state.

    \b
    nymlink xlbel build fiwiki-pages-articles-multistream.xml.bz2 --concept-table pages.tsv -o fi_test.txt
    """
    from nymlink.xlbel.build import build_benchmark

    problems = reported_problems()
    with show_read_progress():
        counts = build_benchmark(
            dump,
            concept_table,
            output,
            items=wikidata,
            language=language,
            sample=sample,
            seed=seed,
            problems=problems,
        )
    click.echo(
        f"{counts.pages:,} articles, {counts.parsed:,} of them with links to pages of the table; "
        f"{counts.mentions:,} mentions, {counts.unlike_titles:,} of them unlike the title of their page\n"
        f"{counts.examples:,} surface forms → {output}"
    )
    finish(problems)


@xlbel.command()
@click.argument("queries", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="QUERIES...")
@click.option(
    "--index",
    "indexes",
    required=True,
    multiple=True,
    type=click.Path(path_type=Path),
    help="Index to link to: a row of the table, with the name of its folder. Repeatable, for stages of training.",
)
@click.option(
    "--language",
    "languages",
    multiple=True,
    metavar="CODE",
    help="Queries in this language only; for a single file whose name does not begin with a code, its language. "
    "Repeatable.",
)
@click.option("--lower", is_flag=True, help="Put mentions into lower case first.")
@click.option(
    "--without-own-names",
    is_flag=True,
    help="Also link to a dictionary without names in the language of the queries, indexed in memory.",
)
@click.option(
    "--rerank",
    "reranker",
    type=click.Path(path_type=Path),
    help="Also re-rank candidates by the sentences, with this folder written by `nymlink train`.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="JSON file to write: all figures, and ranks."
)
@seed_option("Seed of the bootstrap intervals.")
def evaluate(
    queries: tuple[Path, ...],
    indexes: tuple[Path, ...],
    languages: tuple[str, ...],
    lower: bool,
    without_own_names: bool,
    reranker: Path | None,
    output: Path | None,
    seed: int,
) -> None:
    """Measure linking language by language.

    QUERIES are files whose names begin with the code of their language (es_test.txt), or folders of such files:
    files of XL-BEL, or any corpus. A mention is linked without its sentence unless candidates are re-ranked. A
    mention with several gold ids is right if any is found. A gold id that is missing in the dictionary stands for
    the concepts with a cross-reference to it, such as UMLS CUIs.

    \b
    nymlink xlbel evaluate xlbel_v1.0 --index mondo-index
    nymlink xlbel evaluate es_test.txt de_test.txt --index mondo-index --index medic-index -o xlbel.json
    """
    from nymlink.corpus.read import read_corpus
    from nymlink.index.index import Index
    from nymlink.xlbel.evaluate import evaluate_languages, find_queries, language_table

    require_files((output,), (*queries, *indexes, reranker))
    problems = reported_problems()
    files = find_queries(queries, languages)
    corpora = {code: read_corpus(file, problems=problems) for code, file in files.items()}
    stages = [path.resolve().name for path in indexes]
    if len(set(stages)) < len(stages):
        stages = [str(path) for path in indexes]
    results = evaluate_languages(
        {stage: Index.load(path) for stage, path in zip(stages, indexes, strict=True)},
        corpora,
        lower=lower,
        without_own_names=without_own_names,
        reranker=reranker,
        seed=seed,
        progress=True,
    )
    if output is not None:
        values = {
            "settings": {
                "lower": lower,
                "seed": seed,
                "queries": {code: file.name for code, file in files.items()},
            },
            "results": [result.to_dict() for result in results],
        }
        with atomic_file(output) as partial:
            partial.write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    click.echo(language_table(results), nl=False)
    finish(problems)
