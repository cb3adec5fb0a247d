"""Run the commands and snippets of a page in a folder, and compare what they write with what the page shows."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner

from nymlink.cli import nymlink
from tests.docs.blocks import ROOT, Block, Command, commands

WIDTH: Final = "120"
"""Columns of the terminal that pages show."""

SUBSTITUTES: Final = {"nymlink-mini": "base"}
"""Models that are too slow to train in a test, and what is trained instead."""

_OPTIONS: Final = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_SIMPLE: Final = re.compile(r"nymlink [^|&;$*~]*")
_COMMENT: Final = re.compile(r" +# .*")


class Runner:
    """Runs blocks, one after the other, in one folder and with one set of Python names.

    Args:
        folder: where files are read and written; the process must be in it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def run(self, block: Block) -> None:
        """Run a block, and fail where it fails or writes something else than the page shows."""
        place = f"{block.page}:{block.line}"
        if block.language == "python":
            exec(compile("\n" * (block.line - 1) + block.text, str(ROOT / block.page), "exec"), self.names)
        elif block.language == "pycon":
            self.session(block.text, place)
        else:
            for command in commands(block):
                self.command(command, place)

    def session(self, text: str, place: str) -> None:
        """Run an interactive session."""
        examples = doctest.DocTestParser().get_doctest(text, self.names, place, place, 0)
        written: list[str] = []
        doctest.DocTestRunner(optionflags=_OPTIONS).run(examples, out=written.append, clear_globs=False)
        self.names.update(examples.globs)
        if written:
            pytest.fail("".join(written), pytrace=False)

    def command(self, command: Command, place: str) -> None:
        """Run a command line, in this process where it is nymlink's alone."""
        line = command.line.replace("\\\n", " ")
        name = line.split()[0]
        if name == "pip":
            return _installs(_COMMENT.sub("", line))
        if name == "make":
            target = line.split()[1]
            recipe = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
            assert recipe is not None, f"{place}: no target {target!r} in the Makefile"
            if target != "demo":
                return None
            line = recipe[1].strip().removeprefix("@$(BIN)/")
        if name == "python":
            return _script(line, place)
        status, output = self.in_process(line) if _SIMPLE.fullmatch(line) else self.in_shell(line)
        if status not in (0, 1) or (status and not command.output):
            pytest.fail(f"{place}: {line!r} ended with {status}:\n{output}", pytrace=False)
        expected = re.sub(r"^…$", "...", command.output, flags=re.MULTILINE)
        if expected and not doctest.OutputChecker().check_output(expected + "\n", output, _OPTIONS):
            pytest.fail(f"{place}: {line!r} wrote\n{output}\nwhere the page has\n{expected}", pytrace=False)
        return None

    def in_process(self, line: str) -> tuple[int, str]:
        """Run a nymlink command as on a terminal, or into the file behind ``>``."""
        words = shlex.split(line, comments=True)[1:]
        if words[0] == "train" or words[:2] == ["encoder", "average"]:
            words = [SUBSTITUTES.get(word, word) for word in words]
        if words[0] == "train" and "--epochs" not in words and words[1] not in ("losses", "recipe"):
            words = [*words[: words.index(">") if ">" in words else None], "--epochs", "1"]
        target = words[words.index(">") + 1] if ">" in words else None
        words = words[: words.index(">")] if target else words
        result = CliRunner(env={"COLUMNS": WIDTH}).invoke(nymlink, _as_on_terminal(words, target))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        if target:
            (self.folder / target).write_bytes(result.stdout_bytes)
        return result.exit_code, result.stderr if target else result.output

    def in_shell(self, line: str) -> tuple[int, str]:
        """Run any other command line."""
        bin_folder = self.folder / ".bin"
        bin_folder.mkdir(exist_ok=True)
        script = bin_folder / "nymlink"
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m nymlink "$@"\n')
        script.chmod(0o755)
        environment = os.environ | {
            "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "COLUMNS": WIDTH,
        }
        bash = shutil.which("bash") or "sh"
        done = subprocess.run([bash, "-c", line], env=environment, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout + done.stderr


def _as_on_terminal(words: list[str], target: str | None) -> list[str]:
    """Ask for a table where a terminal would get one."""
    chosen = {"--format", "--columns", "--column", "--help"} & set(words)
    if words[:1] != ["link"] or target is not None or chosen:
        return words
    return [*words, "--format", "table"]


def _installs(line: str) -> None:
    """See that what a page installs is what the project has: its extras, and the torch that the Makefile pins."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for word in shlex.split(line.replace("&&", " ")):
        name, _, asked = word.rstrip("]").partition("[")
        if name == "nymlink":
            assert set(filter(None, asked.split(","))) <= set(extras), line
        elif name not in ("pip", "install"):
            assert word in (ROOT / "Makefile").read_text(), line


def _script(line: str, place: str) -> None:
    """See that a script of the repository, which runs for hours, is there and has the options that it is given."""
    words = shlex.split(line, comments=True)[1:]
    script = ROOT / words[0]
    assert script.is_file(), f"{place}: no script {words[0]}"
    source = script.read_text(encoding="utf-8")
    for option in (word for word in words[1:] if word.startswith("--")):
        assert f'"{option.partition("=")[0]}"' in source, f"{place}: {words[0]} has no option {option}"
