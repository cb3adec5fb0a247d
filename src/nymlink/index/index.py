"""The index: a vocabulary made searchable, in a directory of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tokenize import TokenError
from types import MappingProxyType
from typing import Any, Final

import pyarrow as pa

from nymlink.errors import InputError, StoreError, UnknownNameError
from nymlink.index.entries import Entries
from nymlink.index.exact import ExactSearch
from nymlink.index.hits import Searcher
from nymlink.index.hybrid import HybridSearch
from nymlink.index.presets import DEFAULT_PRESET, preset
from nymlink.index.sparse import SparseSearch
from nymlink.index.walk import Matches, match
from nymlink.manifest import read_manifest, require_files, write_directory
from nymlink.vocabulary.vocabulary import Vocabulary

KIND: Final = "index"
VERSION: Final = 1

_EXACT: Final = "exact"
_EXACT_WEIGHT: Final = 0.1
"""Enough to put the equal name before any other, small enough that a score says how alike two names are."""


class Index:
    """A vocabulary and the searches over its names.

    Attributes:
        vocabulary: what is searched.
        entries: its distinct prepared names.
        search: the hybrid of all searches.
        settings: how it was built.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        entries: Entries,
        sparse: Mapping[str, SparseSearch],
        settings: Mapping[str, Any],
    ) -> None:
        self.vocabulary = vocabulary
        self.entries = entries
        self.settings = MappingProxyType(dict(settings))
        self._sparse = dict(sparse)
        searches: dict[str, Searcher] = {_EXACT: ExactSearch(entries), **sparse}
        share = (1 - _EXACT_WEIGHT) / max(len(sparse), 1)
        self.search = HybridSearch(searches, {_EXACT: _EXACT_WEIGHT} | dict.fromkeys(sparse, share))
        self._owners = vocabulary.columns.names["concept"].to_numpy()

    @classmethod
    def build(cls, vocabulary: Vocabulary, *, sparse: str = DEFAULT_PRESET, progress: bool = False) -> Index:
        """Make a vocabulary searchable.

        Args:
            vocabulary: what is to be searched; names of obsolete concepts are left out.
            sparse: one of :data:`~nymlink.index.presets.PRESETS`.
            progress: whether to show progress when standard error is a terminal.

        Raises:
            UnknownNameError: there is no such preset.
            InputError: the vocabulary has no name to search.
        """
        settings = preset(sparse)
        entries = Entries.of(vocabulary)
        if not len(entries):
            raise InputError("the vocabulary has no names to search")
        searches = {
            name: SparseSearch.build(entries, chosen, progress=progress) for name, chosen in settings.items()
        }
        return cls(vocabulary, entries, searches, {"sparse": sparse, "encoder": None})

    def save(self, directory: str | Path) -> None:
        """Write the index, with its vocabulary, to a directory, atomically.

        Raises:
            OutputError: it cannot be written; nothing is left behind.
        """
        body = {
            "concepts": len(self.vocabulary),
            "names": self.vocabulary.name_count,
            "entries": len(self.entries),
            "settings": dict(self.settings),
            "searches": list(self._sparse),
        }
        with write_directory(Path(directory), kind=KIND, version=VERSION, body=body) as partial:
            self.vocabulary.save(partial / "vocabulary")
            self.entries.save(partial)
            for name, search in self._sparse.items():
                search.save(partial / name)

    @classmethod
    def load(cls, directory: str | Path) -> Index:
        """Open an index directory; its files are mapped into memory, and only what is followed blindly is checked.

        Raises:
            StoreError: it is missing, damaged, or of another format version.
        """
        directory = Path(directory)
        manifest = read_manifest(directory, kind=KIND, version=VERSION)
        vocabulary = Vocabulary.load(directory / "vocabulary")
        try:
            names = list(preset(manifest["settings"]["sparse"]))
            if manifest["searches"] != names:
                raise ValueError(f"its searches are {manifest['searches']}, its settings say {names}")
            require_files(manifest, Entries.FILES)
            require_files(manifest, [f"{name}/{file}" for name in names for file in SparseSearch.FILES])
            entries = Entries.load(directory)
            rows = entries.names
            if len(rows) and not 0 <= rows.min() <= rows.max() < vocabulary.name_count:
                raise ValueError("its entries have names that the vocabulary does not")
            searches = {name: SparseSearch.load(directory / name, entries) for name in names}
            return cls(vocabulary, entries, searches, manifest["settings"])
        except (
            OSError,
            ValueError,
            LookupError,
            TypeError,
            TokenError,
            UnknownNameError,
            pa.ArrowException,
        ) as error:
            raise StoreError(f"the index is damaged ({error}): build it again", path=directory) from error

    def match(self, queries: Sequence[str], k: int) -> Matches:
        """The k best distinct concepts of each query; see :func:`nymlink.index.walk.match`."""
        return match(self.search, self.entries, self._owners, queries, k)
