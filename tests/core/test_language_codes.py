"""Language codes, however they are given."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.language_codes import normalise_language


@pytest.mark.parametrize(
    ("given_code", "code"),
    [
        ("EN", "en"),
        ("pt_br", "pt-BR"),
        ("zh-hant", "zh-Hant"),
        ("eng", "en"),
        ("FRE", "fr"),
        ("fra", "fr"),
        ("ger", "de"),
        ("deu-AT", "de-AT"),
        ("dut", "nl"),
        ("nld", "nl"),
        ("chi_hant", "zh-Hant"),
        ("SCR", "hr"),
        # No code of two letters.
        ("haw", "haw"),
        ("und", "und"),
        ("", None),
        ("english", None),
    ],
)
def test_codes_are_written_as_bcp_47_does(given_code: str, code: str | None) -> None:
    assert normalise_language(given_code) == code


@given(st.text(max_size=12) | st.from_regex(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,2}", fullmatch=True))
def test_a_normal_code_stays_as_it_is(text: str) -> None:
    code = normalise_language(text)
    assert code is None or normalise_language(code) == code
