"""`nymlink vocab enrich`: give a vocabulary the names that another has for its concepts."""

from __future__ import annotations

from pathlib import Path

import click

from nymlink.cli.common import finish, reported_problems
from nymlink.core.store.outputs import require_directory
from nymlink.vocabulary.enrich.enrich import Enriched
from nymlink.vocabulary.enrich.enrich import enrich as enrich_vocabulary
from nymlink.vocabulary.read import open_vocabulary
from nymlink.vocabulary.store import KIND


@click.command()
@click.argument("target", type=click.Path(path_type=Path))
@click.option(
    "--with", "meta", required=True, type=click.Path(path_type=Path), help="Vocabulary whose names are borrowed."
)
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Directory to write.")
@click.option(
    "--language",
    "languages",
    multiple=True,
    help="Borrow names in this language only; not given: in those that TARGET has. Repeatable.",
)
@click.option("--without", multiple=True, metavar="SOURCE", help="Borrow no names of this source. Repeatable.")
@click.option(
    "--by-name",
    is_flag=True,
    help="Concepts are the same by their names, too, where nothing surer says otherwise.",
)
def enrich(
    target: Path, meta: Path, output: Path, languages: tuple[str, ...], without: tuple[str, ...], by_name: bool
) -> None:
    """Add to the concepts of TARGET the names that another vocabulary has for the same ones.

    TARGET and the other are directories that `nymlink vocab build` or `merge` wrote, or sources that build reads.
    Concepts are the same by an id that they share, alternate and old ids among them (those of its members, in a
    merged vocabulary), or by a cross-reference that is one-to-one. With --by-name, for a list with ids of its own
    that nobody refers to, they are also the same where the preferred name of a concept of TARGET is that of the
    other, or an exact name of it, and of no second one, but for the order of words, plurals and spelling; a gene
    (an id of HGNC, NCBI Gene or Ensembl) is the same as another gene only. The concepts of TARGET stay as they
    are, and a name that would be ambiguous is not added. Added names say which source they are from; one whose
    names are not to be trusted can be left out.

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
    equals = enriched.equals
    figures = [
        ("concepts", len(enriched.vocabulary)),
        *((f"with an equal {how}", count) for how, count in equals.concepts().items()),
        ("cross-references that are not heeded", equals.refused),
        ("names there already", enriched.there),
        ("ambiguous names, left out", enriched.ambiguous),
    ]
    width = max(len(label) for label, _ in figures)
    return "\n".join(f"{label:{width}}  {count:>12,}" for label, count in figures)
