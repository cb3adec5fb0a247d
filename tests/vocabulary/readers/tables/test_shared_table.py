"""The shared table: the quick way and the careful way agree with one another and with a naive reading."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.vocabulary.concepts import KINDS, ReadOptions
from nymlink.vocabulary.readers.tables.shared_table import FORMAT
from nymlink.vocabulary.tables import TableBuilder, Tables

HEADER = "concept_id\tname\tlang\tkind\tsemantic_type\txrefs\n"


def read(folder: Path, text: str, problems: Problems | None = None, **options: Any) -> Tables:
    path = folder / "table.tsv"
    path.write_text(HEADER + text, encoding="utf-8", newline="")
    return FORMAT.read(
        path, options=ReadOptions(**options), problems=problems if problems is not None else Problems()
    )


def naively(rows: list[list[str]]) -> Tables:
    """The same by the builder, a call a row."""
    builder = TableBuilder()
    for id_, name, lang, kind, semantic_type, xrefs in rows:
        listed = [xref.strip() for xref in xrefs.split("|") if xref.strip()]
        builder.concept(id_, semantic_types=filter(None, [semantic_type.strip()]), xrefs=listed)
        builder.name(id_, name, lang=lang, kind=kind)
    return builder.build()


def same(one: Tables, other: Tables) -> bool:
    return (one.concepts, one.names, one.redirects) == (other.concepts, other.names, other.redirects)


def test_a_row_is_a_name(tmp_path: Path) -> None:
    tables = read(
        tmp_path,
        "X:1\tA1BG\ten\tpreferred\tgene: protein-coding, human\tHGNC:5|OMIM:138670\n"
        'X:2\t5" rule, "quoted"\tde\tbroad\t\t\n'
        "X:1\tA1B\ten\tabbreviation\tgene: protein-coding, human\tHGNC:5|UMLS:C1\n"
        "X:1\tA1BG\ten\texact\tlocus\t\n",
    )
    assert tables.concepts.select(["id", "semantic_types", "xrefs"]).to_pylist() == [
        {
            "id": "X:1",
            "semantic_types": ["gene: protein-coding, human", "locus"],
            "xrefs": ["HGNC:5", "OMIM:138670", "UMLS:C1"],
        },
        {"id": "X:2", "semantic_types": [], "xrefs": []},
    ]
    assert [tuple(row.values()) for row in tables.names.to_pylist()] == [
        ("X:1", "A1BG", "en", "preferred"),
        ("X:2", '5" rule, "quoted"', "de", "broad"),
        ("X:1", "A1B", "en", "abbreviation"),
    ]


WORDS = st.text(st.sampled_from('ab"\u00e9\u00a0\u3000 '), min_size=1, max_size=6).filter(str.strip)
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["X:1", "X:2", "X:3"]),
        WORDS,
        st.sampled_from(["en", "pt-BR", "und"]),
        st.sampled_from(KINDS),
        st.sampled_from(["", "disease", "a: b, c"]),
        st.sampled_from(["", "Y:1", "Y:2|Y:1", "|Y:3| "]),
    ).map(list),
    min_size=1,
    max_size=12,
)


@given(rows=ROWS)
def test_both_ways_agree_with_a_naive_reading(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]
) -> None:
    folder = tmp_path_factory.mktemp("shared")
    lines = "".join("\t".join(row) + "\n" for row in rows)
    problems = Problems()
    quick = read(folder, lines, problems)
    assert problems.count == 0
    careful = read(folder, lines + "broken\n", problems)
    assert [problem.line for problem in problems.first] == [len(rows) + 2]
    assert same(quick, careful)
    assert same(quick, naively(rows))


def test_broken_rows_are_reported_where_they_stand(tmp_path: Path) -> None:
    problems = Problems()
    tables = read(
        tmp_path,
        "X:1\tone\ten\tpreferred\t\t\n"
        "X:2\ttoo\tfew\n"
        "\n"
        "X:3\t \ten\texact\t\t\n"
        " \tnobody\ten\texact\t\t\n"
        "X:4\tfour\t\t\t\t\n"
        "X:5\tfive\tenglish!\texact\t\t\n"
        "X:6\tsix\tEN_us\tsynonym\t\t\n"
        "X:7\ttoo\ten\texact\t\t\tmany\n",
        problems,
        lang="de",
    )
    assert [tuple(row.values()) for row in tables.names.to_pylist()] == [
        ("X:1", "one", "en", "preferred"),
        ("X:4", "four", "de", "exact"),
        ("X:5", "five", "und", "exact"),
        ("X:6", "six", "en-US", "related"),
    ]
    assert [(problem.line, problem.rejected) for problem in problems.first] == [
        (3, True),
        (5, True),
        (6, True),
        (8, False),
        (9, False),
        (10, True),
    ]


def test_languages_asked_for(tmp_path: Path) -> None:
    rows = "X:1\tone\ten-GB\tpreferred\t\t\nX:1\teins\tde\tpreferred\t\t\nX:2\tdeux\tfr\tpreferred\t\t\n"
    tables = read(tmp_path, rows, languages=frozenset({"en", "fr-CA"}))
    assert tables.names["text"].to_pylist() == ["one"]
    assert tables.concepts["id"].to_pylist() == ["X:1", "X:2"]


@pytest.mark.parametrize("header", ["id\tname\n", HEADER.replace("lang\tkind", "kind\tlang"), HEADER.upper()])
def test_other_headers_are_another_format(tmp_path: Path, header: str) -> None:
    path = tmp_path / "table.tsv"
    path.write_text(header + "X:1\tone\ten\texact\t\t\n", encoding="utf-8")
    assert not FORMAT.recognises(path, header)
    with pytest.raises(InputError, match="concept_id, name"):
        FORMAT.read(path, options=ReadOptions(), problems=Problems())


def test_a_header_alone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no row"):
        read(tmp_path, "")


@pytest.mark.large
def test_all_real_tables_are_read_without_a_problem(data: Path) -> None:
    paths = sorted((data / "vocabularies").glob("*.tsv.gz"))
    rows = names = 0
    for path in paths:
        problems = Problems()
        tables = FORMAT.read(path, options=ReadOptions(), problems=problems)
        assert problems.count == 0, path
        with gzip.open(path) as file:
            ids = [line.split(b"\t", 1)[0] for line in file][1:]
        assert len(tables.concepts) == len(set(ids)), path
        rows += len(ids)
        names += len(tables.names)
    # Six rows of uberon differ from another only in white space.
    assert rows > 2_000_000
    assert names == rows - 6


@pytest.mark.parametrize("name", ["mondo", pytest.param("hpo", marks=pytest.mark.large), "cvx"])
def test_real_tables_agree_with_a_naive_reading(data: Path, name: str) -> None:
    path = data / "vocabularies" / f"{name}.tsv.gz"
    lines = gzip.decompress(path.read_bytes()).decode().rstrip("\n").split("\n")
    tables = FORMAT.read(path, options=ReadOptions(), problems=Problems())
    assert same(tables, naively([line.split("\t") for line in lines[1:]]))


@pytest.mark.parametrize("listed", ["table.tsv", "tables/table.tsv"])
def test_the_licence_comes_from_the_list_of_sources(tmp_path: Path, listed: str) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    row = "X:1\ta\ten\tpreferred\t\t\n"
    assert read(folder, row).licence is None
    sources = tmp_path / "SOURCES.tsv"
    sources.write_text(
        f"file\trepo\tlicence\nother.tsv\ta\tCC0\n{listed}\tb\tCC BY 4.0\nshort\n", encoding="utf-8"
    )
    assert read(folder, row).licence == "CC BY 4.0"
    sources.write_text("name\tterms\ntable.tsv\tmine\n", encoding="utf-8")
    assert read(folder, row).licence is None
    sources.write_text("file\tlicence\ntable.tsv\tCC0\n", encoding="utf-16")
    assert read(folder, row).licence == "CC0"


def test_the_licences_of_real_tables_are_known(data: Path) -> None:
    licences = {}
    for name in ("doid", "drugcentral", "cvx"):
        path = data / "vocabularies" / f"{name}.tsv.gz"
        licences[name] = FORMAT.read(path, options=ReadOptions(), problems=Problems()).licence
    assert licences == {"doid": "CC0-1.0", "drugcentral": "CC BY-SA 4.0", "cvx": "US public domain (CDC)"}
