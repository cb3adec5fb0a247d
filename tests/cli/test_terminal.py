"""What would command a terminal is shown to it; files and pipes get it as it is."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from nymlink.core.errors import InputError
from nymlink.core.terminal import escape_controls
from tests.cli.conftest import NYMLINK, Run

NAME = "\x1b[2Jheart\x9b1m \u202eattack\u2066\x07"
SHOWN = r"\u001b[2Jheart\u009b1m \u202eattack\u2066\u0007"

unicode_arguments = pytest.mark.skipif(
    sys.getfilesystemencoding() != "utf-8", reason="arguments and file names cannot hold it in this locale"
)


def on_a_terminal(*arguments: object) -> str:
    """What the command line sends to a terminal, on both of its outputs."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([*NYMLINK, *map(str, arguments)], stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    sent = b""
    try:
        while chunk := os.read(ours, 4096):
            sent += chunk
    except OSError:
        # That is how Linux says that nobody writes to it any more.
        pass
    finally:
        os.close(ours)
        process.wait(60)
    return sent.decode()


@pytest.fixture
def index(run: Run, tmp_path: Path) -> Path:
    """An index of one name that commands terminals, and the vocabulary beside it."""
    (tmp_path / "t.tsv").write_text(f"id\tname\nX:1\t{NAME}\n", encoding="utf-8")
    assert run("vocab", "build", tmp_path / "t.tsv", "-o", tmp_path / "v").exit_code == 0
    assert run("index", "build", tmp_path / "v", "-o", tmp_path / "i", "--encoder", "none").exit_code == 0
    return tmp_path / "i"


@unicode_arguments
def test_a_terminal_is_sent_no_command(index: Path) -> None:
    as_json = ("link", "--index", index, "--format", "jsonl", NAME)
    for arguments in (("link", "--index", index, NAME), as_json, ("vocab", "search", index.with_name("v"), NAME)):
        sent = on_a_terminal(*arguments)
        # A table may cut it.
        assert SHOWN[:14] in sent, arguments
        assert escape_controls(sent.replace("\r\n", "\n")) == sent.replace("\r\n", "\n")
        if arguments == as_json:
            assert json.loads(sent)["mention"] == NAME


def test_a_pipe_has_what_there_is(run: Run, index: Path) -> None:
    assert run("link", "--index", index, NAME).stdout.splitlines()[1].startswith(f"{NAME}\t1\tX:1\t{NAME}\t")
    assert json.loads(run("link", "--index", index, "--format", "jsonl", NAME).stdout)["mention"] == NAME


def test_a_table_shows_it_wherever_it_goes(run: Run, index: Path) -> None:
    output = run("link", "--index", index, "--format", "table", NAME).stdout
    assert SHOWN[:14] in output
    assert escape_controls(output) == output


@pytest.mark.parametrize(
    ("arguments", "input"),
    [
        (("--column", "x"), f"id,{NAME}\n1,MI\n"),
        (("--column", "1", "--format", "jsonl"), f"{NAME},{NAME}\n1,MI\n"),
        pytest.param(("--file", NAME), None, marks=unicode_arguments),
        (("--format", NAME), "MI\n"),
        ((f"--{NAME}",), "MI\n"),
        (("--column", "a", "--column", NAME), "a\n"),
        ((), f"{NAME}\tb\nMI\t1\n"),
    ],
)
def test_messages_show_what_they_quote(
    run: Run, index: Path, arguments: tuple[str, ...], input: str | None
) -> None:
    result = run("link", "--index", index, *arguments, input=input)
    assert result.stderr
    assert escape_controls(result.stderr) == result.stderr


def test_errors_show_what_they_quote_and_know_it_as_it_is() -> None:
    error = InputError(f"no {NAME}", path=NAME)
    assert str(error) == f"{SHOWN}: no {SHOWN}"
    assert (error.message, error.path) == (f"no {NAME}", NAME)


def test_text_that_commands_nothing_stays() -> None:
    text = "naïve 心筋梗塞 احتشاء عضل القلب \u200f 👩‍⚕️ a\tb\n"
    assert escape_controls(text) == text
