"""The benchmark of candidate retrieval, on a toy; what it measures here means nothing."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from nymlink.corpus.model import Corpus, Document, Mention
from nymlink.index.index import Index
from tests.train.small import vocabulary

NAMES = "heart attack", "attack", "heart failure", "seizure"


def test_what_is_not_retrieved_counts_as_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    benchmark = importlib.import_module("retrieval_recall")
    index = Index.build(
        vocabulary(*((f"X:{at}", name, "en", "exact") for at, name in enumerate(NAMES))), sparse="le-nguyen"
    )
    said = [("heart attack", "X:0"), ("heart attack", "X:1"), ("attack", "X:3"), ("seizure", "Y:1"), ("fit", "")]
    mentions = tuple(Mention(text, concept_ids=(gold,) if gold else ()) for text, gold in said)
    found = benchmark.recall(index, Corpus("toy", (Document("1", mentions=mentions),)))
    assert (found["mentions"], found["coverage"]) == (4, 0.75)
    assert (found["@1"], found["@64"]) == (0.25, 0.5)
