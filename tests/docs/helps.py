"""The commands of nymlink, their options and the examples in their help texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import click

from nymlink.cli import nymlink
from tests.docs.blocks import ROOT


@dataclass(frozen=True)
class Help:
    """What a command takes, and the command lines that its help text shows."""

    options: tuple[str, ...]
    examples: tuple[str, ...]
    is_group: bool


def options(line: str) -> list[str]:
    """Return the long options of a command line."""
    return re.findall(r"(?<!\S)--[a-z-]+", line)


def _helps(command: click.Command, path: str) -> Iterator[tuple[str, Help]]:
    names = (
        name
        for parameter in command.get_params(click.Context(command))
        for name in (*parameter.opts, *parameter.secondary_opts)
    )
    examples = re.findall(r"^ *(nymlink \w(?:\\\n|[^\n])*)", command.help or "", re.MULTILINE)
    yield path, Help((*names, "--help"), tuple(examples), isinstance(command, click.Group))
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _helps(below, f"{path} {name}")


COMMANDS: Final = dict(_helps(nymlink, "nymlink"))

_SCRIPTS: Final = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("benchmarks/**/*.py"))
OPTIONS: Final = {option for command in COMMANDS.values() for option in command.options} | set(
    re.findall(r'"(--[a-z-]+)"', _SCRIPTS)
)
"""All options that the documentation may name: those of commands and of benchmarks."""


def command_of(line: str) -> Help | None:
    """Return the command that a line runs, where there is one."""
    words = line.split()
    if words[1].startswith("-"):
        return COMMANDS["nymlink"]
    paths = (" ".join(words[:end]) for end in range(len(words), 1, -1))
    return next((COMMANDS[path] for path in paths if path in COMMANDS), None)
