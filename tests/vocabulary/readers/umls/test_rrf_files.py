"""RRF files as they come: broken rows, packed, in parts, with any text in them."""

from __future__ import annotations

import gzip
import random
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.vocabulary.readers.umls.rrf_files import (
    HEART,
    atom,
    read,
    write,
)

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.vocabulary.readers import column_files


def broken_rows() -> tuple[bytes, list[tuple[int, bool, str]]]:
    good = [atom("C0000001", f"name {number}").encode() for number in range(4)]
    lines = [
        good[0],
        b"C0000002|ENG|",
        good[1] + b"\r",
        b"",
        good[2].replace(b"name", b"na\0me"),
        atom("C0000003", "Sjögren").encode("cp1252"),
        good[3].replace(b"name ", b"name\r"),
        atom("C0000004", "  ").encode(),
        atom("", "no concept").encode(),
        good[0] + b"rest",
        good[0][:-1],
        atom("C0000005", 'a "quote\' and \\ "').encode(),
        atom("C0000006", "last").encode(),
    ]
    return b"\n".join(lines), [
        (2, True, "2 columns ended by | instead of 18"),
        (5, True, "a NUL character in the row"),
        (6, False, "not UTF-8; read as Windows-1252"),
        (7, False, "a carriage return within the row; read as a space"),
        (8, True, "STR is blank"),
        (9, True, "CUI is blank"),
        (10, True, "text after the last |"),
        (11, True, "17 columns ended by | instead of 18"),
    ]


@pytest.mark.parametrize("block", [1 << 20, 100, 7])
def test_broken_rows_are_told_by_line_and_the_rest_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(column_files, "_BLOCK_BYTES", block)
    text, expected = broken_rows()
    (tmp_path / "MRCONSO.RRF").write_bytes(b"\xef\xbb\xbf" + text)
    problems = Problems()
    tables = read(tmp_path, problems)
    assert [(p.line, p.rejected, p.message) for p in problems.first] == expected
    assert (problems.rejected, problems.repaired) == (6, 2)
    kept = ["Sjögren", 'a "quote\' and \\ "', "last", "name 0", "name 1", "name 3"]
    assert sorted(tables.names.column("text").to_pylist()) == kept


def test_a_row_longer_than_arrow_parses_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_files, "_PARSE_BYTES", 64)
    problems = Problems()
    tables = read(write(tmp_path, MRCONSO=[*HEART, atom("C0000002", "x" * 10_000)]), problems)
    assert len(tables.names) == 6
    assert not problems.count


@pytest.mark.parametrize("block", [1 << 20, 50])
def test_compressed_crlf_and_parts_read_like_the_plain_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(column_files, "_BLOCK_BYTES", block)
    plain = write(tmp_path / "plain", MRCONSO=HEART)
    text = (plain / "MRCONSO.RRF").read_bytes()
    expected = read(plain).names
    folders = {
        name: tmp_path / name / "META" for name in ("gz", "crlf", "parts", "at line end", "tiny", "members")
    }
    for folder in folders.values():
        folder.mkdir(parents=True)
    half = len(text) // 2
    (folders["gz"] / "MRCONSO.RRF.gz").write_bytes(gzip.compress(text))
    (folders["crlf"] / "MRCONSO.RRF").write_bytes(text.replace(b"\n", b"\r\n"))
    (folders["members"] / "MRCONSO.RRF.gz").write_bytes(gzip.compress(text[:half]) + gzip.compress(text[half:]))
    for name, cuts in {"parts": [half], "at line end": [text.index(b"\n") + 1], "tiny": [half, half + 3]}.items():
        ends = [0, *cuts, len(text)]
        for number, (start, stop) in enumerate(pairwise(ends)):
            part = folders[name] / f"MRCONSO.RRF.a{'abc'[number]}.gz"
            part.write_bytes(gzip.compress(text[start:stop]))
    for name, folder in folders.items():
        assert read(folder.parent).names == expected, name
    assert read(folders["gz"] / "MRCONSO.RRF.gz").names == expected
    assert read(folders["parts"] / "MRCONSO.RRF.aa.gz").names == expected


def test_line_numbers_count_within_each_part(tmp_path: Path) -> None:
    good = atom("C0000001", "good")
    (tmp_path / "MRCONSO.RRF.aa").write_text(f"{good}\nbad\n{good[:20]}", encoding="utf-8")
    (tmp_path / "MRCONSO.RRF.ab.gz").write_bytes(gzip.compress(f"{good[20:]}|\nworse\n{good}\n".encode()))
    problems = Problems()
    read(tmp_path, problems)
    told = [(Path(p.path).name, p.line) for p in problems.first]
    assert told == [("MRCONSO.RRF.aa", 2), ("MRCONSO.RRF.aa", 3), ("MRCONSO.RRF.ab.gz", 2)]


def test_what_cannot_be_read_at_all(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no MRCONSO\.RRF"):
        read(write(tmp_path / "none", MRSTY=["x"]))
    cut = write(tmp_path / "cut", MRSTY=["C0000001|T|A|Virus|||"])
    rng = random.Random(0)
    text = "".join(atom("C0000001", rng.randbytes(40).hex()) + "\n" for _ in range(2000))
    (cut / "MRCONSO.RRF.gz").write_bytes(gzip.compress(text.encode())[:-1000])
    with pytest.raises(InputError, match=r"MRCONSO\.RRF\.gz: the compressed file is truncated"):
        read(cut)
    gap = write(tmp_path / "gap")
    for part in ("aa", "ac"):
        (gap / f"MRCONSO.RRF.{part}").write_text(atom("C0000001", "x") + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"part MRCONSO\.RRF\.ab is missing"):
        read(gap)
    with pytest.raises(InputError, match="no usable rows"):
        read(write(tmp_path / "other", MRCONSO=["a|b|", ""]))


@given(
    texts=st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="|\n\r\0")), min_size=1),
    block=st.integers(1, 400),
)
def test_any_text_survives(tmp_path_factory: pytest.TempPathFactory, texts: list[str], block: int) -> None:
    folder = write(tmp_path_factory.mktemp("rrf"), MRCONSO=[atom("C0000001", text) for text in texts])
    expected = dict.fromkeys(folded for text in texts if (folded := " ".join(text.split())))
    problems = Problems()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_files, "_BLOCK_BYTES", block)
        if not expected:
            with pytest.raises(InputError):
                read(folder, problems)
            return
        tables = read(folder, problems)
    assert tables.names.column("text").to_pylist() == list(expected)
    assert problems.rejected == sum(not text.split() for text in texts)
