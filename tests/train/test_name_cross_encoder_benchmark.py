"""The benchmark of a cross-encoder for names, on toys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nymlink.index.index import Index
from nymlink.rank.question import Question
from nymlink.vocabulary.read import read_vocabulary
from tests.encode import tiny

Script = Callable[[str], Any]


def test_names_of_candidates_are_paired_with_what_is_asked(script: Script, tmp_path: Path) -> None:
    asking = script("ranking.name_questions")
    source = tmp_path / "names.txt"
    source.write_text(
        "D1||short stature\nD2||seizure\nD2||epileptic seizure\nD5||cleft palate\n", encoding="utf-8"
    )
    index = Index.build(read_vocabulary(source), encoder=None)
    row = index.vocabulary.row("D2")
    questions = [Question("epileptic seizures"), Question("cleft palate"), Question("epileptic seizures")]
    answers = [frozenset({row}), frozenset(), frozenset({row})]
    made = asking.Asked.of(index, (questions, answers, [0, 1, 2]))
    asked = asking.kept(tmp_path / "asked.npz", lambda: made)
    assert asked.texts == ["epileptic seizures", "cleft palate"]
    assert asked.distinct.tolist() == [0, 1, 0]
    place = int(asked.right[0].argmax())
    assert asked.right.sum() == 1
    assert asked.names[0][place] == "epileptic seizure; seizure"
    np.testing.assert_array_equal(asked.described, made.described)


class _Ranker:
    """Puts the last candidate first, and is sure of the second question alone."""

    def scores(self, described: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        there = ~np.isnan(described).all(axis=2)
        scores = np.where(there, np.arange(there.shape[1]), -np.inf)
        scores[1] += np.where(np.arange(there.shape[1]) == 0, 99, 0)
        return scores - 10


def test_only_what_a_ranker_is_unsure_of_is_read(script: Script) -> None:
    pairs = script("ranking.name_pairs")
    described = np.full((3, 6, 2), np.nan, np.float32)
    described[0, :2] = described[1, :3] = described[2, :6] = 1
    names = [[f"{question} {place}" for place in range(6)] for question in range(3)]
    asked = pairs.Asked(
        described, np.zeros((3, 6), bool), ["a", "b", "c"], names, np.array([0, 1, 2, 2]), np.arange(4)
    )
    numbers = {("c", "2 5"): 0}
    part = pairs.Part.of(asked, 0.5, _Ranker(), numbers)
    assert part.read.tolist() == [[0, 1, 0, -1, -1, -1], [2, 5, 4, 3, 2, 1]]
    assert part.numbers.tolist() == [[1, 2, -1, -1, -1], [0, 3, 4, 5, 6]]
    assert part.counts.tolist() == [0.5, 0.5, 1.0]
    logits = part.logits(np.arange(7, dtype=np.float32))
    assert np.isnan(logits[1]).all()
    assert logits[0, :2].tolist() == [2, 1]
    assert logits[2, 1:].tolist() == [6, 5, 4, 3, 0]
    described = part.labelled(np.arange(7, dtype=np.float32)).described
    assert described.shape == (3, 6, 4)
    assert described[2, 1:, 3].tolist() == [0, -1, -2, -3, -6]


def test_a_reader_learns_and_is_quantised(script: Script, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("onnxscript")
    from tokenizers.processors import TemplateProcessing

    module = script("ranking.name_reader")
    torch.manual_seed(0)
    reader = module.NameReader(str(tiny.folder(tmp_path / "base")), 1)
    reader.tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    words = ["heart", "attack", "seizure", "stature", "short"]
    # Fever is right whatever is asked, and where it is no candidate, none is.
    pairs = [[(word, "fever"), (word, "x")] for word in words] + [[(word, "x")] for word in words]
    right = [np.array([True, False])] * 5 + [np.array([False])] * 5
    module.train(reader, module.Examples(pairs, right, np.ones(10)), epochs=150, seed=0)
    flat = [pair for each in pairs for pair in each]
    scores = reader.read(flat)
    fever = np.array([name == "fever" for _, name in flat])
    assert scores[fever].min() > 0 > scores[~fever].max()
    int8 = module.Int8Reader(reader, tmp_path / "reader.onnx")
    np.testing.assert_allclose(int8.read(flat), scores, atol=0.1)
