from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run


def test_build_says_what_was_read(run: Run, built: Path, tmp_path: Path) -> None:
    result = run("vocab", "build", built / "table.tsv.gz", "-o", tmp_path / "v")
    assert (result.exit_code, result.stdout) == (0, f"3 concepts, 7 names → {tmp_path / 'v'}\n")


def test_rejected_input_is_reported_counted_and_costs_nothing_else(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "names.txt"
    source.write_text("D1||one\nno bars\nD2||two\nD3||three\n", encoding="utf-8")
    result = run("vocab", "build", source, "-o", tmp_path / "v")
    assert result.exit_code == 1
    assert f"{source}:2:" in result.stderr
    assert "1 place in the input was rejected" in result.stderr
    assert "3 concepts, 3 names" in result.stdout


def test_an_ontology_without_names_is_said_to_have_none(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "ids.obo"
    source.write_text("format-version: 1.2\n\n[Term]\nid: X:1\n", encoding="utf-8")
    result = run("vocab", "build", source, "-o", tmp_path / "v")
    assert (result.exit_code, result.stdout) == (1, f"1 concepts, 0 names → {tmp_path / 'v'}\n")
    assert f"{source}: none of its 1 concepts has a name" in result.stderr


def test_a_thousand_problems_are_not_a_thousand_lines(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "names.txt"
    source.write_text("D1||one\nD2||two\n" * 2000 + "broken\n" * 1000, encoding="utf-8")
    result = run("vocab", "build", source, "-o", tmp_path / "v")
    assert result.exit_code == 1
    assert "1,000 places in the input were rejected" in result.stderr
    assert len(result.stderr.splitlines()) < 30


def test_unusable_input_is_an_error_without_a_traceback(run: Run, tmp_path: Path) -> None:
    empty = tmp_path / "empty.obo"
    empty.write_text("", encoding="utf-8")
    for source in (empty, tmp_path / "missing.obo"):
        result = run("vocab", "build", source, "-o", tmp_path / "v")
        assert result.exit_code == 2
        assert result.stderr.startswith(f"Error: {source}: ")
        assert "Traceback" not in result.output
        assert not (tmp_path / "v").exists()


def test_nothing_that_is_not_ours_is_overwritten(run: Run, built: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.tex").write_text("words", encoding="utf-8")
    result = run("vocab", "build", built / "table.tsv.gz", "-o", tmp_path / "precious")
    assert result.exit_code == 2
    assert (tmp_path / "precious" / "thesis.tex").read_text(encoding="utf-8") == "words"


def test_columns_languages_and_format_can_be_chosen(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "terms.csv"
    source.write_text("title,nr,sprache\nheart attack,7,en\nHerzinfarkt,7,de\n", encoding="utf-8")
    options = (
        "--map-column",
        "id=nr",
        "--map-column",
        "name=title",
        "--map-column",
        "lang=sprache",
        "--language",
        "de",
    )
    result = run("vocab", "build", source, "-o", tmp_path / "v", "--input-format", "table", *options)
    assert result.exit_code == 0, result.stderr
    assert "1 concepts, 1 names" in result.stdout
    assert "Herzinfarkt" in run("vocab", "search", tmp_path / "v", "7").stdout
    assert run("vocab", "build", source, "-o", tmp_path / "v", "--map-column", "nonsense").exit_code == 2


def test_ids_taken_for_languages_are_an_error_without_a_traceback(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "terms.csv"
    source.write_text(
        "nr,name\n" + "".join(f"HP_{number:07},name {number}\n" for number in range(33_000)), encoding="utf-8"
    )
    options = ("--map-column", "id=nr", "--map-column", "lang=nr")
    result = run("vocab", "build", source, "-o", tmp_path / "v", "--input-format", "table", *options)
    assert result.exit_code == 2
    assert "33,000 languages in the column lang" in result.stderr
    assert "Traceback" not in result.output
    assert not (tmp_path / "v").exists()


def test_info_tells_what_there_is_and_where_it_comes_from(run: Run, built: Path) -> None:
    text = run("vocab", "info", built / "vocab").stdout
    assert "concepts   3" in text
    assert "en 6, es 1" in text
    assert "abbreviation 2" in text
    assert "types      disease" in text
    assert "table.tsv.gz" in text


def test_search_finds_by_id_by_name_and_by_part_of_a_name(run: Run, built: Path) -> None:
    def found(text: str) -> list[str]:
        lines = run("vocab", "search", built / "vocab", text).stdout.splitlines()
        return [line.split()[0] for line in lines if not line.startswith(" ")]

    assert found("X:3") == ["X:3"]
    assert found("Heart-Attack!") == ["X:1"]
    assert found("mi") == ["X:1", "X:2"]
    assert found("stat") == ["X:3"]
    nothing = run("vocab", "search", built / "vocab", "zzz")
    assert (nothing.stdout, nothing.exit_code) == ("", 0)
    assert "nothing" in nothing.stderr


def test_a_folder_that_is_no_vocabulary_is_refused(run: Run, built: Path, tmp_path: Path) -> None:
    for folder in (tmp_path, built / "index", tmp_path / "missing"):
        result = run("vocab", "info", folder)
        assert result.exit_code == 2
        assert str(folder) in result.stderr


def test_a_column_is_named_once_and_one_that_is_not_read_is_mentioned(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Kennung,Name,Synonyme\nX:1,eins,one\n", encoding="utf-8")
    refused = run("vocab", "build", tmp_path / "t.csv", "-o", tmp_path / "v")
    assert refused.exit_code == 2
    assert "the file has: Kennung, Name, Synonyme" in refused.stderr
    assert "nymlink vocab build t.csv -o FOLDER --map-column id=Kennung" in refused.stderr
    named = ("vocab", "build", tmp_path / "t.csv", "-o", tmp_path / "v", "--map-column", "id=Kennung")
    built = run(*named)
    assert built.exit_code == 0
    assert "t.csv: columns that are not read: Synonyme;" in built.stderr
    twice = run(*named, "--map-column", "id=Name")
    assert twice.exit_code == 2
    assert "'id' is 'Kennung' and 'Name': give one of them" in twice.stderr


def test_a_prefix_is_given_on_the_command_line(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    table.write_text("id,name\nhttp://example.org/coll/c_1,gout\n", encoding="utf-8")
    given = ("--prefix", "coll=http://example.org/coll/")
    assert run("vocab", "build", table, "-o", tmp_path / "a", *given).exit_code == 0
    assert run("vocab", "search", tmp_path / "a", "gout").output.startswith("coll:c_1  gout")
    assert run("vocab", "merge", table, "-o", tmp_path / "m", *given).exit_code == 0
    assert run("vocab", "search", tmp_path / "m", "http://example.org/coll/c_1").output.startswith(
        "coll:c_1  gout"
    )
    for wrong in ("coll", "a b=http://example.org/", "HP=http://example.org/", "coll=nowhere"):
        refused = run("vocab", "build", table, "-o", tmp_path / "b", "--prefix", wrong)
        assert refused.exit_code != 0
        assert "NAME=IRI" in refused.output or "choose another name" in refused.output


def test_new_ids_of_own_synonyms_are_listed_or_refused(run: Run, tmp_path: Path) -> None:
    ontology, own = tmp_path / "o.obo", tmp_path / "ours.csv"
    terms = "".join(f"[Term]\nid: X:{number:04}\nname: finding {number}\n\n" for number in range(20))
    ontology.write_text(f"format-version: 1.2\n\n{terms}", encoding="utf-8")
    own.write_text("id,synonym\nX:0007,our words\nX:00013,slip\nY:1,other\n", encoding="utf-8")
    done = run("vocab", "build", ontology, own, "-o", tmp_path / "v")
    listed = "2 new ids, in no source before: X:00013 (did you mean X:0013, finding 13?), Y:1"
    assert (done.exit_code, done.stderr) == (0, f"ours.csv: {listed}\n")
    assert done.stdout == f"22 concepts, 23 names → {tmp_path / 'v'}\n"
    assert "X:0007" in run("vocab", "search", tmp_path / "v", "our words").stdout
    refused = run("vocab", "build", ontology, own, "-o", tmp_path / "strict", "--strict-ids")
    assert (refused.exit_code, listed in refused.stderr) == (2, True)
    assert not (tmp_path / "strict").exists()
    own.write_text("id,synonym\nX:0007,our words\nX:0007,more words\n", encoding="utf-8")
    done = run("vocab", "build", ontology, own, "-o", tmp_path / "strict", "--strict-ids")
    assert (done.exit_code, done.stderr) == (0, "")
    # The own words are not the preferred name.
    assert "finding 7" in run("vocab", "search", tmp_path / "strict", "more words").stdout
