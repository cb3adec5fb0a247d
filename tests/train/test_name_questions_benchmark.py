"""The questions that encoders before a ranker are measured on, on toys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from nymlink.index.index import Index
from nymlink.rank.retrieval import Question
from nymlink.vocabulary.read import read_vocabulary

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
