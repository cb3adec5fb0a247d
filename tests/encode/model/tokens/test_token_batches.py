from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers.processors import TemplateProcessing

from nymlink.core.errors import InputError
from nymlink.encode.model.token_batches import Tokens, plan_batches, tokenise
from tests.encode import tiny

lengths_of_names = st.lists(st.integers(1, 30), max_size=80).map(lambda found: np.array(found, np.int64))


def tokens(*ids: list[int]) -> Tokens:
    offsets = np.cumsum([0, *map(len, ids)])
    return Tokens(np.array([one for each in ids for one in each], np.int32), offsets, 0)


def test_names_become_what_the_tokenizer_says_one_by_one() -> None:
    tokenizer = tiny.tokenizer()
    found = tokenise(tokenizer, tiny.NAMES)
    assert len(found) == len(tiny.NAMES)
    for row, name in enumerate(tiny.NAMES):
        assert found.ids[found.offsets[row] : found.offsets[row + 1]].tolist() == tokenizer.encode(name).ids


def test_cut_names_are_counted_and_end_as_others_do() -> None:
    tokenizer = tiny.tokenizer()
    tokenizer.enable_truncation(6)
    found = tokenise(tokenizer, ["x", "x x x x", "x x x x x", "x " * 90])
    assert found.truncated == 2
    assert found.lengths.tolist() == [3, 6, 6, 6]
    assert found.ids[found.offsets[1:] - 1].tolist() == [3, 3, 3, 3]


def test_nothing_and_undecodable_bytes_are_names_too() -> None:
    assert len(tokenise(tiny.tokenizer(), [])) == 0
    assert tokenise(tiny.tokenizer(), ["", "seizure\udc80", "seizure?"]).lengths[1] > 2


def test_an_id_that_no_model_has_is_refused() -> None:
    tokenizer = tiny.tokenizer()
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A", special_tokens=[("[CLS]", 2**31)])
    with pytest.raises(InputError, match=r"a token of id 2,147,483,648, which no model has"):
        tokenise(tokenizer, ["x"])


def test_names_that_say_something_have_a_token_besides_the_silent_ones() -> None:
    found = tokens([2, 7, 3], [2, 3], [], [2, 1, 3], [2, 1, 8, 9, 3])
    assert found.informative({1, 2, 3}).tolist() == [0, 4]
    assert found.informative(()).tolist() == [0, 1, 3, 4]
    assert tokens().informative({1}).tolist() == []


def test_filling() -> None:
    ids, mask = tokens([2, 7, 3], [2, 8, 9, 9, 3], [2, 3]).padded(np.array([2, 0]), pad_id=5)
    assert ids.tolist() == [[2, 3, 5], [2, 7, 3]]
    assert mask.tolist() == [[1, 1, 0], [1, 1, 1]]


@given(lengths=lengths_of_names, budget=st.integers(1, 200), padding=st.sampled_from([0.0, 0.1, 0.5]))
def test_every_name_is_in_one_batch_that_keeps_its_limits(
    lengths: np.ndarray, budget: int, padding: float
) -> None:
    batches = list(plan_batches(lengths, budget=budget, padding=padding))
    assert sorted(np.concatenate([np.zeros(0, int), *batches]).tolist()) == list(range(len(lengths)))
    for rows in batches:
        area = len(rows) * lengths[rows].max()
        assert len(rows) == 1 or area <= budget
        assert area - lengths[rows].sum() <= padding * area
    longest = [lengths[rows].max() for rows in batches]
    assert longest == sorted(longest, reverse=True)


@given(lengths=lengths_of_names)
def test_batches_are_as_few_as_the_budget_allows(lengths: np.ndarray) -> None:
    batches = list(plan_batches(lengths, budget=60))
    needed = sum(-(-int((lengths == length).sum()) // (60 // length)) for length in set(lengths.tolist()))
    assert len(batches) == needed
