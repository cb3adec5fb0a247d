"""What no vocabulary may do to its reader: whatever is in a file, it is read, reported, or a clear error."""

from __future__ import annotations

import gzip
import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contract.vocabulary_samples import SAMPLES, TEXT_FORMATS, Sample, sample_of

from nymlink.core.errors import InputError, NymlinkError
from nymlink.core.files import MAX_LINE
from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.tables import Tables

BOMBS = [
    '<!ENTITY a "lollollol">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True)),
    f'<!ENTITY j "{"lol" * 100}">',
    '<!ENTITY j SYSTEM "file:///etc/passwd">',
    '<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p; <!ENTITY j "x">',
]
SPECIAL = [
    b'"',
    b"\t",
    b"|",
    b"||",
    b"\r",
    b"\n",
    b"\0",
    b"{",
    b"[]",
    b"<",
    b"&",
    b"\\",
    b"'",
    b"\xff",
    b"\xef\xbb\xbf",
]


@pytest.fixture(params=TEXT_FORMATS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def sample(name: str) -> Sample:
    return sample_of(name)


def read(name: str, path: Path, problems: Problems | None = None) -> Tables | None:
    """What the reader makes of a source, checked; ``None`` where it says that it can make nothing of it."""
    problems = problems if problems is not None else Problems()
    try:
        tables = VOCABULARY_FORMATS.get(name).read(path, options=ReadOptions(), problems=problems)
    except NymlinkError as error:
        complaint = error.message
    else:
        complaint = None
    if complaint is not None:
        assert len(complaint) < 2000
        return None
    assert set(tables.names["concept_id"].to_pylist()) <= set(tables.concepts["id"].to_pylist())
    for problem in problems.first:
        assert problem.line is None or problem.line > 0
        assert len(problem.message) < 1000
    return tables


def refusal(name: str, path: Path) -> str:
    with pytest.raises(InputError) as caught:
        VOCABULARY_FORMATS.get(name).read(path, options=ReadOptions(), problems=Problems())
    return str(caught.value)


def texts(tables: Tables | None) -> list[str]:
    return [] if tables is None else sorted(tables.names["text"].to_pylist())


def with_line(sample: Sample, text: str) -> bytes:
    place = sample.text.index(sample.before)
    return (sample.text[:place] + text + sample.text[place:]).encode()


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """A file some steps away from a good one."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(whole)))
        end = draw(st.integers(start, min(len(whole), start + 60)))
        match draw(st.sampled_from(["cut", "patch", "flip", "shuffle", "repeat", "turn"])):
            case "cut":
                whole = whole[:start]
            case "patch":
                whole = whole[:start] + draw(st.sampled_from(SPECIAL) | st.binary(max_size=12)) + whole[end:]
            case "flip" if start < len(whole):
                whole = whole[:start] + bytes([whole[start] ^ 1 << draw(st.integers(0, 7))]) + whole[start + 1 :]
            case "shuffle":
                whole = b"\n".join(draw(st.permutations(whole.split(b"\n"))))
            case "repeat":
                whole = whole[:end] + whole[start:end] * draw(st.integers(1, 50)) + whole[end:]
            case "turn":
                whole = whole[start:] + whole[:end]
    return whole


# All formats together are tried hundreds of times.
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_damage_makes_it_fall_over(
    name: str, sample: Sample, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = data.draw(damaged(sample.text.encode()))
    if data.draw(st.booleans()):
        whole = gzip.compress(whole, mtime=0)
        whole = data.draw(st.just(whole) | damaged(whole))
    read(name, sample.write(tmp_path_factory.mktemp("damaged"), whole))


def test_it_may_end_anywhere(name: str, sample: Sample, tmp_path: Path) -> None:
    data = sample.text.encode()
    for length in range(0, len(data), 1 + len(data) // 15):
        read(name, sample.write(tmp_path, data[:length]))


def test_it_may_be_in_any_other_format(name: str, sample: Sample, tmp_path: Path) -> None:
    for other in SAMPLES.values():
        read(name, sample.write(tmp_path, other.text.encode()))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_read(name: str, sample: Sample, tmp_path: Path, encoding: str) -> None:
    text = sample.text.replace('encoding="UTF-8"', 'encoding="UTF-16"')
    path = sample.write(tmp_path, text.encode(encoding))
    assert find_format(VOCABULARY_FORMATS, path).name == name
    assert "Sjögren syndrome" in texts(read(name, path, problems := Problems()))
    assert sample.is_xml or "UTF-16" in problems.first[0].message


def test_a_line_that_is_too_long_costs_itself_alone(name: str, sample: Sample, tmp_path: Path) -> None:
    problems = Problems()
    path = sample.write(tmp_path, with_line(sample, "a" * (MAX_LINE + 1) + "\n"))
    found = set(texts(read(name, path, problems)))
    if sample.is_json:
        # JSON has no lines: it is malformed.
        assert not found
    elif sample.is_xml:
        # Text between elements says nothing.
        assert "Sjögren syndrome" in found
        assert problems.count == 0
    else:
        assert found >= {"heart attack", "stroke"}
        assert [(problem.line, problem.rejected) for problem in problems.first] == [
            (sample.with_broken_line()[1], True)
        ]


def test_a_name_that_is_too_long_costs_its_concept_alone(name: str, sample: Sample, tmp_path: Path) -> None:
    problems = Problems()
    path = sample.write(tmp_path, sample.text.replace("Sjögren", "S" + "o" * (3 * MAX_LINE)).encode())
    assert set(texts(read(name, path, problems))) >= {"heart attack", "MI", "stroke"}
    assert problems.rejected == (0 if sample.is_json else 1)


@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize("name", [name for name, sample in SAMPLES.items() if sample.is_xml])
def test_entity_bombs_are_refused(name: str, sample: Sample, tmp_path: Path, bomb: str) -> None:
    root = sample.text[sample.text.index(">\n") + 2 :]
    text = f'<?xml version="1.0"?>\n<!DOCTYPE x [{bomb}]>\n{root}'.replace("Sjögren", "&j;" * 10)
    assert ":2: it declares the entity" in refusal(name, sample.write(tmp_path, text.encode()))


def test_openings_without_end(name: str, sample: Sample, tmp_path: Path) -> None:
    for opening in ("<a>", "a(", '"', "[Term]\n", "<!--", '{"a":'):
        read(name, sample.write(tmp_path, with_line(sample, opening * 10_000)))


def test_a_hundred_thousand_levels(name: str, sample: Sample, tmp_path: Path) -> None:
    for opening, closing in (("<a>", "</a>"), ("[", "]")):
        read(name, sample.write(tmp_path, with_line(sample, opening * 100_000 + closing * 100_000)))


def test_blank_lines_say_nothing(name: str, sample: Sample, tmp_path: Path) -> None:
    plain = texts(read(name, sample.write(tmp_path, sample.text.encode())))
    problems = Problems()
    assert texts(read(name, sample.write(tmp_path, with_line(sample, "\n" * 1_000)), problems)) == plain
    assert problems.count == 0
    path = sample.write(tmp_path, b"\n" * 1_000 + sample.text.encode())
    assert find_format(VOCABULARY_FORMATS, path).name == name
    # Nothing may come before an XML declaration.
    if not sample.text.startswith("<?xml"):
        assert texts(read(name, path)) == plain


def test_twenty_thousand_columns(name: str, sample: Sample, tmp_path: Path) -> None:
    first, _, rest = sample.text.partition("\n")
    for field in ("\tx", ",x", " a='b'"):
        read(name, sample.write(tmp_path, f"{first}{field * 20_000}\n{rest}".encode()))
        read(name, sample.write(tmp_path, with_line(sample, field * 20_000 + "\n")))


def test_archives_are_not_unpacked(name: str, sample: Sample, tmp_path: Path) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("../../outside.txt", sample.text)
    assert "unpack" in refusal(name, sample.write(tmp_path / "a" / "b", held.getvalue()))
    assert [*tmp_path.rglob("outside*")] == []


@pytest.mark.parametrize(
    "lay",
    [
        lambda path: path.symlink_to("nowhere"),
        lambda path: path.symlink_to(path.name),
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.symlink_to(".."),
        lambda path: path.mkdir(),
        os.mkfifo,
    ],
    ids=["dangling", "loop", "device", "above", "folder", "pipe"],
)
@pytest.mark.parametrize("name", [name for name, sample in SAMPLES.items() if sample.file])
def test_what_lies_in_a_folder_is_no_trap(
    name: str, sample: Sample, tmp_path: Path, lay: Callable[[Path], None]
) -> None:
    assert sample.file is not None
    for trap in (sample.file, f"{sample.file}.aa", "MRFILES.RRF", "MRSTY.RRF.aa", *sample.beside):
        folder = sample.write(tmp_path / trap, sample.text.encode())
        (folder / trap).unlink(missing_ok=True)
        lay(folder / trap)
        assert (read(name, folder) is None) == (trap == sample.file)
