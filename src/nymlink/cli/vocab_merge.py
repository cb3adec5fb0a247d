"""Commands that join vocabularies."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import click

from nymlink.cli.common import PREFIX_FORM, finish, mapping, prefix_option, reported_problems, seed_option
from nymlink.cli.option_groups import GroupedCommand
from nymlink.core.errors import InputError
from nymlink.core.store.output_checks import require_directory
from nymlink.core.terminal import track
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.enrich import Enriched
from nymlink.vocabulary.enrich import enrich as enrich_vocabulary
from nymlink.vocabulary.mappings import read_mappings
from nymlink.vocabulary.merge.merge import VocabularyCounts
from nymlink.vocabulary.merge.merge import merge as merge_vocabularies
from nymlink.vocabulary.merge.report import KIND as REPORT
from nymlink.vocabulary.merge.report import summary, writing_report
from nymlink.vocabulary.read import open_vocabulary
from nymlink.vocabulary.vocabulary_folder import KIND
from nymlink.vocabulary.vocabulary_folder import KIND as VOCABULARY

_FIGURES = (
    ("concepts", "concepts"),
    ("names", "names"),
    ("several_english", "concepts with two or more English names"),
    ("pairs", "pairs of English names of one concept"),
    ("cuis", "UMLS CUIs"),
    ("names_with_cui", "names from which a CUI is reached"),
)


@click.command(cls=GroupedCommand)
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SOURCE...")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder to write.")
@click.option(
    "--mappings",
    multiple=True,
    type=click.Path(path_type=Path),
    help="SSSOM table of mappings between the concepts. Repeatable.",
)
@click.option("--report", type=click.Path(path_type=Path), help="Folder to write: the reasons of all joins.")
@click.option(
    "--sample",
    default=100,
    show_default=True,
    type=click.IntRange(min=0),
    help="Number of merged concepts in the sample of the report.",
)
@prefix_option
@seed_option("Seed of --sample.")
def merge(
    sources: tuple[Path, ...],
    output: Path,
    mappings: tuple[Path, ...],
    prefixes: tuple[str, ...],
    report: Path | None,
    sample: int,
    seed: int,
) -> None:
    """Merge vocabularies: equal concepts become one.

    SOURCE is a folder written by `nymlink vocab build`, or a source that it reads. Earlier sources have priority:
    a merged concept has the id and the preferred name of its member in the first. The ids of all members lead to
    it.

    \b
    nymlink vocab merge mondo hp.obo mesh.xml -o meta
    nymlink vocab merge mondo doid ncit -o meta --mappings mondo.sssom.tsv --report why

    Concepts are joined by mappings (exactMatch), by xrefs of both to each other, and, if their names agree, by an
    xref of one to the other or of both to one UMLS CUI or MeSH id. Two concepts of one namespace (two of MONDO)
    are joined only by a mapping. The report holds joins.tsv, rejected.tsv with reasons, largest.tsv and
    sample.tsv, to check by eye.
    """
    _check_places(sources, output, report)
    require_directory(output, kind=VOCABULARY, inputs=(*sources, *mappings))
    if report is not None:
        require_directory(report, kind=REPORT, inputs=(*sources, *mappings))
    problems = reported_problems()
    options = ReadOptions(prefixes=mapping(prefixes, PREFIX_FORM))
    mapping_sets = [read_mappings(path, options=options, problems=problems) for path in mappings]
    vocabularies = [
        open_vocabulary(path, options=options, problems=problems)
        for path in track(sources, "reading sources", total=len(sources))
    ]
    merged = merge_vocabularies(vocabularies, mapping_sets, progress=True)
    with nullcontext() if report is None else writing_report(merged, report, sample=sample, seed=seed):
        merged.vocabulary.save(output)
    click.echo(_table(merged.before, merged.after))
    joined = summary(merged)["merged"]
    click.echo(f"{joined['members']:,} concepts became {joined['concepts']:,} → {output}")
    finish(problems)


def _check_places(sources: tuple[Path, ...], output: Path, report: Path | None) -> None:
    """Check that nothing is read twice and no input is overwritten."""
    known: set[Path] = set()
    for path in sources:
        if path.resolve() in known:
            raise InputError("given twice: give each source once", path=path)
        known.add(path.resolve())
    for option, place in (("-o", output), ("--report", report)):
        if place is not None and place.resolve() in known:
            raise click.BadParameter(f"{place} is one of the sources: choose another place", param_hint=option)
        known.update([place.resolve()] if place is not None else [])
    if report is not None and (
        output.resolve() in report.resolve().parents or report.resolve() in output.resolve().parents
    ):
        # Each is replaced as a whole, and the other would go with it.
        raise click.BadParameter("one output is in the other: choose another place", param_hint="--report")


def _table(before: VocabularyCounts, after: VocabularyCounts) -> str:
    figures = [(label, getattr(before, name), getattr(after, name)) for name, label in _FIGURES]
    figures.append(("languages", len(before.languages), len(after.languages)))
    width = max(len(label) for label, *_ in figures)
    lines = [f"{label:{width}}  {old:>12,}  {new:>12,}" for label, old, new in figures]
    return "\n".join([f"{'':{width}}  {'before':>12}  {'after':>12}", *lines])


@click.command(cls=GroupedCommand)
@click.argument("target", type=click.Path(path_type=Path))
@click.option(
    "--with", "meta", required=True, type=click.Path(path_type=Path), help="Vocabulary with the names to add."
)
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder to write.")
@click.option(
    "--language",
    "languages",
    multiple=True,
    help="Add names in this language only; if not given, in the languages of TARGET. Repeatable.",
)
@click.option("--without", multiple=True, metavar="SOURCE", help="Add no names of this source. Repeatable.")
@click.option(
    "--by-name",
    is_flag=True,
    help="Also find equal concepts by name, if no id or cross-reference decides.",
)
@prefix_option
def enrich(
    target: Path,
    meta: Path,
    output: Path,
    languages: tuple[str, ...],
    without: tuple[str, ...],
    by_name: bool,
    prefixes: tuple[str, ...],
) -> None:
    """Add names from another vocabulary to the concepts of TARGET.

    TARGET and the other are folders written by `nymlink vocab build` or `merge`, or sources that build reads. Two
    concepts are the same if they share an id (alternate ids, old ids, and ids of the members of a merged concept
    count), or if a cross-reference between them is one-to-one. With --by-name, for a list with local ids, they are
    also the same if the preferred name of the concept in TARGET is the preferred or an exact name of exactly one
    concept of the other; the order of words, plurals and spelling do not matter. A gene (an id of HGNC, NCBI Gene
    or Ensembl) equals only a gene.

    The concepts of TARGET do not change. A name that would become ambiguous is not added. An added name keeps its
    source; --without leaves out the names of a source.

    \b
    nymlink vocab enrich CTD_diseases.tsv --with meta --without wikidata_medical -o medic-enriched
    nymlink vocab enrich our_drugs.csv --with meta --by-name -o drugs
    """
    require_directory(output, kind=KIND, inputs=[target, meta])
    problems = reported_problems()
    options = ReadOptions(prefixes=mapping(prefixes, PREFIX_FORM))
    opened, lender = (open_vocabulary(path, options=options, problems=problems) for path in (target, meta))
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
