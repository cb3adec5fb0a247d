"""The UMLS reader: what it makes of each file, what it does with broken rows, and a naive twin at random."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nymlink.errors import InputError
from nymlink.formats import find_format
from nymlink.problems import Problems
from nymlink.vocabulary.model import KINDS
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.readers.umls import blocks, names
from nymlink.vocabulary.readers.umls.rrf import FORMAT
from nymlink.vocabulary.tables import Tables

CONSO = "CUI LAT TS LUI STT SUI ISPREF AUI SAUI SCUI SDUI SAB TTY CODE STR SRL SUPPRESS CVF".split()
REL = "CUI1 AUI1 STYPE1 REL CUI2 AUI2 STYPE2 RELA RUI SRUI SAB SL RG DIR SUPPRESS CVF".split()
USUAL = {"LAT": "ENG", "TS": "S", "STT": "VO", "ISPREF": "N", "SAB": "MSH", "TTY": "SY", "CODE": "NOCODE"}
BEST = {"TS": "P", "STT": "PF", "ISPREF": "Y"}


def row(columns: Iterable[str], values: dict[str, str]) -> str:
    return "".join(f"{values.get(column, '')}|" for column in columns)


def atom(cui: str, name: str, **values: str) -> str:
    return row(CONSO, {**USUAL, "SUPPRESS": "N", **values, "CUI": cui, "STR": name})


def relation(first: str, rel: str, second: str, rela: str = "", **values: str) -> str:
    return row(
        REL, {"SAB": "MSH", "SUPPRESS": "N", **values, "CUI1": first, "REL": rel, "CUI2": second, "RELA": rela}
    )


def write(folder: Path, **files: Iterable[str]) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    for name, rows in files.items():
        (folder / f"{name}.RRF").write_text("".join(f"{line}\n" for line in rows), encoding="utf-8")
    return folder


def read(path: Path, problems: Problems | None = None, **options: Any) -> Tables:
    return FORMAT.read(path, options=ReadOptions(**options), problems=Problems() if problems is None else problems)


def names_of(tables: Tables, cui: str) -> list[tuple[str, str, str]]:
    return [(n["text"], n["lang"], n["kind"]) for n in tables.names.to_pylist() if n["concept_id"] == cui]


def concept(tables: Tables, cui: str) -> dict[str, Any]:
    return next(c for c in tables.concepts.to_pylist() if c["id"] == cui)


HEART = [
    atom("C0027051", "MI", TTY="AB", CODE="D009203"),
    atom("C0027051", "Myocardial Infarction", TTY="MH", CODE="D009203", **BEST),
    atom("C0027051", "infarto de miocardio", LAT="SPA", SAB="MSHSPA", CODE="D009203", **BEST),
    atom("C0027051", "heart  attack ", SAB="HPO", CODE="HP:0001658"),
    atom("C0027051", "heart attack", SAB="CHV"),
    atom("C0027051", "Heart attack", SAB="SNOMEDCT_US", CODE="22298006"),
    atom("C0027051", "coronary occlusion", SAB="MTH", CODE="1", SUPPRESS="Y"),
]


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
    assert [(p.line, p.message) for p in problems.first] == [(1, "7 fields ended by a bar instead of 6")]
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


def broken_rows() -> tuple[bytes, list[tuple[int, bool, str]]]:
    good = [atom("C0000001", f"name {number}").encode() for number in range(4)]
    lines = [
        good[0],
        b"C0000002|ENG|",
        good[1] + b"\r",
        b"",
        good[2].replace(b"name", b"na\0me"),
        atom("C0000003", "Sjögren").encode("cp1252"),
        good[3].replace(b"name ", b"name\r"),
        atom("C0000004", "  ").encode(),
        atom("", "no concept").encode(),
        good[0] + b"rest",
        good[0][:-1],
        atom("C0000005", 'a "quote\' and \\ "').encode(),
        atom("C0000006", "last").encode(),
    ]
    return b"\n".join(lines), [
        (2, True, "2 fields ended by a bar instead of 18"),
        (5, True, "a NUL character in the row"),
        (6, False, "not UTF-8; read as Windows-1252"),
        (7, False, "a carriage return within the row; read as a space"),
        (8, True, "STR is blank"),
        (9, True, "CUI is blank"),
        (10, True, "text after the last bar"),
        (11, True, "17 fields ended by a bar instead of 18"),
    ]


@pytest.mark.parametrize("block", [1 << 20, 100, 7])
def test_broken_rows_are_told_by_line_and_the_rest_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", block)
    text, expected = broken_rows()
    (tmp_path / "MRCONSO.RRF").write_bytes(b"\xef\xbb\xbf" + text)
    problems = Problems()
    tables = read(tmp_path, problems)
    assert [(p.line, p.rejected, p.message) for p in problems.first] == expected
    assert (problems.rejected, problems.repaired) == (6, 2)
    kept = ["Sjögren", 'a "quote\' and \\ "', "last", "name 0", "name 1", "name 3"]
    assert sorted(tables.names.column("text").to_pylist()) == kept


def test_a_row_longer_than_arrow_parses_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_PARSE_BYTES", 64)
    problems = Problems()
    tables = read(write(tmp_path, MRCONSO=[*HEART, atom("C0000002", "x" * 10_000)]), problems)
    assert len(tables.names) == 6
    assert not problems.count


@pytest.mark.parametrize("block", [1 << 20, 50])
def test_compressed_crlf_and_parts_read_like_the_plain_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", block)
    plain = write(tmp_path / "plain", MRCONSO=HEART)
    text = (plain / "MRCONSO.RRF").read_bytes()
    expected = read(plain).names
    folders = {
        name: tmp_path / name / "META" for name in ("gz", "crlf", "parts", "at line end", "tiny", "members")
    }
    for folder in folders.values():
        folder.mkdir(parents=True)
    half = len(text) // 2
    (folders["gz"] / "MRCONSO.RRF.gz").write_bytes(gzip.compress(text))
    (folders["crlf"] / "MRCONSO.RRF").write_bytes(text.replace(b"\n", b"\r\n"))
    (folders["members"] / "MRCONSO.RRF.gz").write_bytes(gzip.compress(text[:half]) + gzip.compress(text[half:]))
    for name, cuts in {"parts": [half], "at line end": [text.index(b"\n") + 1], "tiny": [half, half + 3]}.items():
        ends = [0, *cuts, len(text)]
        for number, (start, stop) in enumerate(pairwise(ends)):
            part = folders[name] / f"MRCONSO.RRF.a{'abc'[number]}.gz"
            part.write_bytes(gzip.compress(text[start:stop]))
    for name, folder in folders.items():
        assert read(folder.parent).names == expected, name
    assert read(folders["gz"] / "MRCONSO.RRF.gz").names == expected
    assert read(folders["parts"] / "MRCONSO.RRF.aa.gz").names == expected


def test_line_numbers_count_within_each_part(tmp_path: Path) -> None:
    good = atom("C0000001", "good")
    (tmp_path / "MRCONSO.RRF.aa").write_text(f"{good}\nbad\n{good[:20]}")
    (tmp_path / "MRCONSO.RRF.ab.gz").write_bytes(gzip.compress(f"{good[20:]}|\nworse\n{good}\n".encode()))
    problems = Problems()
    read(tmp_path, problems)
    told = [(Path(p.path).name, p.line) for p in problems.first]
    assert told == [("MRCONSO.RRF.aa", 2), ("MRCONSO.RRF.aa", 3), ("MRCONSO.RRF.ab.gz", 2)]


def test_what_cannot_be_read_at_all(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no MRCONSO\.RRF"):
        read(write(tmp_path / "none", MRSTY=["x"]))
    cut = write(tmp_path / "cut", MRSTY=["C0000001|T|A|Virus|||"])
    rng = random.Random(0)
    text = "".join(atom("C0000001", rng.randbytes(40).hex()) + "\n" for _ in range(2000))
    (cut / "MRCONSO.RRF.gz").write_bytes(gzip.compress(text.encode())[:-1000])
    with pytest.raises(InputError, match=r"MRCONSO\.RRF\.gz: the compressed file is truncated"):
        read(cut)
    gap = write(tmp_path / "gap")
    for part in ("aa", "ac"):
        (gap / f"MRCONSO.RRF.{part}").write_text(atom("C0000001", "x") + "\n")
    with pytest.raises(InputError, match=r"part MRCONSO\.RRF\.ab is missing"):
        read(gap)
    with pytest.raises(InputError, match="no usable rows"):
        read(write(tmp_path / "other", MRCONSO=["a|b|", ""]))


def test_recognised_by_content(tmp_path: Path) -> None:
    write(tmp_path / "release" / "META", MRCONSO=HEART)
    renamed = tmp_path / "names.txt"
    renamed.write_text(HEART[0] + "\n")
    for path in (tmp_path / "release", tmp_path / "release" / "META" / "MRCONSO.RRF", renamed):
        assert FORMAT.recognises(path, "" if path.is_dir() else path.read_text()), path
    assert read(renamed).names.column("text").to_pylist() == ["MI"]
    assert not FORMAT.recognises(tmp_path, "")
    assert not FORMAT.recognises(tmp_path / "x.tsv", "C0000001|heart attack||MI\n")
    assert find_format(VOCABULARY_FORMATS, tmp_path / "release", "rrf") is FORMAT


# The twin: one row after the other, with dictionaries, as one would write it without thinking of speed.

TWIN_KINDS = {"AB": "abbreviation", "ACR": "abbreviation", "BN": "tradename", "SBD": "tradename"}
TWIN_LANGUAGES = {"ENG": "en", "SPA": "es", "JPN": "ja"}
TWIN_PREFIXES = {"MSH": "MESH", "MSHSPA": "MESH", "NCI": "NCIT", "HPO": "HP"}


def rows_of(folder: Path, name: str) -> list[list[str]]:
    text = (folder / f"{name}.RRF").read_text(encoding="utf-8")
    return [line.split("|") for line in text.split("\n") if line]


def twin(folder: Path, options: ReadOptions) -> tuple[dict[str, dict[str, Any]], list[tuple[str, str, str, str]]]:
    concepts: dict[str, dict[str, Any]] = {}
    own: dict[str, list[tuple[str, str, str, int]]] = {}
    for fields in rows_of(folder, "MRCONSO"):
        a = dict(zip(CONSO, fields, strict=False))
        if a["SUPPRESS"] in ("O", "E", "Y") and not options.suppressed:
            continue
        if options.sources is not None and a["SAB"] not in options.sources:
            continue
        entry = concepts.setdefault(
            a["CUI"], {"definition": None, "semantic_types": [], "xrefs": [], "parents": [], "rank": 9}
        )
        if a["SAB"] != "MTH" and a["CODE"] not in ("", "NOCODE"):
            curie = a["CODE"] if ":" in a["CODE"] else f"{TWIN_PREFIXES.get(a['SAB'], a['SAB'])}:{a['CODE']}"
            if curie not in entry["xrefs"]:
                entry["xrefs"].append(curie)
        lang = TWIN_LANGUAGES[a["LAT"]]
        if options.languages is not None and lang not in options.languages:
            continue
        if options.term_types is not None and a["TTY"] not in options.term_types:
            continue
        rank = 4 * (a["TS"] != "P") + 2 * (a["STT"] != "PF") + (a["ISPREF"] != "Y")
        kind = TWIN_KINDS.get(a["TTY"], "exact")
        own.setdefault(a["CUI"], []).append((" ".join(a["STR"].split()), lang, kind, rank))
    concepts = {cui: entry for cui, entry in concepts.items() if cui in own}
    for cui, _, _, sty, *_ in rows_of(folder, "MRSTY"):
        if cui in concepts and sty not in concepts[cui]["semantic_types"]:
            concepts[cui]["semantic_types"].append(sty)
    for cui, _, _, _, sab, text, suppress, *_ in rows_of(folder, "MRDEF"):
        if cui not in concepts or (suppress != "N" and not options.suppressed):
            continue
        if options.sources is not None and sab not in options.sources:
            continue
        rank = {"MSH": 0, "NCI": 1}.get(sab, 2)
        if rank < concepts[cui]["rank"]:
            concepts[cui].update(definition=text, rank=rank)
    borrowed: dict[str, dict[tuple[str, str], None]] = {"tradename": {}, "related": {}}
    for fields in rows_of(folder, "MRREL"):
        r = dict(zip(REL, fields, strict=False))
        one, two, rela = r["CUI1"], r["CUI2"], r["RELA"]
        if one == two or one not in concepts or two not in concepts:
            continue
        if (r["SUPPRESS"] != "N" and not options.suppressed) or r["SAB"] not in (options.sources or {r["SAB"]}):
            continue
        if rela in ("tradename_of", "has_tradename"):
            brand, generic = (two, one) if rela == "tradename_of" else (one, two)
            borrowed["tradename"][generic, brand] = borrowed["related"][brand, generic] = None
        elif r["REL"] in ("PAR", "CHD") or rela in ("isa", "inverse_isa"):
            up = r["REL"] == "PAR" or (r["REL"] != "CHD" and rela == "inverse_isa")
            child, parent = (one, two) if up else (two, one)
            if parent not in concepts[child]["parents"]:
                concepts[child]["parents"].append(parent)
    names = []
    for cui in concepts:
        taken = list(own[cui])
        for kind, pairs in borrowed.items():
            for taker, giver in pairs:
                if taker == cui:
                    taken += [(text, lang, kind, 9) for text, lang, _, _ in own[giver]]
        best: dict[str, int] = {}
        for _, lang, _, rank in taken:
            best[lang] = min(best.get(lang, 9), rank)
        found: dict[tuple[str, str], str] = {}
        for text, lang, kind, rank in taken:
            if rank < 8 and rank == best[lang]:
                best[lang], kind = -1, "preferred"
            known = found.get((text, lang), kind)
            found[text, lang] = min(known, kind, key=KINDS.index)
        place = [(kind != "preferred", kind == "preferred" and lang != "en") for (_, lang), kind in found.items()]
        listed = [(cui, text, lang, kind) for (text, lang), kind in found.items()]
        names += [name for _, name in sorted(zip(place, listed, strict=True), key=lambda pair: pair[0])]
    return concepts, names


def random_release(folder: Path, rng: random.Random, concepts: int, *, shuffled: bool) -> Path:
    cuis = [f"C{number:07}" for number in range(1, concepts + 1)]
    texts = ["heart", "heart ", "Heart", "a  b", "a b", "\u3000x\xa0y", "é", "心臓", "-", '"', "'q", "NULL", ""]
    conso = []
    for cui in cuis:
        for _ in range(rng.randint(1, 8)):
            text = rng.choice(texts) if rng.random() < 0.5 else f"name {rng.randrange(3 * concepts)}"
            conso.append(
                atom(
                    cui,
                    text if text else "nothing",
                    LAT=rng.choices(["ENG", "SPA", "JPN"], [6, 2, 1])[0],
                    TS=rng.choice("PS"),
                    STT=rng.choice(["PF", "VO"]),
                    ISPREF=rng.choice("YN"),
                    SAB=rng.choice(["MSH", "MSHSPA", "NCI", "MTH", "HPO", "SNOMEDCT_US", "CHV"]),
                    TTY=rng.choice(["SY", "PT", "AB", "BN", "SBD"]),
                    CODE=rng.choice(
                        ["NOCODE", "", "D1", "D2", "HP:1", *(str(rng.randrange(10**6)) for _ in "123")]
                    ),
                    SUPPRESS=rng.choices("NOEY", [12, 1, 1, 1])[0],
                )
            )
    if shuffled:
        rng.shuffle(conso)
    some = [*cuis, "C9999999"]
    rels, relas = (
        ["PAR", "CHD", "RO", "RB"],
        ["", "isa", "inverse_isa", "tradename_of", "has_tradename", "part_of"],
    )
    return write(
        folder,
        MRCONSO=conso,
        MRSTY=[f"{rng.choice(some)}|T|A|{rng.choice('ABC')}|||" for _ in range(concepts)],
        MRDEF=[
            f"{rng.choice(some)}|A|T||{rng.choice(['MSH', 'NCI', 'CHV'])}|text {number}|{rng.choice('NNO')}||"
            for number in range(concepts)
        ],
        MRREL=[
            relation(
                rng.choice(some),
                rng.choice(rels),
                rng.choice(some),
                rng.choice(relas),
                SUPPRESS=rng.choice("NNNY"),
                SAB=rng.choice(["MSH", "NCI"]),
            )
            for _ in range(2 * concepts)
        ],
    )


def assert_like_twin(folder: Path, options: ReadOptions) -> None:
    tables = FORMAT.read(folder, options=options, problems=Problems())
    concepts, names = twin(folder, options)
    got = {c.pop("id"): c for c in tables.concepts.to_pylist()}
    assert list(got) == list(concepts)
    for cui, entry in concepts.items():
        assert {key: got[cui][key] for key in entry if key != "rank"} == {
            k: v for k, v in entry.items() if k != "rank"
        }
    assert [(n["concept_id"], n["text"], n["lang"], n["kind"]) for n in tables.names.to_pylist()] == names


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        ReadOptions(),
        ReadOptions(suppressed=True),
        ReadOptions(languages=frozenset({"es", "ja"}), term_types=frozenset({"SY", "BN"})),
        ReadOptions(sources=frozenset({"MSH", "HPO"})),
    ],
)
def test_like_the_naive_twin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: ReadOptions, shuffled: bool
) -> None:
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", 50_000)
    monkeypatch.setattr(names, "_STRETCH", 3000)
    assert_like_twin(random_release(tmp_path, random.Random(1), 2000, shuffled=shuffled), options)


def test_like_the_naive_twin_in_one_stretch(tmp_path: Path) -> None:
    assert_like_twin(random_release(tmp_path, random.Random(2), 8000, shuffled=False), ReadOptions())


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="|\n\r\0")), min_size=1),
    block=st.integers(1, 400),
)
def test_any_text_survives(tmp_path_factory: pytest.TempPathFactory, texts: list[str], block: int) -> None:
    folder = write(tmp_path_factory.mktemp("rrf"), MRCONSO=[atom("C0000001", text) for text in texts])
    expected = dict.fromkeys(folded for text in texts if (folded := " ".join(text.split())))
    problems = Problems()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_BLOCK_BYTES", block)
        if not expected:
            with pytest.raises(InputError):
                read(folder, problems)
            return
        tables = read(folder, problems)
    assert tables.names.column("text").to_pylist() == list(expected)
    assert problems.rejected == sum(not text.split() for text in texts)
