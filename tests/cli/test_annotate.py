"""`nymlink annotate`, and `nymlink evaluate --annotate`."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import openpyxl
import pyarrow.parquet as pq
import pytest

from nymlink.annotation.annotator import Annotator
from nymlink.annotation.stream import annotate_stream
from nymlink.core.errors import InputError
from nymlink.corpus import read_corpus
from nymlink.corpus.documents import Document
from nymlink.linking.links import Links
from nymlink.linking.writers import LINK_FORMATS
from tests.annotation.toy import built_index
from tests.cli.conftest import Run


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("annotate") / "index"
    built_index().save(folder)
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
        ("text:1", 3, 11, "seizures", "P:5", 0.8, True),
        ("text:2", 0, 12, "Broad thumbs", "P:4", 0.8, False),
    ]


TEXTS = {
    "7": "No seizures, \U0001d518 or a renal cyst.\nHis mother had arachnodactyly.",
    "8": "History of seizures.",
    "9": "Nothing.",
}
FOUND = {
    "7": [(3, 11, ("P:5",)), (20, 30, ("P:16",)), (47, 61, ("P:20",))],
    "8": [(11, 19, ("P:5",))],
}
"""Documents, and what is found in them."""


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.jsonl"
    path.write_text(
        "".join(json.dumps({"id": id_, "text": text}) + "\n" for id_, text in TEXTS.items()), encoding="utf-8"
    )
    return path


def found(documents: tuple[Document, ...]) -> dict[str, list[tuple[object, ...]]]:
    mentions = {each.id: [(one.start, one.end, one.concept_ids) for one in each.mentions] for each in documents}
    return {id_: ones for id_, ones in mentions.items() if ones}


READ_BACK = ("jsonl", "tsv", "csv", "parquet", "xlsx", "pubtator", "bioc-xml", "bioc-json", "brat", "conll")


@pytest.mark.parametrize("name", READ_BACK)
def test_what_is_written_is_read_back(run: Run, index: Path, texts: Path, tmp_path: Path, name: str) -> None:
    done = run("annotate", texts, "--index", index, "--format", name, "-o", tmp_path / "out")
    assert (done.exit_code, done.stderr) == (0, "")
    documents = read_corpus(tmp_path / "out").documents
    assert found(documents) == FOUND
    if "documents" in LINK_FORMATS.get(name).needs:
        texts_back = {document.id: document.text for document in documents}
        # PubTator divides a text into title and abstract, CoNLL into tokens.
        assert texts_back.keys() == TEXTS.keys()
        assert name == "conll" or {id_: " ".join(text.split()) for id_, text in texts_back.items()} == {
            id_: " ".join(text.split()) for id_, text in TEXTS.items()
        }
    # Given mentions are linked, whatever format they come in.
    table = ("--input-format", "table") if name in ("jsonl", "tsv", "csv") else ()
    again = run("annotate", tmp_path / "out", "--index", index, "--format", "jsonl", *table)
    assert again.exit_code == 0, again.stderr
    assert [(values["start"], values["concept_id"]) for values in objects(again.stdout)] == [
        (start, ids[0]) for ones in FOUND.values() for start, _, ids in ones
    ]


@pytest.mark.parametrize("name", ["jsonl", "tsv", "csv", "table", "pubtator", "bioc-xml", "bioc-json", "conll"])
def test_a_pipe_gets_what_a_file_gets(run: Run, index: Path, texts: Path, tmp_path: Path, name: str) -> None:
    given = ("annotate", texts, "--index", index, "--format", name)
    assert run(*given, "-o", tmp_path / "out").exit_code == 0
    assert run(*given).stdout_bytes == (tmp_path / "out").read_bytes()


def test_a_pipe_gets_parquet_and_one_document_of_brat(run: Run, index: Path, texts: Path, tmp_path: Path) -> None:
    (tmp_path / "piped").write_bytes(run("annotate", texts, "--index", index, "--format", "parquet").stdout_bytes)
    assert found(read_corpus(tmp_path / "piped").documents) == FOUND
    one = run("annotate", "--text", "No seizures.", "--index", index, "--format", "brat")
    assert one.stdout.splitlines() == [
        "T1\tConcept 3 11\tseizures",
        "N1\tReference T1 P:5\tSeizure",
        "A1\tNegated T1",
    ]
    several = run("annotate", texts, "--index", index, "--format", "brat")
    assert (several.exit_code, "give a folder, -o FOLDER" in several.stderr) == (2, True)


def test_flags_stand_where_a_format_has_a_place(run: Run, index: Path, texts: Path, tmp_path: Path) -> None:
    def written(name: str) -> Path:
        assert run("annotate", texts, "--index", index, "--format", name, "-o", tmp_path / name).exit_code == 0
        return tmp_path / name

    flags = ("negated", "family", "hypothetical", "historical")
    set_ = [(True, False), (True, False), (False, True), (False, False)]
    rows = pq.read_table(written("parquet")).to_pylist()
    assert [(row["negated"], row["family"]) for row in rows] == set_
    header, *cells = openpyxl.load_workbook(io.BytesIO(written("xlsx").read_bytes())).active.values
    assert [(row[header.index("negated")], row[header.index("family")]) for row in cells] == set_
    lines = [line.split("\t") for line in written("tsv").read_text(encoding="utf-8").splitlines()]
    places = [lines[0].index(flag) for flag in flags]
    assert [[line[place] for place in places] for line in lines[-2:]] == [
        ["false", "true", "false", "false"],
        ["false", "false", "false", "true"],
    ]
    collection = json.loads(written("bioc-json").read_text(encoding="utf-8"))
    infons = [
        each["infons"]
        for document in collection["documents"]
        for passage in document["passages"]
        for each in passage["annotations"]
    ]
    assert [[flag for flag in flags if flag in each] for each in infons] == [
        ["negated"],
        ["negated"],
        ["family"],
        ["historical"],
    ]
    assert '<infon key="family">true</infon>' in written("bioc-xml").read_text(encoding="utf-8")
    assert (written("brat") / "7.ann").read_text(encoding="utf-8").splitlines()[-1] == "A3\tFamily T3"


def test_mappings_do_not_state_the_confidences_of_the_dictionary(run: Run, index: Path, tmp_path: Path) -> None:
    done = run("annotate", "--text", "No renal cyst. Seizures.", "--index", index, "--format", "sssom")
    assert done.exit_code == 0, done.stderr
    header, *rows = (line.split("\t") for line in done.stdout.splitlines() if not line.startswith("#"))
    assert "confidence" not in header
    kept = ("subject_label", "predicate_id", "object_id", "mapping_justification")
    assert [[row[header.index(column)] for column in kept] for row in rows] == [
        ["renal cyst", "skos:exactMatch", "P:16", "semapv:LexicalMatching"],
        ["Seizures", "skos:closeMatch", "P:5", "semapv:LexicalMatching"],
    ]
    usagi = run("annotate", "--text", "Seizures.", "--index", index, "-o", tmp_path / "out.usagi.csv")
    assert (usagi.exit_code, "link to an index of OMOP vocabularies" in usagi.stderr) == (2, True)


def test_links_of_texts_write_themselves(tmp_path: Path) -> None:
    documents = [Document(id_, text) for id_, text in TEXTS.items()]
    annotator = Annotator(built_index())
    links = Links(link for _, each in annotator.annotate_documents(documents) for link in each)
    links.write(tmp_path / "out.bioc.json", documents=documents)
    assert found(read_corpus(tmp_path / "out.bioc.json").documents) == FOUND
    with pytest.raises(InputError, match="links of document '8', which is not given"):
        links.write(tmp_path / "out.bioc.json", documents=documents[:1])


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


@pytest.mark.parametrize("name", ["jsonl", "tsv", "csv", "parquet", "xlsx"])
def test_mentions_that_were_written_are_linked_again(
    run: Run, index: Path, texts: Path, tmp_path: Path, name: str
) -> None:
    assert run("annotate", texts, "--index", index, "-o", tmp_path / f"out.{name}").exit_code == 0
    again = run("annotate", tmp_path / f"out.{name}", "--index", index, "--format", "jsonl")
    assert "the documents come with mentions" in again.stderr
    places = [(values["document_id"], values["start"], values["concept_id"]) for values in objects(again.stdout)]
    assert places == [(id_, start, ids[0]) for id_, ones in FOUND.items() for start, _, ids in ones]


def test_options_restrict_and_switch_off(run: Run, index: Path, tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('flags = []\n[restriction]\nids = ["P:5", "P:16"]\n', encoding="utf-8")
    arguments = ("annotate", "--index", index, "--text", "No seizures, renal cysts or broad thumbs.")
    some = run(*arguments, "--settings", file)
    assert [(values["concept_id"], values["negated"]) for values in objects(some.stdout)] == [
        ("P:5", False),
        ("P:16", False),
    ]
    branch = run(*arguments, "--branch", "P:1")
    assert [values["concept_id"] for values in objects(branch.stdout)] == ["P:16"]
    both = run(*arguments, "--settings", file, "--branch", "P:1")
    assert [(values["concept_id"], values["negated"]) for values in objects(both.stdout)] == [("P:16", False)]
    file.write_text('min_confidence = 1\n[restriction]\ntypes = ["modifier"]\n', encoding="utf-8")
    assert run(*arguments, "--settings", file).stdout == ""
    file.write_text('detector = "given"\nlanguage = "any"\n', encoding="utf-8")
    assert run(*arguments, "--settings", file).stdout == ""
    # Without a language, words are compared as they are.
    words = ("Seizures", "Seizure")
    found = [run(*arguments[:-1], word, "--settings", file, "--detector", "dictionary") for word in words]
    assert [each.stdout != "" for each in found] == [False, True]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('flags = ["hopeful"]', "no flag 'hopeful'"),
        ("overlap = true", "unknown settings: overlap (line 1); there are: min_confidence, overlaps, "),
        ("overlaps = 3", "settings.toml:1: overlaps must be true or false, not 3"),
        ('[restriction]\nbranches = ["P:1"]', "unknown settings: branches (line 2); there are: branch, "),
        ("fuzzy_confidence = 2.0", "fuzzy_confidence must be from 0 to 1, not 2.0"),
        ("flags", "not a TOML file"),
    ],
)
def test_a_wrong_file_of_settings_is_said(run: Run, index: Path, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "settings.toml").write_text(text, encoding="utf-8")
    done = run("annotate", "--index", index, "--text", "y", "--settings", tmp_path / "settings.toml")
    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr


FORMATS = tuple(name for name in LINK_FORMATS.names() if name not in ("usagi", "source-to-concept-map"))
"""Those that need no table of the user."""

KINDS = ("brat", "fhir-r5", "jsonl", "parquet", "pubtator", "xlsx")
"""One of each kind: a folder, one object, lines, columns, blocks of lines, an archive."""

LARGE = [pytest.mark.large]


def contents(path: Path) -> object:
    """Read what a run wrote: the bytes of a file, those of each in a folder, the rows of a workbook."""
    if path.is_dir():
        return {file.name: file.read_bytes() for file in path.iterdir()}
    if path.suffix == ".xlsx":
        return list(openpyxl.load_workbook(path).active.values)
    return path.read_bytes()


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in KINDS else LARGE) for name in FORMATS])
def test_a_killed_run_is_resumed(
    run: Run, index: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, out = tmp_path / "texts.jsonl", tmp_path / f"out.{name}"
    lines = [json.dumps({"id": number % 290, "text": f"renal cyst {number}"}) + "\n" for number in range(300)]
    texts.write_text("".join(lines), encoding="utf-8")
    arguments = ("annotate", texts, "--index", index, "--format", name, "-o", out, "--processes", "1")
    assert run(*arguments).exit_code == 0
    whole = contents(out)
    out.rename(tmp_path / "whole")
    annotated = []

    def killed(*arguments: object, **options: object) -> Iterator[object]:
        for number, each in enumerate(annotate_stream(*arguments, **options)):  # type: ignore[arg-type]
            if not annotated and number == 199:
                raise MemoryError
            yield each

    monkeypatch.setattr("nymlink.cli.annotate.annotate_stream", killed)
    assert run(*arguments).exit_code != 0
    assert not out.exists()
    annotated.append(True)
    other = run(*arguments, "--resume", "--min-confidence", "0.3")
    assert (other.exit_code, "differs in its settings: " in other.stderr) == (2, True)
    journal = (out.with_name(f"{out.name}.partial") / "done.jsonl").read_text(encoding="utf-8")
    assert len(journal.splitlines()) == 199 // 64 + 1
    done = run(*arguments, "--resume")
    assert (done.exit_code, contents(out)) == (0, whole)
    assert [path.name for path in tmp_path.glob("*out.*")] == [out.name]


KILLED = """
import os, signal
import nymlink.cli.annotate as command
from nymlink.cli import main
annotate_stream = command.annotate_stream
def killed(*arguments, **options):
    for number, each in enumerate(annotate_stream(*arguments, **options)):
        if number == 199:
            os.kill(os.getpid(), signal.SIGKILL)
        yield each
