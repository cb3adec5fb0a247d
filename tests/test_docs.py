"""What the documentation lists is what there is."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import nymlink
from docs import generated
from nymlink.corpus.readers import CORPUS_FORMATS
from nymlink.index.sparse.features import PRESETS
from nymlink.linking.writers import LINK_FORMATS
from nymlink.rank.features import FEATURES, Feature
from nymlink.rerank import evidence
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from tests.docs.blocks import PAGES, RUN, blocks
from tests.docs.helps import COMMANDS

ROOT = Path(__file__).parents[1]
GENERATED = (
    "commands.md",
    "features.md",
    "http.md",
    "sources.md",
    "model_card.md",
    "nano_card.md",
    "contributing.md",
    "changes.md",
)
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


def test_the_docs_are_short() -> None:
    assert sum(len(path.read_text(encoding="utf-8").split()) for path in (ROOT / "docs").rglob("*.md")) <= 50_000


def test_tables_are_those_of_the_results(script: Callable[[str], ModuleType]) -> None:
    docs_tables = script("common.docs_tables")
    filled = docs_tables.filled
    texts = {page: page.read_text(encoding="utf-8") for page in docs_tables.pages()}
    assert any("models" in page.parts for page in texts)
    assert any("<!-- table: " in text for text in texts.values())
    for page, text in texts.items():
        assert filled(text) == text, f"{page.name}: run benchmarks/common/docs_tables.py"


def captions() -> dict[str, dict[str, Any]]:
    """Read how each table was measured: file and table → properties."""
    results = {
        path.name: json.loads(path.read_text(encoding="utf-8"))
        for path in (ROOT / "benchmarks" / "results").glob("*.json")
    }
    return {
        f"{name}#{part}": {**result["about"], **result["about"].get("parts", {}).get(part, {})}
        for name, result in results.items()
        for part in result.keys() - {"about", "figures"}
    }


def test_each_table_says_how_it_was_measured() -> None:
    measured = captions()
    assert measured
    for table, about in measured.items():
        assert all(about.get(name) for name in ("command", "data", "commit", "date", "machine")), table
        # None: there is none, as nothing is split, searched or drawn.
        assert {"split", "dictionary", "seed"} <= about.keys(), table
        assert about["command"].split()[0] in {"nymlink", "python"}, table


def test_commits_of_the_tables_are_in_the_history() -> None:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a clone")

    def output(*arguments: str) -> str:
        command = [git, *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True).stdout

    if output("rev-parse", "--is-shallow-repository").strip() == "true":
        pytest.skip("a shallow clone has no history")
    # A commit that a rebase replaced is an object of one clone only, hence the history, not the objects.
    history = output("rev-list", "HEAD").splitlines()
    commits = {about["commit"].removesuffix("+") for about in captions().values()}
    assert not [commit for commit in commits if not any(each.startswith(commit) for each in history)]


@pytest.mark.parametrize("table", [FEATURES, evidence.EVIDENCE])
def test_every_feature_is_on_a_page_of_the_reference(table: tuple[Feature, ...]) -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+) \| (.+) \|$", generated.features(), re.MULTILINE)
    assert set(table) <= {Feature(*row) for row in rows}
    assert f"[{len(FEATURES)} numbers a candidate](#features)" in (ROOT / "docs/howto/ranking.md").read_text(
        encoding="utf-8"
    )


def test_every_command_and_option_is_on_a_page_of_the_reference() -> None:
    page = generated.commands()
    for path, command in COMMANDS.items():
        assert f"\n## {path}\n" in page
        assert all(option in page for option in command.options if option.startswith("--")), path


def test_the_routes_of_the_server_are_on_a_page_of_the_reference() -> None:
    page = generated.http()
    for route in ("POST /v1/link", "POST /v1/annotate", "GET /v1/search", "POST /v1/projects/{name}/decisions"):
        assert f"| `{route}` |" in page


def test_each_public_name_has_an_example_in_the_reference() -> None:
    shown = "".join(
        block.text for page in PAGES if "/reference/" in page for block in blocks(page) if block.language in RUN
    )
    assert not [name for name in nymlink.__all__ if not re.search(rf"\b{name}\b", shown)]


_RECORD = re.compile(
    r"# (.+)\n\n(\d{4}-\d\d-\d\d)\n\n"
    r"\*\*Context\*\*: .+\n\n\*\*Decision\*\*: .+\n\n\*\*Consequence\*\*: .+\n"
)


def test_decisions_are_dated_records() -> None:
    pages = [path for path in (ROOT / "docs" / "decisions").glob("*.md") if path.stem != "index"]
    listed = (ROOT / "docs" / "decisions" / "index.md").read_text(encoding="utf-8")
    assert pages
    for page in pages:
        found = _RECORD.fullmatch(page.read_text(encoding="utf-8"))
        assert found is not None, page.name
        assert f"| {found[2]} | [{found[1]}]({page.name}) |" in listed
