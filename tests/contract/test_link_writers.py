"""What every writer of links promises, checked on each that is registered with readers that are not ours."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from nymlink.core.errors import InputError, UnknownFormatError, UnknownNameError
from nymlink.corpus.documents import Document, Mention
from nymlink.linking.link import Candidate, Context, Link
from nymlink.linking.links import Links
from nymlink.linking.writers import LINK_FORMATS
from nymlink.linking.writers.link_files import format_of, open_target, open_writer
from nymlink.linking.writers.writer import LinksInfo, UserTable
from nymlink.tables.delimited import Record
from nymlink.vocabulary.concepts import Name


def candidate(concept_id: str, name: str, score: float = 1.0) -> Candidate:
    return Candidate(concept_id, name, Name(name, concept_id), score, {"exact": score})


BROKEN = "three\nlines"
AWKWARD = 'a\t"b",\n c\r\u2028\x1b[2J心'
"""Text with all that could be taken for the end of a cell, of a line, or for a command."""

PLAIN = Link(Mention("heart attack"), "heart attack", (candidate("X:1", "MI", 0.98765), candidate("X:2", "AMI")))
NIL = Link(Mention("qqqq"), "qqqq", (candidate("X:1", "rejected"),), nil=True)
COMPOSITE = Link(
    Mention("breast and ovarian cancer"),
    "breast cancer | ovarian cancer",
    parts=(
        Link(Mention("breast cancer"), "breast cancer", (candidate("X:3", "breast cancer"),)),
        Link(Mention("ovarian cancer"), "ovarian cancer", (candidate("X:4", "ovarian cancer"),), guessed=True),
    ),
)
HALF_NIL = replace(COMPOSITE, parts=(COMPOSITE.parts[0], NIL), nil=True)
LINKS = (
    PLAIN,
    NIL,
    COMPOSITE,
    HALF_NIL,
    Link(Mention(""), "", nil=True),
    Link(Mention(AWKWARD), "a", (candidate(AWKWARD, AWKWARD),)),
    Link(Mention("a"), "a", (candidate(BROKEN, BROKEN),)),
    Link(Mention("=cmd|'/c calc'!A1"), "cmd", (candidate("X:1", "\ud800"),)),
)
FIRST_IDS = ["X:1", "", "X:3", "", "", AWKWARD, BROKEN, "X:1"]
"""The concept in the first row of each link."""

CALIBRATED = tuple(replace(link, confidence=0.5) for link in LINKS)
DOCUMENT = Document("7", "MI", (Mention("MI", 0, 2),))
LOCATED = tuple(replace(link, document_id="7", mention=replace(link.mention, start=0, end=2)) for link in LINKS)
HEADER = Record(1, ["term", 'the "note"', "score"], 'term,"the ""note""",score')
TABLE = UserTable(HEADER, ",")
CELLS = ["a, b", "two\nlines", "7"]
ROW = Record(2, CELLS, '"a, b","two\nlines",7')


