"""`nymlink plot languages`: draw how well each stage of a training links in each language."""

from __future__ import annotations

from pathlib import Path

import click

from nymlink.cli.plot.options import output_option, require_modules
from nymlink.plot.figure import save_figure
from nymlink.plot.languages import draw_languages
from nymlink.xlbel.evaluate import COUNTING, reading_of
from nymlink.xlbel.results import accuracies, coverage, read_results


@click.command()
@click.argument("results", type=click.Path(path_type=Path), metavar="RESULTS")
@output_option
def languages(results: Path, output: Path) -> None:
    """Draw how well each stage of a training links in each language.

    A group of bars for each language, and their mean; a bar for each index that was evaluated: Acc@1 of all
    mentions, by name, or by concept where candidates were re-ranked. The outline about a bar is coverage, what the
    dictionary allows. RESULTS is the JSON file that `nymlink xlbel evaluate -o` wrote.

    \b
    nymlink xlbel evaluate xlbel_v1.0 --index mondo-index --index medic-index -o xlbel.json
    nymlink plot languages xlbel.json -o languages.png
    """
    require_modules("matplotlib", extra="plot", purpose="drawing")
    measured = read_results(results)
    reading = reading_of(measured)
    by_stage = accuracies(measured, reading)
    measure = f"Acc@1 of all mentions, {COUNTING[reading]}"
    save_figure(draw_languages(by_stage, measure=measure, coverage=coverage(measured)), output)
    codes = {result.language for result in measured}
    click.echo(f"{len(by_stage):,} stages in {len(codes):,} languages → {output}")
