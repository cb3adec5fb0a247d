"""How annotated documents are given to `nymlink link`, which has options of its own about other formats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from nymlink.corpus.readers import CORPUS_FORMATS


def corpus_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options ``--corpus``, ``--corpus-format`` and ``--corpus-column``."""
    for decorate in (
        click.option(
            "--corpus-column",
            "corpus_columns",
            multiple=True,
            metavar="OURS=THEIRS",
            help="Of a corpus that is a table: which of its columns is which of ours, for example mention=term. "
            "Repeatable.",
        ),
        click.option(
            "--corpus-format",
            type=click.Choice(CORPUS_FORMATS.names()),
            help="Format of the corpus; told by its content when not given.",
        ),
        click.option(
            "--corpus",
            type=click.Path(path_type=Path),
            help="Link the mentions of annotated documents (file or folder, any corpus format); they need no gold "
            "ids.",
        ),
    ):
        command = decorate(command)
    return command