def bytes_of(name: str, links: tuple[Link, ...], info: LinksInfo) -> bytes:
    """What a format writes; of a folder, the contents of its files."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "links"
        with open_target(path, name) as out:
            writer = open_writer(name, out, info)
            for place, link in enumerate(links):
                if info.has_documents:
                    writer.begin_document(replace(DOCUMENT, id=str(place)))
                writer.write(link, ROW if info.table is not None else None)
            writer.close()
            assert isinstance(out, Path) or not out.closed
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        return b"".join(file.read_bytes() for file in files)


def text_of(name: str, links: tuple[Link, ...], info: LinksInfo) -> str:
    out = io.StringIO(newline="")
    writer = open_writer(name, out, info)
    for link in links:
        writer.write(link, ROW if info.table is not None else None)
    writer.close()
    assert not out.closed
    return out.getvalue()


OMOP_FORMATS = ("usagi", "source-to-concept-map")
"""Formats that can write concepts of OMOP only."""


def info_for(name: str, **known: bool) -> LinksInfo:
    """What is given to a format: no more than it needs."""
    needs = LINK_FORMATS.get(name).needs
    return LinksInfo(has_documents="documents" in needs, **known)


def links_for(name: str, links: tuple[Link, ...]) -> tuple[Link, ...]:
    """Links that a format can write: with places in documents, or to concepts of OMOP."""
    if "documents" in LINK_FORMATS.get(name).needs:
        return tuple(replace(link, mention=replace(link.mention, start=0, end=2)) for link in links)
    return tuple(map(omop, links)) if name in OMOP_FORMATS else links


def omop(link: Link) -> Link:
    found = tuple(replace(each, concept_id=f"OMOP:{44 + place}") for place, each in enumerate(link.candidates))
    return replace(link, candidates=found, parts=tuple(map(omop, link.parts)))


def table_of(text: str, delimiter: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))


@pytest.fixture(params=LINK_FORMATS.names())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_format_says_what_it_is(name: str) -> None:
    format = LINK_FORMATS.get(name)
    assert format.name == name
    assert format.description
    assert [format_of(Path(f"links{ending}")) for ending in format.endings] == [name] * len(format.endings)


def test_whatever_comes_is_written(name: str) -> None:
    for links, known in (
        (LINKS, {}),
        (CALIBRATED, {"calibrated": True}),
        (LOCATED, {"located": True}),
        ((), {}),
    ):
        written = bytes_of(name, links_for(name, links), info_for(name, **known))
        if LINK_FORMATS.get(name).target != "binary":
            assert written == b"" or written.endswith(b"\n") or LINK_FORMATS.get(name).target == "folder"
            ids = ["44"] if name in OMOP_FORMATS else ["X:1"]
            assert all(id_.encode() in written for id_ in ids if links)
        else:
            assert written


def test_a_table_is_written_by_each_that_says_so(name: str, recwarn: pytest.WarningsRecorder) -> None:
    format = LINK_FORMATS.get(name)
    if "documents" in format.needs:
        pytest.skip("a table has no documents")
    plain = tuple(link for link in LINKS if not link.mention.text.startswith("="))
    written = bytes_of(name, links_for(name, plain), LinksInfo(table=TABLE))
    if format.target == "text":
        assert (b"two" in written) == format.keeps_table
    warned = "leaves out the columns of your table; csv, csv-excel, jsonl, parquet, tsv, usagi, xlsx keep them"
    assert [str(each.message) for each in recwarn] == ([] if format.keeps_table else [f"--format {name} {warned}"])


def test_what_is_needed_and_not_there_is_said(name: str) -> None:
    format = LINK_FORMATS.get(name)
    out = io.BytesIO() if format.target == "binary" else io.StringIO()
    if not format.needs:
        open_writer(name, out, LinksInfo()).close()
        return
    with pytest.raises(InputError, match=rf"{name} needs .*: give .*; or choose another format \(csv, "):
        open_writer(name, out, LinksInfo())


def test_an_option_that_is_ignored_is_said(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    format = replace(LINK_FORMATS.get(name), ignores=frozenset({"--top-k", "--language"}))
    monkeypatch.setattr(LINK_FORMATS, "get", lambda _: format)
    info = replace(info_for(name), options=frozenset({"--top-k", "--index"}))
    out = io.BytesIO() if format.target == "binary" else io.StringIO()
    with pytest.warns(UserWarning, match=rf"^--top-k is ignored by --format {name}$") as said:
        open_writer(name, out, info).close()
    assert len(said) == 1


def test_json_lines_are_links() -> None:
    lines = text_of("jsonl", LOCATED, LinksInfo(located=True)).split("\n")[:-1]
    # A lone half of a character is no JSON of everybody's, but comes back.
    assert [json.loads(line) for line in lines] == [link.to_dict() for link in LOCATED]
    assert json.loads(lines[0])["document_id"] == "7"
    nil = json.loads(lines[1])
    assert (nil["nil"], nil["candidates"][0]["concept_name"]) == (True, "rejected")
    assert [part["candidates"][0]["concept_id"] for part in json.loads(lines[2])["parts"]] == ["X:3", "X:4"]
    with_row = json.loads(text_of("jsonl", LINKS[:1], LinksInfo(table=TABLE)))
    assert with_row == {**LINKS[0].to_dict(), "row": dict(zip(HEADER.fields, CELLS, strict=True))}


def test_tsv_has_a_line_for_each_candidate() -> None:
    text = text_of("tsv", LINKS, LinksInfo())
    rows = table_of(text, "\t")
    assert len(rows) == sum(len(Links([link]).to_dicts()) for link in LINKS)
    firsts = [row for row in rows if row["rank"] in ("", "1")]
    assert [row["concept_id"] for row in firsts] == [*FIRST_IDS[:3], "X:4", "X:3", *FIRST_IDS[3:]]
    assert firsts[0]["score"] == "0.9877"
    # Not an id: one line for each candidate, whatever reads it.
    assert firsts[-3]["mention"] == " ".join(AWKWARD.split())
    located = table_of(text_of("tsv", LOCATED[:1], LinksInfo(located=True)), "\t")
    assert list(located[0].values())[:4] == ["7", "0", "2", "heart attack"]


def test_csv_without_a_table_has_the_lines_of_tsv() -> None:
    links = tuple(link for link in LOCATED if link.mention.text != AWKWARD)
    info = LinksInfo(located=True, calibrated=True)
    lines = table_of(text_of("csv", links, info), ",")
    assert lines == table_of(text_of("tsv", links, info), "\t")
    assert lines[0]["mention"] == "heart attack"
    quoted = replace(PLAIN, mention=replace(PLAIN.mention, text='the "MI", left'))
    assert table_of(text_of("csv", (quoted,), LinksInfo()), ",")[0]["mention"] == 'the "MI", left'


@pytest.mark.parametrize(("name", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_a_table_comes_back_with_columns(name: str, delimiter: str) -> None:
    rows = table_of(text_of(name, CALIBRATED, LinksInfo(table=TABLE, calibrated=True)), delimiter)
    assert [[row[column] for column in HEADER.fields] for row in rows] == [CELLS] * len(rows)
    added = Links(CALIBRATED).to_dicts()
    assert [row["concept_name"] for row in rows] == [values["concept_name"] or "" for values in added]
    assert [row["confidence"] for row in rows] == [
        "" if values["confidence"] is None else "0.5000" for values in added
    ]
    assert rows[0]["nymlink_score"] == "0.9877"


def test_csv_keeps_what_it_can_of_a_table() -> None:
    semicolons = UserTable(Record(1, ["a", "b"], "\ufeffa;b"), ";")
    out = io.StringIO()
    open_writer("csv", out, LinksInfo(table=semicolons)).write(PLAIN, Record(2, ["1", "2"], "1;2"))
    assert out.getvalue().startswith("\ufeffa;b;rank;")
    tabs = UserTable(Record(1, ["a", "b"], "\ufeffa\tb"), "\t")
    out = io.StringIO()
    open_writer("csv", out, LinksInfo(table=tabs)).write(PLAIN, Record(2, ["1,0", "2"], "1,0\t2"))
    assert out.getvalue().startswith("\ufeffa,b,rank,")
    assert '\n"1,0",2,1,X:1,' in out.getvalue()


def test_links_write_themselves(tmp_path: Path) -> None:
    links = Links(LINKS[:4])
    links.write(tmp_path / "links.jsonl")
    assert [json.loads(line) for line in (tmp_path / "links.jsonl").read_text(encoding="utf-8").splitlines()] == [
        link.to_dict() for link in links
    ]
    stream = io.StringIO()
    links.write(stream)
    links.write(str(tmp_path / "links"), format="tsv")
    assert stream.getvalue() == (tmp_path / "links").read_text(encoding="utf-8")
    with pytest.raises(UnknownFormatError, match=r"links\.docx: no format of links has the ending \.docx"):
        links.write(tmp_path / "links.docx")
    with pytest.raises(UnknownNameError, match="unknown format of links 'docx'; known: bioc-json"):
        links.write(tmp_path / "links.docx", format="docx")
    with pytest.raises(InputError, match="pubtator needs documents as input"):
        links.write(tmp_path / "links.tsv", format="pubtator")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["links", "links.jsonl"]


@pytest.mark.parametrize("name", ["pubtator", "conll", "bioc-json", "bioc-xml"])
def test_denied_parts_are_no_concepts_of_a_document(name: str) -> None:
    denied = replace(COMPOSITE.parts[1], context=Context(negated="no"))
    text = "breast and ovarian cancer"
    mention = Mention(text, 0, len(text))
    link = replace(COMPOSITE, mention=mention, parts=(COMPOSITE.parts[0], denied), document_id="1")
    out = io.StringIO()
    Links([link]).write(out, format=name, documents=[Document("1", text, (mention,))])
    assert "X:3" in out.getvalue()
    assert "X:4" not in out.getvalue()


@pytest.mark.parametrize("name", ["pubtator", "conll", "bioc-json", "bioc-xml"])
def test_other_documents_than_those_linked_are_refused(name: str) -> None:
    link = replace(PLAIN, mention=Mention("heart attack", 30, 42), document_id="7")
    with pytest.raises(InputError, match="give the documents that were linked"):
        Links([link]).write(io.StringIO(), format=name, documents=[Document("7", "MI", (Mention("MI", 0, 2),))])


def test_rows_have_places() -> None:
    assert [Links(links).to_dicts()[0]["start"] for links in (LINKS, LOCATED)] == [None, 0]
    second = Links(CALIBRATED).to_dicts()[1]
    # The confidence is that of the first candidate alone.
    assert (second["rank"], second["confidence"]) == (2, None)


def test_a_composite_mention_has_a_best_concept_for_each_part() -> None:
    assert (COMPOSITE.best, COMPOSITE.notes[0]) == (None, "composite: 2 parts")
    assert [part.best and part.best.concept_id for part in COMPOSITE.singles] == ["X:3", "X:4"]
    assert (NIL.best, NIL.candidates[0].concept_id) == (None, "X:1")
