"""`nymlink bulk link`: the mentions of many rows to concepts."""

from __future__ import annotations

from pathlib import Path

import click

from nymlink.bulk.tasks.link_task import LinkTask
from nymlink.bulk.tasks.task import Task
from nymlink.cli.bulk.options import absolute, job_options
from nymlink.cli.common import (
    encoder_option,
    guess_option,
    language_option,
    target_precision_option,
    top_k_option,
)


@click.command()
@click.option("--index", required=True, type=click.Path(path_type=Path), help="The index to link to.")
@encoder_option
@top_k_option
@target_precision_option
@guess_option
@language_option
@job_options
def link(
    index: Path,
    encoder: str | None,
    top_k: int,
    target_precision: float | None,
    guess: bool,
    language: str | None,
) -> Task:
    """Link the mentions of many rows to concepts.

    A row of a table is a mention; a document of PubTator is linked with all mentions that it comes with. The links
    are those of `nymlink link`.

    \b
    nymlink bulk link table.csv --column diagnosis --index mondo-index -o links
    nymlink bulk link notes.PubTator.txt --index mondo-index -o more-links --workers 2
    """
    return LinkTask(
        index=absolute(index),
        encoder=encoder,
        top_k=top_k,
        target_precision=target_precision,
        guesses=guess,
        language=language,
    )
