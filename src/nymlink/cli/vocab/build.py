"""`nymlink vocab build`: read sources into a vocabulary."""

from __future__ import annotations

from pathlib import Path

import click

from nymlink.cli.common import column_option, finish, mapping, reported_problems
from nymlink.core.store.outputs import require_directory
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.store import KIND


@click.command()
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SOURCE...")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Directory to write.")
@click.option(
    "--format",
    type=click.Choice(VOCABULARY_FORMATS.names()),
    help="Format of the sources; told by their content when not given.",
)
@click.option("--lang", default="en", show_default=True, help="Language of names that the source gives none for.")
@click.option("--language", "languages", multiple=True, help="Keep names in this language only. Repeatable.")
@click.option("--sab", "sabs", multiple=True, help="UMLS, OMOP: keep this source vocabulary only. Repeatable.")
@click.option("--tty", "ttys", multiple=True, help="UMLS: keep this term type only. Repeatable.")
@click.option("--suppressed", is_flag=True, help="UMLS: keep suppressible names too.")
@column_option("name=label")
@click.option("--strict", is_flag=True, help="OBO: refuse a file that does not keep to the letter of the format.")
def build(
    sources: tuple[Path, ...],
    output: Path,
    format: str | None,
    lang: str,
    languages: tuple[str, ...],
    sabs: tuple[str, ...],
    ttys: tuple[str, ...],
    suppressed: bool,
    columns: tuple[str, ...],
    strict: bool,
) -> None:
    """Read ontologies, dictionaries or tables into one vocabulary.

    SOURCE is a file in any known format, plain or .gz, or a folder of UMLS RRF files. Several sources become one
    vocabulary: concepts of the same id are joined. A vocabulary that is in the directory is replaced, unless files
    that are not its own are there, too.

    \b
    nymlink vocab build hp.obo -o hpo
    nymlink vocab build umls/META -o umls --language en --sab SNOMEDCT_US
    nymlink vocab build terms.csv -o mine --column id=code --column name=title
    """
    options = ReadOptions(
        lang=lang,
        languages=frozenset(languages) or None,
        sources=frozenset(sabs) or None,
        term_types=frozenset(ttys) or None,
        suppressed=suppressed,
        columns=mapping(columns),
        strict=strict,
    )
    require_directory(output, kind=KIND, inputs=sources)
    problems = reported_problems()
    vocabulary = read_vocabulary(*sources, format=format, options=options, problems=problems, progress=True)
    vocabulary.save(output)
    click.echo(f"{len(vocabulary):,} concepts, {vocabulary.name_count:,} names → {output}")
    finish(problems)
