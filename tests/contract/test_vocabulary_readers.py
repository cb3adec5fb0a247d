"""What every vocabulary reader must do, whatever its format. A format without a sample here fails."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contract.vocabulary_samples import TEXT_FORMATS, Sample, sample_of

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.vocabulary.concepts import FLAGS, KINDS, ReadOptions
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.tables import Tables


@pytest.fixture(params=TEXT_FORMATS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def sample(name: str) -> Sample:
    return sample_of(name)


def _read(
    name: str, path: Path, *, problems: Problems | None = None, options: ReadOptions | None = None
) -> Tables:
    return VOCABULARY_FORMATS.get(name).read(
        path, options=options or ReadOptions(), problems=problems if problems is not None else Problems()
    )


def _names(tables: Tables) -> list[tuple[str, str]]:
    return sorted(zip(tables.names["concept_id"].to_pylist(), tables.names["text"].to_pylist(), strict=True))


def _expected(sample: Sample) -> list[tuple[str, str]]:
    one, two, three = sample.ids
    names = [(one, "heart attack"), (one, "MI"), (two, "Sjögren syndrome"), (three, "stroke")]
    if sample.obsolete and sample.names_obsolete:
        names += [(each, "apoplexy") for each in (sample.obsolete if sample.inherits else sample.obsolete[:1])]
    return sorted(names)


def _same(one: Tables, other: Tables) -> bool:
    return one.concepts == other.concepts and one.names == other.names and one.redirects == other.redirects


def test_reads_its_sample_without_a_problem(name: str, sample: Sample, tmp_path: Path) -> None:
    problems = Problems()
    tables = _read(name, sample.write(tmp_path, sample.text.encode()), problems=problems)
    assert problems.to_dict()["first"] == []
    assert _names(tables) == _expected(sample)
    assert set(tables.names["kind"].to_pylist()) <= set(KINDS)
    preferred = dict(zip(tables.names["text"].to_pylist(), tables.names["kind"].to_pylist(), strict=True))
    assert preferred["heart attack"] == "preferred"
    assert preferred["MI"] != "preferred"


def test_is_recognised_by_content(name: str, sample: Sample, tmp_path: Path) -> None:
    plain = sample.write(tmp_path / "plain", sample.text.encode())
    packed = sample.write(tmp_path / "packed", gzip.compress(sample.text.encode()), ".gz")
    marked = sample.write(tmp_path / "marked", b"\xef\xbb\xbf" + sample.text.replace("\n", "\r\n").encode())
    for path in (plain, packed, marked):
        assert find_format(VOCABULARY_FORMATS, path).name == name


@pytest.mark.parametrize("broken_head", [True, False])
def test_is_recognised_with_a_broken_line(name: str, sample: Sample, tmp_path: Path, *, broken_head: bool) -> None:
    text = sample.with_broken_line()[0] if broken_head else sample.text.rstrip("\n")
    assert find_format(VOCABULARY_FORMATS, sample.write(tmp_path, text.encode())).name == name


def _variants(text: str) -> Iterator[tuple[str, bytes, str]]:
    data = text.encode()
    yield "gzip", gzip.compress(data), ".gz"
    yield "byte order mark", b"\xef\xbb\xbf" + data, ""
    yield "carriage returns", text.replace("\n", "\r\n").encode(), ""
    yield "no end of the last line", text.rstrip("\n").encode(), ""
    yield "blank lines at the end", data + b"\n\n", ""


def test_packing_and_line_ends_make_no_difference(name: str, sample: Sample, tmp_path: Path) -> None:
    plain = _read(name, sample.write(tmp_path / "plain", sample.text.encode()))
    for what, data, ending in _variants(sample.text):
        problems = Problems()
        tables = _read(name, sample.write(tmp_path / what, data, ending), problems=problems)
        assert _same(tables, plain), what
        assert problems.count == 0, what


def test_bytes_that_are_not_utf8_are_mended_and_reported(name: str, sample: Sample, tmp_path: Path) -> None:
    problems = Problems()
    tables = _read(name, sample.write(tmp_path, sample.text.encode("cp1252")), problems=problems)
    assert _names(tables) == _expected(sample)
    assert problems.rejected == 0
    [problem] = problems.first
    assert problem.line == sample.text.count("\n", 0, sample.text.index("Sjögren")) + 1


def test_a_broken_line_is_left_out_and_the_rest_is_read(name: str, sample: Sample, tmp_path: Path) -> None:
    text, line = sample.with_broken_line()
    problems = Problems()
    path = sample.write(tmp_path, text.encode())
    tables = _read(name, path, problems=problems)
    assert _names(tables) == _expected(sample)
    assert (problems.rejected, problems.repaired) == (1, 0)
    [problem] = problems.first
    assert problem.line == (line if sample.has_lines else None)
    assert Path(problem.path) == (path if sample.file is None else path / sample.file)


@pytest.mark.parametrize("content", [b"", b"\n \n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_an_error(name: str, sample: Sample, tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError):
        _read(name, sample.write(tmp_path, content))


def test_a_truncated_gzip_file_is_an_error(name: str, sample: Sample, tmp_path: Path) -> None:
    data = gzip.compress(sample.text.encode())
    for length in (len(data) - 4, len(data) // 2, 12):
        with pytest.raises(InputError, match=r"truncated|damaged"):
            _read(name, sample.write(tmp_path, data[:length], ".gz"))


def test_a_missing_file_is_an_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        _read(name, tmp_path / "nowhere")


def test_another_kind_of_file_is_an_error(name: str, sample: Sample, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        _read(name, sample.write(tmp_path, b"This is a letter.\nIt holds no concept.\n"))


def test_alternate_and_obsolete_ids_are_kept(name: str, sample: Sample, tmp_path: Path) -> None:
    tables = _read(name, sample.write(tmp_path, sample.text.encode()))
    assert {row["old"]: row["new"] for row in tables.redirects.to_pylist()} == sample.redirects
    obsolete = [row for row in tables.concepts.to_pylist() if row["obsolete"]]
    expected = [] if sample.obsolete is None else [(sample.obsolete[0], [sample.obsolete[1]])]
    assert [(row["id"], row["replaced_by"]) for row in obsolete] == expected


def test_names_without_a_language_take_the_one_given(name: str, sample: Sample, tmp_path: Path) -> None:
    for code in ("PT_br", "por-BR"):
        tables = _read(name, sample.write(tmp_path, sample.text.encode()), options=ReadOptions(lang=code))
        assert set(tables.names["lang"].to_pylist()) == ({"en"} if sample.states_language else {"pt-BR"})


def test_only_names_in_the_languages_asked_for_are_kept(name: str, sample: Sample, tmp_path: Path) -> None:
    path = sample.write(tmp_path, sample.text.encode())
    everything = _read(name, path)
    for code in ("en", "eng"):
        assert _same(_read(name, path, options=ReadOptions(languages=frozenset({code}))), everything)
    regional = ReadOptions(lang="en-GB", languages=frozenset({"en"}))
    assert _names(_read(name, path, options=regional)) == _names(everything)


@pytest.mark.parametrize(
    "asked",
    [
        ReadOptions(sources=frozenset({"MSH"})),
        ReadOptions(term_types=frozenset({"PT"})),
        ReadOptions(suppressed=True),
        ReadOptions(columns={"id": "code"}),
        ReadOptions(separator=","),
        ReadOptions(strict=True),
    ],
)
def test_what_is_asked_for_is_heeded_or_refused(
    name: str, sample: Sample, tmp_path: Path, asked: ReadOptions
) -> None:
    path = sample.write(tmp_path, sample.text.encode())
    [option] = asked.format_specific()
    if option in VOCABULARY_FORMATS.get(name).options:
        return
    with pytest.raises(InputError, match=rf"{FLAGS[option]} applies to .*, but this is {name}"):
        read_vocabulary(path, format=name, options=asked)
    # In company that options it, it is for that one alone.
    able = next(able for able in TEXT_FORMATS if option in VOCABULARY_FORMATS.get(able).options)
    if option in ("suppressed", "columns", "separator", "strict"):
        other = sample_of(able)
        company = other.write(tmp_path / "other", other.text.encode())
        assert len(read_vocabulary(path, company, options=asked)) >= 3
