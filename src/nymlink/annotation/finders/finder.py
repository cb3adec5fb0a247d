"""The interface of what finds mentions in documents and links them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from nymlink.corpus.model import Document
from nymlink.linking.model import Link


class Finder(Protocol):
    """Finds mentions in documents, and links them to concepts."""

    def find(self, documents: Sequence[Document]) -> list[list[Link]]:
        """List the links of each document, in the order of their mentions."""
        ...
