"""Names by their initials, against a loop that says the same."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.index.entries.words import Initials

SMALL = "a an and by for from in of on or the to with".split()

words = st.sampled_from([*SMALL, "heart", "attack", "oxygen", "été", "β", "2", "theory", "ofa"])
names = st.lists(words, min_size=1, max_size=8).map(" ".join)


def naive(texts: list[str], letters: str) -> list[int]:
    """Rows of names of two to seven words whose first letters these are, but for small words."""
    return [
        row
        for row, text in enumerate(texts)
        if 2 <= len(text.split()) <= 7
        and "".join(word[0] for word in text.split() if word not in SMALL) == letters
    ]


@given(st.lists(names, max_size=8), st.text("haoéβ2t", min_size=2, max_size=3))
def test_names_are_found_by_their_initials(texts: list[str], letters: str) -> None:
    initials = Initials(pa.array(texts, pa.large_string()))
    for asked in {letters, *("".join(word[0] for word in text.split()) for text in texts)}:
        assert initials.find(asked).tolist() == naive(texts, asked)


@pytest.mark.parametrize(
    ("letters", "found"), [("mi", [0, 2]), ("cd", [1]), ("sg", [4]), ("éd", [3]), ("de", []), ("h", [])]
)
def test_small_words_are_left_out(letters: str, found: list[int]) -> None:
    texts = ["myocardial infarction", "cause of the death", "mitral insufficiency", "éclat doigt"]
    texts += ["sjögren gougerot", "hemoptysis"]
    assert Initials(pa.array(texts, pa.large_string())).find(letters).tolist() == found
