"""Commands whose help lists options in groups with titles, and that all have options for their messages."""

from __future__ import annotations

import logging
from typing import Any, Final

import click

from nymlink.core.terminal import STYLE, Level, tell

RESTRICTION: Final = "What is linked to"
"""Title of the group of options that restrict a command to a part of a vocabulary."""

MESSAGES: Final = "Messages"
"""Title of the group of options that all commands have."""

GROUPS: Final = {
    "Input": """--file --column --name --id --text --corpus --input-format --offsets --map-column --separator
        --context --parent --synonym --definition --vocab --pairs --translations --type --language --languages
        --default-language --encoding
        --delimiter --mappings --old --new --with --concept-table --wikidata""",
    "Index and model": "--index --encoder --base --recipe --rerank",
    "Output": """--output --format --json --report --errors --plot --changes --held-out-to --save-names --title
        --template --list --limit --dry-run --counts""",
    RESTRICTION: "--branch --exclude --types",
    "What is kept": """--kind --semantic-type --source --sab --tty --suppressed --strict --strict-ids --prefix
        --across-languages --without --by-name --drop-unknown --guesses --above --held-out --cap
        --forget --merged --left-out""",
    "Settings": """--slim --level --to --target
        --many --top-k --composites --target-precision --detector --fuzzy --min-confidence --settings
        --as-published --annotate --augment --lower --without-own-names --sparse --dense --fusion --phrases
        --weight --store --candidates --trees --depth --backend --precision --pooling --max-length --batch-tokens
        --epochs --max-steps --batch-pairs --batch-queries --batch-groups --batch-mentions --sample --concepts
        --concept --names --mentions --seed --reviewer --adjudicator --blind""",
    "Measuring": "--evaluate --best --training --test --compare",
    "Server": """--host --port --open --public-url --token-file --allow-origin --projects --memory
        --limits --judge --access-log""",
    "Running": """--device --workers --processes --address --gpus --shard-rows --cache --resume --restart
        --only-download --offline --refresh""",
    MESSAGES: "--quiet --verbose --log-format",
}
"""Title → long names of options of all commands, common ones first."""

_PLACES: Final = {
    name: (title, place) for title, names in GROUPS.items() for place, name in enumerate(names.split())
}


def _set_style(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    if parameter.name == "log_format":
        STYLE.as_json = value == "json"
    elif parameter.name is not None:
        setattr(STYLE, parameter.name, value)
    if STYLE.quiet and STYLE.verbose:
        raise click.UsageError("--quiet and --verbose exclude each other: give one", context)


def message_options() -> list[click.Option]:
    """Make the options of all commands for their messages on standard error."""
    shared: dict[str, Any] = {"expose_value": False, "is_eager": True, "callback": _set_style}
    return [
        click.Option(["--quiet"], is_flag=True, help="Only warnings and errors on standard error.", **shared),
        click.Option(
            ["--verbose"],
            is_flag=True,
            help="All problems of the input, messages of libraries, and where in the code an error arose.",
            **shared,
        ),
        click.Option(
            ["--log-format"],
            type=click.Choice(("text", "json")),
            default="text",
            show_default=True,
            help="Form of the lines on standard error: text, or JSON objects with time, level and message.",
            **shared,
        ),
    ]


class _Told(logging.Handler):
    """Writes messages of libraries as messages of nymlink."""

    def emit(self, record: logging.LogRecord) -> None:
        level: Level = "info"
        if record.levelno >= logging.WARNING:
            level = "error" if record.levelno >= logging.ERROR else "warning"
        tell(f"{record.name}: {record.getMessage()}", level=level)


class GroupedCommand(click.Command):
    """A command with options for its messages, whose help has all its options in :data:`GROUPS`."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters of the command, and those of all commands."""
        return [*super().get_params(ctx), *message_options()]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments; a message about unusable ones has the wanted form, too."""
        given = " ".join(args).replace("=", " ")
        try:
            return super().parse_args(ctx, args)
        except click.UsageError:
            STYLE.as_json = "--log-format json" in given
            raise

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; messages of libraries have the chosen form."""
        root, before = logging.getLogger(), (logging.getLogger().handlers, logging.getLogger().level)
        if STYLE.verbose or STYLE.as_json:
            root.handlers = [_Told()]
            root.setLevel(logging.INFO if STYLE.verbose else logging.WARNING)
        try:
            return super().invoke(ctx)
        finally:
            root.handlers = before[0]
            root.setLevel(before[1])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group with options of the command."""
        options = [
            option
            for option in self.get_params(ctx)
            if isinstance(option, click.Option) and group_of(option) != MESSAGES
        ]
        options.sort(key=lambda option: _place(option)[1])
        for title in (*GROUPS, "Other"):
            records = [option.get_help_record(ctx) for option in options if group_of(option) == title]
            if shown := [record for record in records if record is not None]:
                with formatter.section(title):
                    formatter.write_dl(shown)
        formatter.write_paragraph()
        formatter.write_text("All commands also take --quiet, --verbose and --log-format json: nymlink --help.")


def group_of(option: click.Option) -> str:
    """Return the title of the group of an option: ``"Other"`` for ``--help``."""
    return _place(option)[0]


def _place(option: click.Option) -> tuple[str, int]:
    return next((_PLACES[name] for name in option.opts if name in _PLACES), ("Other", 0))
