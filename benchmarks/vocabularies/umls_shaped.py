"""Write files shaped like a UMLS release: same columns, sizes, repetition, languages; invented names.

The UMLS may not be redistributed, yet speed and memory must be measured at its size. Names are composed of parts
(``hypocardiopathy of the left ventricle, type 2``) so that they are as long and as similar as real ones: about one
row in eight repeats a string of its concept, one in fifty is a short name that many concepts share. The same
arguments give the same bytes.

    python benchmarks/vocabularies/umls_shaped.py OUT --concepts 4000000 --english 10000000 --other 5000000
        --seed 1
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

CONCEPTS_A_BLOCK = 100_000
FILES = (
    "MRCONSO.RRF|Concept names|CUI,LAT,TS,LUI,STT,SUI,ISPREF,AUI,SAUI,SCUI,SDUI,SAB,TTY,CODE,STR,SRL,SUPPRESS,CVF"
    "|18|0|0|\nMRSTY.RRF|Semantic types|CUI,TUI,STN,STY,ATUI,CVF|6|0|0|\n"
)


def parts(text: str, separator: str | None = None) -> list[str]:
    return text.split(separator)


MODIFIERS = parts(
    "|acute |chronic |congenital |recurrent |primary |secondary |familial |idiopathic |bilateral |juvenile "
    "|severe |mild |left |right |malignant |benign |diffuse |focal |drug-induced |postoperative |suspected "
    "|history of |structure of |entire |measurement of |excision of |biopsy of |product containing |absence of ",
    "|",
)
PREFIXES = parts(
    "|hyper|hypo|poly|peri|endo|micro|macro|neo|para|pseudo|anti|dys|iso|cyclo|tri|di|meth|chloro|fluoro|oxy", "|"
)
ROOTS = parts(
    "cardi neur hepat nephr gastr derm oste arthr my angi cephal pneum bronch enter col cyst rhin ot ophthalm "
    "retin kerat blephar gloss stomat dent gingiv laryng trache pleur thyr aden pancreat splen lymph hemat leuk "
    "thromb phleb arteri ventricul myel encephal mening spondyl chondr tendin burs fibr lip carcin sarc melan "
    "gli blast xanth eryth cyan morph typh malar strept staphyl salmonell candid asperg amoeb helminth fluor amin"
)
SUFFIXES = parts(
    "itis oma osis opathy ectomy ostomy oscopy ography algia emia uria ectasis omegaly oplasia otrophy ospasm "
    "orrhea ase ine ol ide ate amide azole mycin statin pril sartan mab genase toxin virus ella odes coccus aceae"
)
SITES = parts(
    "| of the heart| of the left ventricle| of the liver| of the upper limb| of the skin of the face| of the femur"
    "| of the spinal cord| of the small intestine| of the right kidney| of the retina| in pregnancy| in remission"
    "| due to trauma| due to infection| with complication| without obstruction| 10 MG oral tablet| 5 ML injection"
    "| [mass/volume] in serum or plasma| following vaccination| subspecies 3"
    "|, unspecified site, initial encounter for closed fracture",
    "|",
)
TAILS = parts(
    "||||||, NOS| (disorder)| (procedure)| (substance)| [Ambiguous]| type 1| type 2| type 3A| syndrome| gene", "|"
)
SHORT = [a + b + c for a in "ABCDHMPST" for b in "AEIDMRS" for c in ("", "D", "S", "T", "1", "2")]
ENGLISH_SOURCES = parts("SNOMEDCT_US MTH MSH NCI NCBI RXNORM LNC MDR CHV ICD10CM OMIM FMA GO HPO MEDCIN")
ENGLISH_TYPES = parts("PT SY FN PN ET LLT MH NM SCN IN LN AB ACR BN SBD")
# Language, source, share of rows, syllables, last syllables.
OTHER = (
    ("SPA", "SCTSPA", 30, "", "itis|oma|osis de la mano|emia crónica|ía del corazón|ectomía (procedimiento)"),
    ("FRE", "MSHFRE", 9, "", "ite aiguë|ome|ose du foie|opathie héréditaire|émie"),
    ("GER", "MDRGER", 9, "", "itis|om der Lunge|ose, nicht näher bezeichnet|störung|krankheit"),
    ("DUT", "MDRDUT", 8, "", "itis|oom van de huid|ose, niet gespecificeerd|ziekte"),
    ("POR", "MDRPOR", 9, "", "ite aguda|oma|ose do fígado|opatia congênita"),
    ("ITA", "MDRITA", 8, "", "ite|oma del polmone|osi|opatia ereditaria"),
    ("RUS", "MSHRUS", 7, "кардио нейро гепато нефро гастро дермо остео мио ангио", "ит|ома|оз|патия|эмия"),
    ("JPN", "MDRJPN", 9, "心 肝 腎 胃 皮膚 骨 神経 血管 慢性 急性", "炎|腫瘍|症|障害|症候群"),
    ("CHI", "MDRCHI", 4, "心脏 肝 肾 胃 皮肤 骨 神经 血管 慢性 急性", "炎|肿瘤|病|综合征"),
    ("KOR", "MDRKOR", 3, "심장 간 신장 위 피부 뼈 신경 혈관 만성 급성", "염|종양|증|장애"),
    ("CZE", "MDRCZE", 4, "", "itida|om jater|óza|opatie"),
)  # fmt: skip
TYPES = (
    "T047|B2.2.1.2.1|Disease or Syndrome T033|A2.2|Finding T061|B1.3.1.3|Therapeutic or Preventive Procedure "
    "T109|A1.4.1.2.1|Organic Chemical T121|A1.4.1.1.1|Pharmacologic Substance T200|A1.3.3|Clinical Drug "
    "T023|A1.2.3.1|Body Part, Organ, or Organ Component T204|A1.1.3|Eukaryote T007|A1.1.2|Bacterium "
    "T191|B2.2.1.2.1.2|Neoplastic Process T028|A1.2.3.5|Gene or Genome T201|A2.3.1|Clinical Attribute"
).replace(" T", "\nT").split("\n")  # fmt: skip


def pick(random: np.random.Generator, choices: Sequence[str], count: int, *, skew: float = 1.0) -> pa.Array:
    """Draw ``count`` of the choices; with a larger ``skew`` the first ones more often."""
    return pa.array(choices).take(pa.array((random.random(count) ** skew * len(choices)).astype(np.int32)))


def number(letter: str, values: Any, width: int) -> pa.Array:
    return join(letter, pc.utf8_lpad(pa.array(values).cast(pa.string()), width, "0"))


def join(*columns: Any) -> pa.Array:
    return pc.binary_join_element_wise(*columns, "")


def write_rows(file: IO[bytes], *columns: Any) -> None:
    rows = pc.binary_join_element_wise(*columns, "\n", "|")
    # An Arrow string array stores its strings end to end, as in the file.
    _, offsets, text = rows.buffers()
    file.write(memoryview(text)[: np.frombuffer(offsets, np.int32)[len(rows)]])


def english_names(random: np.random.Generator, base: Any) -> pa.Array:
    """Make a name for each row; rows with equal ``base`` (a number for each concept) share its stem."""
    count = len(base)
    stem = join(
        pa.array(PREFIXES).take(pa.array(base % len(PREFIXES))),
        pa.array(ROOTS).take(pa.array(base // 7 % len(ROOTS))),
        "o",
        pa.array(ROOTS).take(pa.array(base // 577 % len(ROOTS))),
        pa.array(SUFFIXES).take(pa.array(base // 41 % len(SUFFIXES))),
        pa.array(SITES).take(pa.array(base // 911 % len(SITES))),
    )
    name = join(pick(random, MODIFIERS, count, skew=2.0), stem, pick(random, TAILS, count))
    style = random.random(count)
    name = pc.if_else(pa.array(style < 0.4), pc.utf8_capitalize(name), name)
    name = pc.if_else(pa.array(style > 0.97), pc.utf8_upper(name), name)
    return pc.if_else(pa.array((style > 0.4) & (style < 0.42)), pick(random, SHORT, count), name)


def other_names(random: np.random.Generator, base: Any, language: Any) -> pa.Array:
    latin = join(
        pa.array(PREFIXES).take(pa.array(base % len(PREFIXES))),
        pa.array(ROOTS).take(pa.array(base // 7 % len(ROOTS))),
    )
    name = pa.nulls(len(base), pa.string())
    for index, (_, _, _, syllables, endings) in enumerate(OTHER):
        here = language == index
        count = int(here.sum())
        ending = pick(random, endings.split("|"), count)
        if syllables:
            stems = syllables.split()
            made = join(*(pick(random, stems, count) for _ in range(3)), ending)
        else:
            made = join(latin.filter(pa.array(here)), ending, pick(random, ["", "", "", " 1", " 2", " A"], count))
        name = pc.replace_with_mask(name, pa.array(here), made)
    return name


def repeat_some(random: np.random.Generator, name: pa.Array, first: Any) -> tuple[pa.Array, Any]:
    """Repeat in one row of eight the name of the row before; returns the names and a mask of such rows."""
    again = ~first & (random.random(len(first)) < 0.125)
    again[1:] &= ~again[:-1]
    source = np.arange(len(first)) - again
    return name.take(pa.array(source)), again


def write_block(
    random: np.random.Generator, file: IO[bytes], concept: Any, *, atom: int, names: tuple[int, int]
) -> None:
    """Write the rows of some concepts: ``names`` are their numbers of English and other names."""
    english = np.concatenate([concept, random.choice(concept[: len(concept) // 2 + 1], names[0] - len(concept))])
    named = concept[random.random(len(concept)) < 0.2]
    other = random.choice(named if len(named) else concept, names[1])
    owner = np.concatenate([english, other])
    share = np.array([row[2] for row in OTHER], float)
    language = np.concatenate(
        [np.full(names[0], -1), np.sort(random.choice(len(OTHER), names[1], p=share / share.sum()))]
    )
    order = np.lexsort((language, owner))
    owner, language = owner[order], language[order]
    first = np.ones(len(owner), bool)
    first[1:] = (owner[1:] != owner[:-1]) | (language[1:] != language[:-1])
    foreign = language >= 0
    base = owner * 2654435761 % 1_000_000_007
    name = english_names(random, base)
    name = pc.replace_with_mask(name, pa.array(foreign), other_names(random, base[foreign], language[foreign]))
    name, again = repeat_some(random, name, first)
    count = len(owner)
    lat = pa.array(["ENG", *(row[0] for row in OTHER)]).take(pa.array(language + 1))
    sources = pa.array(["", *(row[1] for row in OTHER)]).take(pa.array(language + 1))
    source = pc.if_else(pa.array(foreign), sources, pick(random, ENGLISH_SOURCES, count, skew=2.0))
    code = number("", base * 7 % 100_000_000 + random.integers(0, 2, count), 8)
    code = pc.if_else(pc.equal(source, "MTH"), "NOCODE", code)
    flags = pa.array(["N", "O", "Y", "E"]).take(
        pa.array(np.where(random.random(count) < np.where(first, 0.005, 0.08), random.integers(1, 4, count), 0))
    )
    row = atom + np.arange(count)
    write_rows(
        file,
        number("C", owner, 7),
        lat,
        pc.if_else(pa.array(first | (random.random(count) < 0.3)), "P", "S"),
        number("L", row - again, 8),
        pc.if_else(pa.array(first | (random.random(count) < 0.5)), "PF", "VO"),
        number("S", row - again, 8),
        pc.if_else(pa.array(first | ~again), "Y", "N"),
        number("A", row, 8),
        "",
        code,
        "",
        source,
        pick(random, ENGLISH_TYPES, count, skew=2.0),
        code,
        name,
        "0",
        flags,
        "256",
    )


def write_types(random: np.random.Generator, file: IO[bytes], concept: Any) -> None:
    owner = np.repeat(concept, np.where(random.random(len(concept)) < 0.12, 2, 1))
    write_rows(
        file, number("C", owner, 7), pick(random, TYPES, len(owner), skew=1.5), number("AT", owner * 3, 9), "256"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--concepts", type=int, default=4_000_000)
    parser.add_argument("--english", type=int, default=10_000_000, help="English rows, at least one a concept")
    parser.add_argument("--other", type=int, default=5_000_000, help="rows in other languages")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.english < arguments.concepts:
        parser.error("--english must be at least --concepts")
    random = np.random.default_rng(arguments.seed)
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "MRFILES.RRF").write_text(FILES, encoding="utf-8")
    with open(arguments.out / "MRCONSO.RRF", "wb") as atoms, open(arguments.out / "MRSTY.RRF", "wb") as types:
        for start in range(0, arguments.concepts, CONCEPTS_A_BLOCK):
            stop = min(start + CONCEPTS_A_BLOCK, arguments.concepts)
            english, other = (
                total * stop // arguments.concepts - total * start // arguments.concepts
                for total in (arguments.english, arguments.other)
            )
            done = (arguments.english + arguments.other) * start // arguments.concepts
            concept = np.arange(start, stop) + 1
            write_block(random, atoms, concept, atom=done, names=(english, other))
            write_types(random, types, concept)


if __name__ == "__main__":
    main()
