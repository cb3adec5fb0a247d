"""`nymlink annotate`, and `nymlink evaluate --annotate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.annotation.toy import INDEX
from tests.cli.conftest import Run


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("annotate") / "index"
    INDEX.save(folder)
    return folder


def objects(output: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in output.splitlines()]


def test_a_text_gives_an_object_a_mention(run: Run, index: Path) -> None:
    done = run(
        "annotate", "--index", index, "--text", "No seizures.", "--text", "Broad thumbs.", "--format", "jsonl"
    )
    assert done.exit_code == 0, done.output
    keys = ("document_id", "start", "end", "text", "concept_id", "confidence", "negated")
    assert [tuple(values[key] for key in keys) for values in objects(done.stdout)] == [
        ("text:1", 3, 11, "seizures", "P:5", 0.9, True),
        ("text:2", 0, 12, "Broad thumbs", "P:4", 0.9, False),
    ]


def test_files_are_documents(run: Run, index: Path, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("A renal cyst.", encoding="utf-8")
    (tmp_path / "abstracts.jsonl").write_text('{"id": "7", "text": "Seizures."}\n{"id": 8}\n', encoding="utf-8")
    done = run("annotate", tmp_path / "letter.txt", tmp_path / "abstracts.jsonl", "--index", index)
    assert done.exit_code == 1  # one line was rejected
    assert [(values["document_id"], values["text"]) for values in objects(done.stdout)] == [
        ("letter.txt", "renal cyst"),
        ("7", "Seizures"),
    ]
    assert 'abstracts.jsonl:2: not a JSON object with a "text" (left out)' in done.stderr


def test_of_several_files_one_that_cannot_be_read_is_left_out(run: Run, index: Path, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("A renal cyst.", encoding="utf-8")
    done = run("annotate", tmp_path / "missing.txt", tmp_path / "letter.txt", "--index", index)
    assert (done.exit_code, len(objects(done.stdout))) == (1, 1)
    assert "missing.txt: no such file (left out)" in done.stderr


def test_standard_input_is_a_text(run: Run, index: Path) -> None:
    done = run("annotate", "--index", index, "--format", "tsv", input="Renal cysts and seizures")
    assert [line.split("\t")[3] for line in done.stdout.splitlines()] == ["mention", "Renal cysts", "seizures"]


def test_mentions_of_a_corpus_are_linked_unless_others_are_asked_for(
    run: Run, index: Path, tmp_path: Path
) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("7|t|Renal cyst and seizures.\n7|a|\n7\t0\t10\tRenal cyst\tX\n\n", encoding="utf-8")
    given = run("annotate", path, "--index", index)
    assert [values["concept_id"] for values in objects(given.stdout)] == ["P:16"]
    assert "come with mentions, which are linked" in given.stderr
    others = run("annotate", path, "--index", index, "--detector", "dictionary")
    assert [values["concept_id"] for values in objects(others.stdout)] == ["P:16", "P:5"]


def test_options_restrict_and_switch_off(run: Run, index: Path, tmp_path: Path) -> None:
    ids = tmp_path / "ids.txt"
    ids.write_text("P:5\nP:16\n", encoding="utf-8")
    arguments = ("annotate", "--index", index, "--text", "No seizures, renal cysts or broad thumbs.")
    some = run(*arguments, "--ids", ids, "--flags", "none")
    assert [(values["concept_id"], values["negated"]) for values in objects(some.stdout)] == [
        ("P:5", False),
        ("P:16", False),
    ]
    branch = run(*arguments, "--branch", "P:1")
    assert [values["concept_id"] for values in objects(branch.stdout)] == ["P:16"]
    assert run(*arguments, "--semantic-type", "modifier").stdout == ""


def test_a_killed_run_is_resumed(run: Run, index: Path, tmp_path: Path) -> None:
    texts, out = tmp_path / "texts.jsonl", tmp_path / "out.jsonl"
    lines = [json.dumps({"id": number, "text": "a renal cyst"}) + "\n" for number in range(1200)]
    texts.write_text("".join(lines), encoding="utf-8")
    arguments = ("annotate", texts, "--index", index, "-o", out, "--processes", "1")
    assert run(*arguments).exit_code == 0
    whole = out.read_bytes()
    # What a run leaves that was killed after 500 documents and a half.
    cut = whole.splitlines(keepends=True)
    (tmp_path / "out.jsonl.partial").write_bytes(b"".join(cut[:500]) + cut[500][:20])
    state = {"documents": 500, "bytes": sum(map(len, cut[:500])), "made_of": {}}
    (tmp_path / "out.jsonl.progress.json").write_text(json.dumps(state))
    out.unlink()
    other = run(*arguments, "--resume")
    assert other.exit_code == 2
    assert "run without --resume to begin anew" in other.stderr
    done = run(*arguments)
    assert (done.exit_code, out.read_bytes()) == (0, whole)
    assert not list(tmp_path.glob("out.jsonl.*"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x.txt", "--text", "y"), "give files or --text"),
        (("--text", "y", "--resume"), "--resume goes on with a file"),
        (("--text", "y", "--flags", "hopeful"), "no flag 'hopeful'"),
        (("--text", "y", "--branch", "P:99"), "no concept 'P:99'"),
        (("--text", "y", "--detector", "magic"), "no detector 'magic'"),
        (("--text", "y", "--fuzzy"), "not calibrated"),
        (("missing.txt",), "no such file"),
        (("--text", "y", "--ids", "missing.txt"), "cannot be read"),
    ],
)
def test_what_does_not_go_is_said(run: Run, index: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run("annotate", "--index", index, *arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_annotation_is_evaluated(run: Run, index: Path, tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("7|t|Renal cyst and seizures.\n7|a|\n7\t0\t10\tRenal cyst\tX\tP:16\n\n", encoding="utf-8")
    arguments = ("evaluate", "--index", index, "--corpus", path, "--annotate")
    done = run(*arguments, "--json", tmp_path / "figures.json")
    assert done.exit_code == 0, done.output
    values = json.loads((tmp_path / "figures.json").read_text())
    assert {key: round(values[key], 3) for key in ("mention_f1", "mention_exact_f1", "document_f1")} == {
        "mention_f1": 0.667,
        "mention_exact_f1": 0.667,
        "document_f1": 0.667,
    }
    assert "concepts of documents" in done.stdout
    wrong = run(*arguments, "--augment", path)
    assert wrong.exit_code == 2
    assert "--augment says how given mentions are linked" in wrong.stderr
    assert "with --annotate" in run("evaluate", "--index", index, "--corpus", path, "--fuzzy").stderr
