"""Pages of the reference that are written from the program itself whenever the site is built."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import click

from nymlink.cli import nymlink
from nymlink.rank.features import FEATURES, Feature
from nymlink.rerank import evidence
from nymlink.sources.source import TABLE

WIDTH: Final = 100
"""Columns of the help texts."""


def commands() -> str:
    """Write the help of every command."""
    context = click.Context(nymlink, info_name="nymlink", max_content_width=WIDTH)
    return "# Commands\n\nWhat `--help` says of each command.\n" + "".join(_helps(nymlink, context))


def _helps(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield the help of a command, and of those below it, as sections of a page."""
    yield f"\n## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from _helps(below, click.Context(below, parent=context, info_name=name))


def features() -> str:
    """Write the features of a ranker and the evidence of a re-ranker."""
    return (
        "# Features\n\nThe numbers that the models of order read.\n\n## Features of a ranker\n\n"
        "[How they are used](../howto/ranking.md#features).\n\n"
        + _table(("feature", "what it says", "range"), map(_feature, FEATURES))
        + "\n## Evidence of a re-ranker\n\n[How it is used](../howto/reranking.md#what-is-computed).\n\n"
        + _table(("evidence", "what it says", "range"), map(_feature, evidence.EVIDENCE))
    )


def _feature(feature: Feature) -> tuple[str, ...]:
    return f"`{feature.name}`", feature.meaning, feature.range


def sources() -> str:
    """Write the table of published sources."""
    rows = (
        (f"`{source.name}`", f"[{source.title}]({source.url})", source.format, source.licence, source.citation)
        for source in TABLE
    )
    head = "# Sources\n\nWhat `nymlink vocab get` fetches by name ([how to](../howto/sources.md)).\n\n"
    return head + _table(("name", "source", "format", "licence", "cite"), rows)


def http() -> str:
    """Write the routes of the server from its OpenAPI description; needs the extra ``serve``."""
    from nymlink.serve.app import create_app
    from nymlink.serve.served import ServedIndexes

    api: dict[str, Any] = create_app(ServedIndexes([])).openapi()
    rows = [
        (f"`{method.upper()} {path}`", route.get("summary", ""), _line(route.get("description", "")))
        for path, methods in sorted(api["paths"].items())
        for method, route in methods.items()
    ]
    head = (
        "# HTTP\n\nThe routes of `nymlink serve`; `/docs` of a running server has their fields and examples"
        " ([how to](../howto/serving.md), [projects](../howto/projects.md#over-http)).\n\n"
    )
    return head + _table(("route", "does", ""), rows)


def _line(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split()).replace("|", "\\|")


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
