"""`nymlink train rank`, and `nymlink link --format reasons`."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

from nymlink.index.index import Index
from nymlink.index.index_folder import store_ranker
from nymlink.rank.ranker import Ranker
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.cli.conftest import Run
from tests.index.small import many_names, vocabulary
from tests.rank.toy import damaged, ranker

NAMES = many_names(200, seed=3)
QUICK = ("--trees", 5, "--depth", 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the index ``index``, the corpora ``many`` and ``few``, and the vocabulary ``merged``."""
    made = tmp_path_factory.mktemp("rank")
    concepts = {f"X:{number}": NAMES[4 * number : 4 * number + 4] for number in range(50)}
    Index.build(vocabulary(concepts), encoder=None).with_ranker(None).save(made / "index")
    draw = random.Random(0)
    for name, count in (("many", 230), ("few", 12)):
        lines = ["mention\tconcept_id\ttype"]
        lines += [
            f"{NAMES[at][: max(4, len(NAMES[at]) - draw.randrange(3))]}\tX:{at // 4}\tDisease"
            for at in draw.choices(range(len(NAMES)), k=count)
        ]
        (made / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    builder = TableBuilder()
    for number in range(50):
        builder.concept(f"X:{number}")
        for name in NAMES[4 * number : 4 * number + 4]:
            builder.name(f"X:{number}", f"{name} elsewhere", kind="exact")
    Vocabulary.of((Source("other", "test"), builder.build())).save(made / "merged")
    return made


@pytest.fixture
def index(folder: Path, tmp_path: Path) -> Path:
    return shutil.copytree(folder / "index", tmp_path / "index")


def test_it_learns_from_the_names_of_the_index_itself(run: Run, index: Path) -> None:
    done = run("train", "rank", index, "--left-out", 300, *QUICK)
    assert (done.exit_code, done.stderr) == (0, "")
    [line] = done.stdout.splitlines()
    assert line.startswith("names left out or changed: 300, first right ")
    before, after = (float(word) for word in line.split() if word.replace(".", "").isdigit() and "." in word)
    assert 0 < before <= 100
    assert 0 < after <= 100
    learned = Ranker.of(Index.load(index))
    assert learned.learned_from == "300 names left out or changed"
    assert learned.trees.features.shape == (5, 2)
    assert (
        "ranked"
        in json.loads(run("link", "--index", index, NAMES[0], "--top-k", 2, "--format", "jsonl").stdout)[
            "candidates"
        ][0]["parts"]
    )


def test_it_learns_from_all_that_is_given(run: Run, index: Path, folder: Path) -> None:
    given = ("--corpus", folder / "many.tsv", "--corpus", folder / "few.tsv", "--merged", folder / "merged")
    done = run("train", "rank", index, *given, "--left-out", 50, *QUICK)
    assert (done.exit_code, done.stderr) == (0, "")
    kinds = [line.split(":")[0] for line in done.stdout.splitlines()]
    assert kinds == ["mentions of many", "mentions of few", "names elsewhere", "names left out or changed"]
    assert Index.load(index).ranker["learned_from"].endswith("; 200 names elsewhere; 50 names left out or changed")


def test_of_too_few_questions_nothing_is_measured(run: Run, index: Path, tmp_path: Path) -> None:
    (tmp_path / "one.tsv").write_text(f"mention\tconcept_id\n{NAMES[0]}\tX:0\n", encoding="utf-8")
    done = run("train", "rank", index, "--corpus", tmp_path / "one.tsv", "--left-out", 300, *QUICK)
    assert done.exit_code == 0, done.output
    assert "mentions of one: 1, too few to measure" in done.stdout
    assert "nan" not in done.stdout


def test_without_left_out_a_corpus_is_all_it_learns_from(run: Run, index: Path, folder: Path) -> None:
    done = run("train", "rank", index, "--corpus", folder / "many.tsv", "--type", "Disease", *QUICK)
    assert done.exit_code == 0, done.output
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["mentions of many"]


def test_the_same_seed_learns_the_same(run: Run, index: Path) -> None:
    learned = []
    for seed in (0, 0, 1):
        assert run("train", "rank", index, "--left-out", 320, "--seed", seed, *QUICK).exit_code == 0
        learned.append(dict(Index.load(index).ranker))
    assert learned[0] == learned[1] != learned[2]


def test_one_that_cannot_be_used_is_trained_again(run: Run, index: Path) -> None:
    opened = Index.load(index)
    store_ranker(index, damaged(version=0), fusion=opened.fusion)
    refused = run("link", "--index", index, NAMES[0])
    assert refused.exit_code == 2
    assert "`nymlink train rank`" in refused.stderr
    assert run("train", "rank", index, "--left-out", 300, *QUICK).exit_code == 0
    assert run("link", "--index", index, NAMES[0]).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--corpus", "few.tsv"], "12 questions with a right candidate are too few: it takes 200"),
        (["--corpus", "many.tsv", "--type", "Chemical"], "no mention of many has a gold id"),
        (["--corpus", "nowhere.tsv"], "nowhere.tsv"),
        (["--merged", "nowhere"], "nowhere"),
        (["--left-out", "0"], "there is nothing to learn from: give --corpus, --merged or --left-out"),
        (["--left-out", "20"], "too few: it takes 200"),
        (["--depth", "9"], "--depth"),
        (["--trees", "0"], "--trees"),
    ],
)
def test_what_it_cannot_learn_from_changes_nothing(
    run: Run, index: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(folder)
    before = (index / "manifest.json").read_bytes()
    done = run("train", "rank", index, *arguments)
    assert done.exit_code == 2, done.output
    assert said in done.stderr
    assert "Traceback" not in done.output
    assert (index / "manifest.json").read_bytes() == before


def test_what_is_no_index_is_refused(run: Run, tmp_path: Path) -> None:
    done = run("train", "rank", tmp_path / "nothing")
    assert done.exit_code == 2
    assert "Traceback" not in done.output


class TestExplain:
    def test_the_reasons_are_printed(self, run: Run, index: Path) -> None:
        store_ranker(
            index, ranker({"score": (0.99, 0, 3), "extra": (0.5, 1, 0)}).to_dict(), fusion=Index.load(index).fusion
        )
        done = run("link", "--index", index, "--format", "reasons", NAMES[0], NAMES[9][1:])
        assert (done.exit_code, done.stderr) == (0, "")
        assert done.stdout.count("\n  before ") == 2
        assert "+3.00 score: 1 against 0." in done.stdout

    def test_without_a_ranker_it_says_so(self, run: Run, index: Path) -> None:
        done = run("link", "--index", index, "--format", "reasons", NAMES[0])
        assert done.exit_code == 0
        assert "by their scores alone: the index has no ranker" in done.stdout

    def test_what_is_not_found(self, run: Run, index: Path) -> None:
        done = run("link", "--index", index, "--format", "reasons", "zzzz")
        assert done.exit_code == 0
        assert "zzzz" in done.stdout

    def test_it_is_for_mentions_given_as_arguments(self, run: Run, index: Path, tmp_path: Path) -> None:
        (tmp_path / "mentions.txt").write_text("gout\n", encoding="utf-8")
        done = run("link", "--index", index, "--format", "reasons", "--file", tmp_path / "mentions.txt")
        assert done.exit_code == 2
        assert "--format reasons is for mentions given as arguments" in done.stderr

    def test_it_writes_no_links(self, run: Run, index: Path) -> None:
        done = run("link", "--index", index, "--format", "reasons", NAMES[0], "-o", "links.tsv")
        assert done.exit_code == 2
        assert "--format reasons prints no links: it does not go with --output" in done.stderr


def test_the_corpus_is_read_as_is_said(run: Run, index: Path, folder: Path, tmp_path: Path) -> None:
    renamed = tmp_path / "terms.tsv"
    renamed.write_text(
        (folder / "many.tsv").read_text(encoding="utf-8").replace("mention\tconcept_id", "finding\tx_code", 1),
        encoding="utf-8",
    )
    columns = ("--map-column", "mention=finding", "--map-column", "concept_id=x_code")
    done = run("train", "rank", index, "--corpus", renamed, *columns, *QUICK, "--left-out", 0)
    assert (done.exit_code, done.stdout.startswith("mentions of terms: ")) == (0, True), done.output
    wrong = run("train", "rank", index, "--corpus", renamed, "--language", "klingonish!")
    assert (wrong.exit_code, "no language code" in wrong.stderr) == (2, True)
