"""A plain dictionary matcher to compare with: whole words, longest match, no rules for words but lower case."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Final

from benchmarks.peers.annotators.nymlink_annotator import found_by
from benchmarks.peers.dictionary import Annotate, Dictionary
from nymlink.corpus.documents import Document, Mention
from nymlink.linking.link import Candidate, Link
from nymlink.vocabulary.vocabulary import Vocabulary

_WORD: Final = re.compile(r"[^\W_]+")


class PlainMatcher:
    """Finds names as runs of their words, in lower case; of equal names the first of the surest kind counts.

    Args:
        vocabulary: of the names.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.index = SimpleNamespace(vocabulary=vocabulary)
        self._names: dict[tuple[str, ...], int] = {}
        self._longest: dict[str, int] = {}
        preferred = vocabulary.columns.names["kind"].to_pylist()
        for batch in vocabulary.name_batches():
            for row, text in zip(batch["row"].to_pylist(), batch["text"].to_pylist(), strict=True):
                words = tuple(_WORD.findall(text.lower()))
                if words and (words not in self._names or preferred[row] == "preferred"):
                    self._names[words] = row
                    self._longest[words[0]] = max(self._longest.get(words[0], 0), len(words))

    def annotate_documents(self, documents: Iterable[Document]) -> Iterator[tuple[Document, list[Link]]]:
        """Find names in documents."""
        for document in documents:
            yield document, list(self._links(document))

    def _links(self, document: Document) -> Iterator[Link]:
        vocabulary = self.index.vocabulary
        words = list(_WORD.finditer(document.text.lower()))
        place = 0
        while place < len(words):
            longest = self._longest.get(words[place][0], 0)
            for size in range(min(longest, len(words) - place), 0, -1):
                row = self._names.get(tuple(word[0] for word in words[place : place + size]))
                if row is not None:
                    name = vocabulary.name(row)
                    start, end = words[place].start(), words[place + size - 1].end()
                    candidate = Candidate(name.concept_id, name.text, name, 1.0, {})
                    yield Link(
                        Mention(document.text[start:end], start, end), name.text, (candidate,), confidence=1.0
                    )
                    place += size - 1
                    break
            place += 1


def load(dictionary: Dictionary, index: Path) -> Annotate:
    """Make the matcher of the names."""
    return found_by(PlainMatcher(Vocabulary.load(dictionary.folder / "vocabulary")))
