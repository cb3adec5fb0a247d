"""Pages that the site has beside those in docs/, and docstrings in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
from griffe import Extension, Object
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from nymlink.cli import nymlink

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = {
    "contributing.md": ROOT / "CONTRIBUTING.md",
    "changes.md": ROOT / "CHANGELOG.md",
    "reference/model_card.md": ROOT / "src" / "nymlink" / "models" / "nymlink-mini" / "README.md",
}
"""Pages of the site that live elsewhere in the repository."""

_COMMANDS: Final = "# Commands\n\nWhat `--help` says of each command.\n"
_ROLE: Final = re.compile(r":(?:py:)?[a-z]+:`~?(?:[\w.]*\.)?([^`]+)`")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that live elsewhere, with links to ``docs/`` as the site has them, and the commands."""
    for place, source in PAGES.items():
        up = "../" * place.count("/")
        text = re.sub(r"\]\((?:\.\./)*docs/", f"]({up}", source.read_text(encoding="utf-8"))
        files.append(File.generated(config, place, content=text))
    helps = _helps(nymlink, click.Context(nymlink, info_name="nymlink", max_content_width=100))
    files.append(File.generated(config, "reference/commands.md", content=_COMMANDS + "".join(helps)))
    return files


def _helps(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield the help of a command, and of those below it, as sections of a page."""
    yield f"\n## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from _helps(below, click.Context(below, parent=context, info_name=name))


class Docstrings(Extension):
    """Docstrings have roles and literal blocks of reStructuredText; the site is Markdown."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Replace ``:class:`x.Y``` by ``Y``, and ``::`` at the end of a paragraph by a colon."""
        if obj.docstring is not None:
            text = _ROLE.sub(r"`\1`", obj.docstring.value)
            obj.docstring.value = re.sub(r"::(?=\n\n)", ":", text)
