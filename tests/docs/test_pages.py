"""Every command and snippet of the documentation runs, and writes what its page shows."""

from __future__ import annotations

import doctest
import re

import pytest

from tests.docs.blocks import PAGES, RUN, SHOWN, Block, blocks, prose
from tests.docs.helps import OPTIONS, command_of, options
from tests.docs.runner import Runner, ScoreChecker, check_script


@pytest.mark.large
@pytest.mark.usefixtures("export_once")
@pytest.mark.parametrize("page", [page for page in PAGES if any(block.language in RUN for block in blocks(page))])
def test_page_runs(page: str, runner: Runner, request: pytest.FixtureRequest) -> None:
    if any(
        re.search(r"nymlink (link|serve|annotate)(?!.*--index)|nymlink\.(link|annotate)\(|make demo", block.text)
        for block in blocks(page)
    ):
        request.getfixturevalue("embedded_default")
    for block in blocks(page):
        runner.run(block)


@pytest.mark.parametrize("page", PAGES)
def test_commands_stand_in_blocks_that_run(page: str) -> None:
    assert {block.language for block in blocks(page)} <= {*RUN, *SHOWN}
    assert not re.findall(r"^(?: {4,}|~~~).*\b(?:nymlink|python|pip|import) .*", prose(page), re.M)


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_options_within_sentences_exist(page: str) -> None:
    quoted = re.findall(r"`([^`\n]+)`", prose(page))
    for line in quoted:
        if line.startswith("nymlink "):
            command = command_of(line)
            assert command is not None, line
            assert set(options(line)) <= set(command.options), line
        elif line.startswith("python "):
            check_script(line.split()[1:], page)
        elif line.startswith("--"):
            assert set(options(line)) <= OPTIONS, line


@pytest.mark.parametrize(
    ("language", "text", "match"),
    [
        ("console", "$ nymlink --version\nnone\n", "where the page has"),
        ("console", "$ nymlink link --index nowhere gout\n", "ended with 2"),
        ("pycon", ">>> 1 + 1\n3\n", "Expected"),
    ],
)
def test_a_block_that_does_something_else_fails(language: str, text: str, match: str, runner: Runner) -> None:
    with pytest.raises(pytest.fail.Exception, match=match):
        runner.run(Block("page.md", 1, language, None, text))


@pytest.mark.parametrize(
    ("shown", "written", "same"),
    [
        ("no cough  HP:1  0.7679  0.96", "no cough HP:1 0.7619 0.95", True),
        ("no cough  HP:1  0.7679", "no cough HP:1 0.7979", False),
        ("no cough  HP:1  0.7679", "no cough HP:2 0.7679", False),
        ("{'score': 0.79, ...}", "{'score': 0.80, 'name': 'a'}", True),
        ("{'score': 0.79, ...}", "{'score': 0.81, 'name': 'a'}", False),
        ("nymlink 0.1.0\n87.4 of 12", "nymlink 0.1.0\n87.5 of 12", False),
        ("version 1.0.12", "version 1.0.13", False),
        ("first\n...\nlast 0.50", "first\nany\nlast 0.494", False),
        ("first\n...\nlast 0.50", "first\nany\nlast 0.49", True),
        ("1.000  ↳ guessed", "0.995  ↳ guessed", True),
        ("1.000  ↳ guessed", "0.995  ↳ tie", False),
    ],
)
def test_scores_may_differ_a_little_and_nothing_else(shown: str, written: str, same: bool) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert ScoreChecker().check_output(f"{shown}\n", f"{written}\n", flags) == same
