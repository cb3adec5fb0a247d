"""BioSyn dictionaries: which ids are one concept, in both shapes, and the real dictionaries."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.problems import Problems
from nymlink.text.normalise import normalise
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers.tables.biosyn import FORMAT
from nymlink.vocabulary.tables import Tables


def read(folder: Path, text: str, problems: Problems | None = None) -> Tables:
    path = folder / "dictionary.txt"
    path.write_text(text, encoding="utf-8")
    return FORMAT.read(path, options=ReadOptions(), problems=problems if problems is not None else Problems())


def names(tables: Tables) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {id_: [] for id_ in tables.concepts["id"].to_pylist()}
    for row in tables.names.to_pylist():
        found[row["concept_id"]].append((row["text"], row["kind"]))
    return found


def texts(tables: Tables) -> dict[str, list[str]]:
    return {id_: [text for text, _ in of_concept] for id_, of_concept in names(tables).items()}


def redirects(tables: Tables) -> list[tuple[str, str]]:
    return [(row["old"], row["new"]) for row in tables.redirects.to_pylist()]


def test_medic_has_a_concept_a_line(tmp_path: Path) -> None:
    tables = read(tmp_path, "D1|100|101||Heart Attack|MI|Infarction, Myocardial (acute)\nD2||Stroke\n")
    assert names(tables) == {
        "D1": [("Heart Attack", "preferred"), ("MI", "exact"), ("Infarction, Myocardial (acute)", "exact")],
        "D2": [("Stroke", "preferred")],
    }
    assert redirects(tables) == [("100", "D1"), ("101", "D1")]
    assert set(tables.names["lang"].to_pylist()) == {"en"}


def test_in_medic_a_concept_is_nobodys_alternate(tmp_path: Path) -> None:
    problems = Problems()
    tables = read(tmp_path, "100||Cancer A|Cancer B\nD1|100|101||Cancer|Tumour\n", problems)
    assert texts(tables) == {"100": ["Cancer A", "Cancer B"], "D1": ["Cancer", "Tumour"]}
    assert redirects(tables) == [("101", "D1")]
    assert problems.count == 0


def test_in_medic_a_second_line_of_a_concept_is_merged(tmp_path: Path) -> None:
    problems = Problems()
    tables = read(tmp_path, "D1||Heart Attack|MI\nD2||Stroke\nD1|100||Infarction|MI\n", problems)
    assert names(tables)["D1"] == [("Heart Attack", "preferred"), ("MI", "exact"), ("Infarction", "exact")]
    assert [(problem.line, problem.rejected) for problem in problems.first] == [(3, False)]


def test_ids_that_always_stand_together_are_one_concept(tmp_path: Path) -> None:
    tables = read(tmp_path, "D1|100||heart attack\nD1|100||mi\nD2||stroke\n")
    assert texts(tables) == {"D1": ["heart attack", "mi"], "D2": ["stroke"]}
    assert redirects(tables) == [("100", "D1")]


def test_one_line_with_several_names_makes_no_medic_of_a_dictionary(tmp_path: Path) -> None:
    problems = Problems()
    lines = "D1|100||heart attack\nD1|100||mi\nD3||a|b\nD2|D1|100||mi\nD2||stroke\n"
    tables = read(tmp_path, lines, problems)
    assert names(tables) == {
        "D1": [("heart attack", "preferred"), ("mi", "exact")],
        "D3": [("a", "preferred"), ("b", "exact")],
        "D2": [("mi", "exact"), ("stroke", "preferred")],
    }
    assert redirects(tables) == [("100", "D1")]
    assert [(problem.line, problem.rejected) for problem in problems.first] == [(3, False)]


def test_ids_that_meet_in_some_lines_share_those_names(tmp_path: Path) -> None:
    tables = read(tmp_path, "D1|100||heart attack\nD2|D1|100||mi\nD2||mitral insufficiency\n")
    assert names(tables) == {
        "D1": [("heart attack", "preferred"), ("mi", "exact")],
        "D2": [("mi", "exact"), ("mitral insufficiency", "preferred")],
    }
    assert redirects(tables) == [("100", "D1")]


def test_a_concept_is_called_by_its_first_name_of_its_own(tmp_path: Path) -> None:
    # D1 and 100 are one concept: it stands alone in its lines. D3 never does.
    tables = read(tmp_path, "D2|D1|100|D3||shared\nD1|100||one\nD1|100||other\nD2||two\n")
    called = {id_: [text for text, kind in of if kind == "preferred"] for id_, of in names(tables).items()}
    assert called == {"D1": ["one"], "D2": ["two"], "D3": ["shared"]}


def test_parts_of_a_composite_share_the_name(tmp_path: Path) -> None:
    tables = read(tmp_path, "D1+D2||breast and ovarian cancer\nD3|300+D4||x\n")
    shared = "breast and ovarian cancer"
    assert texts(tables) == {"D1": [shared], "D2": [shared], "D3": ["x"], "D4": ["x"]}
    assert redirects(tables) == [("300", "D3")]


@pytest.mark.parametrize("line", ["no bars", "||a name", "D9||", "D9|| ", " | ||a name", "D9|a name", "+||x"])
def test_broken_lines_are_left_out(tmp_path: Path, line: str) -> None:
    problems = Problems()
    tables = read(tmp_path, f"D1||one\n\n{line}\nD2||two\n", problems)
    assert texts(tables) == {"D1": ["one"], "D2": ["two"]}
    assert [(problem.line, problem.rejected) for problem in problems.first] == [(3, True)]


@pytest.mark.parametrize(
    "head",
    [
        "C0000001|ENG|P|L1|PF|S1|Y|A1||M1|D1|MSH|MH|D1|heart attack|0|N|256|\n",
        "C0000001||one name||another name\n",
        "9288106||25|40||DiseaseClass||skin tumour||D012878\n",
        "id||name||x\n",
        "id\tname\nD1||x\tone\n",
        "",
    ],
)
def test_forms_that_look_alike_are_not_taken_for_it(head: str) -> None:
    assert not FORMAT.recognises(Path("x"), head)


def test_training_names_at_the_end_take_no_alternate_id_away(tmp_path: Path) -> None:
    bare = "".join(f"D{n}|A{n}||name {n}\nD{n}|A{n}||other name {n}\n" for n in range(60))
    training = "".join(f"D{n}||what an annotator calls {n}\n" for n in range(0, 60, 2))
    tables = read(tmp_path, bare + training)
    assert tables.concepts.num_rows == 60
    assert redirects(tables) == [(f"A{n}", f"D{n}") for n in range(60)]
    assert texts(tables)["D2"] == ["name 2", "other name 2", "what an annotator calls 2"]


def test_a_training_name_is_not_what_a_concept_is_called(tmp_path: Path) -> None:
    bare = "D0|E||shared\n" + "".join(f"D{n}||name {n}\nD{n}||other name {n}\n" for n in range(60))
    training = "E||what an annotator calls it\n" + "".join(f"D{n}||called {n}\n" for n in range(0, 60, 2))
    tables = read(tmp_path, bare + training)
    assert names(tables)["E"] == [("shared", "preferred"), ("what an annotator calls it", "exact")]
    assert names(tables)["D0"][:2] == [("shared", "exact"), ("name 0", "preferred")]


IDS = st.sampled_from(["A", "B", "C", "D"])
LINES = st.lists(st.lists(IDS, min_size=1, max_size=3, unique=True), min_size=1, max_size=8)


@given(lines=LINES)
def test_every_id_still_leads_to_every_name_it_stood_with(
    tmp_path_factory: pytest.TempPathFactory, lines: list[list[str]]
) -> None:
    content = "".join(f"{'|'.join(ids)}||name {number}\n" for number, ids in enumerate(lines))
    tables = read(tmp_path_factory.mktemp("biosyn"), content)
    concept_of = {id_: id_ for id_ in tables.concepts["id"].to_pylist()} | dict(redirects(tables))
    for id_ in {id_ for ids in lines for id_ in ids}:
        stood_with = [f"name {number}" for number, ids in enumerate(lines) if id_ in ids]
        assert texts(tables)[concept_of[id_]] == stood_with
    # The rule itself, in naive words: two ids are one concept exactly when no line has only one of them.
    for one in concept_of:
        for other in concept_of:
            together = all((one in ids) == (other in ids) for ids in lines)
            assert (concept_of[one] == concept_of[other]) == together


@cache
def _real(path: Path) -> Tables:
    """Read a real dictionary, once."""
    problems = Problems()
    tables = FORMAT.read(path, options=ReadOptions(), problems=problems)
    assert problems.count == 0
    return tables


def test_medic_2012(data: Path) -> None:
    path = data / "corpora/ncbi_disease/medic_06Jul2012.txt.gz"
    tables = _real(path)
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert len(tables.concepts) == len(lines) == 11_915
    expected = {
        line.split("||")[0].split("|")[0]: {" ".join(name.split()) for name in line.split("||")[1].split("|")}
        for line in lines
    }
    assert {id_: set(of_concept) for id_, of_concept in texts(tables).items()} == expected
    # 260350 is a concept and an alternate of D010190: the concept wins.
    alternates = [id_ for line in lines for id_ in line.split("||")[0].split("|")[1:]]
    assert sorted(old for old, _ in redirects(tables)) == sorted(set(alternates) - {"260350"})
    assert "260350" in expected


@pytest.mark.parametrize(
    ("name", "name_count"),
    [
        ("train", 71_924),
        pytest.param("dev", 72_887, marks=pytest.mark.large),
        pytest.param("test", 73_024, marks=pytest.mark.large),
    ],
)
def test_the_prepared_dictionaries_of_ncbi(data: Path, name: str, name_count: int) -> None:
    path = data / f"corpora/ncbi_disease/biosyn_form/ncbi-disease_{name}_dictionary.txt.gz"
    tables = _real(path)
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert len(lines) == name_count
    assert set(tables.names["text"].to_pylist()) == {line.split("||")[1] for line in lines}
    assert len(set(tables.names["text"].to_pylist())) == name_count


@pytest.mark.parametrize(
    ("name", "agreeing"),
    [
        ("train", 11_707),
        pytest.param("dev", 11_700, marks=pytest.mark.large),
        pytest.param("test", 11_697, marks=pytest.mark.large),
    ],
)
def test_a_dictionary_calls_most_concepts_as_medic_does(data: Path, name: str, agreeing: int) -> None:
    folder = data / "corpora/ncbi_disease"
    medic, dictionary = (
        {
            row["concept_id"]: normalise(row["text"])
            for row in _real(path).names.to_pylist()
            if row["kind"] == "preferred"
        }
        for path in (
            folder / "medic_06Jul2012.txt.gz",
            folder / f"biosyn_form/ncbi-disease_{name}_dictionary.txt.gz",
        )
    )
    # A dictionary has each name once, wherever it stands in MEDIC, so that some are under another concept.
    assert len(medic.keys() & dictionary.keys()) == 11_906
    assert sum(medic[id_] == dictionary[id_] for id_ in medic.keys() & dictionary.keys()) == agreeing


def test_an_odd_line_costs_a_dictionary_no_concept(data: Path, tmp_path: Path) -> None:
    path = data / "corpora/ncbi_disease/biosyn_form/ncbi-disease_train_dictionary.txt.gz"
    with_odd_line = read(tmp_path, gzip.decompress(path.read_bytes()).decode() + "D999999||a|b\n")
    assert texts(with_odd_line) == texts(_real(path)) | {"D999999": ["a", "b"]}


def test_the_dictionary_gives_the_concepts_of_medic_back(data: Path) -> None:
    folder = data / "corpora/ncbi_disease"
    groups = []
    for path in (folder / "medic_06Jul2012.txt.gz", folder / "biosyn_form/ncbi-disease_train_dictionary.txt.gz"):
        tables = _real(path)
        of_concept: dict[str, set[str]] = {id_: {id_} for id_ in tables.concepts["id"].to_pylist()}
        for old, new in redirects(tables):
            of_concept[new].add(old)
        groups.append({frozenset(ids) for ids in of_concept.values()})
    medic, dictionary = groups
    # Nine pairs of concepts share all their names: each pair has become one concept.
    assert (len(medic), len(dictionary), len(medic & dictionary)) == (11_915, 11_906, 11_915 - 2 * 9)
