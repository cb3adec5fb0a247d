"""Completion of typed names and ids to concepts."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.store.arrays import Bools
from nymlink.index.entries.sorted_texts import SortedTexts
from nymlink.index.hits import Rows
from nymlink.index.index import Index
from nymlink.text.normalise import normalise
from nymlink.vocabulary.concepts import Name

_LONGEST: Final = 200
"""Most characters of the typed text."""

_NAMES_OF_CONCEPT: Final = 32
"""Number of names inspected for each wanted concept, because several names may belong to one concept."""

_SHORTEST: Final = 3
"""Fewest characters that are searched for inside words."""

_NUMBER: Final = re.compile(r"(?P<prefix>[A-Za-z]*)[:_-]?(?P<local>[0-9]+)")
"""An id whose colon or leading zeros may be missing ("HP1250", "1250")."""

_DIGITS: Final = 7
"""Digits of the ids of ontologies of the OBO Foundry."""


class Completion(NamedTuple):
    """A concept for a typed text.

    Attributes:
        concept_id: the concept.
        concept_name: its preferred name.
        matched: the name that has a word beginning with the text; ``None`` if the text matches the id instead.
    """

    concept_id: str
    concept_name: str
    matched: Name | None


class Completer:
    """Completes texts to the concepts of an index, by binary search in its sorted names and ids.

    Args:
        index: the index. The id of an obsolete concept finds the concept that replaces it.
    """

    def __init__(self, index: Index) -> None:
        self._vocabulary = index.vocabulary
        self._entries = index.entries
        self._texts = SortedTexts(index.entries.texts)
        self._reordered = SortedTexts(index.entries.reordered.texts)
        self._concept_of_name = index.vocabulary.columns.names["concept"].to_numpy()

    def complete(
        self, text: str, limit: int, *, within: Bools | None = None, anywhere: bool = False
    ) -> list[Completion]:
        """Find concepts for a typed text.

        Concepts with this id come first, then concepts with a name or an id that begins with the text, then
        concepts with a name in which a later word begins with it. For a text without digits, ids that begin with
        the text come last.

        Short names come before long names. A space at the end of the text means that its last word is complete.

        Args:
            text: the typed text. A blank text finds nothing.
            limit: most concepts.
            within: bool (C): the concepts to search; ``None`` for all.
            anywhere: whether to search inside words, too, and for ids without their colon, prefix or zeros.
        """
        # Replace lone surrogates: no name has them, and Arrow cannot search for them.
        text = text[:_LONGEST].encode(errors="replace").decode()
        key = normalise(text)
        if not key:
            return []
        if text[-1].isspace():
            key += " "
        found: dict[int, int | None] = {}
        # Of a part of the vocabulary, any name may be the first.
        names = len(self._concept_of_name) if within is not None else _NAMES_OF_CONCEPT * limit
        for concept, name in self._candidates(text.strip(), key, names, anywhere):
            if len(found) >= limit:
                break
            if within is None or within[concept]:
                found.setdefault(concept, name)
        return [self._completion(concept, name) for concept, name in islice(found.items(), limit)]

    def _candidates(self, text: str, key: str, most: int, anywhere: bool) -> Iterator[tuple[int, int | None]]:
        """Yield concepts, the best first, each with the name that matched. A concept may appear several times."""
        # A text without digits, such as "hp", is more likely the beginning of a name than of an id.
        likely_id = any(map(str.isdigit, text))
        yield from ((row, None) for row in self._with_id(text))
        if anywhere:
            yield from ((row, None) for row in self._with_number(text))
        if likely_id:
            yield from ((row, None) for row in self._with_id_prefix(text))
        yield from self._named(*self._beginning(key), most)
        yield from self._named(*self._containing(" " + key), most)
        if anywhere and len(key) >= _SHORTEST:
            yield from self._named(*self._containing(key.strip()), most)
        if not likely_id:
            yield from ((row, None) for row in self._with_id_prefix(text))

    def _completion(self, concept: int, name: int | None) -> Completion:
        vocabulary = self._vocabulary
        matched = None if name is None else vocabulary.name(name)
        return Completion(vocabulary.concept_id(concept), vocabulary.preferred_name(concept), matched)

    def _with_id(self, text: str) -> list[int]:
        """Find the concepts with an id. Former ids find the present concepts."""
        ids = self._vocabulary.resolve(text) or self._vocabulary.resolve(text.upper())
        return [row for row in map(self._vocabulary.row, ids) if row is not None]

    def _with_number(self, text: str) -> list[int]:
        """Find the concepts with an id whose colon, prefix or leading zeros are missing."""
        found = _NUMBER.fullmatch(text)
        if found is None:
            return []
        known = [prefix for own in self._vocabulary.id_prefixes.values() for prefix in own]
        prefixes = [prefix for prefix in known if found["prefix"].casefold() in ("", prefix.casefold())]
        numbers = dict.fromkeys((found["local"], found["local"].zfill(_DIGITS)))
        ids = (f"{prefix}:{number}" for prefix in prefixes for number in numbers)
        return list(dict.fromkeys(row for id_ in ids for row in self._with_id(id_)))

    def _with_id_prefix(self, prefix: str) -> Iterator[int]:
        """Yield the concepts whose id begins with a text, as typed or in capitals, in order."""
        order, vocabulary = self._vocabulary.columns.concepts_by_id, self._vocabulary
        obsolete = vocabulary.columns.concepts["obsolete"]
        for start in dict.fromkeys([prefix, prefix.upper()]):
            place = bisect_left(order, start, key=vocabulary.concept_id)
            while place < len(order) and vocabulary.concept_id(int(order[place])).startswith(start):
                if not obsolete[int(order[place])].as_py():
                    yield int(order[place])
                place += 1

    def _beginning(self, key: str) -> tuple[Rows, npt.NDArray[np.int64]]:
        """Find the entries with a name that begins with a text, and the lengths of these names."""
        rows, others = self._texts.rows_with_prefix(key), self._reordered.rows_with_prefix(key)
        return (
            np.concatenate(
                [
                    np.arange(rows.start, rows.stop, dtype=np.int32),
                    self._entries.reordered.rows[others.start : others.stop],
                ]
            ),
            np.concatenate([self._texts.sizes(rows), self._reordered.sizes(others)]),
        )

    def _containing(self, part: str) -> tuple[Rows, npt.NDArray[np.int64]]:
        """Find the entries whose names contain a text, and the lengths of these names."""
        texts = self._entries.texts
        rows = np.flatnonzero(pc.match_substring(texts, part).to_numpy(False)).astype(np.int32)
        return rows, pc.binary_length(texts.take(pa.array(rows))).to_numpy()

    def _named(self, rows: Rows, sizes: npt.NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
        """Yield the concepts of entries, each with its name: those of at most ``most`` names, shortest first."""
        if len(rows) > most:
            shortest = np.sort(np.argpartition(sizes, most)[:most])
            rows, sizes = rows[shortest], sizes[shortest]
        for row in rows[np.argsort(sizes, kind="stable")].tolist():
            for name in self._entries.names_of(row).tolist():
                yield int(self._concept_of_name[name]), name
