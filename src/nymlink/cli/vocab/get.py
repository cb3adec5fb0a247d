"""`nymlink vocab get`: fetch published sources by name and make a vocabulary of them."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import click

from nymlink.cli.common import finish, reported_problems
from nymlink.core.store.output_checks import require_directory
from nymlink.sources.cache import cache_folder, read_record
from nymlink.sources.catalogue import choose_sources, known_sources, with_translations
from nymlink.sources.fetch import FetchOptions
from nymlink.sources.get_vocabulary import fetch_all, get_vocabulary
from nymlink.sources.source import PublishedSource
from nymlink.vocabulary.store import KIND


@click.command()
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder to write.")
@click.option(
    "--language",
    "languages",
    multiple=True,
    help="Keep names in this language only, those of translations among them. Repeatable.",
)
@click.option("--list", "listed", is_flag=True, help="List the sources there are, or those named, and stop.")
@click.option("--only-download", is_flag=True, help="Fetch the files and print their paths; build nothing.")
@click.option("--offline", is_flag=True, help="Use only what is in the cache.")
@click.option("--refresh", is_flag=True, help="Ask the servers for files newer than those in the cache.")
def get(
    names: tuple[str, ...],
    output: Path | None,
    languages: tuple[str, ...],
    listed: bool,
    only_download: bool,
    offline: bool,
    refresh: bool,
) -> None:
    """Download published sources by name and build one vocabulary of them.

    NAME is one of --list, or "open" for all whose licence is open. Files are fetched once and kept in the cache
    ($NYMLINK_CACHE, else the user's); an interrupted download goes on where it stopped. Several sources become one
    vocabulary: concepts of the same id are joined, and those that tables of mappings among the sources say are
    the same. For another --language than English, translations of a source are fetched, too, where --list has
    some.

    \b
    nymlink vocab get hpo -o hpo
    nymlink vocab get hpo --language en --language de -o hpo-german
    nymlink vocab get hpo hpo-translations -o hpo-international
    nymlink vocab get mondo doid ordo mondo-mappings -o diseases
    nymlink vocab get open -o meta
    """
    known = known_sources()
    if listed:
        _list(choose_sources(names, known) if names else list(known.values()))
        return
    if not names:
        raise click.UsageError("nothing to get: give names of sources (see --list)")
    if only_download == (output is not None):
        raise click.UsageError("give either a folder to write, -o, or --only-download")
    if offline and refresh:
        raise click.UsageError("--offline and --refresh contradict each other")
    if output is not None:
        require_directory(output, kind=KIND)
    sources = with_translations(choose_sources(names, known), languages, known)
    options = FetchOptions(offline=offline, refresh=refresh)
    problems = reported_problems()
    for source in sources:
        if not source.open:
            click.echo(f"{source.name} is not open for every use: {source.licence}", err=True)
    if output is None:
        for source, file in fetch_all(sources, options=options, problems=problems, progress=True):
            click.echo(f"{source.name}\t{file.path}")
    else:
        vocabulary = get_vocabulary(
            sources, languages=languages, options=options, problems=problems, progress=True
        )
        vocabulary.save(output)
        click.echo(f"{len(vocabulary):,} concepts, {vocabulary.name_count:,} names → {output}")
    finish(problems)


def _list(sources: list[PublishedSource]) -> None:
    """Print sources: aligned and cut to the width of a terminal, as TSV to a file or a pipe."""
    folder = cache_folder()
    rows = [("name", "open", "size", "cached", "title", "licence", "cite", "url")]
    for source in sources:
        cached = read_record(source, folder)
        date = cached.date[:10] if cached is not None else "no"
        opened = "yes" if source.open else "no"
        about = (source.title, source.licence, source.citation, source.url)
        rows.append((source.name, opened, source.size, date, *about))
    if sys.stdout.isatty():
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        width = shutil.get_terminal_size((120, 24)).columns
        for row in rows:
            click.echo("  ".join(map(str.ljust, row, widths))[:width].rstrip())
    else:
        for row in rows:
            click.echo("\t".join(row))
