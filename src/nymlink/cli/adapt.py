"""`nymlink adapt`: adapt an index to mentions that people decided."""

from __future__ import annotations

import json
from pathlib import Path

import click

from nymlink.cli.annotated_corpus import AnnotatedCorpus, corpora_options
from nymlink.cli.common import finish, mapping, reported_problems
from nymlink.cli.option_groups import GroupedCommand
from nymlink.core.language_codes import language_of
from nymlink.core.store.output_checks import require_directory
from nymlink.corpus.offsets import OffsetUnit
from nymlink.index.index import Index
from nymlink.index.index_folder import KIND
from nymlink.train.adapt import Adaptation, adapt


@click.command("adapt", cls=GroupedCommand)
@click.argument("index", type=click.Path(path_type=Path), metavar="INDEX")
@click.option(
    "--corpus",
    "corpora",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path),
    help="Mentions with their concepts, in any format of corpora, such as a table. Repeatable.",
)
@corpora_options
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder of the adapted index."
)
@click.option("--json", "as_json", is_flag=True, help="Write the report as a JSON object.")
def adapt_command(
    index: Path,
    corpora: tuple[Path, ...],
    types: tuple[str, ...],
    input_format: str | None,
    mapped_columns: tuple[str, ...],
    offsets: OffsetUnit,
    language: str | None,
    output: Path,
    as_json: bool,
) -> None:
    """Adapt an index to mentions that people decided.

    The index learns names (texts that mean a concept), the order of its candidates, and its confidences. Each step
    is measured by cross-validation: a fifth of the documents is linked with what the others teach.
    Names are left out if they lose, the others unless they clearly gain. The result is a new index.

    \b
    nymlink adapt mondo-index --corpus train.PubTator.txt --type Disease -o adapted
    nymlink link --index adapted "heart attack"

    A table has a mention and a concept id in each row; --map-column names their columns.

    Give 100 mentions or more; 500 to 5,000 are good. Keep other mentions to measure the result (nymlink evaluate).
    """
    columns, language = mapping(mapped_columns), language_of(language)
    require_directory(output, kind=KIND, inputs=[index, *corpora])
    problems = reported_problems()
    opened = Index.load(index)
    read = [
        AnnotatedCorpus(path, input_format, columns, set(types) or None, language, offsets).read(problems)
        for path in corpora
    ]
    adaptation = adapt(opened, read, types=types or None, language=language, progress=True)
    adaptation.apply(opened, progress=True).save(output)
    if as_json:
        click.echo(json.dumps(adaptation.to_dict(), ensure_ascii=False, indent=2))
    else:
        click.echo(_report(adaptation, output))
    finish(problems)


def _report(adaptation: Adaptation, output: Path) -> str:
    """Describe the steps, a line each."""
    lines = [f"{adaptation.mentions:,} mentions, measured by cross-validation: first right, right among five"]
    first, five = adaptation.steps[0].first[0], adaptation.steps[0].five[0]
    lines.append(f"the index    {100 * first:5.1f} {100 * five:5.1f}")
    for step in adaptation.steps:
        said = "learned" if step.taken else "left out"
        if step.name == "names" and step.taken:
            said = f"{len(adaptation.names):,} new names"
        lines.append(f"with {step.name:8}{100 * step.first[1]:5.1f} {100 * step.five[1]:5.1f}  {said}")
    if adaptation.confidences is not None:
        before, after = adaptation.confidences
        said = "left as they are" if before == after else f"cross-entropy {before:.3f} → {after:.3f}"
        lines.append(f"confidences  {said}")
    lines.append(f"→ {output}")
    return "\n".join(lines)
