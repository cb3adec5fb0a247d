"""Look up the concepts of a vocabulary by any of their ids, in any spelling."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from nymlink.vocabulary.merge.concepts import LiveConcepts
from nymlink.vocabulary.merge.identifiers import Key, canonical
from nymlink.vocabulary.vocabulary import Vocabulary

_MESH: Final = re.compile(r"[CD](?:\d{6}|\d{9})")
_OMIM: Final = re.compile(r"[1-6]\d{5}")


class ConceptIds:
    """An index of the live concepts of a vocabulary by all their ids, with alternate and old ones.

    MEDIC in BioSyn's form writes ``D009203`` and ``254200`` where others write ``MESH:D009203`` and
    ``OMIM:254200``: where most ids without a prefix look like MeSH ids, they are read as MeSH ids, and numbers of
    six digits among them as OMIM ids.

    Attributes:
        rows: canonical id → row of the live concept to which it leads.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        columns = vocabulary.columns
        self._concepts = LiveConcepts(vocabulary)
        self._xrefs = columns.concepts["xrefs"]
        sources = dict(zip(self._concepts.ids, self._concepts.sources, strict=True))
        keys = self._concepts.keys + [
            canonical(redirect["old"], sources[redirect["new"]])
            for redirect in columns.redirects.to_pylist()
            if redirect["new"] in sources
        ]
        self._medic_namespaces = _medic_namespaces(keys)
        self.rows: dict[Key, int] = {}
        for key in keys:
            row = self._concepts.row(key)
            if row is not None:
                self.rows.setdefault(self._full(key), row)

    def namespaces(self, row: int) -> frozenset[str]:
        """Return the namespaces in which a concept has an id."""
        return frozenset(self._full(key)[0] for key in self._concepts.keys_of(row))

    def references(self) -> Iterator[tuple[int, Key]]:
        """Yield the xrefs of live concepts: row, and canonical id of the xref."""
        xrefs, sources = self._xrefs.to_pylist(), self._concepts.sources
        for row in self._concepts.live:
            for xref in xrefs[row]:
                yield row, self._full(canonical(xref, sources[row]))

    def _full(self, key: Key) -> Key:
        if key[0] in self._medic_namespaces:
            for namespace, pattern in (("MESH", _MESH), ("OMIM", _OMIM)):
                if pattern.fullmatch(key[1]):
                    return namespace, key[1]
        return key


def _medic_namespaces(keys: Iterable[Key]) -> frozenset[str]:
    """Find the namespaces of ids without a prefix in which most ids look like MeSH ids."""
    bare = [key for key in keys if key[0].startswith("(")]
    count = Counter(namespace for namespace, _ in bare)
    mesh = Counter(namespace for namespace, local in bare if _MESH.fullmatch(local))
    return frozenset(namespace for namespace in mesh if 2 * mesh[namespace] > count[namespace])
