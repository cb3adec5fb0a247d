"""Cutting files into shards: the rows are those of the whole file, wherever it is cut."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.bulk.row_formats import Row, read_rows
from nymlink.bulk.sources import cut_sources, open_sources
from nymlink.core.errors import InputError
from nymlink.core.files import read_lines
from nymlink.core.problems import Problems
from nymlink.tables.cells import NO_TEXT
from nymlink.tables.delimited import parse_records
from tests.bulk import files

WRITERS: dict[str, Callable[[files.Texts], bytes]] = {
    "jsonl": files.jsonl,
    "table": files.delimited,
    "pubtator": files.pubtator,
    "parquet": files.parquet,
}


def rows(path: Path, size: int, column: str = "text") -> list[Row]:
    """Read the rows of a file shard by shard, as workers do."""
    sources = open_sources([path], column=column, given=False, further={})
    shards = list(cut_sources(sources, size))
    assert [shard.number for shard in shards] == list(range(len(shards)))
    assert all(1 <= shard.rows <= size for shard in shards)
    assert list(cut_sources(sources, size)) == shards
    return [row for shard in shards for row in read_rows(shard)]


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_rows_are_the_same_wherever_a_file_is_cut(format: str, size: int, tmp_path: Path) -> None:
    texts = [(str(number), f"text {number} — naïve") for number in range(20)]
    path = tmp_path / "rows"
    path.write_bytes(WRITERS[format](texts))
    found = rows(path, size)
    assert open_sources([path], column="text", given=False, further={})[0].format == format
    assert [(row.id, row.text.strip()) for row in found] == texts
    first = {"jsonl": 1, "table": 2, "pubtator": 1, "parquet": 1}[format]
    step = 3 if format == "pubtator" else 1
    assert [row.number for row in found] == list(range(first, first + step * 20, step))


@pytest.mark.parametrize("format", ["jsonl", "table", "pubtator"])
def test_compressed_text_is_cut_as_plain_text_is(format: str, tmp_path: Path) -> None:
    content = WRITERS[format]([(str(number), f"text {number}") for number in range(20)])
    (tmp_path / "plain").write_bytes(content)
    (tmp_path / "packed.gz").write_bytes(gzip.compress(content))
    assert rows(tmp_path / "packed.gz", 3) == rows(tmp_path / "plain", 3)


@given(st.text('ab",\n\r;', max_size=60), st.integers(1, 4))
def test_tables_with_any_quotes_are_cut_between_records(
    tmp_path_factory: pytest.TempPathFactory, body: str, size: int
) -> None:
    path = tmp_path_factory.mktemp("table") / "table.csv"
    path.write_bytes(f"text,b\nx,y\n{body}".encode())
    whole = list(parse_records(read_lines(path, Problems()), ","))[1:]
    found = rows(path, size)
    assert [row.number for row in found] == [record.line for record in whole]
    assert [row.text for row in found if row.error is None] == [
        record.fields[0] for record in whole if len(record.fields) == 2
    ]


def test_what_cannot_be_used_is_a_row_that_says_why(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    lines = ['{"text": "good"}', "{broken", "[1]", '{"id": 7}', '{"id": 8, "text": null}', "", '{"text": ["a"]}']
    path.write_text(
        "\n".join([*lines, '{"text": 5.0}']) + "\n" + '{"text": "' + "x" * (5 << 20) + '"}\n', encoding="utf-8"
    )
    found = rows(path, 2)
    assert [(row.number, row.id, row.error) for row in sorted(found, key=lambda row: row.number)] == [
        (1, None, None),
        (2, None, "not a JSON object"),
        (3, None, "not a JSON object"),
        (4, "7", None),
        (5, "8", None),
        (7, None, NO_TEXT),
        (8, None, None),
        (9, None, "a line of more than 4 MB, which is the limit: divide it"),
    ]
    assert next(row.text for row in found if row.number == 8) == "5"


def test_bytes_of_other_encodings_and_halves_of_characters_are_mended(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"text": "caf\xe9"}\n{"text": "\\ud83d x\\u0000y"}\n')
    assert [row.text for row in rows(path, 10)] == ["café", "? x y"]


def test_a_damaged_group_of_parquet_takes_no_other_with_it(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    content = bytearray(files.parquet([(str(number), f"text {number}") for number in range(21)]))
    content[4:60] = b"\xff" * 56
    path.write_bytes(content)
    found = rows(path, 100)
    assert [row.number for row in found] == list(range(1, 22))
    assert all("damaged" in (row.error or "") for row in found[:7])
    assert [row.text for row in found[7:]] == [f"text {number}" for number in range(7, 21)]


def test_text_of_parquet_that_is_not_utf8_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    content = files.parquet([(str(number), f"text {number}") for number in range(9)], compression="none")
    path.write_bytes(content.replace(b"text 8", b"te\xeet 8"))
    found = rows(path, 100)
    assert [row.text for row in found[:7]] == [f"text {number}" for number in range(7)]
    assert all("damaged" in (row.error or "") for row in found[7:])


def test_mentions_of_documents_come_with_them(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(
        "7|t|A cyst.\n7|a|Of it.\n7\t2\t6\tcyst\tDisease\tX:1\nnonsense\n\n8|t|No\n8|a|\n", encoding="utf-8"
    )
    first, wrong, second = sorted(rows(path, 1), key=lambda row: row.number)
    assert (first.number, first.id, first.text) == (1, "7", "A cyst.\nOf it.")
    assert [mention.text for mention in first.mentions or ()] == ["cyst"]
    assert (wrong.number, wrong.error) == (4, "not a title, an abstract, or a row of document 7")
    assert (second.number, second.id, second.mentions) == (6, "8", ())


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("rows.csv", b"a,b\n1,2\n", "no column 'text'; the table has: a, b (for example --column a)"),
        ("rows.csv", b"text,text\n1,2\n", "columns 1 and 2 have the same name, 'text'"),
        ("rows.csv", b"", "empty"),
        ("rows.jsonl", b"{broken\n", "none of the first 50 lines is a JSON object"),
        ("rows.parquet", b"PAR1 and nothing else", "damaged"),
    ],
)
def test_files_that_cannot_be_read_are_named(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=".*" + message.replace("(", r"\(").replace(")", r"\)")) as raised:
        rows(tmp_path / name, 10)
    assert raised.value.path == str(tmp_path / name)


def test_folders_stand_for_their_files_in_order(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", ".hidden", "_SUCCESS"):
        (tmp_path / name).write_bytes(files.jsonl([("1", name)]))
    sources = open_sources([tmp_path], column="text", given=False, further={})
    assert [Path(source.name).name for source in sources] == ["a.jsonl", "b.jsonl"]
    with pytest.raises(InputError, match="given twice"):
        open_sources([tmp_path, tmp_path / "a.jsonl"], column="text", given=False, further={})
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no file in this folder"):
        open_sources([tmp_path / "empty"], column="text", given=False, further={})
    with pytest.raises(InputError, match="no such file"):
        open_sources([tmp_path / "nowhere"], column="text", given=False, further={})
