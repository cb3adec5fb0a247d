"""Tell documents of the same id apart, however many documents there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import xxhash

from nymlink.core.problems import Problems
from nymlink.corpus.model import Document

_RECENT: Final = 1 << 16
"""Digests that are kept in a set; more are sorted into an array, where each takes eight bytes."""


class DistinctIds:
    """The ids of documents so far, each by 64 bits of its digest."""

    def __init__(self) -> None:
        self._recent: set[int] = set()
        self._older = np.empty(0, np.uint64)
        self._copies: Counter[str] = Counter()

    def add(self, id_: str) -> bool:
        """Take an id; tell whether no document before had it."""
        digest = xxhash.xxh3_64_intdigest(id_.encode("utf-8", "surrogatepass"))
        place = int(np.searchsorted(self._older, np.uint64(digest))) if len(self._older) else 0
        if digest in self._recent or (place < len(self._older) and int(self._older[place]) == digest):
            return False
        self._recent.add(digest)
        if len(self._recent) >= _RECENT:
            self._older = np.union1d(self._older, np.fromiter(self._recent, np.uint64, len(self._recent)))
            self._recent.clear()
        return True

    def rename(self, document: Document, path: Path, line: int | None, problems: Problems) -> Document:
        """Return a document with an id of its own: the second one of the id 7 becomes ``7:2``, and is reported."""
        if self.add(document.id):
            return document
        while True:
            self._copies[document.id] += 1
            new = f"{document.id}:{self._copies[document.id] + 1}"
            if self.add(new):
                break
        problems.repair(path, line, f"another document of the id {document.id}: it is called {new}")
        return replace(document, id=new)


def distinct_documents(
    documents: Iterable[tuple[int | None, Document]], path: Path, problems: Problems, *, keep: bool
) -> Iterator[Document]:
    """Yield documents, reporting each whose id another one before it has.

    Args:
        documents: their lines, and the documents.
        path: the file, for reports.
        problems: receives the reports.
        keep: whether such a document gets another id; else it is left out.
    """
    ids = DistinctIds()
    for line, document in documents:
        if keep:
            yield ids.rename(document, path, line, problems)
        elif ids.add(document.id):
            yield document
        else:
            count = len(document.mentions)
            problems.reject(path, line, f"second copy of document {document.id}, with {count} mentions")
