"""What every vocabulary reader must do, whatever its format. A format without a sample here fails."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nymlink.errors import InputError
from nymlink.formats import find_format
from nymlink.problems import Problems
from nymlink.vocabulary.model import KINDS
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.tables import Tables


@dataclass(frozen=True)
class Sample:
    """The same small vocabulary in one format.

    Every sample names X:1 "heart attack" (also "MI"), X:2 "Sjögren syndrome" and X:3 "stroke", by ``ids``.

    Attributes:
        text: the source; each of its names stands on a line of its own.
        ids: what the format calls X:1, X:2 and X:3.
        broken: a line (or, where lines mean nothing, something else) that cannot be used.
        before: the text before which ``broken`` is put.
        has_lines: whether a problem has a line number.
        redirects: alternate ids in ``text``.
        obsolete: obsolete concept in ``text`` and what replaces it.
        file: name of the file in a folder, where the source is a folder.
        states_language: whether names say which language they are in.
    """

    text: str
    broken: str
    before: str
    ids: tuple[str, str, str] = ("X:1", "X:2", "X:3")
    has_lines: bool = True
    redirects: dict[str, str] = field(default_factory=dict)
    obsolete: tuple[str, str] | None = None
    file: str | None = None
    states_language: bool = False

    def with_broken_line(self) -> tuple[str, int]:
        """The text with the broken line in it, and that line's number."""
        place = self.text.index(self.before)
        return self.text[:place] + self.broken + self.text[place:], self.text.count("\n", 0, place) + 1

    def write(self, folder: Path, data: bytes, ending: str = "") -> Path:
        """Write content as a source of this format, under a name that tells nothing."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / ((self.file or "source.dat") + ending)
        path.write_bytes(data)
        return path if self.file is None else folder


_OBO = """\
format-version: 1.4
data-version: 2024-01-01

[Term]
id: X:1
name: heart attack
alt_id: X:10
synonym: "MI" EXACT []

[Term]
id: X:2
name: Sjögren syndrome

[Term]
id: X:3
name: stroke

[Term]
id: X:4
name: apoplexy
is_obsolete: true
replaced_by: X:3
"""


def _obographs() -> str:
    def node(number: int, label: str, **meta: object) -> dict[str, object]:
        return {"id": f"http://example.org/X_{number}", "lbl": label, "type": "CLASS", "meta": meta}

    alternate = {"pred": "http://www.geneontology.org/formats/oboInOwl#hasAlternativeId", "val": "X:10"}
    replaced = {"pred": "http://purl.obolibrary.org/obo/IAO_0100001", "val": "http://example.org/X_3"}
    nodes = [
        node(
            1, "heart attack", synonyms=[{"pred": "hasExactSynonym", "val": "MI"}], basicPropertyValues=[alternate]
        ),
        node(2, "Sjögren syndrome"),
        node(3, "stroke"),
        node(4, "apoplexy", deprecated=True, basicPropertyValues=[replaced]),
    ]
    return json.dumps({"graphs": [{"id": "x", "nodes": nodes, "edges": []}]}, indent=1, ensure_ascii=False)


def _mrconso(*fields: tuple[str, str, str]) -> str:
    return "".join(
        f"{cui}|ENG|P|L{number}|PF|S{number}|Y|A{number}||M{number}|D{number}|MSH|{tty}|D{number}|{name}|0|N|256|\n"
        for number, (cui, tty, name) in enumerate(fields, start=1)
    )


SAMPLES = {
    "biosyn": Sample(
        text="X:1|X:10||heart attack\nX:1|X:10||MI\nX:2||Sjögren syndrome\nX:3||stroke\n",
        broken="X:5 no bars\n",
        before="X:2||",
        redirects={"X:10": "X:1"},
    ),
    "obo": Sample(
        text=_OBO,
        broken='synonym: "never closed EXACT []\n',
        before="\n[Term]\nid: X:3",
        redirects={"X:10": "X:1"},
        obsolete=("X:4", "X:3"),
    ),
    "obographs": Sample(
        text=_obographs(),
        broken='{"lbl": "a node without an id"},\n',
        before='{\n     "id": "http://example.org/X_2"',
        has_lines=False,
        redirects={"X:10": "X:1"},
        obsolete=("X:4", "X:3"),
    ),
    "rrf": Sample(
        text=_mrconso(
            ("C0000001", "MH", "heart attack"),
            ("C0000001", "ET", "MI"),
            ("C0000002", "MH", "Sjögren syndrome"),
            ("C0000003", "MH", "stroke"),
        ),
        broken="C0000005|ENG|too short\n",
        before="C0000002|",
        ids=("C0000001", "C0000002", "C0000003"),
        file="MRCONSO.RRF",
        states_language=True,
    ),
    "shared-table": Sample(
        text="concept_id\tname\tlang\tkind\tsemantic_type\txrefs\n"
        "X:1\theart attack\ten\tpreferred\tdisease\tUMLS:C0027051|MESH:D009203\n"
        "X:1\tMI\ten\tabbreviation\tdisease\t\n"
        "X:2\tSjögren syndrome\ten\tpreferred\tdisease\t\n"
        "X:3\tstroke\ten\tpreferred\tdisease\t\n",
        broken="X:5\ttoo short\n",
        before="X:2\t",
        states_language=True,
    ),
    "table": Sample(
        text="code,label,synonyms,obsolete,replaced_by\n"
        "X:1,heart attack,MI,,\n"
        "X:2,Sjögren syndrome,,,\n"
        "X:3,stroke,,,\n"
        "X:4,apoplexy,,true,X:3\n",
        broken=",a name without an id,,,\n",
        before="X:2,",
        obsolete=("X:4", "X:3"),
    ),
}


@pytest.fixture(params=VOCABULARY_FORMATS.names())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def sample(name: str) -> Sample:
    assert name in SAMPLES, f"give the format {name!r} a sample in {Path(__file__).name}"
    return SAMPLES[name]


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
    return sorted([*names, *([(sample.obsolete[0], "apoplexy")] if sample.obsolete else [])])


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
    tables = _read(name, sample.write(tmp_path, sample.text.encode()), options=ReadOptions(lang="PT_br"))
    assert set(tables.names["lang"].to_pylist()) == ({"en"} if sample.states_language else {"pt-BR"})


def test_only_names_in_the_languages_asked_for_are_kept(name: str, sample: Sample, tmp_path: Path) -> None:
    path = sample.write(tmp_path, sample.text.encode())
    everything = _read(name, path)
    assert _same(_read(name, path, options=ReadOptions(languages=frozenset({"en"}))), everything)
    regional = ReadOptions(lang="en-GB", languages=frozenset({"en"}))
    assert _names(_read(name, path, options=regional)) == _names(everything)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_damage_makes_it_fall_over(
    name: str, sample: Sample, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = sample.text.encode()
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(len(whole), start + 40)))
    patch = data.draw(
        st.binary(max_size=12) | st.sampled_from([b'"', b"\t", b"|", b"||", b"\r", b"\0", b"{", b"[]"])
    )
    path = sample.write(tmp_path_factory.mktemp("damaged"), whole[:start] + patch + whole[end:])
    problems = Problems()
    try:
        tables = _read(name, path, problems=problems)
    except InputError:
        return
    known = set(tables.concepts["id"].to_pylist())
    assert set(tables.names["concept_id"].to_pylist()) <= known
    assert all(problem.line is None or problem.line > 0 for problem in problems.first)
