"""`nymlink xlbel`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run
from tests.xlbel import dumps

PAGES = [
    dumps.page("Dolor", "Un [[infarto|ataque al corazón]] y un [[Infarto|infarto de miocardio]]."),
    dumps.redirect("Infarto", "Infarto agudo de miocardio"),
]


def write_inputs(folder: Path) -> tuple[Path, Path]:
    table = folder / "pages.tsv"
    table.write_text("Infarto agudo de miocardio\tC0027051\n", encoding="utf-8")
    return dumps.write(folder / "eswiki.xml.bz2", PAGES, language="es"), table


def test_a_benchmark_is_built_and_run(run: Run, built: Path, tmp_path: Path) -> None:
    dump, table = write_inputs(tmp_path)
    output, figures = tmp_path / "es_test.txt", tmp_path / "figures.json"
    done = run("xlbel", "build", dump, "--language", "es", "--concept-table", table, "-o", output)
    assert done.exit_code == 0, done.output
    assert "1 articles, 1 of them with links to pages of the table; 2 mentions, 2 of them unlike" in done.stdout
    measured = run("xlbel", "evaluate", output, "--index", built / "index", "--without-own-names", "-o", figures)
    assert measured.exit_code == 0, measured.output
    assert "index, own names out" in measured.stdout
    results = json.loads(figures.read_text(encoding="utf-8"))["results"]
    assert [(result["stage"], result["own_names"], result["acc@1"]) for result in results] == [
        ("index", True, 0.5 if results[0]["acc@1"] == 0.5 else 1.0),
        ("index", False, results[1]["acc@1"]),
    ]
    assert results[0]["n"] == results[0]["covered"] == 2


def test_a_dump_that_breaks_off(run: Run, tmp_path: Path) -> None:
    dump, table = write_inputs(tmp_path)
    whole = dump.read_bytes()
    dump.write_bytes(whole[:-20])
    build = ("xlbel", "build", dump, "--concept-table", table, "-o", tmp_path / "es_test.txt")
    broken = run(*build)
    assert broken.exit_code == 1
    assert "the part before it was used; run this again with the whole dump" in broken.stderr
    kept = (tmp_path / "es_test.txt").read_text(encoding="utf-8")
    assert len(kept.splitlines()) == 2
    dump.write_bytes(whole)
    assert run(*build).exit_code == 0
    assert (tmp_path / "es_test.txt").read_text(encoding="utf-8") == kept


def test_queries_whose_language_is_not_known(run: Run, built: Path, tmp_path: Path) -> None:
    (tmp_path / "queries.txt").write_text("C0027051||infarto\n", encoding="utf-8")
    evaluate = ("xlbel", "evaluate", tmp_path / "queries.txt", "--index", built / "index")
    refused = run(*evaluate)
    assert (refused.exit_code, "--language" in refused.stderr) == (2, True)
    assert run(*evaluate, "--language", "es").exit_code == 0
