from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.index.index import Index
from tests.train.small import vocabulary

NAMES = "heart attack", "attack", "heart failure", "seizure"


def test_what_is_not_retrieved_counts_as_wrong(script: Callable[[str], Any]) -> None:
    rows = ((f"X:{at}", name, "en", "exact") for at, name in enumerate(NAMES))
    index = Index.build(vocabulary(*rows), sparse="le-nguyen", encoder=None)
    said = [("heart attack", "X:0"), ("heart attack", "X:1"), ("attack", "X:3"), ("seizure", "Y:1"), ("fit", "")]
    mentions = tuple(Mention(text, concept_ids=(gold,) if gold else ()) for text, gold in said)
    found = script("search.retrieval_recall").recall(index, Corpus("toy", (Document("1", mentions=mentions),)))
    assert (found["mentions"], found["coverage"], found["@1"], found["@64"]) == (4, 0.75, 0.25, 0.5)
