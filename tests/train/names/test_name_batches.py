"""Batches of names: every pair is in one, equal names are encoded once, processes share the work."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.problems import Problems
from nymlink.pairs.pair_files import PairTable
from nymlink.pairs.pairs import NamedPairs, Pairs, VocabularyPairs
from nymlink.train.engine.distributed import Processes
from nymlink.train.names.self_alignment import NameBatch, NameBatches
from tests.encode import tiny
from tests.train.small import crowd, vocabulary

TOKENIZER = tiny.tokenizer()


class Listed:
    """Pairs in a list, in its order."""

    def __init__(self, pairs: list[tuple[str, str, str]]) -> None:
        self.pairs = pairs

    def __len__(self) -> int:
        return len(self.pairs)

    def slice(self, start: int, stop: int, *, epoch: int) -> NamedPairs:
        concepts, left, right = zip(*self.pairs[start:stop], strict=True)
        return NamedPairs(np.array(concepts), list(left), list(right))


def ids(name: str) -> list[int]:
    return TOKENIZER.encode(name).ids


def encoded(batches: list[NameBatch]) -> list[list[int]]:
    """The token ids of each row of a joint batch, from what its processes tokenised."""
    distinct = [
        batch.tokens.ids[start:stop].tolist()
        for batch in batches
        for start, stop in zip(batch.tokens.offsets[:-1], batch.tokens.offsets[1:], strict=True)
    ]
    return [distinct[name] for name in batches[0].names]


NAMES = st.sampled_from([*tiny.NAMES, "heart", "mi mi", "short"])


@given(st.lists(st.tuples(st.sampled_from("ABC"), NAMES, NAMES), min_size=1, max_size=12), st.integers(1, 4))
def test_rows_are_the_names_of_the_pairs_whatever_the_number_of_processes(
    pairs: list[tuple[str, str, str]], count: int
) -> None:
    batches = [
        NameBatches(Listed(pairs), size=20, tokenizer=TOKENIZER, processes=Processes(rank, count)).batch(
            0, epoch=0
        )
        for rank in range(count)
    ]
    texts = [left for _, left, _ in pairs] + [right for _, _, right in pairs]
    assert encoded(batches) == [ids(text) for text in texts]
    for batch in batches:
        assert batch.names.tolist() == batches[0].names.tolist()
        assert sum(batch.counts) == len(set(texts))
        assert max(batch.counts) - min(batch.counts) <= 1
        concepts = [concept for concept, _, _ in pairs] * 2
        for first, label in zip(concepts, batch.labels, strict=True):
            assert [other == label for other in batch.labels] == [concept == first for concept in concepts]


def test_an_epoch_is_cut_into_batches_that_hold_all_pairs_once() -> None:
    pairs = Pairs.of(vocabulary(*crowd("X:1", 5), *crowd("X:2", 4)))
    batches = NameBatches(VocabularyPairs(pairs), size=6, tokenizer=TOKENIZER)
    assert len(batches) == 3
    assert [batches.batch(number, epoch=0).pairs for number in range(3)] == [6, 6, 4]
    assert str(batches.batch(2, epoch=1)) == "epoch 2, pairs 13 to 16 of 16"
    once, again, other = (batches.batch(1, epoch=epoch).tokens.ids.tolist() for epoch in (0, 0, 1))
    assert once == again != other


def test_pairs_of_a_file_come_shuffled_and_each_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nymlink.pairs.pair_files._BLOCK", 7)
    lines = [f"C{number % 5}||a{number}||b{number}" for number in range(40)]
    (tmp_path / "pairs.txt").write_text("\n".join([*lines, "broken"]) + "\n", encoding="utf-8")
    problems = Problems()
    table = PairTable.convert(tmp_path / "pairs.txt", tmp_path / "pairs.arrow", seed=1, problems=problems)
    assert (len(table), problems.rejected) == (40, 1)

    def spelt(epoch: int) -> list[str]:
        parts = [table.slice(start, start + 10, epoch=epoch) for start in range(0, 40, 10)]
        return ["||".join(row) for part in parts for row in zip(part.concepts, part.left, part.right, strict=True)]

    assert sorted(spelt(0)) == sorted(lines)
    assert lines != spelt(0) == spelt(0) != spelt(1)
