from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.text.rewriting import brackets, is_balanced

BRACKETS = st.text(st.sampled_from("()[]{}a "), max_size=40)


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("a (b) c", [(2, 4)]),
        ("(a [b] (c))", [(0, 10), (3, 5), (7, 9)]),
        ("(a", []),
        (") (a)", [(2, 4)]),
        ("([a)", [(0, 3)]),
        ("", []),
    ],
)
def test_examples(text: str, pairs: list[tuple[int, int]]) -> None:
    assert list(brackets(text)) == pairs


@given(BRACKETS)
def test_pairs_match_in_kind_and_never_cross(text: str) -> None:
    pairs = brackets(text)
    assert list(pairs) == sorted(pairs)
    for opening, closing in pairs:
        assert text[opening] + text[closing] in {"()", "[]", "{}"}
        for other_opening, other_closing in pairs:
            assert not opening < other_opening < closing < other_closing


@given(BRACKETS)
def test_balanced_means_that_taking_out_pairs_leaves_nothing(text: str) -> None:
    left = "".join(char for char in text if char in "()[]{}")
    while (shorter := left.replace("()", "").replace("[]", "").replace("{}", "")) != left:
        left = shorter
    assert is_balanced(text) == (left == "")


def test_many_brackets_without_partners_take_linear_time() -> None:
    assert brackets("(" * 200_000 + "]" * 200_000) == ()
