"""The lists of words that are no misspelt others."""

from __future__ import annotations

import gzip

import pytest

from nymlink.text.english.words import (
    CLINICAL,
    COMMON,
    FOLDER,
    ORDINARY,
    PRODUCTS,
    SHORTEST,
    WORDS,
    clinical_words,
    common_words,
    drug_endings,
    known_words,
    ordinary_words,
    product_words,
)
from nymlink.text.normalise import normalise


@pytest.mark.parametrize("name", [CLINICAL, ORDINARY, PRODUCTS, WORDS])
def test_words_are_sorted_folded_and_long_enough(name: str) -> None:
    lines = gzip.decompress((FOLDER / name).read_bytes()).decode("ascii").splitlines()
    assert lines == sorted(set(lines))
    assert all(len(word) >= SHORTEST and word.isalpha() for word in lines)
    assert normalise(" ".join(lines)) == " ".join(lines)
    assert FOLDER.joinpath(name).stat().st_size < 1_000_000


def test_words_of_every_kind_are_known() -> None:
    assert product_words() | clinical_words() | ordinary_words() <= known_words()


def test_words_are_of_their_kinds() -> None:
    assert {"aspirin", "asporin", "celexa", "celecoxib", "clobazam"} <= product_words()
    assert {"asthma", "seizure"} <= clinical_words() - product_words()
    assert {"moon", "hammer", "cold", "improved", "judgment"} <= ordinary_words() - product_words()
    assert {"moon", "hammer", "improved"}.isdisjoint(clinical_words())


def test_common_words_are_folded_words() -> None:
    lines = gzip.decompress((FOLDER / COMMON).read_bytes()).decode("ascii").splitlines()
    assert lines == sorted(common_words())
    assert all(word.isalpha() and word == normalise(word) for word in lines)


def test_endings_of_drugs_are_those_of_products() -> None:
    for end in drug_endings():
        assert any(word.endswith(end) for word in product_words())
