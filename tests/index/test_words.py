"""The words of an index's names, and which of them a misspelt one is."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.index import words as module
from nymlink.index.words import Words
from nymlink.text.slips import is_slip

NAMES = st.lists(
    st.lists(st.text("aбc", min_size=1, max_size=6), min_size=1, max_size=3).map(" ".join), max_size=12
)


def of(*texts: str) -> Words:
    return Words(pa.array(sorted(texts), pa.large_string()))


def test_words_of_all_texts() -> None:
    words = of("heart attack", "panic attack", "flu")
    assert all(word in words for word in ("heart", "attack", "panic", "flu"))
    assert not any(word in words for word in ("heart attack", "fl", "flux", "", "h\ud800"))


def test_the_commonest_of_several_then_the_first() -> None:
    assert of("blood clot", "bleed", "bleed again").nearest("bloed") == "bleed"
    assert of("blood", "bleed").nearest("bloed") == "bleed"
    assert of("blood").nearest("blood") is None
    assert of().nearest("blood") is None


@pytest.mark.parametrize("at_once", [1, 2, 1 << 20])
@given(names=NAMES, wrong=st.text("aбc", min_size=1, max_size=6))
def test_nearest_is_what_a_search_through_all_words_finds(at_once: int, names: list[str], wrong: str) -> None:
    counts = Counter(word for name in names for word in name.split(" "))
    near = sorted((-count, word) for word, count in counts.items() if is_slip(wrong, word))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_AT_ONCE", at_once)
        words = of(*names)
        assert words.nearest(wrong) == (near[0][1] if near else None)
        assert all(word in words for word in counts)
