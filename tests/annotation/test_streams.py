"""Streams of texts: formats, bad input, several processes, runs that go on."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from nymlink.annotation import parallel
from nymlink.annotation.annotator import Annotator
from nymlink.annotation.parallel import annotate_stream
from nymlink.annotation.resume import resumable_links
from nymlink.annotation.texts import read_texts
from nymlink.core.errors import InputError, OutputError
from nymlink.core.problems import Problems
from nymlink.corpus.documents import Document, Mention
from nymlink.corpus.readers.common import DistinctIds
from nymlink.linking.link import Link
from nymlink.linking.writers.writer import LinksInfo
from tests.annotation.toy import built_index, the_annotator

PUBTATOR = "7|t|A cyst.\n7|a|Of the kidney.\n7\t2\t6\tcyst\tDisease\tX:1\n\n"


def texts(*paths: Path, problems: Problems | None = None, format: str | None = None) -> list[Document]:
    return list(read_texts(paths, Problems() if problems is None else problems, format=format))


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_plain_file_is_a_document(tmp_path: Path) -> None:
    text = "Renal cysts.\r\nShort\tthumbs, however.\r\n\r\nEnd"
    assert texts(write(tmp_path / "letter.txt", text)) == [Document("letter.txt", text)]
    assert texts(write(tmp_path / "letter.txt.gz", gzip.compress(text.encode()))) == [
        Document("letter.txt.gz", text)
    ]
    assert texts(write(tmp_path / "empty.txt", "")) == [Document("empty.txt", "")]


def test_json_lines_have_ids_and_texts(tmp_path: Path) -> None:
    lines = [
        '{"id": 7, "text": "a"}',
        "",
        '{"pmid": "8", "text": "b\\u0000c"}',
        '{"text": "d"}',
        "{",
        '{"id": 1}',
        "[]",
    ]
    problems = Problems()
    path = write(tmp_path / "abstracts.jsonl", "\n".join(lines))
    assert texts(path, problems=problems) == [
        Document("7", "a"),
        Document("8", "b c"),
        Document("abstracts:4", "d"),
    ]
    assert [(problem.line, problem.rejected) for problem in problems.first] == [
        (3, False),
        (5, True),
        (6, True),
        (7, True),
    ]
    with pytest.raises(InputError, match='no line is a JSON object with a "text"'):
        texts(write(tmp_path / "none.jsonl", '{"id": 1}\n'), format="jsonl")


def test_corpora_are_read_by_their_readers(tmp_path: Path) -> None:
    path = write(tmp_path / "cysts.txt", PUBTATOR)
    [document] = texts(path)
    assert (document.id, document.mentions[0].text) == ("7", "cyst")
    assert texts(path, format="text") == [Document("cysts.txt", PUBTATOR)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mentions.tsv", "document_id\tstart\tend\tmention\n7\t2\t6\tcyst\n"),
        ("mentions.csv", "pmid,begin,stop,term\n7,2,6,cyst\n"),
        ("mentions.txt", "document_id\tstart\tend\tmention\n7\t2\t6\tcyst\n"),
        ("mentions.jsonl", '{"document_id": "7", "start": 2, "end": 6, "text": "cyst", "mention": "cyst"}\n'),
    ],
)
def test_a_table_of_mentions_is_read_as_such(tmp_path: Path, name: str, content: str) -> None:
    [document] = texts(write(tmp_path / name, content))
    assert (document.id, document.text) == ("7", "")
    assert [(mention.text, mention.start, mention.end) for mention in document.mentions] == [("cyst", 2, 6)]


def test_another_table_is_a_text_and_this_is_said(tmp_path: Path) -> None:
    path = write(tmp_path / "notes.csv", "id,note\n7,A renal cyst\n")
    with pytest.warns(UserWarning, match="this looks like a table, .* `nymlink link --column`"):
        assert texts(path) == [Document("notes.csv", "id,note\n7,A renal cyst\n")]
    lines = write(tmp_path / "parts.jsonl", '{"id": 1, "text": "a cyst", "start": 0, "end": 6}\n')
    assert texts(lines) == [Document("1", "a cyst")]


def test_a_folder_stands_for_its_files(tmp_path: Path) -> None:
    write(tmp_path / "b.txt", "second")
    write(tmp_path / "a" / "x.txt", "first")
    write(tmp_path / ".hidden", "none")
    write(tmp_path / "c.jsonl", '{"id": "3", "text": "third"}')
    write(tmp_path / "d.zip", b"PK\x03\x04")
    problems = Problems()
    assert [document.text for document in texts(tmp_path, problems=problems)] == ["first", "second", "third"]
    assert [problem.message[:20] for problem in problems.first] == ["this is an archive, "]
    with pytest.raises(InputError, match="there is no file in this folder"):
        texts(write(tmp_path / "empty" / ".hidden", "").parent)


def test_broken_texts_stay_readable(tmp_path: Path) -> None:
    problems = Problems()
    path = write(tmp_path / "broken.txt", b"Na\xefve \0 cyst\nna\xc3\xafve\n")
    assert texts(path, problems=problems) == [Document("broken.txt", "Naïve   cyst\nnaïve\n")]
    assert (problems.repaired, problems.rejected) == (2, 0)
    assert texts(write(tmp_path / "wide.txt", "naïve".encode("utf-16")), problems=problems)[0].text == "naïve"
    assert "UTF-16" in problems.first[-1].message
    with pytest.raises(InputError, match="no such file"):
        texts(tmp_path / "missing.txt")


def test_several_processes_find_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built_index().save(tmp_path / "index")
    annotator = Annotator.load(tmp_path / "index")
    documents = [Document(str(number), f"{number} renal cysts") for number in range(300)]
    alone = list(annotate_stream(annotator, documents, processes=1))
    monkeypatch.setattr(parallel, "_FEW", 10)
    together = list(annotate_stream(annotator, iter(documents), processes=2))
    assert together == alone
    # An index in memory cannot be opened elsewhere.
    assert [links for _, links in annotate_stream(the_annotator(), documents, processes=2)] == [
        links for _, links in alone
    ]


def test_few_documents_need_no_other_process() -> None:
    def documents() -> list[Document]:
        return [Document("1", "a renal cyst", (Mention("cyst"),))]

    [(document, [link])] = annotate_stream(the_annotator(), documents(), processes=2)
    assert (document.id, link.mention.text) == ("1", "renal cyst")


def run(
    path: Path, count: int, *, resume: bool, made_of: dict[str, int], killed_at: int | None = None
) -> list[int]:
    """Write numbers as a run does that is killed at one; return the numbers that it wrote."""
    written = []
    with resumable_links(path, "tsv", LinksInfo(located=True), made_of, resume=resume) as links:
        for number in range(links.done, count):
            link = Link(Mention(str(number)), str(number))
            links.writer.write(link)
            if number == killed_at:
                raise KeyboardInterrupt
            links.document_written()
            written.append(number)
    return written


def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    path, made_of = tmp_path / "out.tsv", {"settings": 1}
    with pytest.raises(KeyboardInterrupt):
        run(path, 2000, resume=False, made_of=made_of, killed_at=1234)
    assert not path.exists()
    assert run(path, 2000, resume=True, made_of=made_of)[0] == 1000
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    assert header.split("\t")[:4] == ["document_id", "start", "end", "mention"]
    assert [line.split("\t")[3] for line in lines] == list(map(str, range(2000)))
    assert [file.name for file in tmp_path.iterdir()] == ["out.tsv"]


def test_another_run_is_not_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "out.tsv"
    with pytest.raises(KeyboardInterrupt):
        run(path, 900, resume=False, made_of={"settings": 1}, killed_at=600)
    with pytest.raises(InputError, match="the earlier run had another settings"):
        run(path, 900, resume=True, made_of={"settings": 2})
    (tmp_path / "out.tsv.progress.json").write_text("{", encoding="utf-8")
    with pytest.raises(OutputError, match="run without --resume"):
        run(path, 900, resume=True, made_of={"settings": 1})
    assert len(run(path, 900, resume=False, made_of={"settings": 1})) == 900


def test_two_runs_do_not_write_one_output(tmp_path: Path) -> None:
    path = tmp_path / "out.tsv"
    with resumable_links(path, "tsv", LinksInfo(located=True), {}, resume=False) as links:
        with pytest.raises(OutputError, match="another annotation is writing this: wait until it ends"):
            run(path, 10, resume=False, made_of={})
        links.writer.write(Link(Mention("7"), "7"))
        links.document_written()
    assert len(path.read_text(encoding="utf-8").splitlines()) == 2
    assert len(run(path, 10, resume=False, made_of={})) == 10


def test_a_run_that_was_not_killed_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "out.tsv"
    assert len(run(path, 10, resume=True, made_of={})) == 10
    assert len(run(path, 10, resume=True, made_of={})) == 10
    assert len(path.read_text(encoding="utf-8").splitlines()) == 11


@pytest.mark.parametrize("format", ["brat", "xlsx"])
def test_what_is_not_ours_is_not_replaced(tmp_path: Path, format: str) -> None:
    (tmp_path / "out.partial").mkdir()
    (tmp_path / "out.partial" / "letter.txt").write_text("mine", encoding="utf-8")
    info = LinksInfo(has_documents=True)
    with (
        pytest.raises(OutputError),
        resumable_links(tmp_path / "out", format, info, {}, resume=False),
    ):
        pass
    assert (tmp_path / "out.partial" / "letter.txt").read_text(encoding="utf-8") == "mine"


def test_documents_of_the_same_id_are_told_apart(tmp_path: Path) -> None:
    lines = [json.dumps({"id": id_, "text": text}) for id_, text in (("7", "a"), ("7", "b"), ("7:2", "c"))]
    first = write(tmp_path / "first.jsonl", "\n".join(lines))
    second = write(tmp_path / "second.txt", PUBTATOR + PUBTATOR)
    problems = Problems()
    found = texts(first, second, problems=problems)
    assert [document.id for document in found] == ["7", "7:2", "7:2:2", "7:3", "7:2:3"]
    assert [document.text for document in found[:3]] == ["a", "b", "c"]
    assert [str(problem).removeprefix(f"{tmp_path}/") for problem in problems.first[:3]] == [
        "first.jsonl:2: another document with the id 7: renamed to 7:2 (kept)",
        "first.jsonl:3: another document with the id 7:2: renamed to 7:2:2 (kept)",
        "second.txt: another document with the id 7: renamed to 7:3 (kept)",
    ]
    assert problems.rejected == 0


def test_ids_are_distinct_however_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nymlink.corpus.readers.common._RECENT", 7)
    ids = DistinctIds()
    assert all(ids.add(str(number)) for number in range(100))
    assert not any(ids.add(str(number)) for number in range(100))
    copies = [ids.rename(Document("5"), Path("x"), None, Problems()).id for _ in range(3)]
    assert copies == ["5:2", "5:3", "5:4"]
