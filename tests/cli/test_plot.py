from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.encode import tiny
from tests.index.small import vocabulary

NAMES = {
    f"T:{number}": [f"{word} {tail}" for tail in ("attack", "stature", "fever")]
    for number, word in enumerate("abcdefgh")
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the vocabulary ``vocab`` and the encoders ``base`` and ``trained``."""
    made = tmp_path_factory.mktemp("plot")
    vocabulary(NAMES).save(made / "vocab")
    tiny.folder(made / "base")
    tiny.folder(made / "trained", seed=1)
    return made


def test_space(run: Run, folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "space.svg"
    chosen = ("--encoder", folder / "base", "--encoder", folder / "trained", "--concepts", 5, "--names", 3)
    result = run("plot", "space", folder / "vocab", *chosen, "-o", output)
    assert (result.exit_code, result.stdout) == (0, f"15 names of 5 concepts → {output}\n"), result.output
    assert output.stat().st_size > 10_000
    before = output.read_bytes()
    assert b"base" in before
    assert b"trained" in before


@pytest.mark.parametrize(
    ("picture", "module", "extra"),
    [("space", "sklearn", "plot"), ("similarities", "matplotlib", "plot"), ("similarities", "torch", "train")],
)
def test_what_is_missing_is_said_before_anything_is_encoded(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, picture: str, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    # No encoder is looked for.
    result = run("plot", picture, folder / "vocab", "--encoder", folder / "none", "-o", tmp_path / "picture.png")
    assert result.exit_code == 2
    assert f"pip install 'nymlink[{extra}]'" in result.stderr


def test_similarities(run: Run, folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "similarities.png"
    chosen = ("--encoder", folder / "base", "--batch-pairs", 6)
    result = run("plot", "similarities", folder / "vocab", *chosen, "-o", output)
    assert (result.exit_code, result.stdout) == (0, f"4 batches of 6 pairs → {output}\n"), result.output
    assert output.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("picture", ["space", "similarities"])
def test_what_cannot_be_drawn_is_said_first(run: Run, folder: Path, tmp_path: Path, picture: str) -> None:
    encoder = ("--encoder", folder / "base")
    result = run("plot", picture, folder / "vocab", *encoder, "-o", tmp_path / "picture.docx")
    assert result.exit_code == 2
    assert "the name of a picture must end in .pdf, .png or .svg" in result.stderr
    result = run("plot", picture, folder / "vocab", *encoder, "-o", tmp_path / "picture.png")
    assert result.exit_code == 2
    assert "the vocabulary" in result.stderr
    result = run("plot", picture, folder / "missing", *encoder, "-o", tmp_path / "picture.png")
    assert (result.exit_code, "Traceback" in result.output) == (2, False)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("picture", ["space", "similarities"])
def test_a_picture_has_a_place_before_anything_is_encoded(
    run: Run, folder: Path, tmp_path: Path, picture: str
) -> None:
    # No encoder is looked for.
    chosen = ("--encoder", folder / "none", "-o", tmp_path / "none" / "picture.png")
    result = run("plot", picture, folder / "vocab", *chosen)
    assert (result.exit_code, "no such directory" in result.stderr) == (2, True), result.output


@pytest.mark.parametrize("seed", [-1, 99999999999])
def test_a_seed_that_cannot_be_is_said(run: Run, folder: Path, tmp_path: Path, seed: int) -> None:
    chosen = ("--encoder", folder / "base", "--concepts", 5, "--names", 3, "--seed", seed)
    result = run("plot", "space", folder / "vocab", *chosen, "-o", tmp_path / "picture.png")
    assert (result.exit_code, f"{seed} is not in the range" in result.stderr) == (2, True), result.output


def test_names_that_an_encoder_takes_for_one_are_no_map(run: Run, tmp_path: Path) -> None:
    """The tokenizer of nymlink-mini has no letters of these."""
    names = {f"T:{number}": ["ހިތް" * (2 * number + 1), "ހިތް" * (2 * number + 2)] for number in range(3)}
    vocabulary(names).save(tmp_path / "vocab")
    output = tmp_path / "space.svg"
    chosen = ("--encoder", "nymlink-mini", "--concepts", 3, "--names", 2, "-o", output)
    result = run("plot", "space", tmp_path / "vocab", *chosen)
    assert (result.exit_code, output.exists()) == (2, False), result.output
    assert "nymlink-mini: the encoder does not tell these names apart" in result.stderr


def test_encoders_of_one_name_are_told_apart(run: Run, folder: Path, tmp_path: Path) -> None:
    tiny.folder(tmp_path / "base", seed=2)
    output = tmp_path / "space.svg"
    chosen = ("--encoder", folder / "base", "--encoder", tmp_path / "base", "--concepts", 5, "--names", 3)
    result = run("plot", "space", folder / "vocab", *chosen, "-o", output)
    assert result.exit_code == 0, result.output
    assert str(tmp_path).encode() in output.read_bytes()
