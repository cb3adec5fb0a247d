"""`nymlink vocab enrich`: add names of another vocabulary to the concepts of one."""

from __future__ import annotations

from pathlib import Path

import click

from nymlink.cli.common import finish, reported_problems
from nymlink.core.store.output_checks import require_directory
from nymlink.vocabulary.enrich.enrich import Enriched
from nymlink.vocabulary.enrich.enrich import enrich as enrich_vocabulary
from nymlink.vocabulary.read import open_vocabulary
from nymlink.vocabulary.store import KIND


@click.command()
@click.argument("target", type=click.Path(path_type=Path))
@click.option(
    "--with", "meta", required=True, type=click.Path(path_type=Path), help="Vocabulary whose names are borrowed."
)
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder to write.")
@click.option(
    "--language",
    "languages",
    multiple=True,
    help="Borrow names in this language only; without it in those that TARGET has. Repeatable.",
)
@click.option("--without", multiple=True, metavar="SOURCE", help="Borrow no names of this source. Repeatable.")
@click.option(
    "--by-name",
    is_flag=True,
    help="Find the same concepts by their names, too, where no id or cross-reference decides.",
)
def enrich(
    target: Path, meta: Path, output: Path, languages: tuple[str, ...], without: tuple[str, ...], by_name: bool
) -> None:
    """Add names of another vocabulary to the concepts of TARGET.

    TARGET and the other are folders that `nymlink vocab build` or `merge` wrote, or sources that build reads.
    Two concepts are the same when they share an id (alternate ids, old ids, and ids of the members of a merged
    concept count), or when a cross-reference between them is one-to-one. With --by-name, which is for a list with
    ids of its own, they are also the same when the preferred name of the concept in TARGET is the preferred or an
    exact name of one concept of the other and of no second one; the order of words, plurals and spelling do not
    matter. A gene (an id of HGNC, NCBI Gene or Ensembl) is the same as another gene only.

    The concepts of TARGET stay as they are. A name that would become ambiguous is not added. An added name keeps
    its source; the names of a source that you do not trust are left out with --without.

    \b
    nymlink vocab enrich CTD_diseases.tsv --with meta --without wikidata_medical -o medic-enriched
    nymlink vocab enrich our_drugs.csv --with meta --by-name -o drugs
    """
    require_directory(output, kind=KIND, inputs=[target, meta])
    problems = reported_problems()
    opened, lender = (open_vocabulary(path, problems=problems) for path in (target, meta))
    enriched = enrich_vocabulary(opened, lender, languages=languages, without=without, by_name=by_name)
    enriched.vocabulary.save(output)
    click.echo(_report(enriched))
    click.echo(f"{enriched.added:,} names added → {output}")
    finish(problems)


def _report(enriched: Enriched) -> str:
    equals = enriched.equivalences
    figures = [
        ("concepts", len(enriched.vocabulary)),
        *((f"with an equivalent {how}", count) for how, count in equals.concepts().items()),
        ("cross-references not used", equals.refused),
        ("names already present", enriched.present),
        ("ambiguous names, left out", enriched.ambiguous),
    ]
    width = max(len(label) for label, _ in figures)
    return "\n".join(f"{label:{width}}  {count:>12,}" for label, count in figures)
