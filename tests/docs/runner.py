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
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner

from nymlink.cli import nymlink
from tests.docs.blocks import ROOT, Block, Command, commands
from tests.postgres import postgres_server

WIDTH: Final = "120"
"""Columns of the terminal that pages show."""

SUBSTITUTES: Final = {"nymlink-mini": "base"}
"""Models that are too slow to train in a test, and what is trained instead."""

_MAKEFILE: Final = (ROOT / "Makefile").read_text(encoding="utf-8")
_OPTIONS: Final = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

TOLERANCE: Final = 0.01
"""By which scores and confidences may differ from those that a page shows. Kinds of processors that add floats in
another order give others in the last digits."""

_SCORE: Final = re.compile(r"(?<![\w.])[01]?\.(\d{2,4})(?![\w.]*\w)")
"""A score or a confidence: a number up to 1 with two to four decimals."""

_POSTGRES: Final = re.compile(r"postgresql://\S+")
_SIMPLE: Final = re.compile(r"nymlink [^|&;$*~]*")


class ScoreChecker(doctest.OutputChecker):
    """Compare what was written with what a page shows: scores within :data:`TOLERANCE`, all else exactly."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Check the output; white space and what stands for ``...`` do not count."""
        if super().check_output(want, got, optionflags):
            return True
        pattern = r"\s+".join(map(_pattern, want.split()))
        return re.fullmatch(rf"\s*{pattern}\s*", got, re.DOTALL) is not None


def _pattern(word: str) -> str:
    """Write a word of a page as a regular expression: scores as all that are near, ``...`` as anything."""
    parts, end = [], 0
    for score in _SCORE.finditer(word):
        parts += [_escape(word[end : score.start()]), _near(score[0], len(score[1]))]
        end = score.end()
    return "".join([*parts, _escape(word[end:])])


def _escape(text: str) -> str:
    return re.escape(text).replace(re.escape("..."), ".*?")


def _near(score: str, decimals: int) -> str:
    steps = round(TOLERANCE * 10**decimals)
    near = (float(score) + step / 10**decimals for step in range(-steps, steps + 1))
    return f"(?:{'|'.join(re.escape(f'{one:.{decimals}f}') for one in near)})"


class Runner:
    """Runs blocks, one after the other, in one folder and with one set of Python names.

    Args:
        folder: where files are read and written; the process must be in it.
        lent: folders that a command may read though no command has made them.
    """

    def __init__(self, folder: Path, lent: Path) -> None:
        self.folder = folder
        self.lent = lent
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self._server: subprocess.Popen[str] | None = None
        self._postgres = ExitStack()
        self._address = ""

    def run(self, block: Block) -> None:
        """Run a block, and fail where it fails or writes something else than the page shows."""
        place = f"{block.page}:{block.line}"
        if block.file is not None:
            (self.folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            exec(compile("\n" * (block.line - 1) + block.text, str(ROOT / block.page), "exec"), self.names)
        elif block.language == "pycon":
            self.session(block.text, place)
        elif block.language == "console":
            for command in commands(block):
                self.command(command, place)

    def session(self, text: str, place: str) -> None:
        """Run an interactive session."""
        examples = doctest.DocTestParser().get_doctest(text, self.names, place, place, 0)
        report: list[str] = []
        doctest.DocTestRunner(ScoreChecker(), optionflags=_OPTIONS).run(
            examples, out=report.append, clear_globs=False
        )
        self.names.update(examples.globs)
        if report:
            pytest.fail("".join(report), pytrace=False)

    def command(self, command: Command, place: str) -> None:
        """Run a command line, in this process where it is nymlink's alone."""
        line = re.sub(r" +# .*", "", command.line.replace("\\\n", " "))
        name, *words = line.split()
        if name == "pip":
            return _check_installs(line)
        if name == "python":
            return check_script(words, place)
        if name == "make":
            line = _recipe(words[0], place)
        self._lend(line)
        if line.startswith("nymlink serve"):
            return self._serve(line)
        line = line.replace("http://127.0.0.1:8000/", self._address)
        if _POSTGRES.search(line):
            self._postgres.close()
            line = _POSTGRES.sub(self._postgres.enter_context(postgres_server()), line)
        status, output = self._in_process(line) if _SIMPLE.fullmatch(line) else self._in_shell(line)
        # A page may show a command that leaves some input out, if it shows what is said of it.
        if status not in ((0, 1) if command.output else (0,)):
            pytest.fail(f"{place}: {line!r} ended with {status}:\n{output}", pytrace=False)
        shown = re.sub(r"^…$", "...", command.output, flags=re.MULTILINE)
        if shown and not ScoreChecker().check_output(shown + "\n", output, _OPTIONS):
            pytest.fail(f"{place}: {line!r} wrote\n{output}\nwhere the page has\n{shown}", pytrace=False)
        return None

    def _serve(self, line: str) -> None:
        """Start a server, on a port that is free, to which further commands of the page go."""
        self.close()
        _, *words = shlex.split(line)
        # Packages that a test put in the place of installed ones; no browser is opened.
        paths = (self.folder.parent / "packages", ROOT / "src")
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths)), "BROWSER": "true"}
        self._server = subprocess.Popen(
            [sys.executable, "-m", "nymlink", *words, "--port", "0"],
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=environment,
        )
        assert self._server.stderr is not None
        said = []
        for told in self._server.stderr:
            said.append(told)
            if found := re.search(r"http://\S+/", told):
                self._address = found[0]
                return
        pytest.fail(f"{line!r} did not start:\n{''.join(said)}", pytrace=False)

    def close(self) -> None:
        """End the servers of the page, if it has any."""
        self._postgres.close()
        if self._server is not None:
            self._server.terminate()
            self._server.communicate()

    def _lend(self, line: str) -> None:
        """Copy what a command reads and the page does not make; one that makes it must not find it in its way."""
        for before, name in pairwise(line.replace("=", " ").split()):
            if (
                before not in ("-o", "--recipe")
                and (self.lent / name).is_dir()
                and not (self.folder / name).exists()
            ):
                shutil.copytree(self.lent / name, self.folder / name)

    def _in_process(self, line: str) -> tuple[int, str]:
        """Run a nymlink command as on a terminal, or into the file behind ``>``."""
        _, *words = shlex.split(line)
        words, target = (words[:-2], words[-1]) if words[-2:-1] == [">"] else (words, None)
        if words[0] == "train" or words[:2] == ["encoder", "average"]:
            words = [SUBSTITUTES.get(word, word) for word in words]
        if words[0] == "train" and not {"--max-steps", "losses", "rank", "recipes", "stages"} & set(words):
            words += ["--max-steps", "2"]
        if words[:2] == ["train", "rank"]:
            words += ["--left-out", "300", "--trees", "2"]
        if words[0] == "bulk":
            # Ray takes seconds to start, and no cluster is there: jobs are done in this process.
            words = [*_without(words, "--workers", "--address"), "--workers", "0"]
        # A pipe, which the test is, would get TSV.
        if words[0] == "link" and target is None and not {"-o", "--format", "--help"} & set(words):
            words += ["--format", "table"]
        result = CliRunner(env={"COLUMNS": WIDTH}).invoke(nymlink, words)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        if target is None:
            return result.exit_code, result.output
        (self.folder / target).write_bytes(result.stdout_bytes)
        return result.exit_code, result.stderr

    def _in_shell(self, line: str) -> tuple[int, str]:
        """Run any other command line."""
        script = self.folder / ".bin" / "nymlink"
        script.parent.mkdir(exist_ok=True)
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m nymlink "$@"\n', encoding="utf-8")
        script.chmod(0o755)
        environment = os.environ | {
            "PATH": f"{script.parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "COLUMNS": WIDTH,
            "HOME": str(self.folder),
            "NYMLINK_DATA": str(self.folder),
        }
        bash = shutil.which("bash") or "sh"
        done = subprocess.run(
            [bash, "-c", line], env=environment, capture_output=True, encoding="utf-8", timeout=120
        )
        return done.returncode, done.stdout + done.stderr


