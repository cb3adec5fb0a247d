from __future__ import annotations

import json
from pathlib import Path

from nymlink.index.index_folder import VERSION
from tests.cli.conftest import Run


def test_build_needs_no_vocabulary_afterwards(run: Run, built: Path, tmp_path: Path) -> None:
    assert run("vocab", "build", built / "table.tsv.gz", "-o", tmp_path / "v").exit_code == 0
    result = run("index", "build", tmp_path / "v", "-o", tmp_path / "i", "--encoder", "none")
    assert (result.exit_code, result.stdout) == (0, f"6 distinct names of 3 concepts → {tmp_path / 'i'}\n")
    (tmp_path / "v").rename(tmp_path / "elsewhere")
    assert run("link", "--index", tmp_path / "i", "heart attack").exit_code == 0


def test_a_source_file_is_as_good_as_its_vocabulary(run: Run, built: Path, tmp_path: Path) -> None:
    given = ("index", "build", built / "table.tsv.gz", "-o")
    assert run(*given, tmp_path / "i").stdout == f"6 distinct names of 3 concepts → {tmp_path / 'i'}\n"
    (tmp_path / "names.txt").write_text("X:1||heart attack\nno name at all\n", encoding="utf-8")
    partly = run("index", "build", tmp_path / "names.txt", "-o", tmp_path / "j")
    assert (partly.exit_code, partly.stdout) == (1, f"1 distinct names of 1 concepts → {tmp_path / 'j'}\n")
    assert f"{tmp_path / 'names.txt'}:2" in partly.stderr
    assert "X:1" in run("link", "--index", tmp_path / "j", "heart attack").stdout


def test_published_settings_can_be_chosen(run: Run, built: Path, tmp_path: Path) -> None:
    for setting in ("biosyn", "le-nguyen"):
        assert run("index", "build", built / "vocab", "-o", tmp_path / setting, "--sparse", setting).exit_code == 0
        assert "X:1" in run("link", "--index", tmp_path / setting, "hart attack").stdout
        assert f"sparse: {setting}" in run("index", "info", tmp_path / setting).stdout
    assert run("index", "build", built / "vocab", "-o", tmp_path / "i", "--sparse", "nonsense").exit_code == 2


def test_info(run: Run, built: Path) -> None:
    text = run("index", "info", built / "index").stdout
    assert "concepts  3" in text
    assert "entries   6" in text


def test_names_in_one_language_only(run: Run, built: Path, tmp_path: Path) -> None:
    result = run("index", "build", built / "vocab", "-o", tmp_path / "i", "--language", "es")
    assert (result.exit_code, result.stdout) == (0, f"1 distinct names of 3 concepts → {tmp_path / 'i'}\n")
    assert "languages: es" in run("index", "info", tmp_path / "i").stdout
    assert "X:1" in run("link", "--index", tmp_path / "i", "infarto de miocardio").stdout
    assert "X:3" not in run("link", "--index", tmp_path / "i", "short stature").stdout
    refused = run("index", "build", built / "vocab", "-o", tmp_path / "j", "--language", "fr")
    assert refused.exit_code == 2
    assert "no names to search in fr" in refused.stderr


def test_what_is_no_vocabulary_is_refused(run: Run, built: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("No vocabulary at all.\n", encoding="utf-8")
    for source in (tmp_path / "notes.txt", built / "index", tmp_path / "missing"):
        result = run("index", "build", source, "-o", tmp_path / "i")
        assert result.exit_code == 2
        assert "Traceback" not in result.output
        assert ("nymlink vocab build" in result.stderr) == (source == tmp_path / "notes.txt"), result.stderr
        assert not (tmp_path / "i").exists()


def test_an_index_of_another_version_is_refused(run: Run, built: Path, tmp_path: Path) -> None:
    assert run("index", "build", built / "vocab", "-o", tmp_path / "i").exit_code == 0
    manifest = tmp_path / "i" / "manifest.json"
    manifest.write_text(
        manifest.read_text(encoding="utf-8").replace(f'"format": {VERSION}', '"format": 99', 1), encoding="utf-8"
    )
    result = run("link", "--index", tmp_path / "i", "heart attack")
    assert result.exit_code == 2
    assert "format 99" in result.stderr


def test_weights_are_not_thrown_away_by_a_command_that_sets_nothing(run: Run, built: Path, tmp_path: Path) -> None:
    assert run("index", "build", built / "vocab", "-o", tmp_path / "i", "--encoder", "none").exit_code == 0
    assert run("index", "set", tmp_path / "i", "--weight", "sparse=0.7").exit_code == 0
    before = run("index", "info", tmp_path / "i").stdout
    refused = run("index", "set", tmp_path / "i")
    assert refused.exit_code == 2
    assert "nymlink index info" in refused.stderr
    assert run("index", "info", tmp_path / "i").stdout == before
    assert "Set the fusion of an index, or the place of its encoder" in run("index", "set", "--help").stdout


def test_an_index_is_described_as_json(run: Run, built: Path) -> None:
    result = run("index", "info", built / "index", "--json")
    assert result.exit_code == 0, result.stderr
    described = json.loads(result.stdout)
    assert (described["concepts"], described["names"], described["languages"]) == (3, 7, {"en": 6, "es": 1})
    assert described["calibrated"] is None or isinstance(described["calibrated"], str)
    assert [source["name"] for source in described["sources"]] == ["table"]


def test_phrases_of_annotators_are_added_if_asked(run: Run, tmp_path: Path) -> None:
    (tmp_path / "diseases.csv").write_text("id,name\nMESH:D009223,myotonic dystrophy\n", encoding="utf-8")
    given = ("index", "build", tmp_path / "diseases.csv", "--encoder", "none", "-o")
    assert run(*given, tmp_path / "bare").stdout.startswith("1 distinct names of 1 concepts")
    assert run(*given, tmp_path / "more", "--phrases").exit_code == 0
    assert "MESH:D009223" in run("link", "--index", tmp_path / "more", "DM").stdout
    info = run("index", "info", tmp_path / "more").stdout
    assert "texts, from annotated mentions" in info
    assert "annotated phrases" in info
