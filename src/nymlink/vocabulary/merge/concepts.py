"""The concepts that are to be merged, by row and by id."""

from __future__ import annotations

from nymlink.vocabulary.merge.identifiers import Key, canonical
from nymlink.vocabulary.vocabulary import Vocabulary


class Concepts:
    """The concepts of an unmerged vocabulary; a concept is spoken of by its row there.

    Obsolete concepts take no part: what refers to one refers to the concept that replaces it, if it is one.

    Attributes:
        ids: the id of each row.
        sources: the source of each row.
        keys: the key of each row.
        live: the rows of concepts that are not obsolete.
        same: pairs of live rows that are one concept by their ids alone: spelt differently, or one an alternate id
            of the other.
        also: row → keys in other namespaces that are alternate ids of it, as after an earlier merging.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        concepts = vocabulary.columns.concepts
        self.ids: list[str] = concepts["id"].to_pylist()
        self.sources: list[str] = concepts["source"].to_pylist()
        self.keys: list[Key] = list(map(canonical, self.ids, self.sources))
        self._obsolete: list[bool] = concepts["obsolete"].to_pylist()
        self.live = [row for row, obsolete in enumerate(self._obsolete) if not obsolete]
        self.same: list[tuple[int, int]] = []
        self.also: dict[int, set[Key]] = {}
        self._rows: dict[Key, int] = {}
        self._replaced: dict[Key, set[Key]] = {}
        self._index(concepts["replaced_by"].to_pylist())
        self._follow_redirects()

    def _index(self, replaced_by: list[list[str]]) -> None:
        for row in self.live:
            known = self._rows.setdefault(self.keys[row], row)
            if known != row:
                self.same.append((known, row))
        for row, obsolete in enumerate(self._obsolete):
            if obsolete and self.keys[row] not in self._rows:
                self._replaced[self.keys[row]] = {canonical(new, self.sources[row]) for new in replaced_by[row]}

    def _follow_redirects(self) -> None:
        for redirect in self._vocabulary.columns.redirects.to_pylist():
            row = self._vocabulary.row(redirect["new"])
            if row is None:
                continue
            old, new = canonical(redirect["old"], self.sources[row]), self.keys[row]
            target = self.row(new)
            if old == new or target is None:
                continue
            if old[0] != new[0]:
                self.also.setdefault(target, set()).add(old)
            if old not in self._rows:
                self._replaced.setdefault(old, set()).add(new)
            elif self._rows[old] != target:
                self.same.append((target, self._rows[old]))

    def key(self, concept_id: str) -> Key:
        """The key of an id that is of no source in particular: without a prefix it is looked for in all."""
        row = None if ":" in concept_id else self._vocabulary.row(concept_id)
        return canonical(concept_id) if row is None else self.keys[row]

    def row(self, key: Key) -> int | None:
        """The one live concept that a key stands for, alternate ids and replacements followed, or ``None``."""
        seen: set[Key] = set()
        while key not in seen:
            if key in self._rows:
                return self._rows[key]
            seen.add(key)
            further = self._replaced.get(key, set())
            if len(further) == 1:
                (key,) = further
        return None

    def is_unknown(self, key: Key) -> bool:
        """Whether no concept, live or obsolete, has or had this key."""
        return key not in self._rows and key not in self._replaced

    def keys_of(self, row: int) -> tuple[Key, ...]:
        """All keys of a concept, its own first."""
        return self.keys[row], *sorted(self.also.get(row, ()))
