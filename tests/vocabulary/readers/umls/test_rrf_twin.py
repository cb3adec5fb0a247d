"""The UMLS reader against a naive twin: one row after the other, with dictionaries, with no thought of speed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from tests.vocabulary.readers.umls.rrf_files import (
    CONSO,
    REL,
    atom,
    relation,
    write,
)

from nymlink.core.problems import Problems
from nymlink.vocabulary.concepts import KINDS, ReadOptions
from nymlink.vocabulary.readers import column_files
from nymlink.vocabulary.readers.umls import names
from nymlink.vocabulary.readers.umls.rrf import FORMAT

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
    monkeypatch.setattr(column_files, "_BLOCK_BYTES", 25_000)
    monkeypatch.setattr(names, "_BATCH", 1500)
    assert_like_twin(random_release(tmp_path, random.Random(1), 1000, shuffled=shuffled), options)


def test_like_the_naive_twin_in_one_stretch(tmp_path: Path) -> None:
    assert_like_twin(random_release(tmp_path, random.Random(2), 3000, shuffled=False), ReadOptions())
