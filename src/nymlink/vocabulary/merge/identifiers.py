"""Identifiers of concepts in several sources, and the concepts that they stand for."""

from __future__ import annotations

import re
from typing import Final

from nymlink.core.prefixes import contract, is_iri, split
from nymlink.vocabulary.vocabulary import Vocabulary

Key = tuple[str, str]
"""The namespace and the local part of an id."""

_CUI: Final = re.compile(r"C\d{7}")


def canonical(concept_id: str, source: str = "") -> Key:
    """Return the canonical namespace and local part of an id.

    Args:
        concept_id: an id as a source writes it.
        source: the source, which is the namespace of ids without a prefix (except UMLS CUIs, which are
            recognised).

    >>> canonical("SCTID:22298006")
    ('SNOMEDCT', '22298006')
    >>> canonical("C0027051") == canonical("UMLS:C0027051")
    True
    >>> canonical("I21", "icd")
    ('(icd)', 'I21')
    """
    concept_id = contract(concept_id)
    if is_iri(concept_id):
        cut = max(concept_id.rfind("/"), concept_id.rfind("#")) + 1
        return concept_id[:cut], concept_id[cut:]
    prefix, local = split(concept_id)
    if prefix:
        return prefix.upper(), local
    return ("UMLS" if _CUI.fullmatch(concept_id) else f"({source})", concept_id)


class LiveConcepts:
    """The concepts of an unmerged vocabulary, by row and by canonical id.

    Obsolete concepts are not merged. A reference to an obsolete concept counts as a reference to its replacement,
    if it has exactly one.

    Attributes:
        ids: the id of each row.
        sources: the source of each row.
        keys: the canonical id (key) of each row.
        live: the rows of concepts that are not obsolete.
        same: pairs of live rows that are one concept by their ids. The ids are two spellings of one id, or one is
            an alternate id of the other concept.
        alternates: row → alternate ids in other namespaces, for example after an earlier merge.
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
        self.alternates: dict[int, set[Key]] = {}
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
                self.alternates.setdefault(target, set()).add(old)
            if old not in self._rows:
                self._replaced.setdefault(old, set()).add(new)
            elif self._rows[old] != target:
                self.same.append((target, self._rows[old]))

    def key(self, concept_id: str) -> Key:
        """Return the key of an id from a mapping; without a prefix, the key of the concept with this id."""
        row = None if ":" in concept_id else self._vocabulary.row(concept_id)
        return canonical(concept_id) if row is None else self.keys[row]

    def row(self, key: Key) -> int | None:
        """Return the row of the live concept to which a key leads, if there is exactly one, else ``None``."""
        seen: set[Key] = set()
        while key not in seen:
            if key in self._rows:
                return self._rows[key]
            seen.add(key)
            replacements = self._replaced.get(key, set())
            if len(replacements) == 1:
                (key,) = replacements
        return None

    def is_unknown(self, key: Key) -> bool:
        """Whether no concept, live or obsolete, has or had this key."""
        return key not in self._rows and key not in self._replaced

    def keys_of(self, row: int) -> tuple[Key, ...]:
        """Return all keys of a concept, its own first."""
        return self.keys[row], *sorted(self.alternates.get(row, ()))
