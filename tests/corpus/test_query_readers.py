"""XL-BEL, AskAPatient, GSC+ and plain lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from nymlink.core.errors import UnknownFormatError
from nymlink.core.problems import Problems
from nymlink.corpus import Document, Mention, read_corpus


def write(path: Path, content: str) -> Path:
    file = path / "queries.txt"
    file.write_text(content, encoding="utf-8")
    return file


def test_xlbel_without_context(tmp_path: Path) -> None:
    file = write(tmp_path, "C0003873||リウマチ関節炎\n\nC1|CL448688||シラクチ\nMESH:D001||pain\n")
    assert read_corpus(file).documents == (
        Document("queries:1", mentions=(Mention("リウマチ関節炎", concept_ids=("C0003873",)),)),
        Document("queries:3", mentions=(Mention("シラクチ", concept_ids=("C1", "CL448688")),)),
        Document("queries:4", mentions=(Mention("pain", concept_ids=("MESH:D001",)),)),
    )


def test_xlbel_with_context(tmp_path: Path) -> None:
    file = write(tmp_path, "C1||аллергия||тут 🤧 <tgt>аллергия</tgt> || и <tgt>аллергия</tgt>\n")
    problems = Problems()
    (document,) = read_corpus(file, problems=problems).documents
    assert document.text == "тут 🤧 аллергия || и аллергия"
    assert document.mentions == (Mention("аллергия", start=6, end=14, concept_ids=("C1",)),)
    assert problems.count == 0


@pytest.mark.parametrize(
    ("context", "text", "start"),
    [
        ("die <tgt></tgt> da", "die  da", None),
        ("die <tgt></tgt>angst da", "die angst da", 4),
        ("die <tgt> angst</tgt>", "die  angst", 5),
        ("die angst da", "die angst da", None),
        ("die </tgt>angst<tgt>", "die angst", None),
    ],
)
def test_xlbel_tags_that_do_not_hold_the_mention(
    context: str, text: str, start: int | None, tmp_path: Path
) -> None:
    problems = Problems()
    (document,) = read_corpus(write(tmp_path, f"C1||angst||{context}\n"), problems=problems).documents
    end = None if start is None else start + 5
    assert document == Document("queries:1", text, (Mention("angst", start=start, end=end, concept_ids=("C1",)),))
    assert (problems.rejected, problems.repaired) == (0, 1)


def test_askapatient_takes_the_phrase_for_the_mention(tmp_path: Path) -> None:
    file = write(tmp_path, "108367008\tDislocation of joint\tdislocating\n3384011000036100\tArthrotec\tB12\n")
    assert read_corpus(file).documents == (
        Document(
            "queries",
            mentions=(
                Mention("dislocating", concept_ids=("108367008",)),
                Mention("B12", concept_ids=("3384011000036100",)),
            ),
        ),
    )


@pytest.mark.parametrize("line", ["108367008\tDislocation", "D001\tx\ty", "108367008\tx\t ", "108367008\tx\ty\tz"])
def test_askapatient_leaves_out_what_is_not_a_row(line: str, tmp_path: Path) -> None:
    problems = Problems()
    file = write(tmp_path, f"166717003\tLabel\tphrase one\n{line}\n166717003\tLabel\tphrase two\n")
    (document,) = read_corpus(file, format="askapatient", problems=problems).documents
    assert [mention.text for mention in document.mentions] == ["phrase one", "phrase two"]
    assert [problem.line for problem in problems.first] == [2]


def test_lines_are_mentions_without_gold(tmp_path: Path) -> None:
    file = write(tmp_path, "heart attack, old\n\n  MI\t\n[3H]-naloxone\n")
    assert read_corpus(file).documents == (
        Document("queries:1", mentions=(Mention("heart attack, old"),)),
        Document("queries:3", mentions=(Mention("MI"),)),
        Document("queries:4", mentions=(Mention("[3H]-naloxone"),)),
    )


def gsc(folder: Path, annotations: str, text: str | None = "Ménière's disease,\nand a fever.") -> Path:
    for name, content in (("ann", annotations), ("corpus", text)):
        (folder / name).mkdir()
        if content is not None:
            (folder / name / "11").write_text(content, encoding="utf-8")
    return folder


def test_gsc_has_texts_and_annotations_in_files_of_the_same_names(tmp_path: Path) -> None:
    folder = gsc(tmp_path, "[0::17]\tHP_0002321 | Ménière's disease\n[25::30]\tHP_0001945 | fever\n")
    # An abstract in which nothing was annotated, a text whose annotations are not there, and what is neither.
    (folder / "ann" / "10.1").write_text("", encoding="utf-8")
    (folder / "corpus" / "10.1").write_text("Nothing.", encoding="utf-8")
    (folder / "corpus" / "12").write_text("Not annotated.", encoding="utf-8")
    (folder / "ann" / ".hidden").write_bytes(b"PK\x03\x04\x00\x00")
    problems = Problems()
    assert read_corpus(folder, problems=problems).documents == (
        Document("10.1", "Nothing."),
        Document(
            "11",
            "Ménière's disease,\nand a fever.",
            (
                Mention("Ménière's disease", start=0, end=17, concept_ids=("HP:0002321",)),
                Mention("fever", start=25, end=30, concept_ids=("HP:0001945",)),
            ),
        ),
    )
    assert problems.count == 0
    assert read_corpus(folder / "ann" / "11").documents == read_corpus(folder / "ann").documents[1:]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("[24::30]\tHP_0001945 | fever", (25, 30)),
        ("[25::30]\tHP_0001945 | Fever", (None, None)),
        ("[999999999::999999999]\tHP_0001945 | fever", (None, None)),
    ],
)
def test_gsc_offsets_are_mended_or_dropped(
    line: str, expected: tuple[int | None, int | None], tmp_path: Path
) -> None:
    problems = Problems()
    (document,) = read_corpus(gsc(tmp_path, line), problems=problems).documents
    assert [(mention.start, mention.end) for mention in document.mentions] == [expected]
    assert (problems.rejected, problems.repaired) == (0, 1)


def test_gsc_without_a_text_has_no_offsets(tmp_path: Path) -> None:
    folder, problems = gsc(tmp_path, "[25::30]\tHP_0001945 | fever\n", text=None), Problems()
    (document,) = read_corpus(folder, problems=problems).documents
    assert document == Document("11", mentions=(Mention("fever", concept_ids=("HP:0001945",)),))
    assert (problems.rejected, problems.repaired) == (0, 1)


def test_a_folder_of_something_else_is_no_gsc(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04\x00\x00")
    with pytest.raises(UnknownFormatError):
        read_corpus(tmp_path)


@pytest.mark.parametrize(
    ("name", "language"),
    [("es_1k_test_query.txt", "es"), ("zh_1k_test_query_with_context.txt", "zh"), ("my_queries.txt", None)],
)
def test_xlbel_files_say_their_language(name: str, language: str | None, tmp_path: Path) -> None:
    (tmp_path / name).write_text("C1||angst\nC2||dolor\n", encoding="utf-8")
    assert [mention.language for _, mention in read_corpus(tmp_path / name).mentions()] == [language] * 2
