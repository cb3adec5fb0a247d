"""A small vocabulary and its index, built through the command line itself."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nymlink.cli import nymlink
from nymlink.index.index import Index

Run = Callable[..., Result]

NYMLINK = (sys.executable, "-c", "from nymlink.cli import main; main()")
"""The command line in a process of its own, which takes a second: only for what concerns processes."""

TABLE = """\
concept_id\tname\tlang\tkind\tsemantic_type\txrefs
X:1\tmyocardial infarction\ten\tpreferred\tdisease\tUMLS:C0027051
X:1\theart attack\ten\texact\tdisease\t
X:1\tinfarto de miocardio\tes\texact\tdisease\t
X:1\tMI\ten\tabbreviation\tdisease\t
X:2\tmitral insufficiency\ten\tpreferred\tdisease\t
X:2\tMI\ten\tabbreviation\tdisease\t
X:3\tshort stature\ten\tpreferred\tphenotype\t
"""


@pytest.fixture(scope="session")
def run() -> Run:
    """Run the command line in this process: ``run("link", "heart attack", input=...)``."""

    def invoke(*arguments: object, input: str | bytes | None = None) -> Result:
        return CliRunner().invoke(nymlink, [str(argument) for argument in arguments], input=input)

    return invoke


@pytest.fixture(scope="session")
def built(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``table.tsv.gz``, the vocabulary ``vocab`` and its index ``index``, which has no ranker."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "table.tsv.gz").write_bytes(gzip.compress(TABLE.encode()))
    assert run("vocab", "build", folder / "table.tsv.gz", "-o", folder / "vocab").exit_code == 0
    built = run("index", "build", folder / "vocab", "-o", folder / "ranked", "--encoder", "none")
    assert built.exit_code == 0, built.stderr
    Index.load(folder / "ranked").with_ranker(None).save(folder / "index")
    return folder
