"""What readers of corpora that are no text promise."""

from __future__ import annotations

import io
import random
import time
import zipfile
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.bulk.sources import open_sources
from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.corpus import read_corpus
from nymlink.corpus.readers import CORPUS_FORMATS
from nymlink.pairs.pair_files import read_pairs
from nymlink.tables import workbooks
from nymlink.tables.parquet import parquet_rows
from nymlink.tables.shards import Source

ROWS = [
    {"document": "7", "mention": "MI", "start": 4, "end": 6, "concept_id": "D1|D2", "sentence": "The MI"},
    {"document": "7", "mention": "The", "start": 0, "end": 3, "concept_id": None, "sentence": "The MI"},
    {"document": "8", "mention": "ménière", "start": None, "end": None, "concept_id": "D3", "sentence": None},
]
GOLD = [("7", "MI", 4, ("D1", "D2")), ("7", "The", 0, ()), ("8", "ménière", None, ("D3",))]


def parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), out)
    return out.getvalue()


def xlsx() -> bytes:
    out, workbook = io.BytesIO(), openpyxl.Workbook()
    for row in (list(ROWS[0]), *(list(row.values()) for row in ROWS)):
        workbook.active.append(row)
    workbook.save(out)
    return out.getvalue()


SAMPLES = {"parquet": parquet, "xlsx": xlsx}


@pytest.fixture(scope="module", params=[name for name, format in CORPUS_FORMATS if format.is_binary])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def write(folder: Path, content: bytes) -> Path:
    path = folder / "data.bin"
    path.write_bytes(content)
    return path


def test_found_by_content_and_read(name: str, tmp_path: Path) -> None:
    problems = Problems()
    path = write(tmp_path, SAMPLES[name]())
    corpus = read_corpus(path, problems=problems)
    assert find_format(CORPUS_FORMATS, path).name == name
    assert [
        (each.id, mention.text, mention.start, mention.concept_ids) for each, mention in corpus.mentions()
    ] == GOLD
    assert problems.count == 0


@pytest.mark.parametrize("content", [b"", b" \n", b"PAR1", b"PK\x03\x04"], ids=["nothing", "blank", "PAR1", "PK"])
def test_what_is_no_such_file_is_an_error(name: str, content: bytes, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read_corpus(write(tmp_path, content), format=name)
    with pytest.raises(InputError, match="no such file"):
        read_corpus(tmp_path / "absent", format=name)


def test_without_a_column_of_mentions_one_is_asked_for(name: str, tmp_path: Path) -> None:
    content = SAMPLES[name]().replace(b"mention", b"xention")
    if name == "xlsx":
        workbook = openpyxl.load_workbook(io.BytesIO(SAMPLES[name]()))
        workbook.active["B1"] = "xention"
        out = io.BytesIO()
        workbook.save(out)
        content = out.getvalue()
    with pytest.raises(InputError, match="no column is called mention among document, xention, "):
        read_corpus(write(tmp_path, content), format=name)


@given(st.integers(0, 2**32), st.booleans())
def test_damage_is_bad_input(tmp_path_factory: pytest.TempPathFactory, name: str, seed: int, cut: bool) -> None:
    chosen, content = random.Random(seed), bytearray(SAMPLES[name]())
    if cut:
        del content[chosen.randrange(len(content)) :]
    for _ in range(3):
        content[chosen.randrange(len(content) or 1) : chosen.randrange(len(content) or 1) + 1] = b"\0"
    path = write(tmp_path_factory.mktemp("damaged"), bytes(content))
    try:
        corpus = read_corpus(path, format=name)
    except InputError:
        return
    assert all(mention.text for _, mention in corpus.mentions())


def test_a_workbook_whose_list_of_parts_is_damaged_is_an_error(tmp_path: Path) -> None:
    content = bytearray(xlsx())
    place = content.index(b"PK\x01\x02")
    content[place : place + 4] = b"XX\x01\x02"
    path = tmp_path / "terms.xlsx"
    path.write_bytes(content)
    with pytest.raises(InputError, match="the workbook is damaged"):
        read_corpus(path)


def test_columns_of_parquet_whose_names_are_not_utf8_are_damage(tmp_path: Path) -> None:
    path = write(tmp_path, parquet().replace(b"document", b"docum\xeent"))
    for read in (lambda: read_corpus(path), lambda: list(read_pairs(path)), lambda: _bulk_sources(path)):
        with pytest.raises(InputError, match="Parquet file"):
            read()


def _bulk_sources(path: Path) -> list[Source]:
    return open_sources([path], column="text", given=False, further={})


def test_a_row_number_beyond_every_workbook_does_not_make_reading_endless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbooks, "_MOST_ROWS", 10_000)
    out, number = io.BytesIO(), 10**12
    with zipfile.ZipFile(io.BytesIO(xlsx())) as sound, zipfile.ZipFile(out, "w") as damaged:
        for info in sound.infolist():
            content = sound.read(info)
            if info.filename.endswith("sheet1.xml"):
                content = content.replace(b'<row r="4"', b'<row r="%d"' % number).replace(
                    b'r="A4"', b'r="A%d"' % number
                )
            damaged.writestr(info, content)
    problems = Problems()
    corpus = read_corpus(write(tmp_path, out.getvalue()), problems=problems)
    assert [mention.text for _, mention in corpus.mentions()] == ["MI", "The"]
    assert "a row has a number above 10,000" in problems.first[0].message


def test_a_text_that_is_repeated_is_in_memory_once(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    texts = ["a" * 1000, "b", None, "a" * 1000]
    pq.write_table(pa.table({"mention": texts, "document": ["1", "2", "3", "4"]}), path)
    _, *rows = parquet_rows(path, Problems())
    assert [row[0] for _, row in rows] == texts
    assert rows[0][1][0] is rows[3][1][0]


def test_merged_cells_that_overlap_take_no_long_time(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    for _ in range(300):
        workbook.active.append(["mention"])
    workbook.active.merge_cells("A2:B3")
    workbook.save(path := tmp_path / "a.xlsx")
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    merged = b'<mergeCell ref="A2:XFD1048576"/>'
    parts[sheet] = parts[sheet].replace(b"</mergeCells>", merged * 20_000 + b"</mergeCells>")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    start = time.thread_time()
    assert len(read_corpus(path).documents) == 299
    assert time.thread_time() - start < 8
