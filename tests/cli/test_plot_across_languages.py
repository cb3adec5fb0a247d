from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.encode import tiny
from tests.plot.multilingual import multilingual


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the vocabulary ``vocab`` and the encoders ``base`` and ``trained``."""
    made = tmp_path_factory.mktemp("plot")
    multilingual().save(made / "vocab")
    tiny.folder(made / "base")
    tiny.folder(made / "trained", seed=1)
    return made


def test_retrieval(run: Run, folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "retrieval.svg"
    chosen = ("--encoder", folder / "base", "--encoder", folder / "trained", "--concepts", 10)
    result = run("plot", "retrieval", folder / "vocab", *chosen, "-o", output)
    assert (result.exit_code, result.stdout) == (0, f"40 names of 10 concepts in 3 languages → {output}\n")
    assert b"trained" in output.read_bytes()
    result = run(
        "plot", "retrieval", folder / "vocab", *chosen, "--language", "en", "--language", "de", "-o", output
    )
    assert (result.exit_code, result.stdout) == (0, f"30 names of 10 concepts in 2 languages → {output}\n")


@pytest.mark.parametrize(
    ("languages", "message"),
    [
        (("en",), "one language (en) cannot search another"),
        (("en", "en"), "en is given more than once"),
        (("en", "xx"), "no name is in the language 'xx'; the vocabulary has: en"),
        (("en", "nl"), "only 2 concepts have names in each of en, nl, not 200"),
        ((), "only 24 concepts have names in each of en, de, not 200"),
    ],
)
def test_what_cannot_be_drawn_is_said_before_anything_is_encoded(
    run: Run, folder: Path, tmp_path: Path, languages: tuple[str, ...], message: str
) -> None:
    chosen = [word for language in languages for word in ("--language", language)]
    # No encoder is looked for.
    where = ("--encoder", folder / "none", "-o", tmp_path / "retrieval.png")
    result = run("plot", "retrieval", folder / "vocab", *chosen, *where)
    assert (result.exit_code, message in result.stderr) == (2, True), result.output
    assert not list(tmp_path.iterdir())


def test_space_of_a_chosen_concept(run: Run, folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "space.svg"
    chosen = ("--encoder", folder / "base", "--concepts", 3, "--names", 2)
    result = run("plot", "space", folder / "vocab", "--concept", "T:1", *chosen, "-o", output)
    assert (result.exit_code, result.stdout) == (0, f"7 names of 3 concepts → {output}\n"), result.output
    assert b"coloured names" in output.read_bytes()
    result = run("plot", "space", folder / "vocab", "--concept", "T:99", *chosen, "-o", output)
    assert (result.exit_code, "no concept 'T:99' in the vocabulary" in result.stderr) == (2, True), result.output
    result = run("plot", "space", folder / "vocab", "--concept", "T:1", "--concept", "T:1", *chosen, "-o", output)
    assert (result.exit_code, "T:1 is given more than once" in result.stderr) == (2, True), result.output
