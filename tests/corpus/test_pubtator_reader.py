from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.problems import Problems
from nymlink.corpus import Corpus, Document, Mention, read_corpus
from nymlink.corpus.offsets import NEARBY

HEAD = "1|t|Breast and ovarian cancer\n1|a|No hypertension.\n"


def read(path: Path, content: str) -> tuple[Corpus, Problems]:
    file = path / "corpus.txt"
    file.write_text(content, encoding="utf-8", newline="")
    problems = Problems()
    return read_corpus(file, format="pubtator", problems=problems), problems


def mentions(path: Path, *rows: str) -> tuple[tuple[Mention, ...], Problems]:
    corpus, problems = read(path, HEAD + "".join(f"1\t{row}\n" for row in rows))
    return corpus.documents[0].mentions, problems


def test_title_and_abstract_make_the_text(tmp_path: Path) -> None:
    corpus, problems = read(
        tmp_path, HEAD + "1\t29\t41\thypertension\tDisease\tD006973\n\n2|t|Alone\n\n3|a|Abstract\n"
    )
    assert corpus.documents == (
        Document(
            "1",
            "Breast and ovarian cancer\nNo hypertension.",
            (Mention("hypertension", start=29, end=41, type="Disease", concept_ids=("D006973",)),),
        ),
        Document("2", "Alone"),
        Document("3", "Abstract"),
    )
    assert problems.count == 0


@pytest.mark.parametrize(
    ("field", "ids"),
    [
        ("D1", ("D1",)),
        (" OMIM:153400 ", ("OMIM:153400",)),
        ("D1|D2", ("D1", "D2")),
        ("D1+OMIM:2", ("D1", "OMIM:2")),
        ("672;675", ("672", "675")),
        ("D1,D2", ("D1", "D2")),
        ("D1|-1", ()),
        ("D1|D1", ("D1",)),
        ("-1", ()),
        ("c|SUB|G|Ex2+860|C", ("c|SUB|G|Ex2+860|C",)),
        ("|SUB|V|600|E", ("|SUB|V|600|E",)),
        ("p|FS|R|97||", ("p|FS|R|97||",)),
        ("c|SUB|A|-1|G", ("c|SUB|A|-1|G",)),
        ("c|DEL|185,186|AG", ("c|DEL|185,186|AG",)),
        ("tmVar:p|SUB|V|600|E;RS#:113488022", ("tmVar:p|SUB|V|600|E", "RS#:113488022")),
        ("p|SUB|V|600|E;p|SUB|V|600|K", ("p|SUB|V|600|E", "p|SUB|V|600|K")),
        ("D1|c|SUB|G|860|C", ("D1", "c|SUB|G|860|C")),
        ("-1|c|SUB|G|860|C", ()),
        ("MESH|SUB|D1", ("MESH", "SUB", "D1")),
        ("-", ()),
        ("", ()),
    ],
)
def test_gold_ids(field: str, ids: tuple[str, ...], tmp_path: Path) -> None:
    found, problems = mentions(tmp_path, f"0\t6\tBreast\tDisease\t{field}")
    assert found == (Mention("Breast", start=0, end=6, type="Disease", concept_ids=ids),)
    assert problems.count == 0


def test_a_row_may_lack_the_ids(tmp_path: Path) -> None:
    found, _ = mentions(tmp_path, "0\t6\tBreast\tDisease")
    assert found == (Mention("Breast", start=0, end=6, type="Disease"),)


def test_parts_come_from_the_seventh_column(tmp_path: Path) -> None:
    row = "0\t25\tBreast and ovarian cancer\tDisease\tD1|D2\t"
    (with_parts, without, empty), _ = mentions(
        tmp_path, row + "Breast cancer|ovarian cancer", row.rstrip("\t"), row + " "
    )
    assert with_parts.parts == ("Breast cancer", "ovarian cancer")
    assert without.parts == empty.parts == ()
    assert with_parts.concept_ids == without.concept_ids == ("D1", "D2")


def test_relations_are_passed_over(tmp_path: Path) -> None:
    found, problems = mentions(tmp_path, "CID\tD008750\tD007022", "Association\t6331\tD001\tNovel")
    assert found == ()
    assert problems.count == 0


