"""Score what peers found: mentions by concept, and what was found in texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from benchmarks.peers.dictionary import CONCEPTS, Dictionary

KS: Final = (1, CONCEPTS)


def linked(folder: str, found: Sequence[Sequence[int]]) -> dict[str, dict[str, Any]]:
    """Compute Acc@1 and @5 by concept of each task: of all mentions, and of those that are no name as they stand.

    A composite mention has the worst rank of its parts.
    """
    dictionary = Dictionary(folder)
    found_of, known = dict(zip(dictionary.queries, found, strict=True)), set(dictionary.names)
    tasks: dict[str, list[dict[str, Any]]] = json.loads((Path(folder) / "mentions.json").read_text("utf-8"))

    def rank(part: str, gold: set[int]) -> float:
        return next((place for place, one in enumerate(found_of[part]) if one in gold), float("inf"))

    scores = {}
    for task, mentions in tasks.items():
        ranks: dict[str, list[float]] = {"all": [], "unseen": []}
        for mention in mentions:
            worst = max(rank(part, set(mention["gold"])) for part in mention["parts"])
            ranks["all"].append(worst)
            if not known.issuperset(mention["parts"]):
                ranks["unseen"].append(worst)
        scores[task] = {
            which: {"n": len(of), **{f"acc@{k}": sum(one < k for one in of) / len(of) for k in KS if of}}
            for which, of in ranks.items()
        }
    return scores


def annotated(folder: str, found: str) -> dict[str, Any]:
    """Compute the F1 of mentions and of documents.

    Args:
        folder: of the dictionary.
        found: file with the mentions found in each text.
    """
    from benchmarks.peers.prepare import texts
    from nymlink.corpus.documents import Corpus, Document, Mention
    from nymlink.evaluation.annotation import evaluate_annotation
    from nymlink.linking.link import Candidate, Link
    from nymlink.vocabulary.vocabulary import Vocabulary

    vocabulary = Vocabulary.load(Path(folder) / "vocabulary")
    ids = Dictionary(folder).ids
    spans: list[list[Any]] = json.loads(Path(found).read_text(encoding="utf-8"))

    def link(document: Document, start: int, end: int, concepts: Sequence[int]) -> Link:
        text = document.text[start:end]
        parts = []
        for concept in concepts:
            name = vocabulary.names(ids[concept])[0]
            best = Candidate(ids[concept], name.text, name, 1.0, {})
            parts.append(Link(Mention(text, start, end), text, (best,), confidence=1.0))
        return parts[0] if len(parts) == 1 else Link(Mention(text, start, end), text, (), parts=tuple(parts))

    def annotate_documents(documents: Iterable[Document]) -> Iterator[tuple[Document, list[Link]]]:
        for document, own in zip(documents, spans, strict=True):
            yield document, [link(document, *one) for one in own]

    corpus = texts(folder)
    some = Corpus(corpus.name, corpus.documents[: len(spans)])
    stand_in: Any = SimpleNamespace(
        index=SimpleNamespace(vocabulary=vocabulary), annotate_documents=annotate_documents
    )
    scores = evaluate_annotation(stand_in, some).to_dict()
    return {
        "documents": scores["documents"],
        "mentions": scores["mention"],
        "mention_exact_f1": scores["mention_exact_f1"],
        "concepts": scores["document"],
    }
