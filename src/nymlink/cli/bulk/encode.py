"""`nymlink bulk encode`: many names to vectors."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from nymlink.bulk.tasks.encode_task import EncodeTask
from nymlink.bulk.tasks.task import Task
from nymlink.cli.bulk.options import absolute, job_options
from nymlink.encode.backends import Precision
from nymlink.encode.model.embedded import MINI


@click.command()
@click.option(
    "--encoder",
    default=MINI,
    show_default=True,
    metavar="MODEL",
    help="An installed encoder, a folder, or the name of a model on the Hugging Face hub.",
)
@click.option(
    "--backend",
    help="Library that runs the model: onnx or torch; without it onnx where the model has files for it.",
)
@click.option("--precision", type=click.Choice(get_args(Precision)), help="Precision of matrix products.")
@click.option(
    "--device", help="Device of the encoder: cpu or cuda; without it torch takes a GPU where there is one."
)
@job_options
def encode(encoder: str, backend: str | None, precision: Precision | None, device: str | None) -> Task:
    """Encode many names as vectors of length 1, float32.

    A row of a table is a name. The vector of a name without a word that the encoder knows is of zeros.

    \b
    nymlink bulk encode table.csv --column diagnosis -o vectors
    nymlink bulk encode table.csv --column diagnosis --encoder my-encoder -o more-vectors --workers 2
    """
    model = absolute(Path(encoder)) if Path(encoder).is_dir() else encoder
    return EncodeTask(encoder=model, backend=backend, precision=precision, device=device)
