"""Published vocabularies and mappings, which can be got by name. They are downloaded once into the user's cache.

Tables list the sources. A table is a tuple of :class:`~nymlink.sources.source.PublishedSource`, registered under
an entry point in the group ``nymlink.source_tables``. nymlink registers its own tables in this way, too.
"""

from __future__ import annotations

from typing import Final

from nymlink.core.registry import Registry
from nymlink.sources.source import PublishedSource

SOURCE_TABLES: Final[Registry[tuple[PublishedSource, ...]]] = Registry(
    "nymlink.source_tables", noun="table of sources"
)
