"""Ranks are known as deep as the deepest recall that is reported."""

from __future__ import annotations

from nymlink.corpus.documents import Corpus, Document, Mention
from nymlink.evaluation.evaluation import evaluate
from nymlink.index.index import Index
from tests.index.small import vocabulary


def test_recall_reaches_as_deep_as_it_says() -> None:
    # One name, seventy concepts: they rank in the order of the vocabulary.
    index = Index.build(vocabulary({f"C:{number:02}": ["flu"] for number in range(70)}), encoder=None)

    def figures(concept_id: str) -> tuple[float, float]:
        mention = Mention("flu", concept_ids=(concept_id,))
        found = evaluate(index, Corpus("one", (Document("1", mentions=(mention,)),))).figures
        return found["recall@32"], found["recall@64"]

    assert [figures(concept_id) for concept_id in ("C:31", "C:32", "C:63", "C:64")] == [
        (1, 1),
        (0, 1),
        (0, 1),
        (0, 0),
    ]
