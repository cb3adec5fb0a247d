"""What the documentation lists is what there is."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from nymlink.corpus.readers import CORPUS_FORMATS
from nymlink.index.sparse.presets import PRESETS
from nymlink.linking.writers import LINK_FORMATS
from nymlink.vocabulary.readers import VOCABULARY_FORMATS

ROOT = Path(__file__).parents[1]
GENERATED = ("commands.md", "model_card.md", "contributing.md", "changes.md")
"""Pages that are made when the site is."""


@pytest.mark.parametrize(
    ("heading", "names"),
    [
        ("## Vocabularies", VOCABULARY_FORMATS.names()),
        ("## Corpora", CORPUS_FORMATS.names()),
        ("## Links", LINK_FORMATS.names()),
    ],
)
def test_every_format_is_documented(heading: str, names: tuple[str, ...]) -> None:
    section = (
        (ROOT / "docs" / "howto" / "formats.md").read_text(encoding="utf-8").split(heading)[1].split("\n## ")[0]
    )
    assert tuple(re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)) == names


def test_every_preset_is_documented() -> None:
    text = (ROOT / "docs" / "howto" / "evaluation.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in PRESETS)


@pytest.mark.parametrize(
    "page", ["README.md", *(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]
)
def test_links_and_scripts_named_in_the_docs_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert ((ROOT / page).parent / target).exists() or Path(target).name in GENERATED, target
    for script in re.findall(r"\b(?:benchmarks|examples)/[\w/]+(?:\.\w+)+", text):
        assert (ROOT / script).exists(), script


def test_tables_are_those_of_the_results(script: Callable[[str], ModuleType]) -> None:
    filled = script("docs_tables").filled
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    assert any("<!-- table: " in text for text in texts.values())
    for page, text in texts.items():
        assert filled(text) == text, f"{page.name}: run benchmarks/docs_tables.py"
