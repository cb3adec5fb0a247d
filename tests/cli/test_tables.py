"""Tables that `nymlink link --columns` cannot take."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_json_loses_no_column_of_the_same_name(run: Run, built: Path) -> None:
    arguments = ("link", "--index", built / "index", "--columns", "term")
    table = "term,note,note\nheart attack,first,second\n"
    refused = run(*arguments, "--format", "jsonl", input=table)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "two columns are called 'note'" in refused.stderr
    assert run(*arguments, input=table).stdout.splitlines()[1].startswith("heart attack,first,second,1,X:1,")


@pytest.mark.parametrize("table", ["", "\n \n", '""\n'])
def test_a_table_without_a_header_is_empty(run: Run, built: Path, table: str) -> None:
    result = run("link", "--index", built / "index", "--columns", 1, input=table)
    assert (result.exit_code, "standard input: the table is empty" in result.stderr) == (2, True), result.output
