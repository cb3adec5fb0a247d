"""Telling the format of a source by its content."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nymlink.core.errors import InputError, UnknownNameError
from nymlink.core.registry import find_format
from nymlink.vocabulary.readers import VOCABULARY_FORMATS

OBO = "format-version: 1.2\n\n[Term]\nid: A:1\nname: a\n"


def test_a_format_is_told_by_content_not_by_name(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(OBO, encoding="utf-8")
    assert find_format(VOCABULARY_FORMATS, path).name == "obo"
    assert find_format(VOCABULARY_FORMATS, path, "table").name == "table"


@pytest.mark.parametrize(
    ("content", "message"),
    [("", "empty"), (" \n\t\n", "empty"), ("\0\1\2 no format\n" * 3, r"--input-format \(known: .*obo")],
)
def test_what_is_of_no_format_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "x"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        find_format(VOCABULARY_FORMATS, path)


def test_what_is_missing_or_unknown_is_said(tmp_path: Path) -> None:
    for name, message in (("no", "no such file"), ("x" * 300, "too long"), ("a\0b", "null")):
        for wanted in (None, "obo"):
            with pytest.raises(InputError, match=message):
                find_format(VOCABULARY_FORMATS, tmp_path / name, wanted)
    (tmp_path / "x").write_text(OBO, encoding="utf-8")
    with pytest.raises(UnknownNameError, match="known: "):
        find_format(VOCABULARY_FORMATS, tmp_path / "x", "wordperfect")


def test_a_pipe_is_refused_before_any_of_it_is_read(tmp_path: Path) -> None:
    # To tell its format would use up its beginning, and the reader would quietly go without.
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match=r"pipe .* to a file first"):
        find_format(VOCABULARY_FORMATS, tmp_path / "pipe")
