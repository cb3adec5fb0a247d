"""`nymlink plot contexts` and `nymlink plot clusters`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from nymlink.index.index import Index
from nymlink.rerank.dual_encoder import DualEncoder, DualEncoderConfig
from tests.cli.conftest import Run
from tests.encode import tiny
from tests.train.small import vocabulary

TEXT = "A fever, a seizure. Fever and seizure."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the index ``index``, the re-rankers ``one`` and ``two`` and the corpus ``docs.txt``."""
    made = tmp_path_factory.mktemp("plot")
    Index.build(vocabulary(("X:0", "fever", "en", "exact"), ("X:1", "seizure", "en", "exact")), encoder=None).save(
        made / "index"
    )
    for seed, name in enumerate(("one", "two")):
        base = tiny.folder(made / f"base-{name}", seed=seed)
        DualEncoder.from_encoder(base, DualEncoderConfig(max_length=48)).save(made / name)
    places = [(2, 7, 0), (11, 18, 1), (20, 25, 0), (30, 37, 1)]
    lines = [f"1\t{start}\t{end}\t{TEXT[start:end]}\tDisease\tX:{at}" for start, end, at in places]
    (made / "docs.txt").write_text("\n".join([f"1|t|{TEXT}", "1|a|", *lines, ""]), encoding="utf-8")
    return made


def test_contexts(run: Run, folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "contexts.svg"
    given = ("--index", folder / "index", "--corpus", folder / "docs.txt", "--concepts", 2, "-o", output)
    result = run("plot", "contexts", folder / "one", folder / "two", *given)
    assert (result.exit_code, result.stdout) == (0, f"4 mentions of 2 concepts → {output}\n"), result.output
    assert all(title in output.read_bytes() for title in (b"one", b"two", b"seizure"))


def test_a_re_ranker_is_given_once(run: Run, folder: Path, tmp_path: Path) -> None:
    given = ("--index", folder / "index", "--corpus", folder / "docs.txt", "-o", tmp_path / "contexts.svg")
    result = run("plot", "contexts", folder / "one", folder / "one", *given)
    said = " ".join(result.stderr.replace("│", " ").split())
    assert (result.exit_code, "is given more than once" in said) == (2, True), result.output


def test_clusters(run: Run, folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "clusters.png"
    result = run("plot", "clusters", "--corpus", folder / "docs.txt", "-o", output)
    assert (result.exit_code, result.stdout) == (0, f"4 mentions in 2 clusters → {output}\n"), result.output
    assert output.read_bytes().startswith(b"\x89PNG")


def test_what_was_rejected_is_said(run: Run, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "docs.txt").write_text(
        (folder / "docs.txt").read_text(encoding="utf-8") + "1\tfour\t5\tx\tDisease\tX:1\n", encoding="utf-8"
    )
    result = run("plot", "clusters", "--corpus", tmp_path / "docs.txt", "-o", tmp_path / "clusters.png")
    assert (result.exit_code, "rejected and not used" in result.stderr) == (1, True), result.output
    assert (tmp_path / "clusters.png").exists()


@pytest.mark.parametrize(
    ("picture", "module", "extra"),
    [("contexts", "sklearn", "plot"), ("contexts", "torch", "train"), ("clusters", "matplotlib", "plot")],
)
def test_what_is_missing_is_said_first(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, picture: str, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    more = (tmp_path / "none", "--index", tmp_path / "none") if picture == "contexts" else ()
    result = run("plot", picture, *more, "--corpus", tmp_path / "none", "-o", tmp_path / "picture.png")
    assert (result.exit_code, f"pip install 'nymlink[{extra}]'" in result.stderr) == (2, True), result.output


def test_what_cannot_be_drawn_is_said(run: Run, folder: Path, tmp_path: Path) -> None:
    given = ("--index", folder / "index", "--corpus", folder / "docs.txt")
    for more, said in (
        (("-o", tmp_path / "picture.docx"), "the name of a picture must end in .pdf, .png or .svg"),
        (("-o", tmp_path / "picture.png"), "only 2 concepts of the vocabulary have two or more mentions"),
        (("-o", tmp_path / "picture.png", "--concepts", 8), "8 is not in the range"),
        (("-o", tmp_path / "picture.png", "--seed", -1), "-1 is not in the range"),
        (("-o", tmp_path / "none" / "picture.png"), "no such directory"),
    ):
        result = run("plot", "contexts", folder / "one", *given, *more)
        assert (result.exit_code, said in result.stderr) == (2, True), result.output
    for one in (tmp_path / "none", folder / "index"):
        result = run("plot", "contexts", one, *given, "--concepts", 2, "-o", tmp_path / "picture.png")
        assert (result.exit_code, "Traceback" in result.output) == (2, False), result.output
    assert not list(tmp_path.iterdir())
