"""Every command line in a help text, and every example in a docstring, runs."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, Command
from tests.docs.helps import COMMANDS
from tests.docs.runner import Runner

SOURCE = ROOT / "src"
WITH_EXAMPLES = [path for path in sorted(SOURCE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


@pytest.mark.usefixtures("small_default", "export_once")
@pytest.mark.parametrize("path", [path for path, command in COMMANDS.items() if command.examples])
def test_examples_of_help_run(path: str, runner: Runner) -> None:
    for line in COMMANDS[path].examples:
        runner.command(Command(line, ""), f"{path} --help")


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.stem)
def test_examples_of_docstrings_run(path: Path) -> None:
    module = importlib.import_module(".".join(path.relative_to(SOURCE).with_suffix("").parts))
    assert doctest.testmod(module).failed == 0
