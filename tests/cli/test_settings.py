"""`--settings`: rare settings of commands, from files and as single values."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_later_values_count(run: Run, built: Path, tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('composites = "always"\nprocesses = 1\n', encoding="utf-8")
    given = ("link", "--index", built / "index", "--format", "jsonl", "heart attack, short stature")
    for settings, parts in (
        ((), 0),
        ((file,), 2),
        (("composites=always",), 2),
        ((file, "composites=given"), 0),
        (("composites=given", file), 2),
    ):
        done = run(*given, *(part for each in settings for part in ("--settings", each)))
        assert done.exit_code == 0, done.stderr
        assert len(json.loads(done.stdout)["parts"]) == parts, settings


@pytest.mark.parametrize(
    ("command", "setting", "message"),
    [
        ("link", "composite=always", "unknown settings: composite; there are: composites, "),
        ("link", "composites=often", "composites must be one of given, always, not 'often'"),
        ("link", "processes=0", "processes must be 1 or more"),
        ("link", "target_precision=2", "target_precision must be from 0 to 1"),
        ("link", "nowhere.toml", "no such file"),
        ("bulk link", "rerank=x", "unknown settings: rerank; there are: language, target_precision, composites"),
        ("annotate", "min_confidence=high", "min_confidence must be a number, not 'high'"),
    ],
)
def test_unusable_settings_are_refused(
    run: Run, built: Path, tmp_path: Path, command: str, setting: str, message: str
) -> None:
    (tmp_path / "names.csv").write_text("mention\ngout\n", encoding="utf-8")
    output = ("-o", tmp_path / "out") if command == "bulk link" else ()
    given = (tmp_path / "names.csv", "--index", built / "index", "--settings", setting, *output)
    done = run(*command.split(), *given)
    assert (done.exit_code, message in done.stderr) == (2, True), done.stderr
