"""Streams of texts: formats, bad input, several processes, runs that go on."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from nymlink.annotation import stream
from nymlink.annotation.annotator import Annotator
from nymlink.annotation.stream import annotate_stream, annotation_folder, link_of, link_values
from nymlink.annotation.texts import read_texts
from nymlink.core.errors import InputError, OutputError
from nymlink.core.problems import Problems
from nymlink.corpus.documents import Document, Mention
from nymlink.corpus.readers.common import DistinctIds
from nymlink.linking.link import Candidate, Context, Domain, Link, Review
from nymlink.text.drugs import Drug
from nymlink.vocabulary.concepts import Name
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
    monkeypatch.setattr(stream, "_FEW", 10)
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


MANY = [Document(str(number), f"{number} renal cysts") for number in range(300)]


class CountingAnnotator(Annotator):
    """Counts the documents that it annotates, and ends at one of them."""

    annotated: int = 0
    ends_at: int | None = None
    ends_with: type[BaseException] = KeyboardInterrupt

    def annotate_documents(self, documents: Iterable[Document]) -> Iterator[tuple[Document, list[Link]]]:
        for document in documents:
            if self.annotated == self.ends_at:
                raise self.ends_with
            self.annotated += 1
            yield from super().annotate_documents([document])


def run(
    output: Path,
    *,
    documents: list[Document] = MANY,
    resume: bool = True,
    described: dict[str, int] | None = None,
    ends_at: int | None = None,
) -> tuple[list[list[Link]], int]:
    """Annotate documents as a job; return their links, and how many of them were annotated in this run."""
    annotator = CountingAnnotator(built_index())
    annotator.ends_at = ends_at
    with annotation_folder(output, described or {}, resume=resume) as kept:
        found = [links for _, links in annotate_stream(annotator, documents, kept=kept)]
    return found, annotator.annotated


def test_a_run_that_ended_early_goes_on(tmp_path: Path) -> None:
    output = tmp_path / "out.tsv"
    whole, _ = run(output)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KeyboardInterrupt):
        run(output, ends_at=200)
    assert sorted(path.name for path in (tmp_path / "out.tsv.partial").iterdir()) == [
        "done.jsonl",
        "job.json",
        "parts",
    ]
    assert run(output) == (whole, 300 - 192)
    assert list(tmp_path.iterdir()) == []
    # A run that was not killed leaves nothing to go on with.
    assert run(output) == (whole, 300)


def test_too_little_memory_is_said_and_what_is_done_is_kept(tmp_path: Path) -> None:
    annotator = CountingAnnotator(built_index())
    annotator.ends_at, annotator.ends_with = 200, MemoryError
    with (
        pytest.raises(InputError, match="memory does not suffice for the 64 documents from '192' on"),
        annotation_folder(tmp_path / "out.tsv", {}, resume=False) as kept,
    ):
        list(annotate_stream(annotator, MANY, kept=kept))
    assert run(tmp_path / "out.tsv")[1] == 300 - 192


def test_damaged_parts_and_changed_documents_are_annotated_again(tmp_path: Path) -> None:
    output, parts = tmp_path / "out.tsv", tmp_path / "out.tsv.partial" / "parts"
    whole, _ = run(output)
    with pytest.raises(KeyboardInterrupt):
        run(output, ends_at=290)
    first, second, third, fourth = sorted(parts.iterdir())
    first.write_bytes(first.read_bytes().replace(b"P:16", b"P:17"))
    second.write_bytes(second.read_bytes()[:-9])
    third.unlink()
    changed = [*MANY[:200], Document("200", "seizures"), *MANY[201:]]
    found, annotated = run(output, documents=changed)
    assert annotated == 300
    assert found[:200] + found[201:] == whole[:200] + whole[201:]
    assert [link.mention.text for link in found[200]] == ["seizures"]
    with pytest.raises(KeyboardInterrupt):
        run(output, ends_at=290)
    fourth.write_text("[]\n", encoding="utf-8")
    assert run(output) == (whole, 300 - 192)


def test_another_run_is_not_gone_on_with(tmp_path: Path) -> None:
    output = tmp_path / "out.tsv"
    with pytest.raises(KeyboardInterrupt):
        run(output, described={"settings": 1}, ends_at=100)
    with pytest.raises(InputError, match=r"differs in its settings: .* run without --resume to begin anew"):
        run(output, described={"settings": 2})
    assert run(output, described={"settings": 2}, resume=False)[1] == 300


def test_two_runs_do_not_write_one_output(tmp_path: Path) -> None:
    output = tmp_path / "out.tsv"
    with (
        annotation_folder(output, {}, resume=False),
        pytest.raises(OutputError, match="another annotation is writing this: wait until it ends"),
    ):
        run(output)
    assert run(output)[1] == 300


@pytest.mark.parametrize("resume", [False, True])
def test_what_is_not_ours_is_not_replaced(tmp_path: Path, resume: bool) -> None:
    mine = write(tmp_path / "out.partial" / "letter.txt", "mine")
    with pytest.raises(OutputError, match=r"something other than an annotation \(letter.txt\)"):
        run(tmp_path / "out", resume=resume)
    with pytest.raises(OutputError, match="this is in the way"):
        run(write(tmp_path / "x.partial", "").with_suffix(""), resume=resume)
    assert mine.read_text(encoding="utf-8") == "mine"


def test_a_link_is_the_same_after_it_was_kept() -> None:
    name = Name("caf\ud800", "P:1", "pt-BR", "related", "X")
    candidate = Candidate("P:1", "one", name, 0.1 + 0.2, {"exact": 1.0, "dense": float("inf")}, "no", "broad", 0.5)
    mention = Mention("a b", 0, 9, "T", ("P:1",), ("a", "b"), True, "pt", "T1", ((0, 1), (8, 9)), 3)
    review = Review("concept", "me", 7, "so", ("exact", "close"), "you")
    single = Link(
        Mention("a"),
        "a",
        (candidate,),
        document_id="7",
        confidence=0.5,
        nil=True,
        guessed=True,
        meanings=3,
        ordinary=True,
        left_out=("x", "y"),
        tied=2,
        settled=True,
        nothing="a date",
        context=Context("no"),
        review=review,
        drug=Drug("aspirin", 5.0, "mg"),
        judged="a model chose candidate 1",
        domain=Domain("P", 0.5, 1, 2),
        former="P:0",
        foreign="German",
        rival="two (P:2)",
    )
    empty = {each.name for each in fields(Link) if getattr(single, each.name) == each.default}
    assert empty == {"parts"}, "each field has a value, so that none is forgotten"
    whole = Link(mention, "a | b", (), (single, single))
    assert link_of(json.loads(json.dumps(link_values(whole)))) == whole


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
