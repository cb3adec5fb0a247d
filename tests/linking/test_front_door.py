"""What people who use Python find at the door."""

from __future__ import annotations

import builtins
import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import nymlink
from nymlink.cli import nymlink as commands
from nymlink.cli.link.link import link
from nymlink.linking.links import Links
from tests.linking.toy import built_linker

OBO = """format-version: 1.2
[Term]
id: X:1
name: myocardial infarction
synonym: "heart attack" EXACT []
[Term]
id: X:2
name: short stature
"""


def test_everything_that_is_exported_is_there() -> None:
    assert nymlink.__version__
    assert {name for name in dir(nymlink) if not name.startswith("__")} == {*nymlink.__all__}
    assert "__version__" in dir(nymlink)
    for name in nymlink.__all__:
        assert getattr(getattr(nymlink, name), "__name__", name) == name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = nymlink.nothing


def test_a_linker_is_built_from_any_source(tmp_path: Path) -> None:
    (tmp_path / "x.obo").write_text(OBO, encoding="utf-8")
    linker = nymlink.Linker.build(tmp_path / "x.obo", encoder=None)
    assert linker.link("Heart attack").best.concept_id == "X:1"
    nymlink.read_vocabulary(tmp_path / "x.obo").save(tmp_path / "x")
    assert nymlink.Linker.build(tmp_path / "x", encoder=None).link("short stature").best.concept_id == "X:2"
    with pytest.raises(nymlink.InputError, match="no source"):
        nymlink.Linker.build(encoder=None)


def test_a_linker_is_measured_by_a_corpus(tmp_path: Path) -> None:
    (tmp_path / "x.obo").write_text(OBO, encoding="utf-8")
    mentions = "1|t|Heart attack, unlike short stature\n1\t0\t12\tHeart attack\tDisease\tX:1\n"
    mentions += "1\t21\t34\tshort stature\tPhenotype\tX:1\n"
    (tmp_path / "x.PubTator.txt").write_text(mentions, encoding="utf-8")
    corpus = nymlink.read_corpus(tmp_path / "x.PubTator.txt")
    linker = nymlink.Linker.build(tmp_path / "x.obo", encoder=None)
    evaluation = nymlink.evaluate(linker, corpus, types=["Disease"])
    assert (evaluation.counts.scored, evaluation.figures["concept_acc@1"]) == (1, 1)
    assert str(evaluation).startswith("Acc@1/@5 100.0/100.0 by concept, 100.0/100.0 by name; 1 mentions;")
    assert len(repr(evaluation)) < 2_000
    assert nymlink.evaluate(linker.index, corpus).figures["concept_acc@1"] == 0.5
    corrected = nymlink.Linker(linker.index, spelling={"short": "tall"}, guesses=False)
    assert nymlink.evaluate(corrected, corpus).figures == nymlink.evaluate(linker, corpus).figures


def test_python_and_the_command_line_have_the_same_defaults(tmp_path: Path) -> None:
    (tmp_path / "x.obo").write_text(OBO, encoding="utf-8")
    vocabulary = nymlink.read_vocabulary(tmp_path / "x.obo")
    CliRunner().invoke(commands, ["index", "build", str(tmp_path / "x.obo"), "-o", str(tmp_path / "x")])
    index = nymlink.Index.build(vocabulary)
    opened = nymlink.Index.load(tmp_path / "x")
    assert (index.settings, index.calibration) == (opened.settings, opened.calibration)
    assert index.settings["encoder"]["name"] == "nymlink-mini"
    options = {option.name: option.default for option in link.params}
    settings = {name: setting.default for name, setting in inspect.signature(nymlink.Linker).parameters.items()}
    assert options["top_k"] == settings["top_k"]
    assert not {"guess", "guesses"} & options.keys()


def test_links_are_rows_of_a_table() -> None:
    links = built_linker().link(
        ["heart attack", "7777", nymlink.Mention("x", parts=("ovarian cancer", "no heart attack"))]
    )
    assert isinstance(links, Links)
    rows = links.to_dicts()
    first = next(row for row in rows if row["mention"] == "heart attack")
    assert (first["rank"], first["concept_id"], first["matched_name"]) == (1, "D:3", "heart attack")
    assert [row["concept_id"] for row in rows if row["mention"] == "7777"] == [None]
    parts = [row for row in rows if row["mention"] == "x" and row["rank"] == 1]
    assert [row["concept_id"] for row in parts] == ["D:2", "D:3"]
    assert parts[1]["note"] == "negated: no"


def test_links_print_as_lines() -> None:
    links = built_linker().link(["Heart attack", "\x1b\n—", nymlink.Mention("x", parts=("BC", "no  MI"))])
    assert str(links).splitlines() == [
        "Heart attack → D:3 myocardial infarction (heart attack), score 1.000",
        r"\u001b — → NIL [no letter]",
        "x → D:1 breast cancer (BC), score 1.000; D:3 myocardial infarction (MI), score 1.000"
        " [composite: 2 parts; an ordinary word; abbreviation of 4 concepts; negated: no]",
    ]
    assert str(links[0].best) == "D:3 myocardial infarction (heart attack), score 1.000"
    sure = replace(links[0], confidence=0.9)
    assert str(sure) == f"Heart attack → {sure.best}, confidence 0.900"
    assert str(replace(sure, nil=True)) == f"Heart attack → NIL (nearest: {sure.best}, confidence 0.900)"
    *shown, rest = str(built_linker().link(["BC"] * 25)).splitlines()
    assert (set(shown), rest) == ({"BC → D:1 breast cancer (BC), score 1.000"}, f"… and {25 - len(shown)} more")


def test_without_pandas_there_is_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def missing(name: str, *arguments: Any, **named: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return imported(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(nymlink.MissingExtraError, match=r"pip install 'nymlink\[frame\]'"):
        built_linker().link(["heart attack"]).to_pandas()
