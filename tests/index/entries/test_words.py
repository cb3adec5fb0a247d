"""The words of an index's names, and which of them a misspelt one is."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.index.entries import words as module
from nymlink.index.entries.words import Words
from nymlink.text.spelling import is_slip

NAMES = st.lists(
    st.lists(st.text("aбc", min_size=1, max_size=6), min_size=1, max_size=3).map(" ".join), max_size=12
)


def of(*texts: str) -> Words:
    return Words(pa.array(sorted(texts), pa.large_string()))


def test_words_of_all_texts() -> None:
    words = of("heart attack", "panic attack", "flu")
    assert all(word in words for word in ("heart", "attack", "panic", "flu"))
    assert not any(word in words for word in ("heart attack", "fl", "flux", "", "h\ud800"))


def test_the_only_word_that_is_near() -> None:
    assert of("panic attack", "blood clot").correction("bolod") == "blood"
    assert of("blood", "bleed").correction("bloed") is None
    assert of("blood").correction("blood") is None
    assert of().correction("blood") is None


def test_another_ending_is_as_likely() -> None:
    assert of("anginin").correction("arginin") == "anginin"
    for other in ("arginine", "argini", "arginic"):
        assert of("anginin", other).correction("arginin") is None


@pytest.mark.parametrize("at_once", [1, 2, 1 << 18])
@given(names=NAMES, wrong=st.text("aбc", min_size=1, max_size=6))
def test_it_is_what_a_search_through_all_words_finds(at_once: int, names: list[str], wrong: str) -> None:
    known = {word for name in names for word in name.split(" ")}
    near = {word for word in known if is_slip(wrong, word)}
    rivals = {word for word in known if word.startswith(wrong[:-1]) and abs(len(word) - len(wrong)) <= 1}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_AT_ONCE", at_once)
        words = of(*names)
        assert words.correction(wrong) == (near.pop() if len(near) == 1 and not rivals else None)
        assert all(word in words for word in known)
