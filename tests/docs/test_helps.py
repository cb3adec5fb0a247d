"""Every command line in a help text runs."""

from __future__ import annotations

import pytest

from tests.docs.blocks import Command
from tests.docs.helps import COMMANDS, command_of, options
from tests.docs.runner import Runner


@pytest.mark.large
@pytest.mark.usefixtures("small_default", "export_once")
@pytest.mark.parametrize(
    "path", [path for path, command in COMMANDS.items() if command.examples and not command.is_group]
)
def test_examples_of_help_run(path: str, runner: Runner) -> None:
    # A server takes seconds to start: one is enough. test_words.py parses all examples.
    for line in COMMANDS[path].examples[: 1 if path == "nymlink serve" else None]:
        runner.command(Command(line, ""), f"{path} --help")


def test_examples_of_groups_exist() -> None:
    # Helps of the commands and pages run the like.
    for path, group in COMMANDS.items():
        for line in group.examples if group.is_group else ():
            command = command_of(line)
            assert command is not None, (path, line)
            assert set(options(line)) <= set(command.options), (path, line)
