"""RxNorm, on a small release in the columns of its technical documentation."""

from __future__ import annotations

from pathlib import Path

from tests.vocabulary.readers.umls.rrf_files import concept, names_of, row, write

from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.tables import Tables

CONSO = "RXCUI LAT TS LUI STT SUI ISPREF RXAUI SAUI SCUI SDUI SAB TTY CODE STR SRL SUPPRESS CVF".split()
REL = "RXCUI1 RXAUI1 STYPE1 REL RXCUI2 RXAUI2 STYPE2 RELA RUI SRUI SAB SL DIR RG SUPPRESS CVF".split()
SAB = (
    "VCUI RCUI VSAB RSAB SON SF SVER VSTART VEND IMETA RMETA SLC SCC SRL TFR CFR CXTY TTYL ATNL LAT CENC "
    "CURVER SABIN SSN SCIT"
).split()
WARFARIN, COUMADIN, TABLET, BRANDED = "11289", "202421", "855288", "855290"


def atom(rxcui: str, name: str, tty: str, sab: str = "RXNORM", code: str = "", suppress: str = "N") -> str:
    values = {
        "RXCUI": rxcui,
        "LAT": "ENG",
        "RXAUI": "1",
        "SAB": sab,
        "TTY": tty,
        "STR": name,
        "SUPPRESS": suppress,
    }
    return row(CONSO, {**values, "CODE": code or rxcui})


def relation(first: str, second: str, rela: str) -> str:
    kinds = {"RXCUI1": first, "STYPE1": "CUI", "REL": "RO", "RXCUI2": second, "STYPE2": "CUI", "RELA": rela}
    return row(REL, {**kinds, "RUI": "7", "SAB": "RXNORM", "SUPPRESS": "N"})


RELEASE = {
    "RXNCONSO": [
        atom(WARFARIN, "WARFARIN", "PT", "VANDF", "4019788"),
        atom(WARFARIN, "Warfarin", "IN", "DRUGBANK", "DB00682"),
        atom(WARFARIN, "warfarin", "IN"),
        atom(WARFARIN, "old warfarin", "SY", suppress="O"),
        atom(COUMADIN, "Coumadin", "BN"),
        atom(TABLET, "warfarin sodium 5 MG Oral Tablet", "SCD"),
        atom(TABLET, "warfarin sodium 5 MG Tab", "PSN"),
        atom(BRANDED, "warfarin sodium 5 MG Oral Tablet [Coumadin]", "SBD"),
        atom("99", "wholly obsolete", "IN", suppress="O"),
    ],
    "RXNREL": [
        # RXCUI2 RELA RXCUI1.
        relation(WARFARIN, COUMADIN, "tradename_of"),
        relation(TABLET, BRANDED, "tradename_of"),
        relation(TABLET, BRANDED, "isa"),
        row(REL, {"RXAUI1": "1", "STYPE1": "AUI", "REL": "SY", "RXAUI2": "2", "STYPE2": "AUI", "SAB": "VANDF"}),
    ],
    "RXNSTY": [f"{WARFARIN}|T121|A1.4.1.1.1|Pharmacologic Substance|AT1|256|"],
    "RXNCUI": [f"114194|200906|201001|1|{WARFARIN}|", f"{WARFARIN}|200412|201001|1|{WARFARIN}|"],
    "RXNSAB": [row(SAB, {"VSAB": "RXNORM_25AA_250106F", "RSAB": "RXNORM", "CURVER": "Y", "SABIN": "Y"})],
}


def read(path: Path, problems: Problems | None = None, *, suppressed: bool = False) -> Tables:
    reader = find_format(VOCABULARY_FORMATS, path)
    assert reader.name == "rxnorm"
    return reader.read(path, options=ReadOptions(suppressed=suppressed), problems=problems or Problems())


def test_reads_a_release(tmp_path: Path) -> None:
    write(tmp_path / "RxNorm_full" / "rrf", **RELEASE)
    problems = Problems()
    tables = read(tmp_path / "RxNorm_full", problems)
    assert problems.count == 0
    # An independent count: concepts with an atom that is not suppressed.
    live = {line.split("|")[0] for line in RELEASE["RXNCONSO"] if line.split("|")[16] == "N"}
    assert set(tables.concepts["id"].to_pylist()) == {f"RXNORM:{rxcui}" for rxcui in live}
    warfarin = concept(tables, f"RXNORM:{WARFARIN}")
    assert warfarin["semantic_types"] == ["Pharmacologic Substance"]
    assert warfarin["xrefs"] == ["VANDF:4019788", "DRUGBANK:DB00682"]
    assert concept(tables, f"RXNORM:{BRANDED}")["parents"] == [f"RXNORM:{TABLET}"]
    assert concept(tables, f"RXNORM:{TABLET}")["parents"] == []
    assert names_of(tables, f"RXNORM:{WARFARIN}") == [
        ("warfarin", "en", "preferred"),
        ("WARFARIN", "en", "exact"),
        ("Warfarin", "en", "exact"),
        ("Coumadin", "en", "tradename"),
    ]
    assert names_of(tables, f"RXNORM:{TABLET}")[0] == ("warfarin sodium 5 MG Oral Tablet", "en", "preferred")
    assert names_of(tables, f"RXNORM:{COUMADIN}")[0] == ("Coumadin", "en", "preferred")
    assert tables.redirects.to_pylist() == [{"old": "RXNORM:114194", "new": f"RXNORM:{WARFARIN}"}]
    assert tables.version == "RXNORM_25AA_250106F"


def test_suppressed_atoms_are_read_where_asked_for(tmp_path: Path) -> None:
    folder = write(tmp_path, RXNCONSO=RELEASE["RXNCONSO"])
    assert "RXNORM:99" in read(folder, suppressed=True).concepts["id"].to_pylist()
    single = read(folder / "RXNCONSO.RRF")
    assert len(single.concepts) == 4
