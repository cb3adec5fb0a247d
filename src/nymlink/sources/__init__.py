"""Published sources by name: tables of vocabularies and mappings, downloaded once into the user's cache.

A table is a tuple of :class:`~nymlink.sources.source.PublishedSource` under an entry point in the group
``nymlink.source_tables``, like nymlink's own.
"""

from __future__ import annotations

from typing import Final

from nymlink.core.registry import Registry
from nymlink.sources.source import PublishedSource

SOURCE_TABLES: Final[Registry[tuple[PublishedSource, ...]]] = Registry(
    "nymlink.source_tables", noun="table of sources"
)
