"""Options that several commands have, checks of files, and reports of problems."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click

from nymlink.core.problems import Problem, Problems
from nymlink.core.store.output_checks import require_file
from nymlink.core.terminal import STYLE, tell
from nymlink.core.toml_settings import read_toml
from nymlink.corpus.offsets import OFFSET_UNITS
from nymlink.vocabulary.restriction import Restriction

_SHOWN: Final = 20
_LARGEST_SEED: Final = 2**32 - 1
"""The largest seed that scikit-learn takes."""


def reported_problems() -> Problems:
    """Make a collector of problems that prints the first few on standard error at once."""
    shown = 0

    def show(problem: Problem) -> None:
        nonlocal shown
        shown += 1
        if shown <= _SHOWN or STYLE.verbose:
            message = f"{problem.message} ({problem.outcome})"
            tell(message, level="notice", path=problem.path, line=problem.line, rejected=problem.rejected)
        elif shown == _SHOWN + 1:
            tell("… further problems are only counted: --verbose shows all", level="notice")

    return Problems(on_problem=show)


def finish(problems: Problems) -> None:
    """Print the numbers of rejected and repaired places of the input, and exit with 1 if any was rejected."""
    if problems.repaired:
        tell(f"{_places(problems.repaired)} mended and kept")
    if problems.rejected:
        tell(f"{_places(problems.rejected)} rejected and not used", level="notice")
        click.get_current_context().exit(1)


def _places(number: int) -> str:
    return f"{number:,} place{'s' * (number != 1)} in the input {'was' if number == 1 else 'were'}"


def require_files(outputs: Iterable[Path | None], inputs: Iterable[Path | None] = ()) -> None:
    """Check before any work that files can be written, each to a different place.

    Args:
        outputs: files to write; ``None`` for an output that is not requested.
        inputs: input files and folders.

    Raises:
        OutputError: one cannot be written, or would replace an input or a file in a folder of nymlink.
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


def mapping(values: Iterable[str], form: str = "COLUMN=HEADER, for example name=label") -> dict[str, str]:
    """Parse assignments: ``["name=label"]`` → ``{"name": "label"}``.

    Args:
        values: what the user gave.
        form: their form, for the message.

    Raises:
        click.BadParameter: a value has no ``=``, or two are for the same.
    """
    pairs = [value.partition("=") for value in values]
    for column, equals, header in pairs:
        if not (column and equals and header):
            raise click.BadParameter(f"{column!r} is not of the form {form}")
    assigned: dict[str, str] = {}
    for column, _, header in pairs:
        if assigned.setdefault(column, header) != header:
            raise click.BadParameter(f"{column!r} is {assigned[column]!r} and {header!r}: give one of them")
    return assigned


def with_options(command: Callable[..., None], options: Sequence[Callable[[Any], Any]]) -> Callable[..., None]:
    """Add options to a command, in their order."""
    for option in reversed(options):
        command = option(command)
    return command


def settings_option(help: str) -> Callable[[Any], Any]:
    """Make the option ``--settings``, given to the command as ``settings``, texts for :func:`read_settings`.

    Args:
        help: the names of the settings.
    """
    return click.option(
        "--settings",
        multiple=True,
        metavar="FILE|NAME=VALUE",
        help=f"A TOML file with settings, or one setting: {help}. Repeatable; later values count.",
    )


def read_settings(given: Iterable[str]) -> tuple[dict[str, Any], Path | None]:
    """Read what the user gave to ``--settings``.

    Args:
        given: paths of TOML files, and assignments: ``["composites=always"]``. A value is TOML, or else a text.

    Returns:
        Name → value, and the last file, ``None`` if there is none.

    Raises:
        InputError: a file is missing or is not TOML.
    """
    values: dict[str, Any] = {}
    path = None
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or Path(each).is_file():
            path = Path(each)
            values |= read_toml(path)
            continue
        try:
            values |= tomllib.loads(f"{name} = {value}")
        except tomllib.TOMLDecodeError:
            values[name.strip()] = value
    return values, path


def require_share(target_precision: float | None) -> None:
    """Check a share of right links.

    Raises:
        ValueError: it is not from 0 to 1.
    """
    if target_precision is not None and not 0 <= target_precision <= 1:
        raise ValueError(f"target_precision must be from 0 to 1, not {target_precision}")


def language_option(command: Callable[..., None]) -> Callable[..., None]:
    """Add the option ``--language CODE`` of mentions."""
    return click.option(
        "--language",
        metavar="CODE",
        help="Language of the mentions, for example en; its rules correct spelling and try other forms and "
        "paraphrases. auto detects the language of each mention. If not given, only English is recognised. For a "
        "language column of a table: --map-column language=NAME.",
    )(command)


def restriction_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a :class:`Restriction`, given to the command as ``restriction``."""

    @wraps(command)
    def with_restriction(
        *args: Any, branch: tuple[str, ...], exclude: tuple[str, ...], types: tuple[str, ...], **others: Any
    ) -> None:
        command(*args, restriction=Restriction.of(branch=branch, exclude=exclude, types=types), **others)

    return with_options(with_restriction, _RESTRICTION)


_RESTRICTION: Final = tuple(
    click.option(name, multiple=True, metavar=metavar, help=f"{help} Repeatable.")
    for name, metavar, help in (
        ("--branch", "ID", "Only this concept and those below it."),
        ("--exclude", "ID", "Never this concept or those below it; or, given a name, never by this name."),
        ("--types", "TYPE", "Only concepts of this semantic type."),
    )
)


def top_k_option(command: Callable[..., None]) -> Callable[..., None]:
    """Add the option ``--top-k NUMBER``."""
    return click.option(
        "--top-k", default=1, show_default=True, type=click.IntRange(min=1), help="Candidates per mention."
    )(command)


def seed_option(help: str) -> Callable[[Any], Any]:
    """Make the option ``--seed NUMBER``."""
    return click.option("--seed", default=0, show_default=True, type=click.IntRange(0, _LARGEST_SEED), help=help)


def map_column_option(example: str, table: str = "In a table") -> Callable[[Any], Any]:
    """Make the option ``--map-column COLUMN=HEADER``.

    Args:
        example: an assignment for the help.
        table: the tables that it applies to.
    """
    return click.option(
        "--map-column",
        "mapped_columns",
        multiple=True,
        metavar="COLUMN=HEADER",
        help=f"{table}: the header of the column to read as COLUMN, for example {example}. Repeatable.",
    )


PREFIX_FORM: Final = "NAME=IRI, for example coll=http://example.org/coll/"


def prefix_option(command: Callable[..., None]) -> Callable[..., None]:
    """Add the option ``--prefix NAME=IRI``."""
    return click.option(
        "--prefix",
        "prefixes",
        multiple=True,
        metavar="NAME=IRI",
        help="Write ids of this namespace with this prefix, as in coll=http://example.org/coll/. Repeatable.",
    )(command)


def offsets_option(command: Callable[..., None]) -> Callable[..., None]:
    """Add the option ``--offsets UNIT`` of a corpus."""
    return click.option(
        "--offsets",
        type=click.Choice(OFFSET_UNITS),
        default=OFFSET_UNITS[0],
        show_default=True,
        help="Unit of offsets in the corpus: Unicode characters, UTF-16 units (Java, JavaScript) or bytes of "
        "UTF-8.",
    )(command)


def input_format_option(what: str, names: Sequence[str]) -> Callable[[Any], Any]:
    """Make the option ``--input-format FORMAT`` for a kind of input."""
    return click.option(
        "--input-format",
        type=click.Choice(names),
        help=f"Format of {what}; recognised by the content if not given.",
    )
