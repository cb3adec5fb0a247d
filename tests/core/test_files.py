"""Reading files: compression, encodings, line ends, pipes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import threading
import tracemalloc
from collections.abc import Callable
from itertools import chain, repeat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.encodings import detect_utf16
from nymlink.core.errors import InputError
from nymlink.core.files import (
    MAX_LINE,
    open_bytes,
    read_batches,
    read_head,
    read_lines,
    sha256,
    whole_lines,
)
from nymlink.core.problems import Problems
from nymlink.corpus.read import read_corpus
from nymlink.vocabulary.read import read_vocabulary

BOM = b"\xef\xbb\xbf"


class InChunks(io.BytesIO):
    """A stream that gives its bytes as unevenly as a pipe may."""

    def __init__(self, chunks: list[bytes]) -> None:
        super().__init__(b"".join(chunks))
        self._sizes = [len(chunk) for chunk in chunks if chunk]

    def read1(self, size: int | None = -1) -> bytes:
        return super().read(self._sizes.pop(0)) if self._sizes else b""


def write(path: Path, data: bytes, *, compressed: bool = False) -> Path:
    path.write_bytes(gzip.compress(data) if compressed else data)
    return path


def batched(file: io.BytesIO, problems: Problems | None = None) -> list[tuple[int, str]]:
    batches = read_batches(file, Path("here"), problems or Problems())
    return [line for batch in batches for line in batch]


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\rb\n", ["a\rb"]),
        (BOM + b"a\n" + BOM + b"b\n", ["a", "\ufeffb"]),
        ("näme\u2028x\x0b\x1c\x85y\n心\n".encode(), ["näme\u2028x\x0b\x1c\x85y", "心"]),
    ],
)
def test_lines_end_at_line_feeds_only(tmp_path: Path, data: bytes, lines: list[str], compressed: bool) -> None:
    path = write(tmp_path / "x", data, compressed=compressed)
    numbered = list(enumerate(lines, 1))
    assert list(read_lines(path, Problems())) == numbered
    with open_bytes(path) as file:
        assert [line for batch in read_batches(file, path, Problems()) for line in batch] == numbered


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"a\rb", ["a", "b"]),
        (b"a\rb\r", ["a", "b"]),
        (BOM + b"\ra\r\rb\r", ["", "a", "", "b"]),
        ("näme\r".encode() * 50_000, ["näme"] * 50_000),
    ],
)
def test_lines_end_at_carriage_returns_where_there_are_no_line_feeds(
    tmp_path: Path, data: bytes, lines: list[str], compressed: bool
) -> None:
    path = write(tmp_path / "x", data, compressed=compressed)
    assert list(read_lines(path, Problems())) == list(enumerate(lines, 1))
    assert read_head(path).startswith("\n".join(lines[:3]))


@pytest.mark.parametrize("first", ["x" * 8191, "x" * 100_000, "x" * 9_000 + "\ry"])
def test_a_long_first_line_does_not_hide_the_line_feed_after_it(tmp_path: Path, first: str) -> None:
    path = write(tmp_path / "x", f"{first}\r\nsecond\rline\r\n".encode())
    assert list(read_lines(path, Problems())) == [(1, first), (2, "second\rline")]
    assert "\n" not in read_head(path)


@pytest.mark.parametrize("batches", [False, True])
def test_windows_1252_is_read_and_reported_with_its_line(tmp_path: Path, batches: bool) -> None:
    path = write(tmp_path / "x", "one\nzwölf\n".encode() + b"na\xefve \x93x\x94\n\nfour \x81\n")
    problems = Problems()
    if batches:
        with open_bytes(path) as file:
            lines = [line for batch in read_batches(file, path, problems) for line in batch]
    else:
        lines = list(read_lines(path, problems))
    assert lines == [(1, "one"), (2, "zwölf"), (3, "naïve “x”"), (4, ""), (5, "four \ufffd")]
    assert [(problem.line, problem.rejected) for problem in problems.first] == [(3, False), (5, False)]
    assert (problems.rejected, problems.repaired) == (0, 2)


@given(
    data=st.lists(st.sampled_from([b"a", b"\xc3\xa4", b"\n", b"\r\n", b"\r", b"\xe4", BOM, b"\0"])), cuts=st.data()
)
def test_batches_are_the_lines_however_the_bytes_come(data: list[bytes], cuts: st.DataObject) -> None:
    whole = b"".join(data)
    places = sorted(cuts.draw(st.lists(st.integers(0, len(whole)))))
    chunks = [whole[start:stop] for start, stop in zip([0, *places], [*places, len(whole)], strict=True)]

    expected = whole.split(b"\n" if b"\n" in whole else b"\r")
    if not expected[-1]:
        expected.pop()
    if expected:
        expected[0] = expected[0].removeprefix(BOM)

    problems = Problems()
    found = batched(InChunks(chunks), problems)
    assert [number for number, _ in found] == list(range(1, len(expected) + 1))
    broken = 0
    for (_, line), raw in zip(found, expected, strict=True):
        try:
            assert line == raw.decode().rstrip("\r")
        except UnicodeDecodeError:
            broken += 1
            assert line == raw.decode("cp1252", errors="replace").rstrip("\r")
    assert problems.repaired == broken


@pytest.mark.parametrize("batches", [False, True])
@pytest.mark.parametrize("end", ["\nlast", "\n", ""])
def test_a_line_that_is_too_long_is_left_out_and_the_rest_is_read(tmp_path: Path, end: str, batches: bool) -> None:
    longest = "x" * MAX_LINE
    text = f"first\n{longest}\n{longest}x\nfourth\n{longest}" + "x" * 500_000 + end
    path = write(tmp_path / "x", text.encode(), compressed=True)
    problems = Problems()
    lines = batched(io.BytesIO(text.encode()), problems) if batches else list(read_lines(path, problems))
    expected = [(1, 5), (2, MAX_LINE), (4, 6)] + ([(6, 4)] if end == "\nlast" else [])
    assert [(number, len(line)) for number, line in lines] == expected
    assert [(problem.line, problem.rejected) for problem in problems.first] == [(3, True), (5, True)]
    assert "more than 4 MB" in problems.first[0].message


def test_no_more_than_the_beginning_of_a_huge_line_is_held() -> None:
    # A quarter of a gigabyte in pieces of 64 kB, which joined again and again would also take for ever.
    chunks = chain(repeat(b"x" * (64 << 10), 4096), [b"\nlast"])
    tracemalloc.start()
    try:
        lengths = [len(block) for block in whole_lines(chunks)]
        assert tracemalloc.get_traced_memory()[1] < 5 * MAX_LINE
    finally:
        tracemalloc.stop()
    assert MAX_LINE < lengths[0] < 2 * MAX_LINE
    assert lengths[1:] == [4]


def test_batches_are_never_empty() -> None:
    assert batched(io.BytesIO(b"x" * (MAX_LINE + 1)), problems := Problems()) == []
    assert list(read_batches(io.BytesIO(b"x" * (MAX_LINE + 1) + b"\n"), Path("here"), Problems())) == []
    assert problems.rejected == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("compressed", [False, True])
def test_utf16_is_read_and_said(tmp_path: Path, encoding: str, compressed: bool) -> None:
    text = "concept_id\tname\r\nX:1\tSjögren 𝔘\r\n" + "X:2\tਊ\n" * 50_000
    path = write(tmp_path / "x", text.encode(encoding), compressed=compressed)
    problems = Problems()
    lines = list(read_lines(path, problems))
    assert lines[:2] == [(1, "concept_id\tname"), (2, "X:1\tSjögren 𝔘")]
    assert (len(lines), {line for _, line in lines[2:]}) == (50_002, {"X:2\tਊ"})
    assert [str(problem).startswith(f"{path}:1: UTF-16") for problem in problems.first] == [True]
    assert read_head(path).startswith(text[:20])


@pytest.mark.parametrize("data", [b"\0" * 100, b"a\0", b"\0a\0a", b"a\0b" * 30, "心".encode() * 40])
def test_what_has_nuls_is_not_all_utf16(data: bytes) -> None:
    assert detect_utf16(data) is None


def test_a_slow_pipe_gives_its_lines_as_they_come() -> None:
    reading, writing = os.pipe()
    go_on = threading.Event()
    waited_in_vain = threading.Event()

    def produce() -> None:
        with os.fdopen(writing, "wb", buffering=0) as out:
            for piece in (b"one\ntw", b"o\nthree"):
                out.write(piece)
                if not go_on.wait(20):
                    waited_in_vain.set()
                go_on.clear()

    producer = threading.Thread(target=produce)
    producer.start()
    with os.fdopen(reading, "rb") as stream:
        batches = read_batches(stream, Path("pipe"), Problems())
        assert next(batches) == [(1, "one")]
        go_on.set()
        assert next(batches) == [(2, "two")]
        go_on.set()
        assert list(batches) == [[(3, "three")]]
    producer.join()
    assert not waited_in_vain.is_set()


def test_batches_need_a_buffered_file(tmp_path: Path) -> None:
    with open(write(tmp_path / "x", b"a"), "rb", buffering=0) as raw, pytest.raises(TypeError):
        next(read_batches(raw, tmp_path, Problems()))  # type: ignore[arg-type]


def test_a_named_pipe_can_be_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    producer = threading.Thread(target=lambda: pipe.write_bytes(gzip.compress(b"a\nb\n")))
    producer.start()
    assert list(read_lines(pipe, Problems())) == [(1, "a"), (2, "b")]
    producer.join()


def test_a_truncated_gzip_gives_its_lines_and_then_an_error(tmp_path: Path) -> None:
    data = gzip.compress(os.urandom(100_000).hex().encode())
    path = write(tmp_path / "x.gz", data[:-20_000])
    with pytest.raises(InputError, match=r"x\.gz: .*truncated.*again"):
        list(read_lines(path, Problems()))


def test_a_damaged_gzip_is_an_error(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(b"line\n" * 10_000))
    data[len(data) // 2] ^= 0xFF
    with pytest.raises(InputError, match="damaged"):
        list(read_lines(write(tmp_path / "x", bytes(data)), Problems()))
    with pytest.raises(InputError, match="damaged"):
        list(read_lines(write(tmp_path / "y", gzip.compress(b"a\n") + b"garbage"), Problems()))


def test_several_gzip_members_are_one_file(tmp_path: Path) -> None:
    path = write(tmp_path / "x", gzip.compress(b"a\n") + gzip.compress(b"b\n"))
    assert [line for _, line in read_lines(path, Problems())] == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing", "no such file"),
        (".", "directory"),
        ("x" * 5000, "too long"),
        ("a\0b", "null"),
        ("x/y", "Not a dir"),
    ],
)
def test_what_cannot_be_opened_is_an_input_error(tmp_path: Path, name: str, message: str) -> None:
    write(tmp_path / "x", b"")
    with pytest.raises(InputError, match=message), open_bytes(tmp_path / name):
        pass


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress])
def test_what_is_packed_in_another_way_is_named(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    with pytest.raises(InputError, match="unpack it first"), open_bytes(write(tmp_path / "x", pack(b"text"))):
        pass


def test_errors_of_the_block_are_not_blamed_on_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "x", b"a")
    for error in (BrokenPipeError(), FileNotFoundError("other"), PermissionError()):
        with pytest.raises(type(error)), open_bytes(path):
            raise error


def test_the_head_of_a_file(tmp_path: Path) -> None:
    assert read_head(write(tmp_path / "x", BOM + "ä\xff".encode("latin-1") + b"b" * 20, compressed=True), 10) == (
        "\ufffd\ufffdbbbbb"
    )
    assert read_head(write(tmp_path / "x", b"")) == ""


@pytest.mark.parametrize("marked", [False, True])
def test_the_head_comes_after_blank_lines(tmp_path: Path, marked: bool) -> None:
    blank = BOM * marked + b" \r\n" * 10_000
    assert read_head(write(tmp_path / "x", blank + b"head, tail" * 10), 8).strip() == "head, ta"
    assert read_head(write(tmp_path / "x", blank), 8).strip() == ""


def test_the_digest_is_of_the_bytes_on_disk(tmp_path: Path) -> None:
    known = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert sha256(write(tmp_path / "x", b"")) == known
    assert sha256(write(tmp_path / "x", b"", compressed=True)) != known


@pytest.mark.parametrize("name", ["hp.obo", "hp.obo.gz", "terms.csv"])
@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("\n<!DOCTYPE html>\n<html><title>Log in</title></html>", "an HTML page, not the file itself: log in"),
        ("<HTML lang=en><body>404</body></HTML>", "an HTML page"),
        (
            "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
            "pointer of Git LFS.*git lfs pull",
        ),
    ],
)
def test_what_a_download_gave_instead_of_a_file_is_named(
    tmp_path: Path, name: str, text: str, advice: str
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    for read in (read_head, read_vocabulary, read_corpus):
        with pytest.raises(InputError, match=advice):
            read(path)
