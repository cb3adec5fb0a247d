"""What several commands share: options and how they are read, checks of files, and reporting problems."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import click

from nymlink.core.problems import Problem, Problems
from nymlink.core.store.outputs import require_file
from nymlink.corpus.model import Corpus
from nymlink.corpus.options import CorpusOptions

_SHOWN: Final = 20
_LARGEST_SEED: Final = 2**32 - 1
"""That scikit-learn takes."""


def reported_problems() -> Problems:
    """Problems that go to standard error as they come, the first few of them in full."""
    shown = 0

    def show(problem: Problem) -> None:
        nonlocal shown
        shown += 1
        if shown <= _SHOWN:
            click.echo(str(problem), err=True)
        elif shown == _SHOWN + 1:
            click.echo("… further problems are only counted", err=True)

    return Problems(on_problem=show)


def finish(problems: Problems) -> None:
    """Say how much input was rejected or mended, and exit with status 1 when some was rejected."""
    if problems.repaired:
        click.echo(f"{problems.repaired:,} places in the input were mended and kept", err=True)
    if problems.rejected:
        click.echo(f"{problems.rejected:,} places in the input were rejected and not used", err=True)
        click.get_current_context().exit(1)


def require_files(outputs: Iterable[Path | None], inputs: Iterable[Path | None] = ()) -> None:
    """See that files can be written, each in a place of its own, before work (:mod:`nymlink.core.store.outputs`).

    Args:
        outputs: files to be written; one that is not asked for is ``None``.
        inputs: what is read for them.

    Raises:
        OutputError: one cannot be written, or would replace what is read or belongs to a directory of nymlink's.
        click.UsageError: one would be written twice.
    """
    read, written = list(inputs), set()
    for output in outputs:
        if output is None:
            continue
        require_file(output, inputs=read)
        target = os.path.realpath(output)
        # A device or a pipe is never replaced.
        if target in written and (output.is_file() or not output.exists()):
            raise click.UsageError(f"{output} would be written twice: name a file for each output")
        written.add(target)


def read_beside(path: Path, *, columns: Mapping[str, str], problems: Problems) -> Corpus:
    """A corpus beside the one that options are about.

    Its format is told by its content, and columns are for it too where it is a table.

    Raises:
        InputError: it cannot be read.
    """
    from nymlink.core.formats import find_format
    from nymlink.corpus.read import read_corpus
    from nymlink.corpus.readers import CORPUS_FORMATS

    format = find_format(CORPUS_FORMATS, path, otherwise="table" if columns else None).name
    options = CorpusOptions(columns=columns if format == "table" else {})
    return read_corpus(path, format=format, options=options, problems=problems)


def mapping(values: Iterable[str]) -> dict[str, str]:
    """``["name=label"]`` → ``{"name": "label"}``.

    Raises:
        click.BadParameter: a value has no ``=``, or two are for the same.
    """
    pairs = [value.partition("=") for value in values]
    for ours, equals, theirs in pairs:
        if not (ours and equals and theirs):
            raise click.BadParameter(f"{ours!r} is not of the form OURS=THEIRS, for example name=label")
    found: dict[str, str] = {}
    for ours, _, theirs in pairs:
        if found.setdefault(ours, theirs) != theirs:
            raise click.BadParameter(f"{ours!r} is {found[ours]!r} and {theirs!r}: give one of them")
    return found


def annotated_corpus(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command about an index the argument CORPUS and what says how that, and the index, is read."""
    from nymlink.corpus.readers import CORPUS_FORMATS

    for decorate in (
        click.option("--encoder", metavar="MODEL", help="Where the encoder of the index is now, if it was moved."),
        column_option("concept_id=mondo_id"),
        click.option(
            "--type", "types", multiple=True, help="Mentions of this type only, e.g. Disease. Repeatable."
        ),
        click.option(
            "--format",
            type=click.Choice(CORPUS_FORMATS.names()),
            help="Format of the corpus; told by its content when not given.",
        ),
        click.argument("corpus", type=click.Path(path_type=Path), metavar="CORPUS"),
    ):
        command = decorate(command)
    return command


def seed_option(help: str) -> Callable[[Any], Any]:
    """The option ``--seed NUMBER``."""
    return click.option("--seed", default=0, show_default=True, type=click.IntRange(0, _LARGEST_SEED), help=help)


def column_option(example: str) -> Callable[[Any], Any]:
    """The option ``--column OURS=THEIRS``."""
    return click.option(
        "--column",
        "columns",
        multiple=True,
        metavar="OURS=THEIRS",
        help=f"In a table: which of its columns is which of ours, for example {example}. Repeatable.",
    )
