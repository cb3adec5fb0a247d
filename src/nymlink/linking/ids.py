"""Ids that are given as mentions: ``HP:0001250``, ``hp_0001250``, ``0001250``, an IRI."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import numpy as np

from nymlink.core.store.arrays import Bools
from nymlink.index.index import Index
from nymlink.vocabulary.concepts import Name

_LONGEST: Final = 200
_ID: Final = re.compile(r"[A-Za-z][\w.-]{0,30}[:_][\w.-]+|https?://\S+|[A-Za-z]{0,3}\d{4,}")
_LOCAL: Final = re.compile(r"[A-Za-z]{0,3}\d{4,}")


def may_be_id(mention: str) -> bool:
    """Whether a mention is written like an id: it has a prefix or an address, or is a number of four digits."""
    return len(mention) <= _LONGEST and _ID.fullmatch(mention.strip()) is not None


class Ids:
    """The ids of an index, in the ways in which people write them.

    Args:
        index: of the concepts.
    """

    def __init__(self, index: Index) -> None:
        self._vocabulary = index.vocabulary
        self._named: Bools | None = None
        if index.restriction:
            self._named = np.zeros(len(index.vocabulary), bool)
            self._named[index.owners[index.entries.names]] = True

    def read(self, mention: str) -> tuple[int | None, str] | None:
        """Find the row and the preferred name of the concept that a mention is an id of; ``None`` for none.

        The row is ``None`` if the restriction of the index excludes the concept.
        """
        row = self.find(mention) if may_be_id(mention) else None
        if row is None:
            return None
        if self._named is not None and not self._named[row]:
            return None, ""
        return row, self._vocabulary.preferred_name(row)

    def find(self, mention: str) -> int | None:
        """Find the row of the concept with an id; of an old id, of the one concept that replaces it."""
        for written in self._ways(mention.strip()):
            current = self._vocabulary.resolve(written)
            row = self._vocabulary.row(current[0]) if len(current) == 1 else None
            if row is not None and self._is_live(row):
                return row
        return None

    def former(self, text: str, name: Name) -> str | None:
        """Find the obsolete concept that a mention means, if the concept of its name replaces it.

        Args:
            text: the mention.
            name: the name that matched.
        """
        known = [*self._ways(text.strip())] if may_be_id(text) else []
        if name.kind == "related":
            known += [each.concept_id for each in self._vocabulary.find(name.text)]
        if not known:
            return None
        replaced_by = self._vocabulary.columns.concepts["replaced_by"]
        for concept_id in known:
            row = self._vocabulary.row(concept_id)
            if row is not None and name.concept_id in replaced_by[row].as_py():
                return concept_id
        return None

    def _is_live(self, row: int) -> bool:
        obsolete: bool = self._vocabulary.columns.concepts["obsolete"][row].as_py()
        return not obsolete and self._vocabulary.preferred_row(row) is not None

    def _ways(self, mention: str) -> Iterator[str]:
        """Yield a mention and, without a prefix, the mention with each prefix of the vocabulary."""
        yield mention
        if _LOCAL.fullmatch(mention):
            yield from (f"{own}:{mention}" for names in self._vocabulary.id_prefixes.values() for own in names)
