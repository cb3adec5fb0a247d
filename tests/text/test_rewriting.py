from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.errors import InputError
from nymlink.text.rewriting import Replacement, Rewritten, rewrite


@st.composite
def rewritings(draw: st.DrawFn) -> tuple[str, list[Replacement]]:
    text = draw(st.text(max_size=40))
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=10)))
    replacements = []
    for start, end in zip(cuts[::2], cuts[1::2], strict=False):
        replacements.append(Replacement(start, end, draw(st.text(max_size=5))))
    return text, draw(st.permutations(replacements))


def naive(text: str, replacements: list[Replacement]) -> str:
    for one in sorted(replacements, reverse=True):
        text = text[: one.start] + one.text + text[one.end :]
    return text


@given(rewritings())
def test_text(case: tuple[str, list[Replacement]]) -> None:
    assert rewrite(*case).text == naive(*case)


@given(rewritings())
def test_kept_spans_are_found(case: tuple[str, list[Replacement]]) -> None:
    text, replacements = case
    new = rewrite(text, replacements)
    for offset, char in enumerate(text):
        if not any(one.start <= offset < one.end for one in replacements):
            start, end = new.span_to_new(offset, offset + 1)
            assert new.text[start:end].endswith(char)
            assert new.text[end - 1] == char


@given(rewritings())
def test_replaced_spans_are_found(case: tuple[str, list[Replacement]]) -> None:
    text, replacements = case
    new = rewrite(text, replacements)
    for replacement in replacements:
        for start in range(replacement.start, replacement.end):
            new_start, new_end = new.span_to_new(start, replacement.end)
            assert new.text[new_start:new_end] == replacement.text


@given(rewritings())
def test_offsets_keep_their_order(case: tuple[str, list[Replacement]]) -> None:
    new = rewrite(*case)
    to_new = [new.to_new(offset) for offset in range(len(case[0]) + 1)]
    assert to_new == sorted(to_new)
    assert set(to_new) <= set(range(len(new.text) + 1))


def test_nothing_replaced() -> None:
    same = Rewritten("abc", ())
    assert (same.text, same.to_new(3), same.span_to_new(1, 2)) == ("abc", 3, (1, 2))


@pytest.mark.parametrize(
    ("replacements", "message"),
    [
        ([Replacement(0, 2, "x"), Replacement(1, 3, "y")], "0-2 and 1-3 overlap"),
        ([Replacement(0, 2, "x"), Replacement(0, 2, "x")], "overlap"),
        ([Replacement(1, 1, "x")], "cannot replace 1-1"),
        ([Replacement(2, 4, "x")], "cannot replace 2-4 in a text of 3 characters"),
        ([Replacement(-1, 2, "x")], "cannot replace"),
    ],
)
def test_rejected(replacements: list[Replacement], message: str) -> None:
    with pytest.raises(InputError, match=message):
        rewrite("abc", replacements)


def test_offset_outside() -> None:
    with pytest.raises(InputError, match="offset 4 is outside a text of 3 characters"):
        rewrite("abc", []).to_new(4)
    with pytest.raises(InputError, match="outside"):
        rewrite("abc", []).span_to_new(0, -1)
