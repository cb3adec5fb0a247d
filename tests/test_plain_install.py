"""What works where nymlink is installed without extras."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = ROOT / "pyproject.toml"

pytestmark = pytest.mark.skipif(not PROJECT.exists(), reason="no pyproject.toml beside the package")

PLAIN = """
import sys
from importlib.machinery import PathFinder

class Plain(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in blocked else PathFinder.find_spec(name, path, target)

blocked = set(sys.argv.pop(1).split(","))
sys.meta_path = [Plain if finder is PathFinder else finder for finder in sys.meta_path]
"""
"""Hides the modules that its first argument lists."""

HELPS = """
import click
from click.testing import CliRunner
import nymlink
from nymlink.cli import nymlink as command

def walk(group, words):
    yield group, words
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            yield from walk(group.get_command(context, name), [*words, name])

count = 0
for one, words in walk(command, []):
    result = CliRunner().invoke(command, [*words, "--help"])
    assert result.exit_code == 0 and "Usage:" in result.output, (words, result.output, result.exception)
    count += 1
for words in ([], ["train"], ["vocab"]):
    result = CliRunner().invoke(command, words)
    assert result.exception is None or isinstance(result.exception, SystemExit), (words, result.exception)
for name in nymlink.__all__:
    try:
        getattr(nymlink, name)
    except nymlink.MissingExtraError as error:
        assert "pip install 'nymlink[" in str(error), error
print(count)
"""


distributions = cache(packages_distributions)
"""Which distributions each module is of: it takes a second to look."""


@cache
def core_modules() -> set[str]:
    """The modules of what the core requires, and of what that requires."""
    wanted = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    found: set[str] = set()
    while wanted:
        line = wanted.pop()
        name = re.split(r"[^\w.-]", line)[0].lower().replace("_", "-")
        if name not in found and "extra ==" not in line:
            found.add(name)
            try:
                wanted += distribution(name).requires or []
            except ModuleNotFoundError:
                continue
    names = distributions()
    return {
        module for module, owners in names.items() if found & {owner.lower().replace("_", "-") for owner in owners}
    }


def run_plain(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a Python that has the core alone."""
    blocked = set(distributions()) - core_modules() - {"nymlink", "benchmarks", "recipes"}
    assert {"torch", "tomli_w", "fastapi", "pandas", "openpyxl", "scipy"} <= blocked
    return subprocess.run(
        [sys.executable, "-c", PLAIN + script, ",".join(sorted(blocked)), *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def test_every_help_and_every_name_of_the_front_door() -> None:
    done = run_plain(HELPS)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.splitlines()[-1]) > 50


def test_commands_that_need_more_say_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("id\tname\nX:1\theart attack\nX:1\tMI\n", encoding="utf-8")
    (tmp_path / "t.obo").write_text("[Term]\nid: X:1\nname: heart attack\n", encoding="utf-8")
    commands = (
        ["train", "sap", "--vocab", "t.tsv", "-o", "encoder", "--base", "nymlink-mini"],
        ["serve", "--port", "0"],
        ["link", "heart attack", "--format", "xlsx", "-o", "l.xlsx"],
        ["encoder", "export", "nymlink-mini", "-o", "e"],
        ["plot", "space", "t.tsv", "--encoder", "nymlink-mini", "-o", "s.png"],
        ["vocab", "build", "t.obo", "-o", "strict", "--strict"],
        ["link", "heart attack"],
    )
    # In one process: each command says so before it loads what it needs.
    script = (
        "import contextlib, io, json, os\nfrom nymlink.cli import main\nos.chdir(sys.argv[1])\n"
        "for words in json.loads(sys.argv[2]):\n"
        "    sys.argv, said = ['nymlink', *words], io.StringIO()\n"
        "    try:\n"
        "        with contextlib.redirect_stderr(said):\n"
        "            main()\n"
        "    except SystemExit as end:\n"
        "        print(json.dumps([end.code, said.getvalue()]))\n"
    )
    done = run_plain(script, str(tmp_path), json.dumps(commands))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, len(answers)) == (0, len(commands)), done.stderr
    for words, (code, said) in zip(commands, answers, strict=True):
        assert (code, "pip install 'nymlink[" in said) == (2, True), (words, said)
        assert "Traceback" not in said


def test_linking_and_rankers_need_no_extra(tmp_path: Path) -> None:
    for name in ("diseases.obo", "train.PubTator.txt", "dev.PubTator.txt"):
        shutil.copy(ROOT / "examples" / name, tmp_path)
    (tmp_path / "t.tsv").write_text("id\tname\nX:1\theart attack\nX:2\tstroke\n", encoding="utf-8")
    script = (
        "import os\nos.chdir(sys.argv.pop(1))\n"
        "from click.testing import CliRunner\nfrom nymlink.cli import nymlink\n"
        "for words in (['vocab', 'build', 't.tsv', '-o', 'v'], ['index', 'build', 'v', '-o', 'i'],\n"
        "              ['link', '--index', 'i', 'heart atack'],\n"
        "              ['annotate', '--index', 'i', '--text', 'A stroke.'],\n"
        "              ['index', 'build', 'diseases.obo', '-o', 'd', '--encoder', 'none'],\n"
        "              ['train', 'rank', 'd', '--corpus', 'train.PubTator.txt', '--corpus', 'dev.PubTator.txt',\n"
        "               '--trees', '5']):\n"
        "    result = CliRunner().invoke(nymlink, words)\n"
        "    assert result.exit_code == 0, (words, result.output, result.exception)\n"
        "    print(result.stdout)\n"
    )
    done = run_plain(script, str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "X:2" in done.stdout
    assert "first right" in done.stdout
