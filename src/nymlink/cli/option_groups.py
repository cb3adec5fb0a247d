"""Commands whose help lists options in groups with titles, the common ones first."""

from __future__ import annotations

from typing import Final

import click

RESTRICTION: Final = "What is linked to"
"""Title of the group of options that restrict a command to a part of a vocabulary."""

GROUPS: Final = {
    "Input": """--file --column --name --id --text --corpus --input-format --offsets --map-column --separator
        --context --parent --synonym --definition --vocab --pairs --translations --type --language --languages
        --default-language --encoding
        --delimiter --mappings --old --new --with --concept-table --wikidata""",
    "Index and model": "--index --encoder --base --recipe --rerank --judge",
    "Output": """--output --format --json --report --errors --plot --changes --held-out-to --save-names --title
        --template --list --limit --dry-run --counts""",
    RESTRICTION: "--branch --exclude --types",
    "What is kept": """--kind --semantic-type --source --sab --tty --suppressed --strict --prefix
        --across-languages --without --by-name --drop-unknown --decided --above --held-out --cap
        --forget --merged --left-out""",
    "Settings": """--slim --level --to --target
        --top-k --composites --target-precision --detector --fuzzy --min-confidence --settings
        --as-published --annotate --augment --lower --without-own-names --sparse --dense --fusion --weight --store
        --candidates --trees --depth --backend --precision --pooling --max-length --batch-tokens --epochs
        --max-steps --batch-pairs --batch-queries --batch-groups --batch-mentions --sample --concepts --concept
        --names --mentions --seed --reviewer""",
    "Measuring": "--evaluate --best --training --test --compare",
    "Server": """--host --port --open --public-url --token-file --allow-origin --projects --memory
        --access-log""",
    "Running": """--device --workers --processes --address --gpus --shard-rows --cache --resume --restart
        --only-download --offline --refresh""",
}
"""Title → long names of options of all commands, common ones first."""

_PLACES: Final = {
    name: (title, place) for title, names in GROUPS.items() for place, name in enumerate(names.split())
}


class GroupedCommand(click.Command):
    """A command whose help has its options in :data:`GROUPS`."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group with options of the command."""
        options = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
        options.sort(key=lambda option: _place(option)[1])
        for title in (*GROUPS, "Other"):
            records = [option.get_help_record(ctx) for option in options if group_of(option) == title]
            if shown := [record for record in records if record is not None]:
                with formatter.section(title):
                    formatter.write_dl(shown)


def group_of(option: click.Option) -> str:
    """Return the title of the group of an option: ``"Other"`` for ``--help``."""
    return _place(option)[0]


def _place(option: click.Option) -> tuple[str, int]:
    return next((_PLACES[name] for name in option.opts if name in _PLACES), ("Other", 0))
