"""What tests of the UMLS reader write and read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nymlink.core.problems import Problems
from nymlink.vocabulary.concepts import ReadOptions
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
