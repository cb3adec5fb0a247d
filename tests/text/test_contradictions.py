"""What contradicts a name: opposites, negations, numerals; and the table that says which words are opposites."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from importlib.resources import files
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.text.contradictions import contradiction
from nymlink.text.normalise import normalise

TABLE = files("nymlink.text").joinpath("data/opposites.tsv").read_text(encoding="utf-8")
ROWS = list(csv.DictReader(TABLE.splitlines(), delimiter="\t"))
SIDES = {"word", "amount", "prefix", "amount prefix", "suffix", "written out"}
PLAIN = {
    "negation",
    "negation at the end",
    "beside",
    "negation with preposition",
    "preposition",
    "absence",
    "kind named like an absence",
    "normal",
    "wrong",
    "species",
    "no amount prefix",
    "passed over",
    "joined",
}


def kind(query: str, name: str, *others: str, language: str | None = "en") -> str | None:
    found = contradiction(normalise(query), normalise(name), map(normalise, others), language=language)
    return None if found is None else found.kind


def sides(row: dict[str, str]) -> list[list[str]]:
    """Split the sides of a row into words; the beginning of a word counts as a word."""
    return [[word.removesuffix("*") for word in side.split()] for side in row["sides"].split("|")]


def opposite_words() -> Iterator[tuple[str, str, str]]:
    """Pairs of words of two sides of a group, those with prefixes and suffixes made of a word there is not."""
    for row in ROWS:
        if row["kind"] not in SIDES - {"written out"}:
            continue
        language = row["language"]
        for side, other in combinations(sides(row), 2):
            for one in side:
                for two in other:
                    if row["kind"] == "suffix":
                        yield language, f"quolde{one}", f"quolde{two}"
                    else:
                        made = "" if row["kind"] in ("word", "amount") else "quolde"
                        yield language, one.removesuffix("+") + made, two.removesuffix("+") + made


OPPOSITES = sorted(set(opposite_words()))


@pytest.mark.parametrize(
    ("query", "name", "expected"),
    [
        ("macrohematuria", "Microhematuria", "opposite"),
        ("normal hearing", "Abnormal hearing", "opposite"),
        ("hyponatremia", "Hypernatremia", "opposite"),
        ("decreased potassium", "Hyperkalemia", "opposite"),
        ("low blood pressure", "Hypertension", "opposite"),
        ("thrombocytosis", "Thrombocytopenia", "opposite"),
        ("painless bladder", "Painful bladder", "opposite"),
        ("typical pneumonia", "Pneumonia, atypical", "opposite"),
        ("Hodgkin lymphoma", "Non-Hodgkin lymphoma", "opposite"),
        ("glucose tolerance", "Glucose intolerance", "opposite"),
        ("afebrile", "Fever", "opposite"),
        ("LDL cholesterol increased", "HDL cholesterol increased", "opposite"),
        ("no cough", "Cough", "negation"),
        ("cough", "No cough", "negation"),
        ("denies chest pain", "Chest pain", "negation"),
        ("symptom free", "Symptom", "negation"),
        ("normal hearing", "Hearing impairment", "normality"),
        ("diabetes type 1", "Diabetes type 2", "numeral"),
        ("stage III", "Stage IV", "numeral"),
        ("stage IIIa", "stage 3b", "numeral"),
        ("factor V deficiency", "Factor VII deficiency", "numeral"),
        ("second degree burn", "First-degree burn", "numeral"),
        ("deletion of chromosome 4p", "deletion of chromosome 4q", "numeral"),
        ("alpha thalassemia", "β-thalassemia", "numeral"),
        ("hepatitis C", "Hepatitis B", "numeral"),
    ],
)
def test_what_contradicts(query: str, name: str, expected: str) -> None:
    assert kind(query, name) == expected
    if expected in ("opposite", "numeral"):
        assert kind(name, query) == expected


@pytest.mark.parametrize(
    ("language", "query", "name", "expected"),
    [
        ("es", "fiebre baja", "Fiebre alta", "opposite"),
        ("de", "Kalium erniedrigt", "Kalium erhöht", "opposite"),
        ("de", "kein Fieber", "Fieber", "negation"),
        ("de", "kein Fieber", "Fever", "negation"),
        ("pt", "sem febre", "Febre", "negation"),
        ("pt", "dor no peito", "Dor de peito", None),
        ("pt", "trombose no coração", "Trombose do coração", None),
        (None, "dor no peito", "Dor de peito", None),
        (None, "Hypernatriämie", "Hyponatriämie", "opposite"),
        ("nl", "last ten gevolge van reuma", "last 9", None),
        ("ja", "diabetes type 2", "Diabetes type 1", "numeral"),
    ],
)
def test_words_count_in_their_language(language: str | None, query: str, name: str, expected: str | None) -> None:
    assert kind(query, name, language=language) == expected


@pytest.mark.parametrize(
    ("language", "query", "name", "expected"),
    [
        ("fr", "Philtrum étroit", "Wide philtrum", "opposite"),
        ("fr", "Philtrum large", "Wide philtrum", None),
        ("es", "Aumento de la tinción muscular", "Decreased muscle staining", "opposite"),
        ("de", "erhöhter Hirndruck", "Increased intracranial pressure", None),
        ("de", "verminderte Knochendichte", "Increased bone density", "opposite"),
        ("ru", "левосторонняя грыжа", "Right inguinal hernia", "opposite"),
        ("cs", "snížená hladina cholesterolu", "Increased cholesterol level", "opposite"),
        ("tr", "kulak küçüklüğü", "Large ear", "opposite"),
        ("es", "sin fiebre", "Fever", "negation"),
        ("es", "sin fiebre", "Absence of fever", None),
        ("es", "talla normal", "Tall stature", "normality"),
        ("it", "diabete tipo 2", "Type 1 diabetes", "numeral"),
        # Words count in their own language: English "large" says the size.
        ("fr", "petit nez", "Large nose", "opposite"),
        ("es", "nariz larga", "Large nose", None),
    ],
)
def test_words_of_a_query_contradict_names_in_another_language(
    language: str, query: str, name: str, expected: str | None
) -> None:
    found = contradiction(normalise(query), normalise(name), language=language, name_language="en")
    assert (None if found is None else found.kind) == expected


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("hypokalemia", "decreased potassium"),
        ("hypochondriasis", "increased worry"),
        ("impaired glucose tolerance", "Glucose intolerance"),
        ("lack of sleep", "no sleep"),
        ("not able to walk", "Inability to walk"),
        ("non-productive cough", "Cough without sputum"),
        ("nonHodgkin lymphoma", "Non-Hodgkin lymphoma"),
        ("free of symptoms", "symptom free"),
        ("normal weight", "Healthy weight"),
        # Who says both contradicts neither.
        ("left and right ventricle", "right ventricle"),
        ("low back pain", "back pain"),
        ("diabetes", "diabetes type 2"),
        ("type II", "type 2"),
        ("third nerve palsy", "3rd nerve palsy"),
        # An "i" is a numeral, or a letter.
        ("type I", "type 1a"),
        ("type 5b", "type V"),
        ("a fracture", "fracture d"),
    ],
)
def test_what_contradicts_nothing(query: str, name: str) -> None:
    assert kind(query, name) is None
    if " without " not in f" {name} ":
        assert kind(name, query) is None


def test_another_name_that_says_the_same_takes_it_back() -> None:
    assert kind("decreased sodium", "Hypernatremia", "Sodium increased") == "opposite"
    assert kind("decreased sodium", "increased water", "Low sodium") is None
    assert kind("no cough", "Cough", "Cough absent") is None
    assert kind("type 2", "type 1", "type 3") == "numeral"
    assert kind("type 2", "type 1", "noninsulin dependent type II") is None
    assert kind("type V", "type 7", "type 5") is None
    assert kind("normal hearing", "Hearing", "Hearing intact") is None


def test_both_sides_are_told() -> None:
    def text(query: str, name: str) -> str:
        return str(contradiction(query, name, language="en"))

    assert text("decreased weight", "increased weight") == "'decreased', but 'increased' in the name"
    assert text("no cough", "cough") == "'no' is not in the name"
    assert text("factor v", "factor vii") == "'factor v', but 'factor vii' in the name"
    assert text("diabetes type 2", "type i diabetes") == "'type 2', but 'type i' in the name"
    assert text("second degree burn", "burn 1") == "'second', but 'burn 1' in the name"


@given(st.sampled_from(OPPOSITES), st.sampled_from(["", "blood glucose", "zeh links und rechts"]), st.booleans())
def test_opposites_contradict_each_other_both_ways(pair: tuple[str, str, str], rest: str, last: bool) -> None:
    language = "en" if pair[0] == "und" else pair[0]
    one, other = (" ".join(filter(None, [rest, word] if last else [word, rest])) for word in pair[1:])
    assert contradiction(one, one, language=language) is None
    assert kind(one, other, language=language) == kind(other, one, language=language) == "opposite"


@given(st.lists(st.sampled_from([word for pair in OPPOSITES for word in pair[1:]]), min_size=1, max_size=4))
def test_the_order_of_words_contradicts_nothing(words: list[str]) -> None:
    assert contradiction(" ".join(words), " ".join(reversed(words)), language="en") is None


class TestTable:
    def test_rows_are_of_known_kinds_and_languages(self) -> None:
        assert {row["kind"] for row in ROWS} == SIDES | PLAIN
        assert {row["language"] for row in ROWS} == {"und", *"cs de en es fi fr it nb nl pt ru tr".split()}
        assert all(row["why"] for row in ROWS)
        # Prefixes are opposites of the words for amounts.
        [amount] = [row["sides"] for row in ROWS if row["kind"] == "amount" and row["language"] == "en"]
        assert {"increased", "low"} < set(amount.split())

    def test_no_word_is_on_two_sides(self) -> None:
        for row in ROWS:
            words = [word for side in sides(row) for word in side]
            assert len(words) == len(set(words)), row
            assert all(word == "+" or normalise(word) == word for word in words), row
            assert (len(sides(row)) > 1) == (row["kind"] in SIDES), row
            assert all(sides(row)), row

    def test_no_row_is_there_twice(self) -> None:
        assert len({tuple(row.values()) for row in ROWS}) == len(ROWS)

    def test_a_group_is_there_once_in_a_language_and_has_the_sides_of_its_english_row(self) -> None:
        groups = [row for row in ROWS if row["kind"] in ("word", "amount")]
        english = {row["why"]: row for row in groups if row["language"] == "en"}
        assert len({(row["language"], row["why"]) for row in groups}) == len(groups)
        for row in groups:
            assert len(sides(row)) <= len(sides(english[row["why"]])), row
            assert row["kind"] == english[row["why"]]["kind"], row


@pytest.mark.parametrize(
    ("query", "name", "others"),
    [
        # A synonym with a denying word of its own, or another word of the same side, takes nothing back.
        ("no cardiac insufficiency", "cardiac insufficiency", ["heart failure"]),
        ("no renal insufficiency", "renal insufficiency", ["kidney failure"]),
        ("not mute", "mutism", ["inability to speak"]),
        ("migraine sans aura", "migraine with aura", ["migraine aura without headache"]),
        ("increased bone density", "decreased bone density", ["increased fracture risk"]),
        ("high blood pressure", "low blood pressure", ["high altitude hypotension"]),
        # What is denied is another word.
        ("no migraine", "migraine without aura", []),
        ("free of headache", "headache", []),
        ("ruled out pneumonia", "pneumonia", []),
        ("pneumonia was ruled out", "pneumonia", []),
        ("r o stroke", "stroke", []),
        ("doesn t have fever", "fever", []),
        ("fever", "illness without fever", []),
        ("hypernatremia", "hypernatremia non human animal", []),
    ],
)
def test_only_a_name_that_says_the_query_takes_it_back(query: str, name: str, others: list[str]) -> None:
    assert contradiction(query, name, others, language="en") is not None


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("other chest pain not elsewhere classified", "chest pain"),
        ("chest pain not otherwise specified", "chest pain"),
        ("type 2 diabetes mellitus without complications", "type 2 diabetes mellitus"),
        ("absent radius", "aplasia of the radius"),
        ("no hearing", "hearing loss"),
        ("thyroxine free", "thyroxine"),
        ("free thyroxine", "thyroxine free"),
        ("ici 204 636", "ici204636"),
        ("kidney agenesis", "absent kidney"),
    ],
)
def test_the_same_said_otherwise_is_none(query: str, name: str) -> None:
    assert contradiction(query, name) is None
