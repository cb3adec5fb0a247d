from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.text.english.words import english_spelling
from nymlink.text.normalise import normalise
from nymlink.text.spelling import correct, read_table


def test_whole_words_only() -> None:
    table = {"tumour": "tumor", "smallbowel": "small bowel"}
    assert correct("tumour of the smallbowel tumours", table) == "tumor of the small bowel tumours"
    assert correct("", table) == ""


def test_each_word_is_looked_up_once() -> None:
    assert correct("a b", {"a": "b", "b": "a"}) == "b a"


@given(st.text())
def test_an_empty_table_changes_nothing(text: str) -> None:
    assert correct(normalise(text), {}) == normalise(text)


def test_the_built_in_table_is_made_of_normalised_words_and_settles() -> None:
    for wrong, right in english_spelling().items():
        assert wrong == normalise(wrong)
        assert " " not in wrong
        assert right == normalise(right)
        assert correct(right, english_spelling()) == right


def test_the_built_in_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        english_spelling()["a"] = "b"  # type: ignore[index]


def test_read_table_reports_bad_lines_and_keeps_the_good(tmp_path: Path) -> None:
    path = tmp_path / "typos.txt"
    path.write_text(
        "Tumour||tumor\nno mark\n\ntwo words||x\nempty||\ntumour||other\nforhead||forehead", encoding="utf-8"
    )
    problems = Problems()
    assert read_table(path, problems=problems) == {"tumour": "tumor", "forhead": "forehead"}
    assert [problem.line for problem in problems.first] == [2, 4, 5, 6]
    assert problems.rejected == 4


@pytest.mark.parametrize("content", ["", "nothing here\n"])
def test_read_table_without_a_usable_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "typos.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"typos\.txt: no line of the form wrong\|\|right"):
        read_table(path)


def test_read_table_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_table(tmp_path / "absent")


def test_the_published_table(data: Path) -> None:
    table = read_table(data / "corpora" / "ncbi_disease" / "ncbi-spell-check.txt")
    assert len(table) == 37
    assert table["smallbowel"] == "small bowel"
