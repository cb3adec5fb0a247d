"""`nymlink link --corpus` and `--context`, with a re-ranker and without, and `nymlink rerank`."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from nymlink.rerank.dual_encoder import DualEncoder, DualEncoderConfig
from tests.cli.conftest import Run
from tests.encode import tiny

PUBTATOR = """\
7|t|Qq MI in a man.
7|a|The MI was large, his stature short.
7\t3\t5\tMI\tDisease\tX:2
7\t20\t22\tMI\tDisease\tX:2
7\t0\t2\tQq\tDisease\t

8|t|Two things.
8|a|Heart attack and short stature.
8\t12\t42\tHeart attack and short stature\tDisease\tX:1|X:3\theart attack|short stature
"""


@pytest.fixture(scope="module")
def reranker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reranker")
    torch.manual_seed(0)
    # One by which the second candidate comes first.
    DualEncoder.from_encoder(tiny.folder(folder / "base", seed=4), DualEncoderConfig(max_length=64)).save(
        folder / "made"
    )
    return folder / "made"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "notes.PubTator.txt").write_text(PUBTATOR, encoding="utf-8")
    return tmp_path / "notes.PubTator.txt"


def rows(output: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(output), delimiter="\t", quoting=csv.QUOTE_NONE))


def test_documents_are_linked_with_the_places_of_their_mentions(run: Run, built: Path, corpus: Path) -> None:
    result = run("link", "--index", built / "index", "--corpus", corpus)
    assert result.exit_code == 0, result.stderr
    found = [tuple(row.values())[:6] for row in rows(result.stdout)]
    assert found == [
        ("7", "3", "5", "MI", "1", "X:1"),
        ("7", "20", "22", "MI", "1", "X:1"),
        ("7", "0", "2", "Qq", "", ""),
        ("8", "12", "42", "Heart attack and short stature", "1", "X:1"),
        ("8", "12", "42", "Heart attack and short stature", "1", "X:3"),
    ]
    table = run("link", "--index", built / "index", "--corpus", corpus, "--format", "table").stdout.splitlines()
    assert table[0].split()[:4] == ["document", "start", "end", "mention"]
    assert table[2].split()[:5] == ["7", "3", "5", "MI", "X:1"]
    assert all(len(line) <= 120 for line in table)


def test_a_re_ranker_changes_the_order_and_says_why(run: Run, built: Path, corpus: Path, reranker: Path) -> None:
    given = ("link", "--index", built / "index", "--corpus", corpus, "--format", "jsonl", "--top-k", 2)
    before = [json.loads(line) for line in run(*given).stdout.splitlines()]
    result = run(*given, "--settings", f"rerank={reranker}")
    assert result.exit_code == 0, result.stderr
    after = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(one["document_id"], one["start"], one["end"]) for one in after] == [
        ("7", 3, 5),
        ("7", 20, 22),
        ("7", 0, 2),
        ("8", 12, 42),
    ]
    for one in after[:2]:
        scores = [candidate["parts"]["context"] for candidate in one["candidates"]]
        assert len(scores) == 2
        assert scores == sorted(scores, reverse=True)
    orders = [[[one["concept_id"] for one in link["candidates"]] for link in links] for links in (before, after)]
    assert orders[0] != orders[1]
    assert after[2:] == before[2:]
    assert [part["candidates"][0]["concept_id"] for part in after[3]["parts"]] == ["X:1", "X:3"]


def test_what_is_no_corpus_is_refused_and_not_linked_line_by_line(run: Run, built: Path, tmp_path: Path) -> None:
    path = tmp_path / "page.xml"
    path.write_text("<articles>\n<article id='1'>Heart attack</article>\n</articles>\n", encoding="utf-8")
    refused = run("link", "--index", built / "index", "--corpus", path)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert f"{path}: this looks like XML" in refused.stderr
    # Lines are what --file is for; that they look like something else is said.
    told = run("link", "--index", built / "index", "--file", path)
    assert told.exit_code == 0
    assert f"{path}: this looks like XML" in told.stderr


def test_broken_documents_are_counted_and_the_others_linked(run: Run, built: Path, corpus: Path) -> None:
    corpus.write_text(PUBTATOR + "\nno document at all\n", encoding="utf-8")
    result = run("link", "--index", built / "index", "--corpus", corpus)
    assert result.exit_code == 1
    assert len(rows(result.stdout)) == 5
    assert "1 place in the input was rejected" in result.stderr
    missing = run("link", "--index", built / "index", "--corpus", corpus.parent / "nothing")
    assert (missing.exit_code, missing.stdout) == (2, "")


def test_a_table_of_mentions_is_a_corpus(run: Run, built: Path, tmp_path: Path) -> None:
    (tmp_path / "terms.tsv").write_text("term\tnote\nheart attack\tx\n", encoding="utf-8")
    given = ("--corpus", tmp_path / "terms.tsv", "--input-format", "table", "--map-column", "mention=term")
    (found,) = rows(run("link", "--index", built / "index", *given).stdout)
    assert (found["mention"], found["start"], found["concept_id"]) == ("heart attack", "", "X:1")


def test_one_mention_with_its_context(run: Run, built: Path, reranker: Path) -> None:
    given = ("link", "--index", built / "index", "--format", "jsonl", "MI", "--context")
    found = json.loads(run(*given, "The COMING MI, then MI.", "--settings", f"rerank={reranker}").stdout)
    assert set(found["candidates"][0]["parts"]) >= {"context"}
    assert (found["start"], found["end"], "document_id" in found) == (11, 13, False)
    defined = json.loads(run(*given, "Myocardial infarction (MI) is a cause of death.").stdout)
    assert defined["query"] == "myocardial infarction"
    absent = run(*given, "He died in 1990.")
    assert absent.exit_code == 2
    assert "the mention 'MI' does not occur in the --context" in absent.stderr
    alone = json.loads(run(*given, "MI", "--settings", f"rerank={reranker}").stdout)
    assert "context" not in alone["candidates"][0]["parts"]


@pytest.mark.parametrize(
    ("mention", "context", "taken"),
    [
        ("heart attack", "Heart attack was the cause of death.", "Heart attack"),
        ("mi", "SMITH had Mi.", "Mi"),
        ("Attack", "heart attack, Attack", "Attack"),
        ("IŞIK ß", "İ ıŞıK, IşIK ß", "IşIK ß"),
    ],
)
def test_a_context_may_have_its_mention_in_capitals(
    run: Run, built: Path, mention: str, context: str, taken: str
) -> None:
    result = run("link", "--index", built / "index", "--format", "jsonl", mention, "--context", context)
    assert (result.exit_code, json.loads(result.stdout)["mention"]) == (0, taken)


@pytest.mark.parametrize("context", ["", " \n"])
def test_a_blank_context_is_none(run: Run, built: Path, reranker: Path, context: str) -> None:
    given = ("link", "--index", built / "index", "--format", "jsonl", "--top-k", 2, "MI")
    alone = run(*given)
    assert run(*given, "--context", context).stdout == alone.stdout
    assert run(*given, "--context", context, "--settings", f"rerank={reranker}").stdout == alone.stdout


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["MI", "--corpus", "x"], "give mentions, --file or --corpus, only one of them"),
        (["--file", "x", "--corpus", "x"], "give mentions, --file or --corpus, only one of them"),
        (["MI", "--settings", "rerank=x"], "rerank goes by the text around a mention"),
        (["--file", "x", "--settings", "rerank=x"], "rerank goes by the text around a mention"),
        (["MI", "fever", "--context", "MI"], "give one MENTION"),
        (["--corpus", "x", "--context", "MI"], "give one MENTION"),
        (["MI", "--input-format", "table"], "is the format of a --corpus"),
        (["--corpus", "x", "--column", "1"], "--column goes with a table as input"),
        (["--corpus", "x", "--settings", "rerank=x", "--settings", "target_precision=0.9"], "give one of them"),
    ],
)
def test_what_does_not_go_together_is_said(run: Run, given: list[str], message: str) -> None:
    result = run("link", *given)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.replace("│", " ").split())


def test_what_cannot_re_rank_is_said(run: Run, built: Path, corpus: Path, reranker: Path) -> None:
    given = ("link", "--index", built / "index", "--corpus", corpus, "--settings")
    other = run(*given, f"rerank={built / 'index'}")
    assert (other.exit_code, other.stdout) == (2, "")
    assert "this is not a nymlink reranker but a nymlink index" in other.stderr
    # In a process of its own: here torch is loaded, and with it what needs it.
    without = "import sys; sys.modules['torch'] = None; from nymlink.cli import main; main()"
    missing = subprocess.run(
        [sys.executable, "-c", without, *map(str, (*given, f"rerank={reranker}"))],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "pip install 'nymlink[train]'" in missing.stderr
    assert "Traceback" not in missing.stderr


def test_an_order_is_learned_and_then_used(
    run: Run, built: Path, corpus: Path, reranker: Path, tmp_path: Path
) -> None:
    own = shutil.copytree(reranker, tmp_path / "own")
    many = tmp_path / "many.PubTator.txt"
    first = PUBTATOR[: PUBTATOR.index("8|t|")]
    many.write_text(
        "".join(re.sub("^7", str(number), first, flags=re.M) for number in range(60)), encoding="utf-8"
    )
    given = ("rerank", "fit", own, many, "--index", built / "index")
    result = run(*given, "--type", "Disease")
    assert result.exit_code == 0, result.stderr
    *figures, last = result.stdout.splitlines()
    assert [line.split("  ")[-1] for line in figures[:3]] == ["index", "context", "all evidence"]
    assert figures[3].split() == ["100.0", "have", "a", "right", "candidate"]
    assert last == f"200 trees learned from 120 mentions → {own}"
    kept = json.loads((own / "manifest.json").read_text(encoding="utf-8"))["fitted"]
    assert set(kept["order"]) == {"version", "features", "trees", "types", "learned_from"}
    assert kept["candidates"] == 64
    assert run(*given, "--candidates", "2").exit_code == 0
    assert json.loads((own / "manifest.json").read_text(encoding="utf-8"))["fitted"]["candidates"] == 2
    linked = ("link", "--index", built / "index", "--corpus", corpus, "--format", "jsonl", "--settings")
    links = run(*linked, f"rerank={own}")
    assert "reranked" in json.loads(links.stdout.splitlines()[0])["candidates"][0]["parts"]
    assert "run `nymlink rerank fit`" not in links.stderr
    assert "run `nymlink rerank fit`" in run(*linked, f"rerank={reranker}").stderr
    asked = ("MI", "--context", "The COMING MI.")
    why = run("link", "--index", built / "index", "--settings", f"rerank={own}", "--format", "reasons", *asked)
    assert why.exit_code == 0, why.stderr
    assert why.stdout.splitlines()[1].startswith("  before X:")
    wrong = run(*given, "--type", "Gene")
    assert wrong.exit_code == 2
    assert "no mention has a gold id that the index has" in wrong.stderr
    few = run("rerank", "fit", own, corpus, "--index", built / "index")
    assert few.exit_code == 2
    assert "are too few: it takes 50" in few.stderr


def test_where_nothing_is_retrieved_nothing_can_be_fitted(
    run: Run, built: Path, reranker: Path, tmp_path: Path
) -> None:
    (tmp_path / "terms.tsv").write_text("term\tconcept_id\nqqqq\tX:1\n", encoding="utf-8")
    given = (
        tmp_path / "terms.tsv",
        "--index",
        built / "index",
        "--input-format",
        "table",
        "--map-column",
        "mention=term",
    )
    result = run("rerank", "fit", reranker, *given)
    assert result.exit_code == 2, result.output
    assert "no mention of the corpus has a candidate" in result.stderr


def test_what_a_re_ranker_adds_is_measured(
    run: Run, built: Path, corpus: Path, reranker: Path, tmp_path: Path
) -> None:
    given = ("rerank", "evaluate", reranker, corpus, "--index", built / "index")
    changes, figures = tmp_path / "changes.tsv", tmp_path / "figures.json"
    result = run(*given, "--training", corpus, "--changes", changes, "--output", figures)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:-1]] == ["all", "ambiguous", "seen"]
    found = json.loads(figures.read_text(encoding="utf-8"))
    assert lines[1].split()[1:] == [
        "3",
        *(f"{100 * found['figures']['all'][name]:.1f}" for name in ("before@1", "before@5", "after@1", "after@5")),
        "100.0",
    ]
    assert lines[-1].startswith(f"right only by the index {found['mcnemar']['only_first']}, only re-ranked ")
    changed = rows(changes.read_text(encoding="utf-8"))
    assert [one["start"] for one in changed] == [
        str(one["start"]) for one in found["mentions"] if one["first_before"] != one["first_after"]
    ]
    assert changed[0]["mention"] == "MI"
    assert changed[0]["index"].startswith("X:1 ")
    assert changed[0]["now"] in ("right", "wrong", "")
    assert changed[0]["sentence"] == "Qq MI in a man."
    nowhere = run(*given, "--changes", tmp_path / "missing" / "changes.tsv")
    assert (nowhere.exit_code, "no such directory" in nowhere.stderr) == (2, True)
