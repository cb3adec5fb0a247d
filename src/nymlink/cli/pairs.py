"""`nymlink pairs`: write the synonym pairs that encoders learn from."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from nymlink.cli.common import require_files, seed_option
from nymlink.cli.option_groups import GroupedCommand
from nymlink.core.errors import InputError
from nymlink.core.terminal import tell
from nymlink.pairs.pair_files import write_lines, write_pairs
from nymlink.pairs.pairs import Pairs, Part
from nymlink.vocabulary.concepts import KINDS, SYNONYM_KINDS
from nymlink.vocabulary.vocabulary import Vocabulary


@click.command(cls=GroupedCommand)
@click.argument("vocabulary", type=click.Path(path_type=Path), metavar="VOCAB")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="File to write: Parquet for a name in .parquet, else text (compressed with .gz); - for text on "
    "standard output.",
)
@click.option(
    "--cap",
    default=50,
    show_default=True,
    type=click.IntRange(1, 10**9),
    help="Most pairs of a concept, sampled at random.",
)
@seed_option("Seed of drawing, holding out and shuffling.")
@click.option(
    "--language",
    "languages",
    multiple=True,
    help="Names in this language only (und: of unknown language); all otherwise. Repeatable.",
)
@click.option("--across-languages", is_flag=True, help="Only pairs of names in two languages.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(KINDS),
    help="Names of this kind only; all but narrow and broad otherwise. Repeatable.",
)
@click.option(
    "--held-out",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Share of the concepts to hold out, for example 0.05.",
)
@click.option("--held-out-to", type=click.Path(path_type=Path), help="File for pairs of held-out concepts.")
def pairs(
    vocabulary: Path,
    output: Path,
    cap: int,
    seed: int,
    languages: tuple[str, ...],
    across_languages: bool,
    kinds: tuple[str, ...],
    held_out: float | None,
    held_out_to: Path | None,
) -> None:
    """Write pairs of synonyms for training encoders.

    A pair is two names of one concept that still differ in lower case. Their languages may differ. VOCAB is a
    folder written by `nymlink vocab build`. Names of obsolete concepts are left out. Pairs are shuffled. The same
    vocabulary and options give the same file.

    A Parquet file has the columns concept, name1 and name2, and the settings in its metadata. A line of text is
    concept||name1||name2; pairs that do not fit into such a line are counted and left out.

    Concepts are held out whole. The choice depends only on --seed and their ids, so that another release of the
    vocabulary holds out the same ones.

    \b
    nymlink pairs umls -o pairs.parquet --language en
    nymlink pairs umls -o pairs.txt --held-out 0.05 --held-out-to held-out.txt
    nymlink pairs hpo -o - | head
    """
    if (held_out is None) != (held_out_to is None):
        raise click.UsageError("--held-out and --held-out-to go together")
    require_files([None if str(output) == "-" else output, held_out_to], [vocabulary])
    opened = Vocabulary.load(vocabulary)

    def of(part: Part) -> Pairs:
        return Pairs.of(
            opened,
            cap=cap,
            seed=seed,
            languages=languages or None,
            kinds=set(kinds or SYNONYM_KINDS),
            across_languages=across_languages,
            held_out=held_out or 0,
            part=part,
        )

    parts = [(of("train"), output)]
    if held_out_to is not None:
        parts.append((of("held-out"), held_out_to))
    for drawn, target in parts:
        if not len(drawn):
            raise InputError(
                f"no pair for {target}: none of its concepts has two different names of those asked for"
                f"{' in two languages' if across_languages else ''}"
            )
    for drawn, target in parts:
        _write(drawn, target)


def _write(pairs: Pairs, target: Path) -> None:
    to_stdout = str(target) == "-"
    left_out = write_lines(pairs, sys.stdout.buffer) if to_stdout else write_pairs(pairs, target, progress=True)
    summary = f"{len(pairs) - left_out:,} pairs of {len(pairs.concepts):,} concepts, {len(pairs.names):,} names"
    if to_stdout:
        tell(f"{summary} → {target}")
    else:
        click.echo(f"{summary} → {target}")
    if left_out:
        tell(
            f"{left_out:,} pairs are left out of {target}: their names have || or a line break in them, or | next "
            "to the separator, and would be read back as others; a .parquet file holds all",
            level="notice",
        )
