"""Other words for the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.text.english.paraphrases import paraphrases
from nymlink.text.english.words import by_first_word, ordered_words, rows_of, words_of
from nymlink.text.normalise import normalise

PARTS = [word for _, *organ in rows_of("organ") for word in organ] + sorted(words_of("part"))
IMPAIRED = words_of("impaired", "something wrong with no part", "disease", "toxicity")
NO_PARTS = ("granulomatous", "metabolic", "sleep", "jaw")


@pytest.mark.parametrize(
    ("text", "other"),
    [
        # One for each rule; what the words of a list have in common is tested over the list.
        ("cholestatic", "cholestasis"),
        ("nephrotic", "nephrotic syndrome"),
        ("nephropathy", "kidney disease"),
        ("retinopathic", "retinopathy"),
        ("hepatotoxic", "drug induced liver injury"),
        ("liver toxicity", "hepatotoxicity"),
        ("ototoxicity", "hearing disorder"),
        ("peripheral neurotoxicity", "peripheral neuropathy"),
        ("embolic events", "embolism"),
        ("severe psychotic episodes", "severe psychosis"),
        ("thromboembolic complications", "thromboembolism"),
        ("impaired renal function", "kidney disease"),
        ("decreased renal function", "renal insufficiency"),
        ("autosomal dominant disorder", "genetic disease"),
        ("gait problems", "abnormal gait"),
        ("respiratory manifestations", "abnormality of the respiratory system"),
    ],
)
def test_other_words_are_among_them(text: str, other: str) -> None:
    assert other in set(paraphrases(text))


def test_all_words_for_an_organ_stand_for_each_other() -> None:
    for _, *organ in rows_of("organ"):
        for word in organ:
            found = set(paraphrases(f"{word} failure"))
            assert {f"{other} failure" for other in organ if other != word} <= found


def test_a_part_that_something_is_wrong_with_has_a_disease_or_an_abnormality() -> None:
    for part in PARTS:
        for head in words_of("something wrong"):
            assert {f"{part} disease", f"abnormality of the {part}"} <= set(paraphrases(f"{part} {head}"))
        for head in words_of("malformed", "changed"):
            assert f"abnormal {part} morphology" in set(paraphrases(f"{part} {head}"))


def test_a_function_that_is_impaired_has_a_disorder() -> None:
    for noun, *adjectives in rows_of("function"):
        for word in (noun, *adjectives):
            for head in IMPAIRED:
                found = list(paraphrases(f"{word} {head}"))
                assert {f"{one} disorder" for one in (noun, *adjectives)} - {f"{word} {head}"} <= set(found)


def test_an_adjective_becomes_the_nouns_of_the_first_end_that_fits() -> None:
    for end, *nouns in rows_of("adjective ending"):
        assert list(paraphrases(f"nosol{end}"))[-len(nouns) :] == [f"nosol{noun}" for noun in nouns]


def test_a_last_word_becomes_a_wider_one() -> None:
    for word, wider in by_first_word("wider").items():
        assert {f"nosal {other}" for other in wider} <= set(paraphrases(f"nosal {word}"))
    for part in ordered_words("not wider"):
        assert f"{part} carcinoma" not in set(paraphrases(f"{part} adenocarcinoma"))


def test_a_phrase_becomes_what_no_rule_makes_of_it() -> None:
    for phrase, others in by_first_word("phrase").items():
        assert set(others) <= set(paraphrases(phrase))


def test_the_likeliest_comes_first() -> None:
    found = list(paraphrases("hepatic toxicity"))
    assert found.index("hepatotoxicity") < found.index("drug induced liver injury") < found.index("liver disease")
    # "Heart abnormalities" are malformations.
    found = list(paraphrases("cardiac abnormalities"))
    assert found.index("heart disease") < found.index("heart abnormalities")
    found = list(paraphrases("renal disease"))
    assert found.index("kidney disease") < found.index("renal disorder")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        # The first of these names is what it becomes: a wider one only where there is none that says the same.
        ("autosomal dominant disorder", ["autosomal dominant disease", "genetic disease"]),
        ("monogenic disorder", ["monogenic disease", "genetic disease"]),
        ("lung adenocarcinoma", ["lung carcinoma", "lung cancer"]),
        ("pulmonary adenocarcinoma", ["lung adenocarcinoma", "pulmonary cancer"]),
        ("colon adenocarcinoma", ["adenocarcinoma of the colon", "colon cancer"]),
        ("sporadic retinoblastoma", ["retinoblastoma sporadic", "retinoblastoma"]),
        ("cognitive deficits", ["cognition disorder", "cognitive disorder"]),
        ("voice disturbance", ["voice disorder", "abnormality of the voice"]),
        ("impaired cognitive function", ["cognitive dysfunction", "cognition disorders"]),
        ("decreased hepatic function", ["hepatic impairment", "liver impairment", "hepatic insufficiency"]),
        ("ototoxicity", ["hearing disorder", "ear disease"]),
        ("heart malformations", ["cardiac malformations", "heart abnormality", "abnormal heart morphology"]),
        # What is wrong with it need not be its shape.
        ("heart problems", ["heart disease", "abnormality of the heart"]),
    ],
)
def test_what_says_the_same_comes_before_what_is_wider(text: str, names: list[str]) -> None:
    found = [other for other in dict.fromkeys(paraphrases(text)) if other in names]
    assert found == names


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("neuropathy", "nervous system disease"),
        ("neurotoxicity", "nervous system disease"),
        ("optic", "optia"),
        ("hemorrhagic complications", "hemorrhagic disorders"),
        ("dominant disorder", "genetic disease"),
        ("autosomal dominant deafness", "genetic disease"),
        ("memory loss", "memory disorder"),
        ("autosomal abnormality", "genetic disease"),
        ("sporadic disease", "disease"),
        ("impaired cardiac function", "abnormality of the heart"),
        ("heart findings", "heart abnormality"),
        ("reduced lung function", "lung insufficiency"),
        ("diabetic complications", "diabetes"),
        ("toxic syndrome", "toxia"),
    ],
)
def test_what_is_something_else_is_not_among_them(text: str, other: str) -> None:
    assert other not in set(paraphrases(text))


def test_what_gave_its_name_to_one_disease_has_no_other() -> None:
    for part in words_of("namesake"):
        for head in words_of("something wrong with no part"):
            assert {f"{part} disease", f"{part} disorder"}.isdisjoint(paraphrases(f"{part} {head}"))


def test_a_lesion_of_what_is_no_part_is_no_disease() -> None:
    for part in NO_PARTS:
        for head in words_of("something wrong") - words_of("something wrong with no part") - IMPAIRED:
            assert f"{part} disease" not in set(paraphrases(f"{part} {head}"))


def test_an_adjective_of_no_event_becomes_no_noun() -> None:
    for adjective in (*ordered_words("no event ending"), "metabolic", "neurologic", "endoscopic"):
        for event in words_of("event"):
            assert set(paraphrases(f"{adjective} {event}")).isdisjoint(paraphrases(adjective))


def test_an_injury_is_no_disease_of_any_kind() -> None:
    assert list(paraphrases("kidney injury")) == ["renal injury"]


ADJECTIVES = ("cholestatic", "hypertensive", "nephrotic", "toxic", "hereditary", "acute")
PARTS_OF_TEXTS = st.one_of(
    st.sampled_from(PARTS),
    st.sampled_from([word for function in rows_of("function") for word in function]),
    st.sampled_from(sorted(words_of("inheritance", "inherited"))),
    st.sampled_from(ADJECTIVES),
)
HEADS = st.sampled_from(
    sorted(
        {
            *words_of("something wrong"),
            *words_of("changed"),
            *words_of("malformed"),
            *IMPAIRED,
            *words_of("event"),
            *words_of("unnamed"),
            *by_first_word("wider"),
            "function",
            "failure",
        }
    )
)
BEFORE = st.sampled_from(("", *(f"{how} " for how in sorted(words_of("sporadic", "less", "wrong")))))
TEXTS = st.one_of(
    st.text(max_size=40).map(normalise),
    st.builds("{}{} {}".format, BEFORE, PARTS_OF_TEXTS, HEADS),
    st.sampled_from([f"{form}{end}" for form, *_ in rows_of("organ") for end in ("pathy", "toxicity", "toxic")]),
    st.sampled_from(sorted(by_first_word("phrase"))),
)


@given(TEXTS)
def test_they_are_few_and_normalised(text: str) -> None:
    found = list(paraphrases(text))
    assert len(found) < 100
    assert all(normalise(other) == other for other in found)