@pytest.mark.parametrize(
    ("row", "span", "text"),
    [
        ("27\t39\thypertension", (29, 41), "hypertension"),
        ("29\t30\thypertension", (29, 41), "hypertension"),
        ("41\t29\thypertension", (29, 41), "hypertension"),
        ("29\t43\thypertension  ", (29, 41), "hypertension"),
        ("19\t21\tan", (20, 22), "an"),
        ("0\t12\thypotension", None, "hypotension"),
        ("99999\t99999\tcancer", None, "cancer"),
    ],
    ids=["shifted", "short", "turned round", "white space", "nearest", "absent", "beyond the text"],
)
def test_wrong_offsets_are_mended_or_dropped(
    row: str, span: tuple[int, int] | None, text: str, tmp_path: Path
) -> None:
    (found,), problems = mentions(tmp_path, f"{row}\tDisease\tD006973")
    assert (found.text, found.concept_ids) == (text, ("D006973",))
    assert (found.start, found.end) == (span or (None, None))
    assert (problems.rejected, problems.repaired) == (0, 1)
    assert problems.first[0].line == 3


@pytest.mark.parametrize(
    "row",
    [
        "0\tsix\tBreast\tDisease\tD1",
        "-1\t6\tBreast\tDisease\tD1",
        "0\t6\t \tDisease\tD1",
        "0\t6\tBreast",
        "9" * 5000,
    ],
)
def test_broken_rows_are_left_out(row: str, tmp_path: Path) -> None:
    found, problems = mentions(tmp_path, row, "0\t6\tBreast\tDisease\tD1")
    assert [mention.text for mention in found] == ["Breast"]
    assert [problem.line for problem in problems.first] == [3]
    assert problems.rejected == 1


def test_a_second_copy_of_a_document_is_left_out(tmp_path: Path) -> None:
    row = "1\t0\t6\tBreast\tDisease\tD1\n"
    corpus, problems = read(tmp_path, HEAD + row + "\n2|t|Between\n\n" + HEAD + row)
    assert [document.id for document in corpus.documents] == ["1", "2"]
    assert sum(1 for _ in corpus.mentions()) == 1
    assert [(problem.line, problem.rejected) for problem in problems.first] == [(7, True)]


def test_a_row_of_another_document_is_left_out(tmp_path: Path) -> None:
    corpus, problems = read(tmp_path, "0\t0\t6\tBreast\tDisease\tD1\n" + HEAD + "2\t0\t6\tBreast\tDisease\tD1\n")
    assert corpus.documents[0].mentions == ()
    assert [problem.line for problem in problems.first] == [1, 4]


TEXT = st.text(
    st.one_of(
        st.sampled_from("aé 🧬👩🏽‍⚕️中文अस्थमाمرضחולי|\u2028\u00a0\u0085\ufeff"),
        st.characters(exclude_categories=("Cs",), exclude_characters="\n\r\0"),
    ),
    max_size=40,
)
IDS = st.lists(
    st.text(string.ascii_uppercase + string.digits + ":", min_size=1, max_size=8), unique=True, max_size=3
)


@st.composite
def documents(draw: st.DrawFn) -> list[Document]:
    made = []
    for id_ in draw(st.lists(st.text(string.digits, min_size=1, max_size=8), unique=True, min_size=1, max_size=3)):
        text = draw(TEXT) + "\n" + draw(TEXT)
        found = []
        for _ in range(draw(st.integers(0, 4))):
            start = draw(st.integers(0, len(text)))
            end = draw(st.integers(start, len(text)))
            surface = text[start:end]
            if surface.strip() and not set(surface) & {"\n", "\t"}:
                found.append(Mention(surface, start=start, end=end, type="Disease", concept_ids=tuple(draw(IDS))))
        made.append(Document(id_, text, tuple(found)))
    return made


def written(corpus: list[Document], shift: int = 0) -> str:
    lines = []
    for document in corpus:
        title, abstract = document.text.split("\n")
        lines += [f"{document.id}|t|{title}", f"{document.id}|a|{abstract}"]
        for mention in document.mentions:
            assert mention.start is not None
            assert mention.end is not None
            start, end = mention.start + shift, mention.end + shift
            ids = "|".join(mention.concept_ids) or "-1"
            lines.append(f"{document.id}\t{start}\t{end}\t{mention.text}\t{mention.type}\t{ids}")
        lines.append("")
    return "\n".join(lines)


@given(documents())
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, corpus: list[Document]) -> None:
    read_back, problems = read(tmp_path_factory.mktemp("corpus"), written(corpus))
    assert list(read_back.documents) == corpus
    assert problems.count == 0


@given(documents(), st.integers(1, NEARBY))
def test_mended_offsets_always_lead_to_the_mention(
    tmp_path_factory: pytest.TempPathFactory, corpus: list[Document], shift: int
) -> None:
    read_back, problems = read(tmp_path_factory.mktemp("corpus"), written(corpus, shift))
    assert problems.rejected == 0
    for document, mention in read_back.mentions():
        assert mention.start is not None
        assert document.text[mention.start : mention.end] == mention.text
