"""`nymlink vocab get` from a server on this machine."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from nymlink.sources.source import PublishedSource
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.cli.conftest import NYMLINK, Run
from tests.sources.site import Site, answers

ONE = "format-version: 1.2\n\n[Term]\nid: ONE:1\nname: heart attack\n\n[Term]\nid: ONE:2\nname: fever\n"
TWO = "format-version: 1.2\n\n[Term]\nid: TWO:1\nname: coronary attack\n"
MAPPINGS = "subject_id\tpredicate_id\tobject_id\nONE:1\tskos:exactMatch\tTWO:1\n"
TERMS = "research only"
GERMAN = (
    "translation_language\tsubject_id\tpredicate_id\ttranslation_value\ttranslation_status\n"
    "de\tONE:1\trdfs:label\tHerzinfarkt\tOFFICIAL\nfr\tONE:1\trdfs:label\tcrise cardiaque\tOFFICIAL\n"
)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site with three open sources and one that is not, and an empty cache."""
    site = Site()
    stop = site.start()
    sources: list[PublishedSource] = [
        site.source("/one.obo", ONE),
        site.source("/two.obo", TWO),
        site.source("/closed.obo", ONE, open=False, licence=TERMS),
        site.source("/maps.sssom.tsv", MAPPINGS, format="sssom"),
    ]
    monkeypatch.setattr("nymlink.cli.vocab.known_sources", lambda: {source.name: source for source in sources})
    monkeypatch.setenv("NYMLINK_CACHE", str(tmp_path / "cache"))
    yield site
    stop()


@pytest.mark.usefixtures("site")
def test_a_source_becomes_a_vocabulary(run: Run, tmp_path: Path) -> None:
    result = run("vocab", "get", "one", "-o", tmp_path / "v")
    assert (result.exit_code, result.stdout) == (0, f"2 concepts, 2 names → {tmp_path / 'v'}\n")
    assert result.stderr == ""
    assert (tmp_path / "cache" / "sources" / "one" / "one.obo").read_text(encoding="utf-8") == ONE
    info = run("vocab", "info", tmp_path / "v").stdout
    assert "source     one (obo, one.obo, licence CC0-1.0, sha256 " in info


def test_the_cache_serves_where_no_server_does(site: Site, run: Run, tmp_path: Path) -> None:
    refused = run("vocab", "get", "one", "-o", tmp_path / "v", "--offline")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr == "Error: one: not in the cache: run once without --offline\n"
    assert run("vocab", "get", "one", "-o", tmp_path / "v").exit_code == 0
    site.troubles["/one.obo"] += [answers(404)] * 3
    for more in ((), ("--offline",)):
        assert run("vocab", "get", "one", "-o", tmp_path / "v", *more).exit_code == 0
    assert len(site.asked["/one.obo"]) == 1
    old = run("vocab", "get", "one", "-o", tmp_path / "v", "--refresh")
    assert (old.exit_code, len(site.asked["/one.obo"])) == (0, 2)
    assert "is used (kept)" in old.stderr


@pytest.mark.usefixtures("site")
def test_all_that_is_open_is_merged(run: Run, tmp_path: Path) -> None:
    result = run("vocab", "get", "open", "-o", tmp_path / "v")
    assert (result.exit_code, result.stdout) == (0, f"2 concepts, 3 names → {tmp_path / 'v'}\n")
    assert "TWO:1" in run("vocab", "search", tmp_path / "v", "coronary attack").stdout


def test_one_that_fails_is_reported_and_costs_no_other(site: Site, run: Run, tmp_path: Path) -> None:
    site.troubles["/one.obo"].append(answers(404))
    result = run("vocab", "get", "open", "-o", tmp_path / "v")
    assert (result.exit_code, result.stdout) == (1, f"1 concepts, 1 names → {tmp_path / 'v'}\n")
    assert result.stderr.startswith(f"{site.url}/one.obo: the server answered 404 Not Found")
    assert "1 place in the input was rejected" in result.stderr


def test_where_nothing_comes_nothing_is_written(site: Site, run: Run, tmp_path: Path) -> None:
    site.troubles["/one.obo"].append(answers(200, b"<html>Down for maintenance</html>"))
    result = run("vocab", "get", "one", "-o", tmp_path / "v")
    assert result.exit_code == 2
    assert result.stderr.startswith(
        f"Error: {site.url}/one.obo: the file that the server sent is damaged (this is an HTML page"
    )
    assert "Traceback" not in result.output
    assert not (tmp_path / "v").exists()


@pytest.mark.usefixtures("site")
def test_what_is_not_open_says_so(run: Run, tmp_path: Path) -> None:
    result = run("vocab", "get", "closed", "-o", tmp_path / "v")
    assert (result.exit_code, result.stderr) == (0, f"closed is not open for every use: {TERMS}\n")


