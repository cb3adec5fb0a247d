"""Options of all commands for their messages on standard error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest

from nymlink.index.index import Index
from tests.cli.conftest import Run
from tests.cli.test_words import COMMANDS


def lines(stderr: str) -> list[dict[str, Any]]:
    """Read standard error as JSON lines."""
    read = [json.loads(line) for line in stderr.splitlines()]
    assert all({"time", "level", "message"} <= set(line) for line in read)
    return read


def test_every_command_has_them() -> None:
    for command in COMMANDS.values():
        names = {name for option in command.get_params(click.Context(command)) for name in option.opts}
        assert names >= {"--quiet", "--verbose", "--log-format"}


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A table with 30 rows that cannot be read, and a good one."""
    rows = "".join(f"X:{number}\t\n" for number in range(30))
    path = tmp_path / "broken.tsv"
    path.write_text(f"concept_id\tname\n{rows}X:99\tfever\n", encoding="utf-8")
    return path


def test_quiet_leaves_out_notes_and_keeps_warnings(run: Run, built: Path, broken: Path, tmp_path: Path) -> None:
    table = tmp_path / "coded.csv"
    table.write_text("label,id\nheart attack,X:1\n", encoding="utf-8")
    check = ("check", table, "--name", "label", "--id", "id", "--index", built / "index")
    assert "1 names and ids: 1 agrees" in run(*check).stderr
    quiet = run(*check, "--quiet")
    assert (quiet.exit_code, quiet.stderr) == (0, "")
    assert quiet.stdout == run(*check).stdout
    build = run("vocab", "build", broken, "-o", tmp_path / "v", "--quiet")
    assert build.exit_code == 1
    assert "30 places in the input were rejected" in build.stderr
    both = run(*check, "--quiet", "--verbose")
    assert both.exit_code == 2
    assert "exclude each other" in both.stderr


def test_verbose_writes_all_problems_and_the_place_of_an_error(run: Run, broken: Path, tmp_path: Path) -> None:
    usual = run("vocab", "build", broken, "-o", tmp_path / "v")
    assert usual.stderr.count("broken.tsv:") == 20
    assert "--verbose shows all" in usual.stderr
    verbose = run("vocab", "build", broken, "-o", tmp_path / "v2", "--verbose")
    assert verbose.stderr.count("broken.tsv:") == 30
    for option, told in (("--quiet", False), ("--verbose", True)):
        failed = run("link", "fever", "--index", tmp_path / "nowhere", option)
        assert failed.exit_code == 2
        assert "Error: " in failed.stderr
        assert ("Traceback" in failed.stderr) is told


def test_messages_are_lines_of_json(run: Run, broken: Path, tmp_path: Path) -> None:
    built = run("vocab", "build", broken, "-o", tmp_path / "v", "--log-format", "json")
    *problems, more, summary = lines(built.stderr)
    assert {(each["path"], each["level"], each["rejected"]) for each in problems} == {
        (str(broken), "warning", True)
    }
    assert [each["line"] for each in problems] == list(range(2, 22))
    assert "--verbose" in more["message"]
    assert summary["message"].startswith("30 places")
    [error] = lines(run("link", "fever", "--index", tmp_path / "nowhere", "--log-format", "json").stderr)
    assert (error["level"], error["error"], error["path"]) == ("error", "StoreError", str(tmp_path / "nowhere"))


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (("link", "--log-format", "json", "--bogus"), "NoSuchOption"),
        (("link", "fever", "--top-k", "none", "--log-format=json"), "BadParameter"),
        (("check", "--log-format", "json", "--name", "a"), "MissingParameter"),
        (("link", "fever", "--settings", "rerank=x", "--log-format", "json"), "UsageError"),
    ],
)
def test_unusable_arguments_are_a_line_of_json(run: Run, arguments: tuple[str, ...], kind: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert [(line["level"], line["error"]) for line in lines(done.stderr)] == [("error", kind)]


def test_warnings_and_failures_are_lines_of_json(run: Run, built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import logging
    import warnings

    def fail(*_: Any) -> Any:
        warnings.warn("a warning", stacklevel=1)
        warnings.warn("an old name", DeprecationWarning, stacklevel=1)
        logging.getLogger("library").warning("a message of a library")
        raise RuntimeError("a fault")

    monkeypatch.setattr(Index, "load", fail)
    done = run("link", "fever", "--index", built / "index", "--log-format", "json")
    assert done.exit_code == 1
    *told, failure = lines(done.stderr)
    assert "library: a message of a library" in [line["message"] for line in told]
    assert {line["level"] for line in told} == {"warning"}
    assert "a fault" in failure["message"]
    assert "Traceback" in failure["traceback"]
