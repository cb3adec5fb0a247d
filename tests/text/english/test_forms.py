"""Other regular forms of a name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.text.english.forms import forms
from nymlink.text.normalise import normalise


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("anaemia", "anemia"),
        ("anaemias", "anemia"),
        ("oesophageal tumour", "esophageal tumor"),
        ("leucocytoclastic vasculitis", "leukocytoclastic vasculitis"),
        ("hip fracture", "hip fractures"),
        ("idiopathic generalized epilepsies", "idiopathic generalized epilepsy"),
        ("epilepsy", "epilepsies"),
        ("inborn error of metabolism", "inborn errors of metabolism"),
        ("metastases", "metastasis"),
        ("metastasis", "metastases"),
        ("abscesses", "abscess"),
        ("abscess", "abscesses"),
        ("scotomata", "scotoma"),
        ("fistulae", "fistula"),
        ("headaches", "headache"),
        ("arrhythmias", "arrhythmia"),
        ("kinases", "kinase"),
    ],
)
def test_regular_forms_are_among_them(text: str, form: str) -> None:
    assert form in set(forms(text))


@pytest.mark.parametrize("text", ["", "als", "ms", "aaa bb s"])
def test_short_words_have_none(text: str) -> None:
    assert list(forms(text)) == []


def test_a_description_has_none() -> None:
    assert list(forms("one two three four five six seven eight nine tumours")) == []


@given(st.text(max_size=40).map(normalise))
def test_forms_are_few_and_have_as_many_words(text: str) -> None:
    found = list(forms(text))
    assert len(found) <= 1 + 6 * len(text.split(" "))
    assert all(text.count(" ") == form.count(" ") for form in found)
