"""Every command line in a help text runs."""

from __future__ import annotations

import pytest

from tests.docs.blocks import Command
from tests.docs.helps import COMMANDS
from tests.docs.runner import Runner


@pytest.mark.usefixtures("small_default", "export_once")
@pytest.mark.parametrize("path", [path for path, command in COMMANDS.items() if command.examples])
def test_examples_of_help_run(path: str, runner: Runner) -> None:
    for line in COMMANDS[path].examples:
        runner.command(Command(line, ""), f"{path} --help")
