"""A scorer that is a table, an index with a name of two concepts, and documents to be re-ranked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nymlink.corpus.documents import Document, Mention
from nymlink.index.hits import Scores
from nymlink.index.index import Index
from nymlink.rerank.passages import Passage
from tests.train.small import vocabulary

NAMES = "mitral insufficiency", "myocardial infarction", "seizure"


class Words:
    """Scores a concept by whether the word before the mention says so; counts the mentions it scored."""

    def __init__(self, **said: tuple[float, float, float]) -> None:
        self.said = said
        self.scored = 0

    def scores(self, passages: Sequence[Passage], candidates: Sequence[Sequence[int]]) -> list[Scores]:
        self.scored += len(passages)
        return [
            np.array([self.said[one.left.split()[-1]][row] for row in rows], np.float32)
            for one, rows in zip(passages, candidates, strict=True)
        ]


def two_of_one_name() -> Index:
    """MI is a name of X:0 and of X:1."""
    names = [(f"X:{row}", name, "en", "exact") for row, name in enumerate(NAMES)]
    return Index.build(
        vocabulary(*names, ("X:0", "MI", "en", "exact"), ("X:1", "MI", "en", "exact")), encoder=None
    )


def document(number: int, *said: tuple[str, str, str]) -> Document:
    """Sentences of a word and a mention, each with a gold id."""
    text, mentions = "", []
    for word, mention, gold in said:
        start = len(text) + len(word) + 1
        text += f"{word} {mention} . "
        mentions.append(Mention(mention, start, start + len(mention), "Disease", (gold,) if gold else ()))
    return Document(str(number), text, tuple(mentions))
