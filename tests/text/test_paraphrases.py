"""Other words for the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.text.normalise import normalise
from nymlink.text.paraphrases import paraphrases


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("cholestatic", "cholestasis"),
        ("cataleptic", "catalepsy"),
        ("hemorrhagic", "hemorrhage"),
        ("nephrotic", "nephrotic syndrome"),
        ("allergic", "allergy"),
        ("hypertensive", "hypertension"),
        ("hepatic failure", "liver failure"),
        ("liver failure", "hepatic failure"),
        ("cardiac dysfunction", "cardiac disease"),
        ("cardiac dysfunction", "heart disease"),
        ("skin lesions", "skin disorders"),
        ("sleep disturbance", "sleep disorder"),
        ("spinal cord lesions", "spinal cord diseases"),
        ("gastric lesion", "abnormality of the stomach"),
        ("renal disease", "kidney disease"),
        ("renal disease", "renal disorder"),
        ("nephropathy", "kidney disease"),
        ("encephalopathies", "brain diseases"),
        ("retinopathic", "retinopathy"),
        ("nephrotoxic", "nephrotoxicity"),
        ("nephrotoxicity", "nephropathy"),
        ("nephrotoxicity", "kidney disease"),
        ("hepatotoxic", "drug induced liver injury"),
        ("liver toxicity", "hepatotoxicity"),
        ("neurological toxicity", "neurotoxicity"),
        ("diabetic", "diabetes"),
        ("embolic events", "embolism"),
        ("hypoglycemic episodes", "hypoglycemia"),
        ("cognitive deficits", "cognition disorders"),
        ("growth retardation", "growth disorder"),
        ("auditory toxicity", "hearing disorder"),
        ("visual disorder", "vision disorder"),
        ("ototoxicity", "hearing disorder"),
        ("impaired cognitive function", "cognition disorder"),
        ("impaired renal function", "kidney disease"),
        ("decreased renal function", "renal insufficiency"),
        ("hepatic impairment", "liver insufficiency"),
        ("autosomal recessive disorder", "genetic disease"),
        ("autosomal dominant disorder", "genetic disease"),
        ("dominantly inherited condition", "hereditary disease"),
        ("sporadic retinoblastoma", "retinoblastoma"),
        ("prostatic adenocarcinoma", "prostatic cancer"),
        ("malignancy", "cancer"),
        ("cardiovascular malformations", "cardiovascular abnormalities"),
        ("enzymopathy", "inborn errors of metabolism"),
        ("immune deficiencies", "immunodeficiency disease"),
    ],
)
def test_other_words_are_among_them(text: str, other: str) -> None:
    assert other in set(paraphrases(text))


def test_the_likeliest_comes_first() -> None:
    found = list(paraphrases("hepatic toxicity"))
    assert found.index("hepatotoxicity") < found.index("drug induced liver injury") < found.index("liver disease")
    # "Heart abnormalities" are malformations.
    found = list(paraphrases("cardiac abnormalities"))
    assert found.index("heart disease") < found.index("heart abnormalities")
    found = list(paraphrases("renal disease"))
    assert found.index("kidney disease") < found.index("renal disorder")
    found = list(paraphrases("lung adenocarcinoma"))
    assert found.index("lung carcinoma") < found.index("lung cancer")


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("neuropathy", "nervous system disease"),
        ("neurotoxicity", "nervous system disease"),
        ("cardiomyopathy", "heart disease"),
        ("metabolic", "metabolic syndrome"),
        ("optic", "optia"),
        ("hemorrhagic complications", "hemorrhagic disorders"),
        ("granulomatous lesions", "granulomatous disease"),
        ("motor neuron dysfunction", "motor neuron disease"),
        ("coronary artery abnormalities", "coronary artery disease"),
        ("auditory dysfunction", "auditory disease"),
        ("dominant disorder", "genetic disease"),
        ("human disease", "genetic disease"),
        ("x linked disorder", "genetic disease"),
        ("autosomal dominant deafness", "genetic disease"),
        ("memory loss", "memory disorder"),
        ("toxic syndrome", "toxia"),
    ],
)
def test_what_is_something_else_is_not_among_them(text: str, other: str) -> None:
    assert other not in set(paraphrases(text))


def test_an_injury_is_no_disease_of_any_kind() -> None:
    assert list(paraphrases("kidney injury")) == ["renal injury"]


@given(st.text(max_size=40).map(normalise))
def test_they_are_few_and_normalised(text: str) -> None:
    found = list(paraphrases(text))
    assert len(found) < 50
    assert all(normalise(other) == other for other in found)