command.annotate_stream = killed
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
@pytest.mark.parametrize("name", ["brat", pytest.param("parquet", marks=pytest.mark.large)])
def test_no_document_is_lost_or_repeated_by_a_kill(run: Run, index: Path, tmp_path: Path, name: str) -> None:
    texts, out = tmp_path / "texts.jsonl", tmp_path / "out"
    lines = [json.dumps({"id": str(number), "text": f"a renal cyst of {number}"}) + "\n" for number in range(250)]
    texts.write_text("".join(lines), encoding="utf-8")
    arguments = ["annotate", texts, "--index", index, "--format", name, "-o", out, "--processes", "1"]
    done = subprocess.run([sys.executable, "-c", KILLED, *map(str, arguments)], check=False, capture_output=True)
    assert (done.returncode, out.exists()) == (-signal.SIGKILL, False)
    assert run(*arguments, "--resume").exit_code == 0
    documents = read_corpus(out).documents
    assert sorted(int(document.id) for document in documents) == list(range(250))
    assert all(document.mentions[0].concept_ids == ("P:16",) for document in documents)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x.txt", "--text", "y"), "give files or --text"),
        (("--text", "y", "--resume"), "--resume continues a file"),
        (("--text", "y", "--resume", "-o", "/dev/null"), "--resume continues a file"),
        (("--text", "y", "--branch", "P:99"), "the branch 'P:99' is no concept"),
        (("--text", "y", "--detector", "magic"), "no detector 'magic'"),
        (("--text", "y", "--fuzzy"), "not calibrated"),
        (("missing.txt",), "no such file"),
        (("--text", "y", "--settings", "missing.toml"), "no such file"),
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
    values = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert {key: round(values[key], 3) for key in ("mention_f1", "mention_exact_f1", "document_f1")} == {
        "mention_f1": 0.667,
        "mention_exact_f1": 0.667,
        "document_f1": 0.667,
    }
    assert "concepts of documents" in done.stdout
    wrong = run(*arguments, "--augment", path)
    assert wrong.exit_code == 2
    assert "--augment says how given mentions are linked" in wrong.stderr
