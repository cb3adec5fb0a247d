"""Reading large XML record by record, and what hostile files may not do."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.xml_files import XmlRecord, read_records, root_name, text_at


def read(folder: Path, data: str | bytes, problems: Problems | None = None) -> list[XmlRecord]:
    path = folder / "file.xml"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return list(read_records(path, roots=("r",), tags=("x",), problems=problems or Problems()))


def test_yields_the_root_and_each_record_with_its_line(tmp_path: Path) -> None:
    root, *records = read(tmp_path, '<r a="1">\n<y>no</y><x>one <b>two</b>\n</x>\n\n<x n="2"/></r>')
    assert root.element.attrib == {"a": "1"}
    assert [(record.line, text_at(record.element)) for record in records] == [(2, "one two"), (5, "")]


@pytest.mark.large
def test_a_large_file_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.xml"
    path.write_text("<r>" + "<x><s>some text</s></x>\n" * 150_000 + "</r>", encoding="utf-8")
    tracemalloc.start()
    count = sum(1 for _ in read_records(path, roots=("r",), tags=("x",), problems=Problems()))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 150_001
    assert peak < path.stat().st_size / 2


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">',
        '<!ENTITY a SYSTEM "file:///etc/passwd">',
        '<!ENTITY % a SYSTEM "http://localhost/x.dtd"> %a;',
    ],
)
def test_entities_are_refused(tmp_path: Path, declaration: str) -> None:
    with pytest.raises(InputError, match="entity"):
        read(tmp_path, f"<!DOCTYPE r [{declaration}]>\n<r><x>&a;</x></r>")


def test_an_external_dtd_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "e.dtd").write_text('<!ENTITY a "secret">', encoding="utf-8")
    problems = Problems()
    _, record = read(tmp_path, '<!DOCTYPE r SYSTEM "e.dtd">\n<r><x>b&a;c</x></r>', problems)
    assert text_at(record.element) == "bc"
    assert [(problem.line, problem.rejected) for problem in problems.first] == [(2, False)]


@pytest.mark.parametrize("encoding", ["iso-8859-1", "utf-16", "windows-1252"])
def test_a_declared_encoding_is_heeded(tmp_path: Path, encoding: str) -> None:
    problems = Problems()
    text = f'<?xml version="1.0" encoding="{encoding}"?>\n<r><x>Sjögren</x></r>'
    _, record = read(tmp_path, text.encode(encoding), problems)
    assert text_at(record.element) == "Sjögren"
    assert problems.count == 0


def test_what_follows_a_fault_is_left_out_and_reported(tmp_path: Path) -> None:
    problems = Problems()
    records = read(tmp_path, "<r>\n<x>1</x>\n<x>2</y>\n<x>3</x></r>", problems)
    assert [text_at(record.element) for record in records[1:]] == ["1"]
    assert [(problem.line, problem.rejected) for problem in problems.first] == [(3, True)]


def test_a_megabyte_without_a_line_end_is_read(tmp_path: Path) -> None:
    records = read(tmp_path, "<r>" + "<x>ö</x>" * 150_000 + "</r>")
    assert len(records) == 150_001
    assert {text_at(record.element) for record in records[1:]} == {"ö"}


def test_a_record_without_end_is_left_out_and_the_next_is_read(tmp_path: Path) -> None:
    problems = Problems()
    huge = f"<x>\n<a><b>{'y' * 10_000_000}</b></a><x/></x>"
    records = read(tmp_path, f"<r>\n<x>1</x>\n{huge}\n<x>2</x>\n</r>", problems)
    assert [text_at(record.element) for record in records[1:]] == ["1", "", "2"]
    assert [(problem.line, problem.message) for problem in problems.first] == [(3, "<x> of more than 4 MB")]


def test_a_record_within_a_record_is_reported(tmp_path: Path) -> None:
    problems = Problems()
    records = read(tmp_path, "<r><x>1</x>\n<x><a><x>2</x></a></x>\n<x>3</x></r>", problems)
    assert [text_at(record.element) for record in records[1:]] == ["1", "3"]
    assert [(problem.line, problem.message) for problem in problems.first] == [(2, "<x> within <x>")]


@pytest.mark.parametrize("unit", ["<a>", "<x><x></x>"])
def test_depth_without_end_is_an_error(tmp_path: Path, unit: str) -> None:
    with pytest.raises(InputError, match="250,000 levels of nested elements"):
        read(tmp_path, "<r>" + unit * 250_001)


@pytest.mark.parametrize("opening", ["<!-- ", "<a b='", "<!DOCTYPE r [<!ELEMENT a " + "(" * 100])
def test_a_tag_without_end_is_an_error(tmp_path: Path, opening: str) -> None:
    body = opening + "x" * 6_000_000
    with pytest.raises(InputError, match="a tag, comment or prologue of more than 1 MB"):
        read(tmp_path, body if opening.startswith("<!D") else f"<r>{body}")


@pytest.mark.parametrize("encoding", ["no-such-code", "shift_jis", "utf-7"])
def test_an_encoding_that_cannot_be_read_is_an_error(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(InputError):
        read(tmp_path, f'<?xml version="1.0" encoding="{encoding}"?><r><x>1</x></r>')


def test_depth_does_no_harm(tmp_path: Path) -> None:
    records = read(tmp_path, "<r><x>" + "<a>" * 200_000 + "</a>" * 200_000 + "</x></r>")
    assert len(records) == 2


@pytest.mark.parametrize(
    ("data", "message"), [("<s/>", "root"), ("no XML", "not an XML"), ("", "not an XML"), ("\0\0\0", "not an XML")]
)
def test_another_file_is_an_error(tmp_path: Path, data: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, data)


@pytest.mark.parametrize(
    ("head", "root"),
    [
        ('<?xml version="1.0"?>\n<!-- <a> -->\n<!DOCTYPE r SYSTEM "r.dtd">\n<r a="1">', "r"),
        ("<!DOCTYPE r [ <!ELEMENT r (x)> ]>\n<r/>", "r"),
        ("plain text", ""),
    ],
)
def test_the_root_is_told_by_the_head(head: str, root: str) -> None:
    assert root_name(head) == root
