"""All the ids that the concepts of a vocabulary are known under, each in its one spelling."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from nymlink.vocabulary.merge.concepts import Concepts
from nymlink.vocabulary.merge.identifiers import Key, canonical
from nymlink.vocabulary.vocabulary import Vocabulary

_MESH: Final = re.compile(r"[CD](?:\d{6}|\d{9})")
_OMIM: Final = re.compile(r"[1-6]\d{5}")


class Known:
    """The live concepts of a vocabulary by every id of theirs: old and alternate ones lead to what they are now.

    MEDIC in BioSyn's form writes ``D009203`` and ``254200`` where others write ``MESH:D009203`` and
    ``OMIM:254200``: where ids without a prefix mostly look like MeSH's, these are MeSH's, and numbers of six
    digits among them OMIM's.

    Attributes:
        rows: id → row of the live concept that it stands for.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        columns = vocabulary.columns
        self._concepts = Concepts(vocabulary)
        self._xrefs = columns.concepts["xrefs"]
        sources = dict(zip(self._concepts.ids, self._concepts.sources, strict=True))
        keys = self._concepts.keys + [
            canonical(redirect["old"], sources[redirect["new"]])
            for redirect in columns.redirects.to_pylist()
            if redirect["new"] in sources
        ]
        self._medic = _like_medic(keys)
        self.rows: dict[Key, int] = {}
        for key in keys:
            row = self._concepts.row(key)
            if row is not None:
                self.rows.setdefault(self._full(key), row)

    def namespaces(self, row: int) -> frozenset[str]:
        """The namespaces in which a concept has an id."""
        return frozenset(self._full(key)[0] for key in self._concepts.keys_of(row))

    def references(self) -> Iterator[tuple[int, Key]]:
        """Yield the xrefs of live concepts: row and the id it refers to."""
        xrefs, sources = self._xrefs.to_pylist(), self._concepts.sources
        for row in self._concepts.live:
            for xref in xrefs[row]:
                yield row, self._full(canonical(xref, sources[row]))

    def _full(self, key: Key) -> Key:
        if key[0] in self._medic:
            for namespace, pattern in (("MESH", _MESH), ("OMIM", _OMIM)):
                if pattern.fullmatch(key[1]):
                    return namespace, key[1]
        return key


def _like_medic(keys: Iterable[Key]) -> frozenset[str]:
    """The namespaces of ids without a prefix that are mostly MeSH's."""
    bare = [key for key in keys if key[0].startswith("(")]
    count = Counter(namespace for namespace, _ in bare)
    mesh = Counter(namespace for namespace, local in bare if _MESH.fullmatch(local))
    return frozenset(namespace for namespace in mesh if 2 * mesh[namespace] > count[namespace])
