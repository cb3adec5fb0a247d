"""The UMLS reader: what it makes of each file of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.vocabulary.readers.umls.rrf_files import (
    BEST,
    CONSO,
    HEART,
    atom,
    concept,
    names_of,
    read,
    relation,
    row,
    write,
)

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.readers.umls.rrf import FORMAT


def test_kinds_order_and_repeats(tmp_path: Path) -> None:
    tables = read(write(tmp_path, MRCONSO=HEART))
    assert names_of(tables, "C0027051") == [
        ("Myocardial Infarction", "en", "preferred"),
        ("infarto de miocardio", "es", "preferred"),
        ("MI", "en", "abbreviation"),
        ("heart attack", "en", "exact"),
        ("Heart attack", "en", "exact"),
    ]
    found = concept(tables, "C0027051")
    assert found["xrefs"] == ["MESH:D009203", "HP:0001658", "SNOMEDCT_US:22298006"]
    assert found["semantic_types"] == found["parents"] == found["replaced_by"] == []
    assert found["definition"] is None
    assert (tables.version, tables.licence) == (None, "UMLS Metathesaurus License")
    assert tables.redirects.num_rows == 0


def test_the_surest_kind_of_a_repeated_name_is_kept(tmp_path: Path) -> None:
    rows = [atom("C0000001", "aspirin", **BEST), atom("C0000001", "ASA", TTY="BN"), atom("C0000001", "ASA")]
    assert names_of(read(write(tmp_path, MRCONSO=rows)), "C0000001")[1] == ("ASA", "en", "exact")


def test_one_preferred_name_for_each_language_even_without_the_marked_row(tmp_path: Path) -> None:
    rows = [
        atom("C0000001", "worst"),
        atom("C0000001", "second", TS="P", STT="PF"),
        atom("C0000001", "marked", SUPPRESS="O", **BEST),
        atom("C0000002", "twice a", **BEST),
        atom("C0000002", "twice b", **BEST),
    ]
    write(tmp_path, MRCONSO=rows)
    assert names_of(read(tmp_path), "C0000001") == [("second", "en", "preferred"), ("worst", "en", "exact")]
    assert names_of(read(tmp_path, suppressed=True), "C0000001")[0] == ("marked", "en", "preferred")
    assert [kind for _, _, kind in names_of(read(tmp_path), "C0000002")] == ["preferred", "exact"]


def test_selections(tmp_path: Path) -> None:
    write(tmp_path, MRCONSO=[*HEART, atom("C0000002", "only English")])
    spanish = read(tmp_path, languages=frozenset({"es"}))
    assert spanish.names.column("text").to_pylist() == ["infarto de miocardio"]
    # References come from all rows of the concept, for they are in no language.
    assert "SNOMEDCT_US:22298006" in concept(spanish, "C0027051")["xrefs"]
    assert read(tmp_path, sources=frozenset({"CHV"})).names.column("text").to_pylist() == ["heart attack"]
    assert read(tmp_path, term_types=frozenset({"AB"})).names.column("text").to_pylist() == ["MI"]
    assert "coronary occlusion" in read(tmp_path, suppressed=True).names.column("text").to_pylist()
    with pytest.raises(InputError, match="none of 8 rows is selected"):
        read(tmp_path, languages=frozenset({"es"}), term_types=frozenset({"AB"}))


@pytest.mark.parametrize(
    ("lang", "languages", "kept"),
    [
        ("en", {"EN"}, ["en"]),
        ("EN-gb", {"en"}, ["en", "en-GB"]),
        ("en_GB", {"EN_gb"}, ["en-GB"]),
        ("pt-BR", {"PT", "es"}, ["es", "pt-BR"]),
    ],
)
def test_languages_are_asked_for_as_of_any_format(
    tmp_path: Path, lang: str, languages: set[str], kept: list[str]
) -> None:
    write(tmp_path, MRCONSO=[*HEART, *([atom("C0027051", "attack", LAT="")] if lang != "en" else [])])
    tables = read(tmp_path, lang=lang, languages=frozenset(languages))
    assert sorted(set(tables.names.column("lang").to_pylist())) == kept


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"languages": frozenset({"en", "fi"})}, "no row has the language fi; there are: en, es"),
        ({"languages": frozenset({"EN-gb"})}, "no row has the language en-GB; there are: en, es"),
        ({"languages": frozenset({"English!"})}, "'English!' is no language code"),
        ({"sources": frozenset({"MSJ"})}, "the source MSJ; there are: CHV, HPO, MSH, MSHSPA, MTH, SNOMEDCT_US"),
        ({"term_types": frozenset({"PT"})}, "the term type PT; there are: AB, MH, SY"),
    ],
)
def test_options_that_name_what_never_occurs(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(write(tmp_path, MRCONSO=HEART), **options)


def test_languages_become_bcp47(tmp_path: Path) -> None:
    lats = {"ENG": "en", "GER": "de", "SCR": "hr", "BAQ": "eu", "JPN": "ja", "CZE": "cs", "XYZ": "xyz", "": "fi"}
    rows = [atom("C0000001", "x", LAT=lat) for lat in lats]
    tables = read(write(tmp_path, MRCONSO=rows), lang="fi")
    assert sorted(tables.names.column("lang").to_pylist()) == sorted(lats.values())


def test_columns_stand_as_mrfiles_says(tmp_path: Path) -> None:
    order = [*sorted(CONSO, reverse=True), "NEW"]
    fields = [dict(zip(CONSO, line.split("|"), strict=False)) for line in HEART]
    write(tmp_path / "usual", MRCONSO=HEART)
    write(
        tmp_path / "permuted",
        MRCONSO=[row(order, values) for values in fields],
        MRFILES=[f"META/MRCONSO.RRF|Names|{','.join(order)}|19|7|1|", "MRSTY.RRF|Types|CUI,TUI|2|7|1|"],
    )
    problems = Problems()
    assert read(tmp_path / "permuted", problems).names == read(tmp_path / "usual").names
    assert [(p.line, p.rejected) for p in problems.first] == [(2, False)]


def test_types_definitions_version_and_retired_ids(tmp_path: Path) -> None:
    rows = [atom("C0000001", "one"), atom("C0000002", "two"), atom("C0000003", "three")]
    write(
        tmp_path,
        MRCONSO=rows,
        MRSTY=[
            "C0000002|T1|A1|Finding||||",
            "C0000001|T2|A2|Virus|||",
            "C0000002|T2|A2|Virus|||",
            "C0000002|T1|A1|Finding|||",
            "C0000002|T2|A2|Virus|||",
            "C9999999|T1|A1|Finding|||",
        ],
        MRDEF=[
            "C0000001|A|AT||CHV|first|N||",
            "C0000001|A|AT||NCI|of NCI|N||",
            "C0000001|A|AT||MSH|of MeSH|N||",
            "C0000003|A|AT||CHV|suppressed|O||",
            "C0000003|A|AT||HPO| a|N||",
            "C0000003|A|AT||CHV|b|N||",
        ],
        MRCUI=[
            "C0000010|2001AA|SY|||C0000001|Y|",
            "C0000010|2003AA|SY|||C0000001|Y|",
            "C0000011|2001AA|DEL|||||",
            "C0000012|2001AA|RO|||C0000001|Y|",
            "C0000013|2001AA|SY|||C9999999|N|",
            "C0000002|2001AA|SY|||C0000001|Y|",
        ],
        MRSAB=[
            row(range(25), {9: meta, 21: used})
            for meta, used in (("2019AB", "Y"), ("2020AA", "Y"), ("2020AB", "N"), ("", "Y"))
        ],
    )
    problems = Problems()
    tables = read(tmp_path, problems)
    assert [c["semantic_types"] for c in tables.concepts.to_pylist()] == [["Virus"], ["Virus", "Finding"], []]
    assert [(p.line, p.message) for p in problems.first] == [(1, "7 columns ended by | instead of 6")]
    assert tables.concepts.column("definition").to_pylist() == ["of MeSH", None, "a"]
    assert tables.redirects.to_pylist() == [{"old": "C0000010", "new": "C0000001"}]
    assert tables.version == "2020AA"
    kept = read(tmp_path, suppressed=True)
    assert kept.concepts.column("definition").to_pylist() == ["of MeSH", None, "suppressed"]


def test_parents(tmp_path: Path) -> None:
    one, two, three, gone = "C0000001", "C0000002", "C0000003", "C0000009"
    tables = read(
        write(
            tmp_path,
            MRCONSO=[atom(cui, cui.lower()) for cui in (one, two, three)],
            MRREL=[
                relation(one, "PAR", two),
                relation(two, "CHD", one),  # the same, said from the other side
                relation(one, "PAR", one),
                relation(one, "PAR", gone),
                relation(three, "RB", one, "inverse_isa"),
                relation(two, "RN", three, "isa"),
                relation(two, "PAR", one),  # a cycle
                relation(one, "PAR", three, SUPPRESS="O"),
                relation(one, "RO", three, "part_of"),
            ],
        )
    )
    assert [c["parents"] for c in tables.concepts.to_pylist()] == [[two], [one], [one, two]]


def test_trade_names_of_all_partners(tmp_path: Path) -> None:
    drug, zocor, lipex, other = "C0000001", "C0000002", "C0000003", "C0000004"
    write(
        tmp_path,
        MRCONSO=[
            atom(drug, "simvastatin", SAB="RXNORM", TTY="IN", **BEST),
            atom(zocor, "Zocor", SAB="RXNORM", TTY="BN", **BEST),
            atom(zocor, "Zocor tablets", SAB="RXNORM"),
            atom(zocor, "simvastatin", SAB="MSH"),
            atom(lipex, "Lipex", SAB="RXNORM", TTY="BN", **BEST),
            atom(lipex, "Lipex (ES)", LAT="SPA", SAB="RXNORM"),
            atom(other, "water"),
        ],
        MRREL=[
            relation(drug, "RN", zocor, "tradename_of", SAB="RXNORM"),
            relation(zocor, "RB", drug, "has_tradename", SAB="RXNORM"),
            relation(lipex, "RB", drug, "has_tradename", SAB="RXNORM"),
            relation(drug, "RN", drug, "tradename_of", SAB="RXNORM"),
        ],
    )
    tables = read(tmp_path)
    assert names_of(tables, drug) == [
        ("simvastatin", "en", "preferred"),
        ("Zocor", "en", "tradename"),
        ("Zocor tablets", "en", "tradename"),
        ("Lipex", "en", "tradename"),
        ("Lipex (ES)", "es", "tradename"),
    ]
    assert names_of(tables, zocor) == [
        ("Zocor", "en", "preferred"),
        ("Zocor tablets", "en", "exact"),
        ("simvastatin", "en", "exact"),
    ]
    assert names_of(tables, lipex)[-1] == ("simvastatin", "en", "related")
    assert names_of(tables, other) == [("water", "en", "preferred")]
    # Relations of a source that is not selected say nothing.
    assert names_of(read(tmp_path, sources=frozenset({"MSH"})), zocor) == [("simvastatin", "en", "preferred")]


def test_recognised_by_content(tmp_path: Path) -> None:
    write(tmp_path / "release" / "META", MRCONSO=HEART)
    renamed = tmp_path / "names.txt"
    renamed.write_text(HEART[0] + "\n", encoding="utf-8")
    for path in (tmp_path / "release", tmp_path / "release" / "META" / "MRCONSO.RRF", renamed):
        assert FORMAT.recognises(path, "" if path.is_dir() else path.read_text(encoding="utf-8")), path
    assert read(renamed).names.column("text").to_pylist() == ["MI"]
    assert not FORMAT.recognises(tmp_path, "")
    assert not FORMAT.recognises(tmp_path / "x.tsv", "C0000001|heart attack||MI\n")
    assert find_format(VOCABULARY_FORMATS, tmp_path / "release", "rrf") is FORMAT
