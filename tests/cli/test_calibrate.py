from __future__ import annotations

import csv
import io
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from wcwidth import wcswidth

from nymlink.index.index import Index
from nymlink.linking.calibration import Calibration
from tests.cli.conftest import NYMLINK, Run
from tests.index.small import many_names, vocabulary

NAMES = many_names(200, seed=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the index ``index`` and the corpora ``dev.tsv``, ``test.tsv`` and ``few.tsv``."""
    made = tmp_path_factory.mktemp("calibrate")
    Index.build(
        vocabulary({f"X:{number}": NAMES[4 * number : 4 * number + 4] for number in range(50)}), encoder=None
    ).with_ranker(None).save(made / "index")
    draw = random.Random(0)
    for name, count in (("dev", 150), ("test", 100), ("few", 10)):
        lines = ["term\tgold"]
        for at in draw.choices(range(len(NAMES)), k=count):
            share = draw.choice([1, 1, 0.8, 0.4])
            text = NAMES[at][: max(round(share * len(NAMES[at])), 1)].strip()
            lines.append(f"{text}\t{'X:999' if share < 0.5 and draw.random() < 0.6 else f'X:{at // 4}'}")
        (made / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return made


COLUMNS = ("--map-column", "mention=term", "--map-column", "concept_id=gold")


@pytest.fixture(scope="module")
def calibrated(run: Run, folder: Path) -> Path:
    """A copy of the index, calibrated."""
    index = shutil.copytree(folder / "index", folder / "calibrated")
    assert run("calibrate", index, folder / "dev.tsv", *COLUMNS).exit_code == 0
    return index


def test_figures_of_mentions_not_fitted_to(run: Run, folder: Path, tmp_path: Path) -> None:
    index = shutil.copytree(folder / "index", tmp_path / "index")
    picture = tmp_path / "reliability.png"
    chosen = ("--test", folder / "test.tsv", "--target-precision", 0.85, "--plot", picture)
    result = run("calibrate", index, folder / "dev.tsv", *COLUMNS, *chosen)
    assert result.exit_code == 0, result.output
    both, tested = result.stdout.split("test (not fitted to): 100 mentions\n")
    dev, whole = both.split("dev, and mentions without an answer (cross-validated): 210 mentions\n")
    assert dev.startswith("dev (cross-validated): 150 mentions\n")
    for block in (dev, whole, tested):
        for told in (
            "accuracy                    ",
            "expected calibration error  0.",
            "(10 bins of equal size)",
            "Brier score                 0.",
            "AUROC of an answer          0.",
            *(f"precision at {share} % coverage  " for share in (" 50", " 80", " 90", "100")),
        ):
            assert block.count(told) == 1
    threshold = Calibration.of(Index.load(index)).threshold(0.85)
    for block in (dev, whole, tested):
        assert f"from confidence {threshold:.3f} on:" in block
        assert ("the threshold was chosen on these mentions" in block) == (block is whole)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_precision_that_is_not_reached_is_said(run: Run, folder: Path, tmp_path: Path) -> None:
    index = shutil.copytree(folder / "index", tmp_path / "index")
    wrong = (folder / "dev.tsv").read_text(encoding="utf-8").replace("X:", "Z:", 300).replace("Z:", "X:", 60)
    (tmp_path / "dev.tsv").write_text(wrong, encoding="utf-8")
    result = run("calibrate", index, tmp_path / "dev.tsv", *COLUMNS, "--target-precision", 1)
    assert result.exit_code == 0
    assert "no confidence is enough for a precision of 1" in result.stderr
    assert "from confidence" not in result.stdout
    refused = run("link", "--index", index, "--settings", "target_precision=1", "x")
    assert refused.exit_code == 2
    assert "no confidence is enough for a precision of 1" in refused.stderr


def test_what_cannot_be_calibrated(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = run("calibrate", folder / "index", folder / "few.tsv", *COLUMNS)
    assert (few.exit_code, "10 mentions with gold ids are too few" in few.stderr) == (2, True)
    picture = run("calibrate", folder / "nowhere", folder / "few.tsv", "--plot", tmp_path / "picture.gif")
    assert (picture.exit_code, "must end in" in picture.stderr) == (2, True)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    missing = run("calibrate", folder / "nowhere", folder / "few.tsv", "--plot", tmp_path / "picture.png")
    assert (missing.exit_code, "pip install 'nymlink[plot]'" in missing.stderr) == (2, True)
    assert Index.load(folder / "index").calibration is None


@pytest.mark.large
def test_nothing_is_lost_where_nobody_reads_the_figures(folder: Path, tmp_path: Path) -> None:
    index = shutil.copytree(folder / "index", tmp_path / "index")
    arguments = (index, folder / "dev.tsv", *COLUMNS, "--plot", tmp_path / "picture.svg")
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*NYMLINK, "calibrate", *map(str, arguments)], stdout=write, check=False)
    os.close(write)
    assert done.returncode == 0
    assert Index.load(index).calibration is not None
    assert b"dev (cross-validated)" in (tmp_path / "picture.svg").read_bytes()


def test_a_test_corpus_is_read_by_its_own_content(run: Run, folder: Path, tmp_path: Path) -> None:
    index = shutil.copytree(folder / "index", tmp_path / "index")
    (tmp_path / "other").mkdir()
    names = "".join(f"1||0|1||Disease||{NAMES[at]}||X:{at // 4}\n" for at in range(40))
    (tmp_path / "other" / "1.concept").write_text(names, encoding="utf-8")
    arguments = (index, folder / "dev.tsv", "--input-format", "table", *COLUMNS)
    result = run("calibrate", *arguments, "--test", tmp_path / "other")
    assert result.exit_code == 0, result.stderr
    assert "other (not fitted to): 40 mentions" in result.stdout


def test_that_no_mention_is_sure_enough_is_said(run: Run, folder: Path, tmp_path: Path) -> None:
    index = shutil.copytree(folder / "index", tmp_path / "index")
    (tmp_path / "strange.tsv").write_text("term\tgold\n~\tX:1\n", encoding="utf-8")
    chosen = ("--target-precision", 0.85, "--test", tmp_path / "strange.tsv")
    result = run("calibrate", index, folder / "dev.tsv", *COLUMNS, *chosen)
    assert result.exit_code == 0, result.stderr
    assert "precision none, coverage 0.0 %\n" in result.stdout
    assert "nan" not in result.stdout


def test_a_picture_does_not_replace_what_is_read(run: Run, folder: Path, tmp_path: Path) -> None:
    corpus = shutil.copy(folder / "dev.tsv", tmp_path / "dev.svg")
    result = run("calibrate", folder / "index", corpus, *COLUMNS, "--plot", corpus)
    assert (result.exit_code, "is an input and would be overwritten" in result.stderr) == (2, True), result.output
    assert Path(corpus).read_bytes() == (folder / "dev.tsv").read_bytes()


def test_an_index_that_is_not_calibrated_is_no_good_for_a_target(run: Run, folder: Path) -> None:
    result = run("link", "--index", folder / "index", "--settings", "target_precision=0.9", NAMES[0])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "the index is not calibrated: run `nymlink calibrate`" in result.stderr


class TestLink:
    UNSURE = f"{NAMES[8][:2]}xyz"

    def test_confidence_is_a_column(self, run: Run, calibrated: Path) -> None:
        output = run("link", "--index", calibrated, "--top-k", 2, NAMES[0], "~", self.UNSURE).stdout
        found = list(csv.DictReader(io.StringIO(output), delimiter="\t", quoting=csv.QUOTE_NONE))
        assert [row["rank"] for row in found] == ["1", "2", "", "1", "2"]
        sure, second, none, unsure, _ = [row["confidence"] for row in found]
        assert float(sure) > 0.8 > float(unsure) > float(none) == 0
        assert second == ""

    def test_unsure_mentions_are_nil(self, run: Run, calibrated: Path, tmp_path: Path) -> None:
        common = ("link", "--index", calibrated, "--settings", "target_precision=0.85")
        lines = run(*common, NAMES[0], self.UNSURE).stdout.splitlines()
        assert lines[1].split("\t")[2] == "X:0"
        assert lines[2].split("\t")[:6] == [self.UNSURE, "", "", "", "", ""]
        assert 0 < float(lines[2].split("\t")[6]) < 0.8
        first, second = map(
            json.loads, run(*common, "--format", "jsonl", NAMES[0], self.UNSURE).stdout.splitlines()
        )
        assert (first["nil"], second["nil"]) == (False, True)
        assert 0 < second["confidence"] < 0.8 < first["confidence"]
        assert second["candidates"]
        table = run(*common, "--format", "table", NAMES[0], self.UNSURE).stdout.splitlines()
        assert table[0].split() == ["mention", "concept", "name", "matched", "score", "confidence"]
        assert table[3].split()[:2] == [self.UNSURE, "–"]
        assert all(wcswidth(line) <= 120 for line in table)
        (tmp_path / "table.csv").write_text(f"id,confidence\n{NAMES[0]},a\n{self.UNSURE},b\n", encoding="utf-8")
        rows = run(*common, "--file", tmp_path / "table.csv", "--column", "id").stdout
        found = list(csv.DictReader(io.StringIO(rows)))
        assert [row["confidence"] for row in found] == ["a", "b"]
        assert [row["concept_id"] for row in found] == ["X:0", ""]
        assert float(found[1]["nymlink_confidence"]) < 0.8 < float(found[0]["nymlink_confidence"])

    def test_other_weights_take_the_confidences_away(self, run: Run, calibrated: Path, tmp_path: Path) -> None:
        index = shutil.copytree(calibrated, tmp_path / "index")
        same = run("index", "set", index, "--fusion", "weighted")
        assert (same.exit_code, same.stderr) == (0, "")
        changed = run("index", "set", index, "--weight", "exact=0.5", "--weight", "sparse=0.5")
        assert changed.exit_code == 0
        assert (
            "its calibration learned from other scores, and removed: run `nymlink calibrate` again"
            in changed.stderr
        )
        assert "confidence" not in run("link", "--index", index, NAMES[0]).stdout
