"""What counts as one slip of the pen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.text.spelling import is_slip, may_be_misspelt

WORDS = st.text("abc", min_size=1, max_size=7)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("siezures", "seizures"),
        ("diabettes", "diabetes"),
        ("asprin", "aspirin"),
        ("flatulance", "flatulence"),
        ("abnoraml", "abnormal"),
    ],
)
def test_one_slip(wrong: str, right: str) -> None:
    assert is_slip(wrong, right)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("ethanol", "methanol"),
        ("bethanol", "methanol"),
        ("thrombi", "thrombin"),
        ("calfs", "calf"),
        ("anginal", "angina"),
        ("arthritus", "arthritic"),
        ("hypotension", "hypertension"),
        ("pain", "pain"),
        ("", ""),
        ("a", ""),
    ],
)
def test_no_slip(wrong: str, right: str) -> None:
    assert not is_slip(wrong, right)


@given(WORDS, WORDS)
def test_a_slip_is_one_edit_after_the_first_letter_and_not_of_the_last_alone(wrong: str, right: str) -> None:
    edits = {wrong[:i] + wrong[i + 1 :] for i in range(len(wrong))}
    edits |= {wrong[:i] + letter + wrong[i + 1 :] for i in range(len(wrong)) for letter in "abc"}
    edits |= {wrong[:i] + letter + wrong[i:] for i in range(len(wrong) + 1) for letter in "abc"}
    edits |= {wrong[:i] + wrong[i + 1] + wrong[i] + wrong[i + 2 :] for i in range(len(wrong) - 1)}
    alike = wrong == right or wrong[0] != right[0] or wrong[:-1] in (right, right[:-1]) or wrong == right[:-1]
    assert is_slip(wrong, right) == (right in edits and not alike)


@pytest.mark.parametrize("word", ["siezures", "médico", "болезнь", "νόσημα"])
def test_words_that_may_be_misspelt(word: str) -> None:
    assert may_be_misspelt(word)


@pytest.mark.parametrize("word", ["", "fevre", "cd4count", "心筋梗塞症", "التهاب", "심근경색증", "h\ud800spital"])
def test_words_that_may_not(word: str) -> None:
    assert not may_be_misspelt(word)