@pytest.mark.usefixtures("site")
def test_files_can_be_had_alone(run: Run, tmp_path: Path) -> None:
    result = run("vocab", "get", "two", "maps", "--only-download")
    folder = tmp_path / "cache" / "sources"
    assert result.stdout == f"two\t{folder}/two/two.obo\nmaps\t{folder}/maps/maps.sssom.tsv\n"


@pytest.mark.usefixtures("site")
def test_the_list_tells_what_there_is(run: Run) -> None:
    assert run("vocab", "get", "two", "--only-download").exit_code == 0
    lines = [line.split("\t") for line in run("vocab", "get", "--list").stdout.splitlines()]
    assert lines[0] == ["name", "open", "size", "cached", "title", "licence", "cite", "url"]
    assert [(line[0], line[1], line[3] != "no") for line in lines[1:]] == [
        ("one", "yes", False),
        ("two", "yes", True),
        ("closed", "no", False),
        ("maps", "yes", False),
    ]
    assert len(run("vocab", "get", "--list", "open").stdout.splitlines()) == 4


def test_the_list_fits_a_terminal(tmp_path: Path) -> None:
    terminal, inside = pty.openpty()
    command = [*NYMLINK, "vocab", "get", "--list", "hpo", "doid-es"]
    environment = os.environ | {"COLUMNS": "60", "NYMLINK_CACHE": str(tmp_path)}
    subprocess.run(command, stdout=inside, env=environment, check=True)
    os.close(inside)
    shown = os.read(terminal, 10_000).decode().splitlines()
    os.close(terminal)
    assert shown == [
        "name     open  size    cached  title",
        "hpo      yes   medium  no      Human Phenotype Ontology",
        "doid-es  yes   small   no      Human Disease Ontology, names",
    ]


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to get"),
        (("one",), "give either a folder to write, -o, or --only-download"),
        (("one", "-o", "v", "--only-download"), "give either"),
        (("one", "-o", "v", "--offline", "--refresh"), "contradict each other"),
        (("three", "-o", "v"), "unknown source 'three'; known: open, one, two, closed, maps"),
        (("maps", "-o", "v"), "only mappings are named"),
    ],
)
def test_unusable_arguments_are_told_of(
    run: Run, arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("vocab", "get", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.fixture
def translated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site with a source and its translations, and an empty cache."""
    site = Site()
    stop = site.start()
    sources = [
        site.source("/one.obo", ONE, translations="words"),
        site.source("/words.tsv", GERMAN, format="babelon"),
    ]
    monkeypatch.setattr("nymlink.cli.vocab.known_sources", lambda: {source.name: source for source in sources})
    monkeypatch.setenv("NYMLINK_CACHE", str(tmp_path / "cache"))
    yield site
    stop()


@pytest.mark.usefixtures("translated")
def test_names_in_another_language_come_from_the_translations(run: Run, tmp_path: Path) -> None:
    result = run("vocab", "get", "one", "--language", "DE", "-o", tmp_path / "v")
    assert (result.exit_code, result.stdout) == (0, f"1 concepts, 1 names → {tmp_path / 'v'}\n"), result.output
    assert "Herzinfarkt" in run("vocab", "search", tmp_path / "v", "Herzinfarkt").stdout
    both = run("vocab", "get", "one", "--language", "en", "--language", "de", "-o", tmp_path / "v")
    assert both.stdout == f"2 concepts, 3 names → {tmp_path / 'v'}\n"
    vocabulary = Vocabulary.load(tmp_path / "v")
    assert [(name.text, name.lang) for name in vocabulary.names("ONE:1")] == [
        ("heart attack", "en"),
        ("Herzinfarkt", "de"),
    ]


def test_english_needs_no_translations(translated: Site, run: Run, tmp_path: Path) -> None:
    assert run("vocab", "get", "one", "--language", "en-GB", "--language", "en", "--only-download").exit_code == 0
    assert run("vocab", "get", "one", "-o", tmp_path / "v").exit_code == 0
    assert "/words.tsv" not in translated.asked


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("deutsch", "Error: 'deutsch' is no language code: give one like en or pt-BR"),
        ("ru", "Error: no language 'ru' in the vocabulary; there are: en, de, fr"),
    ],
)
@pytest.mark.usefixtures("translated")
def test_a_language_without_names_is_refused(run: Run, tmp_path: Path, code: str, message: str) -> None:
    refused = run("vocab", "get", "one", "--language", code, "-o", tmp_path / "v")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert message in refused.stderr
    assert not (tmp_path / "v").exists()
