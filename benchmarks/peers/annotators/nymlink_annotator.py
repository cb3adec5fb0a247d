"""nymlink: ``Annotator`` as it comes; its matcher is made with the index."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.dictionary import Annotate, Dictionary, Found


def build(dictionary: Dictionary, index: Path, *, fuzzy: bool, encoder: str | None) -> None:
    """Build the index and the matcher."""
    from nymlink.index.index import Index
    from nymlink.vocabulary.vocabulary import Vocabulary

    vocabulary = Vocabulary.load(dictionary.folder / "vocabulary")
    Index.build(vocabulary, directory=index / "index", encoder=encoder)
    load(dictionary, index, fuzzy=fuzzy, encoder=encoder)


def load(dictionary: Dictionary, index: Path, *, fuzzy: bool, encoder: str | None) -> Annotate:
    """Load both."""
    os.environ["NYMLINK_CACHE"] = str(index / "cache")
    from nymlink.annotation.annotator import Annotator
    from nymlink.annotation.annotator_settings import AnnotatorSettings

    return found_by(Annotator.load(index / "index", AnnotatorSettings(fuzzy=fuzzy)))


def found_by(annotator: Any) -> Annotate:
    """Ask an annotator for offsets and numbers of concepts."""
    from nymlink.corpus.documents import Document

    row = annotator.index.vocabulary.row

    def annotate(texts: Sequence[str]) -> list[list[Found]]:
        documents = [Document(str(number), text) for number, text in enumerate(texts)]
        return [
            [
                (link.mention.start, link.mention.end, concepts)
                for link in links
                if (concepts := [row(one.best.concept_id) for one in link.singles if one.best is not None])
            ]
            for _, links in annotator.annotate_documents(documents)
        ]

    return annotate
