"""Ids that are given as mentions: ``HP:0001250``, ``hp_0001250``, ``0001250``, an IRI."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

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

    def _ways(self, mention: str) -> list[str]:
        """List the ids that a mention may be, as the vocabulary would write them."""
        ways = [mention]
        local = re.split(r"[/#]", mention)[-1] if "://" in mention else mention
        prefix, sign, number = local.replace("_", ":", 1).partition(":")
        if sign:
            ways += (f"{known}:{number}" for known in self._prefixes.get(prefix.lower(), ()))
        elif _LOCAL.fullmatch(local):
            ways += (f"{known}:{local}" for own in self._prefixes.values() for known in own)
        return ways

    @cached_property
    def _prefixes(self) -> dict[str, list[str]]:
        """The prefixes of ids: in small letters → as the vocabulary writes them."""
        ids = self._vocabulary.columns.concepts["id"].cast(pa.large_string())
        found: dict[str, list[str]] = {}
        parts = pc.extract_regex(ids, r"^(?P<prefix>[^:]+):")
        for prefix in pc.unique(pc.struct_field(parts, "prefix")).to_pylist():
            if prefix is not None:
                found.setdefault(prefix.lower(), []).append(prefix)
        return found
