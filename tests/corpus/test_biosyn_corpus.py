from __future__ import annotations

from pathlib import Path

import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.corpus import Document, Mention, read_corpus


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.concept").write_text(content, encoding="utf-8")
    return folder


def test_a_folder_is_read_in_the_order_of_its_file_names(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "processed_dev",
        b2="2||0|3||Modifier||apc||D011125\n",
        a1="1||43|76||SpecificDisease||colon carcinoma||D003110\n1||5|6||Modifier||cancer||D009369\n",
        c3="",
    )
    (folder / "1.txt").write_text("the text of an abstract\n", encoding="utf-8")
    problems = Problems()
    corpus = read_corpus(folder, problems=problems)
    colon = Mention(
        "colon carcinoma", start=43, end=76, type="SpecificDisease", concept_ids=("D003110",), prepared=True
    )
    cancer = Mention("cancer", start=5, end=6, type="Modifier", concept_ids=("D009369",), prepared=True)
    apc = Mention("apc", start=0, end=3, type="Modifier", concept_ids=("D011125",), prepared=True)
    assert corpus.documents == (
        Document("1", mentions=(colon, cancer)),
        Document("2", mentions=(apc,)),
        Document("c3"),
    )
    assert corpus.name == "processed_dev"
    assert problems.count == 0


def test_one_file_is_a_corpus_too(tmp_path: Path) -> None:
    file = tmp_path / "all"
    file.write_text("1||0|3||T||a||D1\n2||0|3||T||b||D2\n1||4|5||T||c||D3\n", encoding="utf-8")
    documents = read_corpus(file).documents
    assert [(one.id, [mention.text for mention in one.mentions]) for one in documents] == [
        ("1", ["a", "c"]),
        ("2", ["b"]),
    ]


@pytest.mark.parametrize(
    ("line", "text", "parts", "ids"),
    [
        ("284|330||T||duchenne|becker||D1|D2", "duchenne becker", ("duchenne", "becker"), ("D1", "D2")),
        ("284|330||T||renal|hamartomas|| D015862+D058499", "renal hamartomas", ("renal", "hamartomas"), None),
        ("284||330||T||breast cancer||D1", "breast cancer", (), ("D1",)),
        ("284|330||T||breast cancer|||D1", "breast cancer", (), ("D1",)),
        ("284|330||T||breast and ovarian cancer||D1|D2", "breast and ovarian cancer", (), ("D1", "D2")),
        ("284|330||T||alopecia||-1", "alopecia", (), ()),
    ],
)
def test_parts_and_ids(
    line: str, text: str, parts: tuple[str, ...], ids: tuple[str, ...] | None, tmp_path: Path
) -> None:
    expected = ("D015862", "D058499") if ids is None else ids
    corpus = read_corpus(write(tmp_path / "f", a=f"10842298||{line}\n"))
    mention = Mention(text, start=284, end=330, type="T", concept_ids=expected, parts=parts, prepared=True)
    assert corpus.documents == (Document("10842298", mentions=(mention,)),)


def test_offsets_that_cannot_be_are_dropped(tmp_path: Path) -> None:
    problems = Problems()
    corpus = read_corpus(write(tmp_path / "f", a="1||9|3||T||apc||D1\n"), problems=problems)
    assert corpus.documents[0].mentions[0].start is None
    assert (problems.rejected, problems.repaired) == (0, 1)


def test_problems_name_the_file_inside_the_folder(tmp_path: Path) -> None:
    problems = Problems()
    read_corpus(write(tmp_path / "f", a="1||0|3||T||apc||D1\n", b="x\n2||0|3||T||||D1\n"), problems=problems)
    assert [(Path(one.path).name, one.line) for one in problems.first] == [("b.concept", 1), ("b.concept", 2)]


def test_a_folder_without_such_files_is_not_this_format(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown corpus format"):
        read_corpus(tmp_path)
    with pytest.raises(InputError, match="no line of the form"):
        read_corpus(tmp_path, format="biosyn")
