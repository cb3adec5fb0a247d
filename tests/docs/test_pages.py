"""Every command and snippet of the documentation runs, and writes what its page shows."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest

from nymlink.cli import nymlink
from tests.docs.blocks import NOT_RUN, PAGES, ROOT, Block, Command, blocks
from tests.docs.runner import Runner

RUN = [page for page in PAGES if any(block.runs for block in blocks(page))]


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN)
def test_page_runs(page: str, runner: Runner) -> None:
    for block in blocks(page):
        if block.file is not None:
            (runner.folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.runs:
            runner.run(block)


def test_few_blocks_are_not_run() -> None:
    marked = [f"{page}: {block.title}" for page in PAGES for block in blocks(page) if NOT_RUN in block.title]
    assert marked == []


@pytest.mark.parametrize("page", PAGES)
def test_all_commands_stand_in_blocks_that_run(page: str) -> None:
    languages = {block.language for block in blocks(page)}
    assert languages <= {"console", "python", "pycon", "text", "csv", "tsv", "toml", "json", "markdown"}, languages
    text = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.M | re.S)
    assert not re.findall(r"^ {4,}(?:nymlink|python|pip) .*", text, re.M)


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_options_within_sentences_exist(page: str) -> None:
    text = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.M | re.S)
    for quoted in re.findall(r"`(nymlink [a-z][^`\n]*)`", text):
        command, words = nymlink, quoted.split()[1:]
        while isinstance(command, click.Group) and words and (below := _below(command, words[0])) is not None:
            command, words = below, words[1:]
        known = {option for parameter in command.params for option in parameter.opts + parameter.secondary_opts}
        asked = {word.partition("=")[0].rstrip(",;.") for word in words if word.startswith("--")}
        assert command is not nymlink, quoted
        assert asked <= known | {"--help"}, quoted


def _below(command: click.Group, name: str) -> click.Command | None:
    return command.get_command(click.Context(command), name)


def _helps(command: click.Command, path: str) -> Iterator[tuple[str, str]]:
    yield path, command.help or ""
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            below = _below(command, name)
            assert below is not None
            yield from _helps(below, f"{path} {name}")


EXAMPLES = {
    path: re.sub(r"\\\n +", "", "\n".join(re.findall(r"^ *(nymlink (?:\w)[^\n]*(?:\\\n[^\n]*)*)", text, re.M)))
    for path, text in _helps(nymlink, "nymlink")
}


@pytest.mark.parametrize("path", [path for path, text in EXAMPLES.items() if text])
def test_examples_of_help_run(path: str, runner: Runner) -> None:
    for line in EXAMPLES[path].splitlines():
        runner.command(Command(re.sub(r" +#.*", "", line), ""), f"{path} --help")


def test_a_block_that_writes_something_else_fails(runner: Runner) -> None:
    with pytest.raises(pytest.fail.Exception, match="where the page has"):
        runner.run(Block("page.md", 1, "console", "", "$ nymlink --version\nnone\n"))
    with pytest.raises(pytest.fail.Exception, match="Expected"):
        runner.run(Block("page.md", 1, "pycon", "", ">>> 1 + 1\n3\n"))
