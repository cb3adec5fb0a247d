"""What the package imports: declared, and there on every system."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import nymlink
from tests.test_plain_install import distributions

SOURCE = Path(nymlink.__file__).parent
PROJECT = SOURCE.parents[1] / "pyproject.toml"
POSIX_ONLY = {"crypt", "fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
POSIX_CALLS = {
    "chown",
    "fork",
    "geteuid",
    "getpgid",
    "getuid",
    "kill",
    "killpg",
    "sched_getaffinity",
    "sync",
    "SIGHUP",
}


@cache
def trees() -> list[tuple[str, ast.AST]]:
    return [
        (path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text(encoding="utf-8")))
        for path in sorted(SOURCE.rglob("*.py"))
    ]


@cache
def imports() -> dict[str, set[str]]:
    """Each file of the package, and the modules that it imports, wherever in it."""
    found: dict[str, set[str]] = {}
    for path, tree in trees():
        names = found.setdefault(path, set())
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module)
    return found


def imported() -> dict[str, str]:
    """Every module from outside that the package imports, and a file that does."""
    return {name.partition(".")[0]: path for path, names in imports().items() for name in names}


@pytest.mark.skipif(not PROJECT.exists(), reason="no pyproject.toml beside the package")
def test_what_is_imported_is_declared() -> None:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    wanted = [
        *project["dependencies"],
        *(one for some in project["optional-dependencies"].values() for one in some),
    ]
    declared = {re.split(r"[<>=;\[ ]", one)[0].lower().replace("_", "-") for one in wanted}
    providers = distributions()
    for module, path in imported().items():
        if module in sys.stdlib_module_names or module in ("nymlink", "_typeshed") or module not in providers:
            continue
        names = {name.lower().replace("_", "-") for name in providers[module]}
        assert names & declared, f"{path} imports {module}, of {names}, which pyproject.toml does not declare"


@pytest.mark.skipif(not PROJECT.exists(), reason="no pyproject.toml beside the package")
def test_the_docs_say_what_each_package_of_the_core_is_for() -> None:
    page = (PROJECT.parent / "docs" / "howto" / "installing.md").read_text(encoding="utf-8")
    core = page.partition("<!-- end -->")[0]
    rows = dict(re.findall(r"^\| ([\w-]+) \| [\d.]+ \| ([^|]+) \|", core, re.MULTILINE))
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    declared = {Requirement(one).name for one in project["dependencies"]}
    assert declared | {"nymlink"} == {
        name for name, purpose in rows.items() if not purpose.startswith("needed by")
    }
    named = set(re.findall(r"`(\w+)`", page.partition("## Extras")[2].partition("\n## ")[0]))
    assert named == set(project["optional-dependencies"]) - {"dev", "docs", "bench"}


def test_nothing_is_used_that_windows_does_not_have() -> None:
    assert not {module: path for module, path in imported().items() if module in POSIX_ONLY}
    for path, tree in trees():
        called = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in ("os", "signal")
        }
        assert not called & POSIX_CALLS, path