def _without(words: list[str], *options: str) -> list[str]:
    """Leave options out, each with the word after it."""
    return [word for place, word in enumerate(words) if word not in options and words[place - 1] not in options]


def _check_installs(line: str) -> None:
    """See that what a page installs is what the project has: its extras, and the torch that the Makefile pins."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for word in shlex.split(line.replace("&&", " ")):
        name, _, chosen = word.rstrip("]").partition("[")
        if name in ("nymlink", "."):
            assert set(filter(None, chosen.split(","))) <= set(project["optional-dependencies"]), line
        elif word.startswith("./"):
            assert (ROOT / word / "pyproject.toml").is_file(), line
        elif name not in ("pip", "install"):
            assert word in _MAKEFILE, line


def check_script(words: list[str], place: str) -> None:
    """Check that a script of the repository, which runs for minutes or hours, exists and has these options."""
    if words[0] == "-m":
        module = words[1].replace(".", "/")
        words = [module if (ROOT / module).is_dir() else f"{module}.py", *words[2:]]
    script = ROOT / words[0]
    # A folder of scripts with a "__main__.py" is run as one.
    files = sorted(script.glob("*.py")) if (script / "__main__.py").is_file() else [script]
    assert all(file.is_file() for file in files), f"{place}: no script {words[0]}"
    source = "".join(file.read_text(encoding="utf-8") for file in files)
    # Scripts of a kind share the options of a parser.
    imports = re.findall(r"^from (benchmarks[\w.]+) import (\([^)]*\)|.*)", source, re.MULTILINE)
    shared = {f"{module.replace('.', '/')}.py" for module, names in imports if "parser_of" in names}
    source += "".join((ROOT / file).read_text(encoding="utf-8") for file in sorted(shared))
    for option in (word for word in words if word.startswith("--")):
        assert f'"{option}"' in source, f"{place}: {words[0]} has no option {option}"


def _recipe(target: str, place: str) -> str:
    """Return the command of a target of the Makefile, without what installs it."""
    recipe = re.search(rf"^{target}:.*\n\t@\$\(BIN\)/(.+)\n", _MAKEFILE, re.MULTILINE)
    assert recipe is not None, f"{place}: no target {target!r} with one command in the Makefile"
    return recipe[1]
