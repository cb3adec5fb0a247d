"""Workbooks with formulas, merged cells, several sheets, and sizes that would fill the memory."""

from __future__ import annotations

import zipfile
from pathlib import Path

import openpyxl
import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.corpus import Corpus, read_corpus
from nymlink.tables import workbooks


def read(path: Path) -> tuple[Corpus, Problems]:
    problems = Problems()
    return read_corpus(path, problems=problems), problems


def rows(corpus: Corpus) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(document.id, mention.text, mention.concept_ids) for document, mention in corpus.mentions()]


def test_merged_cells_formulas_and_sheets(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for row in (["doc", "mention", "id"], ["7", "gout", 5.0], [None, "fever", "=A1"], [None, "=1+1", None]):
        sheet.append(row)
    sheet.merge_cells("A2:A4")
    more = workbook.create_sheet("more")
    more.append(["doc", "mention", "id"])
    more.append(["8", "pain", "D1"])
    workbook.create_sheet("notes").append(["something else"])
    workbook.create_sheet("empty")
    workbook.save(tmp_path / "a.xlsx")
    with pytest.warns(UserWarning, match="sheet 'Sheet' is read; sheets .* are not read: notes"):
        corpus, problems = read(tmp_path / "a.xlsx")
    assert sorted(rows(corpus)) == [("7", "fever", ()), ("7", "gout", ("5",)), ("8", "pain", ("D1",))]
    said = [(each.line, each.message, each.rejected) for each in problems.first]
    assert said == [
        (3, "the formula '=A1' in sheet 'Sheet' was never computed: its cell was read as empty", False),
        (4, "the formula '=1+1' in sheet 'Sheet' was never computed: its cell was read as empty", False),
        (4, "the mention is empty: the row is passed over", False),
    ]


def test_hidden_sheets_are_read_by_name_only(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    hidden = workbook.create_sheet("Old")
    hidden.sheet_state = "hidden"
    for row in (["mention", "id"], ["gout", "D1"]):
        hidden.append(row)
    workbook.save(tmp_path / "a.xlsx")
    with pytest.raises(InputError, match="there are no cells in sheet 'Sheet'; name a hidden one: Old"):
        read(tmp_path / "a.xlsx")
    assert [mention.text for _, mention in read(tmp_path / "a.xlsx#Old")[0].mentions()] == ["gout"]


def rewritten(path: Path, part: str, old: str, new: str) -> None:
    """Change a part of a workbook."""
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    parts[part] = parts[part].decode().replace(old, new).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)


def test_sizes_that_are_claimed_fill_no_memory(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    for row in (["mention", "id"], ["gout", "D1"], ["fever", None]):
        workbook.active.append(row)
    workbook.active.merge_cells("B2:B3")
    workbook.save(tmp_path / "a.xlsx")
    part = "xl/worksheets/sheet1.xml"
    rewritten(tmp_path / "a.xlsx", part, 'ref="B2:B3"', 'ref="B2:XFD1048576"')
    rewritten(tmp_path / "a.xlsx", part, 'ref="A1:B3"', 'ref="A1:XFD1048576"')
    corpus, problems = read(tmp_path / "a.xlsx")
    assert [mention.concept_ids for _, mention in corpus.mentions()] == [("D1",), ("D1",)]
    assert problems.count == 0


def test_what_is_too_large_unpacked_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workbook = openpyxl.Workbook()
    workbook.active.append(["mention"])
    workbook.active.append(["gout"])
    workbook.save(tmp_path / "a.xlsx")
    monkeypatch.setattr(workbooks, "_MAX_BYTES", 1 << 10)
    with pytest.raises(InputError, match=r"more than 0 MB, unpacked: save the sheet as CSV"):
        read(tmp_path / "a.xlsx")


def test_what_the_library_prints_of_damaged_styles_is_not_among_results(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    workbook = openpyxl.Workbook()
    workbook.active.append(["mention"])
    workbook.save(tmp_path / "a.xlsx")
    rewritten(tmp_path / "a.xlsx", "xl/styles.xml", 'xfId="0" builtinId', 'xfId="7" builtinId')
    with pytest.raises(InputError, match="the workbook is damaged"):
        read(tmp_path / "a.xlsx")
    assert capfd.readouterr() == ("", "")
