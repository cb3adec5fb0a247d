"""Options that several commands of `nymlink plot` have, and what they all check first."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from nymlink.cli.common import require_files, seed_option
from nymlink.core.errors import MissingExtraError
from nymlink.plot.figure import picture_format

vocabulary_argument = click.argument("vocabulary", type=click.Path(path_type=Path), metavar="VOCAB")
corpus_option = click.option(
    "--corpus", required=True, type=click.Path(path_type=Path), help="Annotated documents: file or folder."
)


def _drawable(_: click.Context, __: click.Parameter, output: Path) -> Path:
    require_files([output])
    picture_format(output)
    return output


output_option = click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    callback=_drawable,
    help="Picture to write: .pdf, .png or .svg.",
)
sample_seed_option = seed_option("Seed of the random sample.")


def each_once(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a value that is given more than once, as the callback of a repeatable parameter."""
    for value in values:
        if values.count(value) > 1:
            raise click.BadParameter(f"{value} is given more than once")
    return values


def encoders_option(purpose: str) -> Callable[[Any], Any]:
    """Make the option ``--encoder MODEL``, which is given once or more.

    Args:
        purpose: what the picture has of each encoder, for the help.
    """
    return click.option(
        "--encoder",
        "encoders",
        multiple=True,
        required=True,
        metavar="MODEL",
        callback=each_once,
        help=f"Folder of an encoder, or its name on the hub. Repeatable: {purpose}",
    )


def require_modules(*modules: str, extra: str, purpose: str) -> None:
    """Check that the libraries for a picture are installed, before anything is encoded for it.

    Raises:
        MissingExtraError: one is not.
    """
    if any(find_spec(module) is None for module in modules):
        raise MissingExtraError(extra, purpose=purpose)


def titles(models: tuple[str, ...]) -> dict[str, str]:
    """Map short titles to models: the last part of a path, or the whole where two models share that part."""
    last = [Path(name).name for name in models]
    return {short if last.count(short) == 1 else name: name for short, name in zip(last, models, strict=True)}
