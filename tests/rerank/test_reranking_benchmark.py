from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.encode import tiny

DOCUMENTS = 120
"""It takes 50 mentions to learn from in each half."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A base, a vocabulary, and documents with a mention of an ambiguous name and one of an unknown concept."""
    tiny.folder(tmp_path / "base")
    (tmp_path / "names.txt").write_text(
        "X:0||heart attack\nX:1||attack\nX:2||attack\nX:3||short stature\n", encoding="utf-8"
    )
    lines = []
    for number in range(DOCUMENTS):
        lines += [f"{number}|t|An attack of fever.", f"{number}|a|", f"{number}\t3\t9\tattack\tDisease\tX:2"]
        lines += [f"{number}\t13\t18\tfever\tDisease\tX:{4 + number}", ""]
    with gzip.open(tmp_path / "corpus.txt.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines))
    return tmp_path


@pytest.mark.large
def test_re_rankers_are_trained_measured_and_shown(place: Path, script: Callable[[str], Any]) -> None:
    steps, report = script("reranking.reranking_steps"), script("reranking.reranking_report")
    index, corpus, whole = str(place / "index"), str(place / "first.txt"), str(place / "corpus.txt.gz")
    steps.cut(whole, corpus, first=3)
    steps.build(str(place / "names.txt"), index, str(place / "vectors"), names=None, encoder=None)
    runs: dict[str, dict[int, Any]] = {}
    for loss in ("triplet", "prototype-srn"):
        output = str(place / loss)
        settings = {"loss": loss, "max_length": 48, "epochs": 1, "device": "cpu"}
        timed = steps.train(corpus, index, str(place / "base"), output, **settings)
        runs[loss] = {0: steps.measure(corpus, whole, index, output) | timed}
        found = runs[loss][0]["mentions"]
        # X:1 has the same name and is earlier in the vocabulary; what is not in it is never right.
        assert [one["before"] for one in found] == [1, None] * DOCUMENTS
        assert all((one["first_after"][0] == "X:2") == (one["after"] == 0) for one in found[::2])
    summary = report.summary(runs)
    assert summary["mentions"]["all"] == 2 * DOCUMENTS
    summary |= steps.examples(whole, index, report.disagreements(runs, 1))
    assert "| triplet, prototype-srn |" in report.text({"toy": summary})


def test_all_trainings_of_a_folder_are_of_one_kind(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], script: Callable[[str], Any]
) -> None:
    reranking = script("reranking.reranking")
    mention = {"before": 0, "after": 0, "combined": 0, "ambiguous": False, "seen": True}
    measured = {"fits": [], "epoch_seconds": 2.0, "entity_seconds": 3.0, "mentions_per_second": 9.0}
    monkeypatch.setattr(reranking.apart, "run", lambda *_, **__: {"mentions": [mention], **measured})
    monkeypatch.setenv("NYMLINK_DATA", str(place))
    command = [
        "x",
        str(place / "out"),
        "--encoder",
        str(place / "base"),
        "--only",
        "NCBI",
        "--retrieval",
        "sparse",
    ]
    monkeypatch.setattr(sys, "argv", [*command, "--loss", "triplet"])
    reranking.main()
    assert "| triplet | 100.0 |" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", [*command, "--loss", "triplet", "--epochs", "3"])
    with pytest.raises(SystemExit, match="choose another folder"):
        reranking.main()
