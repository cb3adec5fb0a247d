"""Pages that the site has beside those in docs/, and docstrings in Markdown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from griffe import Extension, Object
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from docs import generated

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = {
    "contributing.md": ROOT / "CONTRIBUTING.md",
    "changes.md": ROOT / "CHANGELOG.md",
    "reference/model_card.md": ROOT / "src" / "nymlink" / "models" / "nymlink-mini" / "README.md",
    "reference/nano_card.md": ROOT / "src" / "nymlink" / "models" / "nymlink-nano" / "README.md",
}
"""Pages of the site that live elsewhere in the repository."""

WRITTEN: Final = (generated.commands, generated.features, generated.http, generated.sources)
"""Pages of the reference that are written from the program."""

_ROLE: Final = re.compile(r":(?:py:)?[a-z]+:`~?(?:[\w.]*\.)?([^`]+)`")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that live elsewhere, with links to ``docs/`` as the site has them, and the written ones."""
    for place, source in PAGES.items():
        up = "../" * place.count("/")
        text = re.sub(r"\]\((?:\.\./)*docs/", f"]({up}", source.read_text(encoding="utf-8"))
        files.append(File.generated(config, place, content=text))
    for write in WRITTEN:
        files.append(File.generated(config, f"reference/{write.__name__}.md", content=write()))
    return files


class Docstrings(Extension):
    """Docstrings have roles and literal blocks of reStructuredText; the site is Markdown."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Replace ``:class:`x.Y``` by ``Y``, and ``::`` at the end of a paragraph by a colon."""
        if obj.docstring is not None:
            text = _ROLE.sub(r"`\1`", obj.docstring.value)
            obj.docstring.value = re.sub(r"::(?=\n\n)", ":", text)
