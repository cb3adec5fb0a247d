"""`nymlink bulk annotate`: the mentions in many texts."""

from __future__ import annotations

from pathlib import Path

import click

from nymlink.annotation.settings import AnnotatorSettings
from nymlink.bulk.tasks.annotate_task import AnnotateTask
from nymlink.bulk.tasks.task import Task
from nymlink.cli.annotate.options import annotator_options
from nymlink.cli.bulk.options import absolute, job_options
from nymlink.cli.common import encoder_option


@click.command()
@click.option("--index", required=True, type=click.Path(path_type=Path), help="The index to look for.")
@encoder_option
@annotator_options
@job_options
def annotate(index: Path, encoder: str | None, settings: AnnotatorSettings) -> Task:
    """Find mentions of concepts in many texts, and link them.

    A row is a text. What is found is that of `nymlink annotate`; mentions that documents come with are linked with
    --detector given.

    \b
    nymlink bulk annotate abstracts.jsonl --index hpo-index -o annotated
    nymlink bulk annotate notes.PubTator.txt --index hpo-index -o more-annotated --workers 2
    """
    return AnnotateTask(index=absolute(index), encoder=encoder, settings=settings)
