"""Other words for the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.text import medical_words as words
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
        ("psychomotor retardation", "psychomotor disorder"),
        ("heart condition", "heart disease"),
        ("severe psychotic episodes", "severe psychosis"),
        ("thromboembolic complications", "thromboembolism"),
        ("peripheral neurotoxicity", "peripheral neuropathy"),
        ("auditory dysfunction", "auditory disease"),
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
        ("foot anomalies", "abnormality of the foot"),
        ("ophthalmological findings", "abnormality of the eye"),
        ("respiratory manifestations", "abnormality of the respiratory system"),
        ("movement problems", "abnormality of movement"),
        ("gait problems", "abnormal gait"),
        ("nail changes", "abnormal nail morphology"),
        ("oral ulcers", "mouth ulcers"),
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
        ("cardiomyopathy", "heart disease"),
        ("metabolic", "metabolic syndrome"),
        ("optic", "optia"),
        ("hemorrhagic complications", "hemorrhagic disorders"),
        ("granulomatous lesions", "granulomatous disease"),
        ("motor neuron dysfunction", "motor neuron disease"),
        ("coronary artery abnormalities", "coronary artery disease"),
        ("dominant disorder", "genetic disease"),
        ("human disease", "genetic disease"),
        ("x linked disorder", "genetic disease"),
        ("autosomal dominant deafness", "genetic disease"),
        ("memory loss", "memory disorder"),
        ("autosomal abnormality", "genetic disease"),
        ("sporadic disease", "disease"),
        ("basal cell adenocarcinoma", "basal cell carcinoma"),
        ("personality condition", "personality disorder"),
        ("impaired mental function", "mental disorder"),
        ("impaired cardiac function", "abnormality of the heart"),
        ("impaired cardiac function", "abnormal heart"),
        ("heart findings", "heart abnormality"),
        ("jaw lesions", "jaw abnormality"),
        ("metabolic changes", "metabolic disease"),
        ("coronary artery disease", "abnormal coronary artery morphology"),
        ("reduced lung function", "lung insufficiency"),
        ("diabetic complications", "diabetes"),
        ("metabolic symptoms", "metabolism"),
        ("neurologic events", "neurology"),
        ("endoscopic lesions", "endoscopy"),
        ("narcotic events", "narcosis"),
        ("toxic syndrome", "toxia"),
    ],
)
def test_what_is_something_else_is_not_among_them(text: str, other: str) -> None:
    assert other not in set(paraphrases(text))


def test_an_injury_is_no_disease_of_any_kind() -> None:
    assert list(paraphrases("kidney injury")) == ["renal injury"]


ADJECTIVES = ("cholestatic", "hypertensive", "nephrotic", "toxic", "hereditary", "acute")
PARTS_OF_TEXTS = st.one_of(
    st.sampled_from(sorted(words.PARTS)),
    st.sampled_from([word for _, *organ in words.ORGANS for word in organ]),
    st.sampled_from([word for function in words.FUNCTIONS for word in function]),
    st.sampled_from(sorted(words.INHERITANCE)),
    st.sampled_from(ADJECTIVES),
)
HEADS = st.sampled_from(
    sorted(
        {
            *words.AILING,
            *words.CHANGED,
            *words.MISSHAPEN,
            *words.IMPAIRED,
            *words.EVENTS,
            *words.UNNAMED,
            *words.WIDER,
            "function",
            "failure",
        }
    )
)
BEFORE = st.sampled_from(("", *(f"{how} " for how in (words.SPORADIC, *words.LESS, *words.WRONG))))
TEXTS = st.one_of(
    st.text(max_size=40).map(normalise),
    st.builds("{}{} {}".format, BEFORE, PARTS_OF_TEXTS, HEADS),
    st.sampled_from([f"{form}{end}" for form, *_ in words.ORGANS for end in ("pathy", "toxicity", "toxic")]),
    st.sampled_from(sorted(words.PHRASES)),
)


@given(TEXTS)
def test_they_are_few_and_normalised(text: str) -> None:
    found = list(paraphrases(text))
    assert len(found) < 100
    assert all(normalise(other) == other for other in found)
