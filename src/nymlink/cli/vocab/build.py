"""`nymlink vocab build`: read sources into a vocabulary."""

from __future__ import annotations

from pathlib import Path

import click

from nymlink.cli.common import finish, input_format_option, map_column_option, mapping, reported_problems
from nymlink.core.store.output_checks import require_directory
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.store import KIND


@click.command()
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SOURCE...")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder to write.")
@input_format_option("the sources", VOCABULARY_FORMATS.names())
@click.option(
    "--default-language", default="en", show_default=True, help="Language of names whose source states none."
)
@click.option("--language", "languages", multiple=True, help="Keep names in this language only. Repeatable.")
@click.option(
    "--sab",
    "sabs",
    multiple=True,
    help="UMLS, OMOP: keep this source vocabulary only, for example SNOMEDCT_US. Repeatable.",
)
@click.option("--tty", "ttys", multiple=True, help="UMLS: keep this term type only, for example PT. Repeatable.")
@click.option("--suppressed", is_flag=True, help="UMLS: keep suppressible names too.")
@map_column_option("name=label")
@click.option("--strict", is_flag=True, help="OBO: refuse a file that breaks a rule of the format.")
def build(
    sources: tuple[Path, ...],
    output: Path,
    input_format: str | None,
    default_language: str,
    languages: tuple[str, ...],
    sabs: tuple[str, ...],
    ttys: tuple[str, ...],
    suppressed: bool,
    mapped_columns: tuple[str, ...],
    strict: bool,
) -> None:
    """Read ontologies, dictionaries or tables into one vocabulary.

    SOURCE is a file in any known format, plain or .gz, or a folder of UMLS RRF files. Several sources become one
    vocabulary: concepts of the same id are joined. A vocabulary in the folder is replaced, unless the folder
    has other files, too.

    \b
    nymlink vocab build hp.obo -o hpo
    nymlink vocab build 2026AA/META -o umls --language en --sab SNOMEDCT_US
    nymlink vocab build terms.csv -o mine --map-column id=code --map-column name=title
    """
    options = ReadOptions(
        lang=default_language,
        languages=frozenset(languages) or None,
        sources=frozenset(sabs) or None,
        term_types=frozenset(ttys) or None,
        suppressed=suppressed,
        columns=mapping(mapped_columns),
        strict=strict,
    )
    require_directory(output, kind=KIND, inputs=sources)
    problems = reported_problems()
    vocabulary = read_vocabulary(*sources, format=input_format, options=options, problems=problems, progress=True)
    vocabulary.save(output)
    click.echo(f"{len(vocabulary):,} concepts, {vocabulary.name_count:,} names → {output}")
    finish(problems)
