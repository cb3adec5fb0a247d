"""Ids that are given as mentions: ``HP:0001250``, ``hp_0001250``, ``0001250``, an IRI."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from nymlink.vocabulary.vocabulary import Vocabulary

_LONGEST: Final = 200
_ID: Final = re.compile(r"[A-Za-z][\w.-]{0,30}[:_][\w.-]+|https?://\S+|[A-Za-z]{0,3}\d{4,}")
_LOCAL: Final = re.compile(r"[A-Za-z]{0,3}\d{4,}")


def may_be_id(mention: str) -> bool:
    """Whether a mention is written like an id: it has a prefix or an address, or is a number of four digits."""
    return len(mention) <= _LONGEST and _ID.fullmatch(mention.strip()) is not None


class Ids:
    """The ids of a vocabulary, in the ways in which people write them.

    Args:
        vocabulary: of the concepts.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def find(self, mention: str) -> int | None:
        """Find the row of the concept with an id; of an old id, of the one concept that replaces it."""
        for written in self._ways(mention.strip()):
            current = self._vocabulary.resolve(written)
            row = self._vocabulary.row(current[0]) if len(current) == 1 else None
            if row is not None and self._is_live(row):
                return row
        return None

    def _is_live(self, row: int) -> bool:
        obsolete: bool = self._vocabulary.columns.concepts["obsolete"][row].as_py()
        return not obsolete and self._vocabulary.preferred_row(row) is not None

    def _ways(self, mention: str) -> Iterator[str]:
        """Yield a mention and, without a prefix, the mention with each prefix of the vocabulary."""
        yield mention
        if _LOCAL.fullmatch(mention):
            yield from (f"{own}:{mention}" for names in self._vocabulary.id_prefixes.values() for own in names)
