"""On the command line one word means one thing, and each command has examples that can be run."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from nymlink.cli import nymlink
from nymlink.cli.option_groups import GROUPS, MESSAGES, GroupedCommand, group_of, message_options


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield " ".join(path), command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        yield from leaves(inner, (*path, name))


COMMANDS = dict(leaves(nymlink))

OPTIONS = [
    (name, option)
    for name, command in COMMANDS.items()
    for option in command.params
    if isinstance(option, click.Option)
]


def kind(option: click.Option) -> str:
    """What is given to an option: a number, a word of a list, or a text (paths are texts)."""
    if option.is_flag:
        return "nothing"
    if isinstance(option.type, click.Choice):
        return "choice"
    number = isinstance(option.type, (click.IntRange, click.FloatRange)) or option.type in (click.INT, click.FLOAT)
    return "number" if number else "text"


def examples(command: click.Command) -> list[list[str]]:
    """The examples in a command's help, as arguments, without the end of a pipe or a redirection."""
    text = re.sub(r" \\\\?\n\s*", " ", command.help or "")
    lines = [
        line[line.index("nymlink ") :] for line in text.splitlines() if re.match(r"\s*(?:\w.* )?nymlink \w", line)
    ]
    return [shlex.split(re.split(r" [|>] ", line)[0])[1:] for line in lines if "`" not in line]


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_examples_that_it_would_take(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = name.split()
    own = [each for each in examples(COMMANDS[name]) if each[: len(words)] == words]
    assert own, "an example of the command itself"
    for example in examples(COMMANDS[name]):
        other = next((each for each in COMMANDS if example[: len(each.split())] == each.split()), None)
        assert other is not None, example
        # No file is opened by that, and none need be there.
        COMMANDS[other].make_context(other, example[len(other.split()) :], resilient_parsing=False)


def groups(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Group]]:
    if isinstance(command, click.Group):
        yield " ".join(path), command
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from groups(inner, (*path, name))


@pytest.mark.parametrize(("name", "group"), list(groups(nymlink)))
def test_a_group_lists_its_commands_with_whole_sentences(name: str, group: click.Group) -> None:
    said = group.get_help(click.Context(group, info_name=name or "nymlink", terminal_width=80))
    listed = said.partition("Options:")[2]
    assert "..." not in listed
    context = click.Context(group)
    for each in group.list_commands(context):
        command = group.get_command(context, each)
        assert command is not None
        first = " ".join((command.help or "").partition("\n\n")[0].split())
        assert first in " ".join(listed.split()), first
        assert all(len(line) <= 80 for line in listed.splitlines())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_few_options_in_groups_with_titles(name: str) -> None:
    command = COMMANDS[name]
    options = [option for option in command.params if isinstance(option, click.Option)]
    assert len(options) <= 15
    assert isinstance(command, GroupedCommand)
    assert [option.name for option in options if group_of(option) not in GROUPS] == []
    said = command.get_help(click.Context(command, info_name=name))
    assert all(flag in said for flag in GROUPS[MESSAGES].split())
    titles = [title for title in GROUPS if f"\n{title}:\n" in said]
    assert set(titles) == {group_of(option) for option in options}
    assert all(re.search(rf"^  .*{option.opts[-1]}\b", said, re.MULTILINE) for option in options)


def test_every_option_of_a_group_is_that_of_a_command() -> None:
    options = [*(option for _, option in OPTIONS), *message_options()]
    names = {flag for option in options for flag in option.opts}
    assert [flag for flags in GROUPS.values() for flag in flags.split() if flag not in names] == []


def test_an_option_is_of_one_kind() -> None:
    kinds = defaultdict(set)
    for _, option in OPTIONS:
        for flag in option.opts:
            kinds[flag].add(kind(option))
    several = {flag: found for flag, found in kinds.items() if len(found) > 1}
    # A weight is that of a search, by name, or of a model. JSON goes to a file beside a report, or is the output.
    assert set(several) <= {"--device", "--json", "--kind", "--weight"}, several


def test_formats_and_columns_are_those_of_the_input_or_the_output() -> None:
    flags = defaultdict(set)
    for name, option in OPTIONS:
        for flag in option.opts:
            flags[flag].add(name)
    assert flags["--format"] == {"annotate", "link", "project export"}
    bulk = {"bulk annotate", "bulk encode", "bulk link"}
    assert flags["--column"] == {*bulk, "link", "project add"}
    corpora = {
        "adapt",
        "calibrate",
        "evaluate",
        "index fit",
        "link",
        "rerank evaluate",
        "rerank fit",
        "train rank",
    }
    assert flags["--map-column"] == {*corpora, *bulk, "project add", "vocab build"}
    assert flags["--input-format"] == {*corpora, *bulk, "annotate", "vocab build"}
    assert flags["-o"] == flags["--output"]
    as_json = {"adapt", "check", "evaluate", "index info", "project next", "project reviewers", "vocab diff"}
    assert flags["--json"] == as_json
    assert not {"--columns", "--corpus-column", "--corpus-format", "--lang", "--method"} & set(flags)
